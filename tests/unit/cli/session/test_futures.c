/* SPDX-License-Identifier: MIT */
/* Tests of several futures of one lab: what is kept when something else is done, forks, names of
 * places, and where two futures part.  Random ones are in exec/test_travel.c.
 */
#include "cli/lab_session.h"
#include "cli/session/history.h"
#include "rdmalab/trace.h"

#define POSTS                                                                                      \
    "post_recv h2.qp sge=mr[0:64]; post_recv h2.qp sge=mr[0:64]\n"                                 \
    "drop ack from=h2 as thief\n"                                                                  \
    "post_send h1.qp wr_id=2 sge=mr[0:64] signaled\n"

static void the_last_four_that_were_left_are_kept(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY POSTS);
    lab_run(&l, "fork named; run; future main");
    for (unsigned i = 1; i <= 6; i++) {
        lab_run(&l, "note \"x\"\npost_recv h2.qp");
        lab_run(&l, "back");
        lab_run(&l, i % 2 ? "clear thief; back" : "step tick; write h1.mr[0] \"a\"; back");
    }
    assert_non_null(futures_find(&l.s->history->futures, "named"));
    assert_true(l.s->history->futures.n_unnamed >= 6);
    assert_int_equal(l.s->history->futures.n, 1 + FUTURES_UNNAMED_MAX);
    assert_null(futures_find(&l.s->history->futures, "was1"));
    lab_close(&l);
}

/* Each future keeps its own state, however often the session moves between them. */
static void each_future_has_its_own_state(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY POSTS);
    lab_run(&l, "checkpoint posted\nrun");
    lab_run(&l, "expect count(lost) == 2 and count(timeout) == 2");
    lab_run(&l, "goto posted\nfork calm\nclear thief\nrun");
    for (unsigned i = 0; i < 3; i++) {
        lab_run(&l, "expect count(lost) == 1 and count(timeout) == 1");
        lab_run(&l, "future main");
        lab_run(&l, "back; expect count(lost) == 1; goto end");
        lab_run(&l, "expect count(lost) == 2 and count(timeout) == 2");
        lab_run(&l, "goto posted; future calm");
        assert_true(rdl_tick(l.s->lab) > 0);
    }
    assert_false(lab_try(&l, "fork main"));
    assert_false(lab_try(&l, "future calm"));
    assert_false(lab_try(&l, "future nowhere"));
    assert_false(lab_try(&l, "switch main"));
    lab_close(&l);
}

static void diff_tells_where_two_part(void **state)
{
    struct lab l;
    size_t before;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, STORY POSTS);
    lab_run(&l, "checkpoint posted\nrun");
    lab_run(&l, "goto posted\nclear thief\nrun\ngoto posted");
    fflush(l.f);
    before = l.n;
    lab_run(&l, "diff main was1");
    fflush(l.f);
    assert_non_null(strstr(l.out + before, "main and was1 part in #"));
    assert_non_null(strstr(l.out + before, "fault_gone thief"));
    assert_non_null(strstr(l.out + before, "not there | there"));
    assert_non_null(strstr(l.out + before, "lost: thief"));
    assert_true(l.s->history->position.in_past); /* it is where it was */
    assert_string_equal(futures_current(&l.s->history->futures), FUTURE_FIRST);
    lab_run(&l, "goto posted; fork twin; run; future main; goto end");
    fflush(l.f);
    before = l.n;
    lab_run(&l, "back; post_recv h2.qp sge=mr[0:8]; diff twin");
    fflush(l.f);
    assert_non_null(strstr(l.out + before, " part in #"));
    assert_false(lab_try(&l, "diff twin twin"));
    assert_false(lab_try(&l, "diff nobody"));
    lab_close(&l);
}

/* A file may have many futures. */
static void all_that_are_too_many_are_forgotten(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY POSTS);
    for (unsigned i = 0; i < 20; i++) {
        struct future f = {.unnamed = i != 7};

        snprintf(f.name, sizeof(f.name), "f%u", i);
        futures_put(&l.s->history->futures, &f);
    }
    lab_run(&l, "back; post_recv h2.qp");
    assert_int_equal(l.s->history->futures.n, 1 + FUTURES_UNNAMED_MAX);
    assert_non_null(futures_find(&l.s->history->futures, "f7"));
    assert_null(futures_find(&l.s->history->futures, "f16"));
    assert_non_null(futures_find(&l.s->history->futures, "f17"));
    assert_non_null(futures_find(&l.s->history->futures, "was1"));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_four_that_were_left_are_kept),
        cmocka_unit_test(each_future_has_its_own_state),
        cmocka_unit_test(all_that_are_too_many_are_forgotten),
        cmocka_unit_test(diff_tells_where_two_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

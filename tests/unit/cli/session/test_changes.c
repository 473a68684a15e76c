/* SPDX-License-Identifier: MIT */
/* Tests of `set`, of the changes reported for each command, and of the memory limit of going back.
 */
#include "cli/exec/travel.h"
#include "cli/lab_session.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "rdmalab/trace.h"

/* Returns what @lines print in @l. */
static const char *printed_by(struct lab *l, const char *lines)
{
    size_t before;

    fflush(l->f);
    before = l->n;
    lab_run(l, lines);
    fflush(l->f);
    return l->out + before;
}

static void changes_of_a_command_are_those_of_its_objects(void **state)
{
    static const struct {
        const char *line;
        const char *says[5]; /* parts of the output */
        const char *silent;  /* must not be in the output */
    } rows[] = {
        {"post_send h1.qp wr_id=2 sge=mr[0:64] nokick",
         {"~ h1.qp.sq  avail_idx 1 -> 2, driver.avail_idx 1 -> 2"},
         "h2"},
        {"kick h1.qp.sq", {NULL}, "~ h1.qp "},
        {"post_recv h2.qp wr_id=8 sge=mr[0:1k]; run",
         {"~ h1.qp  acked_psn 101 -> 102, next_psn 101 -> 102, sq_psn 101 -> 102, ssn 1 -> 2",
          "~ h2.cq  count 1 -> 2", "~ h2.cq.wc[1]  is there",
          "~ h2.qp  msn 1 -> 2, rq_psn 101 -> 102"},
         "carried"},
        {"show h1.qp", {NULL}, "~"},
        {"destroy_qp h1.qp", {"~ h1.qp  is gone", "~ h1.pd  users 2 -> 1"}, "h1.qp.sq"},
        {"back", {"~ h1.qp  is there"}, NULL},
        {"goto end", {"~ h1.qp  is gone"}, NULL},
        {"set link h1-h2 down", {"~ h1-h2  up yes -> no"}, "h1.port"},
        {"host h3", {"~ h3  is there"}, "h3."},
        {"set link h1-h2 from=h2 jitter=1us", {"~ h1-h2.back  jitter 0 -> 1us"}, "there"},
        {"foreach n in 1..40 { host x$n }", {"~ x1  is there", "~ x40  is there"}, "more"},
        {"foreach n in 1..61 { host y$n }", {"~ ... and 1 more"}, NULL},
        {"set changes all; set link h1-h2 up", {"~ h1.port  state DOWN -> ACTIVE"}, NULL},
        {"set changes off; set link h1-h2 down", {NULL}, "~"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, STORY "set changes on");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *told = printed_by(&l, rows[i].line);

        for (size_t k = 0; k < ARRAY_LEN(rows[i].says) && rows[i].says[k]; k++) {
            if (!strstr(told, rows[i].says[k]))
                fail_msg("%s: not told: %s\n%s", rows[i].line, rows[i].says[k], told);
        }
        if (rows[i].silent && strstr(told, rows[i].silent))
            fail_msg("%s: told: %s\n%s", rows[i].line, rows[i].silent, told);
    }
    lab_close(&l);
}

static void a_block_and_a_stop_tell_once(void **state)
{
    struct lab l;
    const char *told;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, STORY "set changes on");
    told = printed_by(&l, "repeat 2 { post_recv h2.qp sge=mr[0:64] }");
    assert_non_null(strstr(told, "~ h2.qp.rq  avail_idx 1 -> 3"));
    assert_null(strstr(told, "avail_idx 1 -> 2"));
    told = printed_by(&l, "break rx(host==h2) once; post_send h1.qp sge=mr[0:64]; run; host h9");
    assert_non_null(strstr(told, "~ h2.qp  msn 1 -> 2"));
    assert_null(strstr(told, "acked_psn")); /* the ACK is still in flight */
    lab_close(&l);
}

static void a_setting_is_no_part_of_what_was_done(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, STORY "back");
    assert_true(l.s->history->position.in_past);
    lab_run(&l, "set changes on; set changes off; set history=8m; set");
    assert_true(l.s->history->position.in_past); /* no other future has begun there */
    assert_int_equal(l.s->history->futures.n, 0);
    lab_run(&l, "set link h1-h2 loss=1%");
    assert_false(l.s->history->position.in_past);
    lab_close(&l);
}

static void history_keeps_within_its_bound_and_goes_everywhere(void **state)
{
    struct place to;
    uint64_t hash;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    to = position_here(l.s);
    hash = rdl_hash(l.s->lab);
    for (int i = 0; i < 30; i++) /* each leaves a snapshot */
        lab_run(&l, "ping h1 h2; back; goto end");
    assert_true(l.s->history->snapshots.bytes > (size_t)4 << 20);
    lab_run(&l, "set history=2m");
    assert_true(l.s->history->snapshots.bytes <= (size_t)2 << 20);
    assert_true(l.s->history->snapshots.n >= 2);
    assert_true(travel_to(l.s, &to, (struct span){0, 0}));
    assert_true(rdl_hash(l.s->lab) == hash);
    lab_run(&l, "goto end; ping h1 h2");
    assert_true(l.s->history->snapshots.bytes <= (size_t)2 << 20);
    assert_false(lab_try(&l, "set history=64k"));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_a_command_are_those_of_its_objects),
        cmocka_unit_test(a_block_and_a_stop_tell_once),
        cmocka_unit_test(a_setting_is_no_part_of_what_was_done),
        cmocka_unit_test(history_keeps_within_its_bound_and_goes_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Tests in the past: going forward again, and what starts another future. */
#include "cli/lab_session.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "rdmalab/trace.h"

static uint64_t tick_of(const struct lab *l)
{
    return rdl_tick(l->s->lab);
}

/* Fails if another future has begun. */
static void assert_whole(const struct lab *l, const char *line, uint64_t end)
{
    if (l->s->history->futures.n != 0 || position_end(l->s).at.tick != end)
        fail_msg("%s: another future has begun", line);
}

/* A search ahead finds the same as visiting every later place. */
static void redo_finds_what_going_on_finds(void **state)
{
    static const struct {
        const char *line, *expression;
    } rows[] = {
        {"redo to lost", "count(lost) == 1"},
        {"redo to cqe", "count(cqe) == 1"},
        {"redo to h1.qp.state == RTS", "h1.qp.state == RTS"},
        {"redo to h1.qp.retries > 0", "h1.qp.retries > 0"},
        {"redo to count(tx) >= 2", "count(tx) >= 2"},
        {"redo to mem_write", "count(mem_write) == 1"},
    };
    struct lab l;
    uint64_t end;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "expect count(lost) == 0 and count(cqe) == 0 and count(tx) == 0 and "
                "count(mem_write) == 0\n" STORY);
    end = tick_of(&l);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[128];
        uint64_t found;

        lab_run(&l, "goto #4"); /* in the middle of a command */
        lab_run(&l, rows[i].line);
        found = tick_of(&l);
        (void)snprintf(line, sizeof(line), "expect %s", rows[i].expression);
        lab_run(&l, line);
        lab_run(&l, "back tick");
        (void)snprintf(line, sizeof(line), "expect not (%s)", rows[i].expression);
        lab_run(&l, line);
        assert_true(tick_of(&l) < found);
        assert_whole(&l, rows[i].line, end);
    }
    lab_close(&l);
}

static void ticks_are_gone_through_one_by_one(void **state)
{
    struct lab l;
    uint64_t end, before;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    end = tick_of(&l);
    lab_run(&l, "goto start");
    while (l.s->history->position.in_past) {
        before = tick_of(&l);
        lab_run(&l, "redo 1 tick");
        if (l.s->history->position.in_past)
            assert_true(tick_of(&l) > before);
    }
    assert_int_equal(tick_of(&l), end);
    while (tick_of(&l) > 0) {
        before = tick_of(&l);
        lab_run(&l, "back tick");
        assert_true(tick_of(&l) < before);
    }
    assert_whole(&l, "back tick", end);
    assert_false(lab_try(&l, "redo to vq_broken"));
    assert_int_equal(tick_of(&l), 0);
    assert_false(lab_try(&l, "redo 1000 packet"));
    assert_int_equal(tick_of(&l), 0);
    lab_run(&l, "goto end");
    assert_false(lab_try(&l, "redo 1 tick"));
    lab_close(&l);
}

/* Errors, and commands without effect, begin no future. */
static void what_does_nothing_begins_no_future(void **state)
{
    static const char *const lines[] = {
        "clear nosuch",
        "post_send h1.qpp",
        "source nosuch.lab",
        "repeat 2 { clear nosuch }",
        "run",
        "until tick > 0",
        "show h1.qp",
        "on h9 { run }",
        "expect 1 == 1",
        "on h1 { expect 1 == 2 }",
    };
    struct lab l;
    uint64_t end, hash;
    size_t recorded, snapshots;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    end = tick_of(&l);
    hash = rdl_hash(l.s->lab);
    recorded = rdl_record_count(l.s->lab);
    lab_run(&l, "goto start"); /* before a command: nothing is running */
    snapshots = l.s->history->snapshots.n;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        (void)lab_try(&l, lines[i]);
        assert_int_equal(tick_of(&l), 0);
        assert_whole(&l, lines[i], end);
    }
    assert_int_equal(l.s->history->snapshots.n, snapshots);
    lab_run(&l, "goto end");
    assert_int_equal(rdl_record_count(l.s->lab), recorded);
    assert_true(rdl_hash(l.s->lab) == hash);
    lab_run(&l, "goto start; host h7");
    assert_int_equal(l.s->history->futures.n, 1);
    assert_string_equal(l.s->history->futures.v[0].name, "was1");
    lab_close(&l);
}

/* Time that passes as in the history stays on it, however many commands let it pass. */
static void time_goes_the_way_that_it_went(void **state)
{
    struct lab l;
    uint64_t end;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2\n"
                "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k as mr; create_cq as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "connect h1.qp h2.qp\n"
                "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64]\n"
                "checkpoint posted\n"
                "step\nstep 2\nrun 100us\n");
    end = tick_of(&l);
    lab_run(&l, "goto posted\nrun\n");
    assert_true(l.s->history->position.in_past); /* the clock ran on then */
    assert_whole(&l, "run", end);
    lab_run(&l, "run 1us\n");
    assert_whole(&l, "run 1us", end);
    lab_run(&l, "redo");
    assert_false(l.s->history->position.in_past);
    lab_run(&l, "goto posted\nrun\nwrite h1.mr[0] \"x\"\n"); /* at an earlier time than the end */
    assert_int_equal(l.s->history->futures.n, 1);
    lab_run(&l, "future was1");
    assert_int_equal(tick_of(&l), end);
    lab_close(&l);
}

/* In the past `continue` does not go on by itself: it says how to. */
static void continue_in_the_past_names_the_future(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY "back 1 packet");
    assert_true(l.s->history->position.in_past);
    assert_false(lab_try(&l, "continue"));
    assert_string_equal(l.s->diag.message, "recorded future ahead: redo, or goto end");
    assert_true(l.s->history->position.in_past);
    lab_run(&l, "goto end; continue");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redo_finds_what_going_on_finds),
        cmocka_unit_test(ticks_are_gone_through_one_by_one),
        cmocka_unit_test(what_does_nothing_begins_no_future),
        cmocka_unit_test(time_goes_the_way_that_it_went),
        cmocka_unit_test(continue_in_the_past_names_the_future),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

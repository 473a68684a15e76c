/* SPDX-License-Identifier: MIT */
/* Tests of the session log: what was executed when, stored in few bytes. */
#include "cli/lab_session.h"
#include "cli/own_directory.h"
#include "cli/session/history.h"
#include "cli/session/log.h"
#include "rdmalab/lab.h"

/* A log that the test writes by hand. */
struct by_hand {
    struct pool pool;
    struct log log;
    struct moment now;
};

static struct step *step_of(struct by_hand *h, enum cmd_id cmd)
{
    return step_new(&h->pool, &cmd_table[cmd], (struct span){0, 0});
}

/* Adds a command that takes so many ticks of 10 ns. */
static void do_step(struct by_hand *h, const struct step *st, uint64_t ticks)
{
    struct log_entry e = {.st = st, .host = "", .before = h->now};

    h->now.tick += ticks;
    h->now.ns += 10 * ticks;
    e.after = h->now;
    log_add(&h->log, &e);
}

static void by_hand_done(struct by_hand *h)
{
    log_free(&h->log);
    pool_free(&h->pool);
}

static void a_log_without_entries_has_none(void **state)
{
    const struct log log = {.n = 0};
    struct log_cursor c;

    (void)state;
    assert_false(log_first(&c, &log));
    assert_false(log_find(&c, &log, 0));
    assert_false(log_find(&c, &log, 1));
}

static void entries_are_read_as_they_were_written(void **state)
{
    struct by_hand h = {.now = {0, 0}};
    struct step *run = step_of(&h, CMD_run), *ping = step_of(&h, CMD_ping);
    struct log_entry e = {.st = ping, .host = "h1", .outcome = LOG_CUT};
    struct log_cursor c;

    (void)state;
    step_put(&h.pool, run, "for", "10us");
    do_step(&h, run, 300);
    h.now = (struct moment){305, 1u << 30}; /* the lab continued between the two */
    e.before = e.after = h.now;
    e.after.tick++;
    log_add(&h.log, &e);
    h.now = e.after;
    do_step(&h, run, 0);
    assert_true(log_first(&c, &h.log));
    assert_int_equal(c.entry.i, 0);
    assert_true(step_equal(c.entry.st, run) && c.entry.st != run);
    assert_int_equal(c.entry.before.tick, 0);
    assert_int_equal(c.entry.after.tick, 300);
    assert_int_equal(c.entry.after.ns, 3000);
    assert_true(log_next(&c));
    assert_ptr_equal(c.entry.st->cmd, ping->cmd);
    assert_string_equal(c.entry.host, "h1");
    assert_int_equal(c.entry.outcome, LOG_CUT);
    assert_int_equal(c.entry.before.tick, 305);
    assert_int_equal(c.entry.before.ns, 1u << 30);
    assert_int_equal(c.entry.after.tick, 306);
    assert_true(log_next(&c));
    assert_int_equal(c.entry.i, 2);
    assert_int_equal(c.entry.after.tick, 306);
    assert_int_equal(h.log.n_deeds, 2); /* run is stored once */
    assert_false(log_next(&c));
    by_hand_done(&h);
}

static void a_tick_belongs_to_the_command_that_made_it(void **state)
{
    static const struct {
        uint64_t tick;
        bool found;
        uint64_t i;
    } rows[] = {{0, false, 0}, {1, true, 0},   {5, true, 0},  {6, true, 2},  {7, true, 2},
                {8, false, 0}, {12, false, 0}, {13, true, 3}, {14, false, 0}};
    struct by_hand h = {.now = {0, 0}};
    const struct step *run = step_of(&h, CMD_run);

    (void)state;
    do_step(&h, run, 5);
    do_step(&h, run, 0);
    do_step(&h, run, 2);
    h.now.tick = 12; /* five ticks between commands */
    do_step(&h, run, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct log_cursor c;

        assert_int_equal(log_find(&c, &h.log, rows[i].tick), rows[i].found);
        if (rows[i].found)
            assert_int_equal(c.entry.i, rows[i].i);
    }
    by_hand_done(&h);
}

/* repeat 1000 { repeat 50 { run } ping }, in which each run takes 3 ticks and each ping 4. */
static void each_iteration_of_a_regular_loop_is_known(void **state)
{
    struct by_hand h = {.now = {0, 0}};
    const struct step *run = step_of(&h, CMD_run), *ping = step_of(&h, CMD_ping);
    struct log_block outer, inner;
    struct log_cursor c;
    size_t n_bytes = 0;

    (void)state;
    log_open(&h.log, &outer);
    for (unsigned i = 0; i < 1000; i++) {
        log_open(&h.log, &inner);
        for (unsigned k = 0; k < 50; k++) {
            do_step(&h, run, 3);
            log_round(&h.log, &inner);
        }
        do_step(&h, ping, 4);
        log_round(&h.log, &outer);
        n_bytes = i == 1 ? h.log.n_bytes : n_bytes;
    }
    assert_int_equal(h.log.n, 51000);
    assert_int_equal(h.log.n_bytes, n_bytes);
    assert_true(log_find(&c, &h.log, 700 * 154 + 3 * 20 + 2));
    assert_int_equal(c.entry.i, 700 * 51 + 20);
    assert_int_equal(c.entry.before.tick, 700 * 154 + 3 * 20);
    assert_int_equal(c.entry.before.ns, 10 * (700 * 154 + 3 * 20));
    assert_true(log_find(&c, &h.log, 700 * 154 + 151));
    assert_ptr_equal(c.entry.st->cmd, ping->cmd);
    assert_true(log_next(&c)); /* to the next iteration, from the middle of the loop */
    assert_int_equal(c.entry.i, 701 * 51);
    assert_ptr_equal(c.entry.st->cmd, run->cmd);
    assert_true(log_find(&c, &h.log, 154000));
    assert_int_equal(c.entry.i, 50999);
    assert_false(log_next(&c));
    assert_false(log_find(&c, &h.log, 154001));
    by_hand_done(&h);
}

/* Iterations of different length have entries of their own, which take a few bytes each. */
static void each_iteration_of_an_irregular_loop_is_known(void **state)
{
    struct by_hand h = {.now = {0, 0}};
    const struct step *run = step_of(&h, CMD_run), *ping = step_of(&h, CMD_ping);
    struct log_block b;
    struct log_cursor c;
    uint64_t tick = 0;
    bool more;

    (void)state;
    log_open(&h.log, &b);
    for (unsigned i = 0; i < 10000; i++) {
        do_step(&h, run, i % 7);
        do_step(&h, ping, 1 + i % 3);
        log_round(&h.log, &b);
    }
    assert_true(h.log.n_bytes < 6 * h.log.n);
    more = log_first(&c, &h.log);
    for (unsigned i = 0; i < 20000; i++, more = log_next(&c)) {
        assert_true(more);
        assert_int_equal(c.entry.before.tick, tick);
        tick += i % 2 ? 1 + i / 2 % 3 : i / 2 % 7;
        assert_int_equal(c.entry.after.tick, tick);
        assert_int_equal(c.entry.after.ns, 10 * tick);
    }
    assert_false(more);
    by_hand_done(&h);
}

/* Compares two logs: the same commands in blocks and line by line. */
static void blocks_and_sourced_files_are_logged_as_their_steps(void **state)
{
    struct log_cursor x, y;
    struct lab a, b;
    FILE *f = fopen("steps.lab", "w");
    bool more;

    (void)state;
    assert_non_null(f);
    fputs("query_port h2; on h1 { query_port }\n", f);
    assert_int_equal(fclose(f), 0);
    lab_open(&a, false);
    lab_open(&b, false);
    lab_run(&a, "host h1 h2");
    lab_run(&b, "host h1 h2");
    lab_run(&a,
            "repeat 4 { on h1,h2 { alloc_pd; show; query_port; note x }\n"
            "  repeat 3 { run 1us; source steps.lab }; refused reason=err_exists { host h1 } }\n"
            "export events -");
    for (unsigned i = 0; i < 4; i++) {
        lab_run(&b, "on h1 { alloc_pd }; on h1 { query_port }; on h2 { alloc_pd; query_port }");
        for (unsigned k = 0; k < 3; k++)
            lab_run(&b, "run 1us; query_port h2; on h1 { query_port }");
        assert_false(lab_try(&b, "host h1"));
    }
    assert_int_equal(a.s->history->journal.log.n, 1 + 4 * (4 + 3 * 3 + 1));
    more = log_first(&x, &a.s->history->journal.log);
    assert_true(log_first(&y, &b.s->history->journal.log));
    for (; more; more = log_next(&x), (void)log_next(&y)) {
        assert_int_equal(x.entry.i, y.entry.i);
        assert_true(step_equal(x.entry.st, y.entry.st));
        assert_string_equal(x.entry.host, y.entry.host);
        assert_int_equal(x.entry.outcome, y.entry.outcome);
        assert_memory_equal(&x.entry.before, &y.entry.before, sizeof(x.entry.before));
        assert_memory_equal(&x.entry.after, &y.entry.after, sizeof(x.entry.after));
    }
    assert_int_equal(b.s->history->journal.log.n, a.s->history->journal.log.n);
    assert_true(a.s->history->journal.log.n_bytes < b.s->history->journal.log.n_bytes);
    assert_int_equal(remove("steps.lab"), 0);
    lab_close(&a);
    lab_close(&b);
}

static void the_log_tells_how_commands_ended(void **state)
{
    static const struct {
        const char *line;
        enum log_outcome outcome;
    } rows[] = {{"host h1", LOG_DONE},
                {"host h1", LOG_REFUSED},
                {"destroy_qp h1.nothing", LOG_FAILED},
                {"expect t > 1s", LOG_FAILED},
                {"refused reason=err_timeout ticks=1 { query_port h1 }", LOG_CUT}};
    struct log_cursor c;
    struct lab l;
    bool more;

    (void)state;
    lab_open(&l, false);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        (void)lab_try(&l, rows[i].line); /* most of them fail */
    more = log_first(&c, &l.s->history->journal.log);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++, more = log_next(&c)) {
        assert_true(more);
        assert_int_equal(c.entry.outcome, rows[i].outcome);
    }
    assert_false(more);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_without_entries_has_none),
        cmocka_unit_test(entries_are_read_as_they_were_written),
        cmocka_unit_test(a_tick_belongs_to_the_command_that_made_it),
        cmocka_unit_test(each_iteration_of_a_regular_loop_is_known),
        cmocka_unit_test(each_iteration_of_an_irregular_loop_is_known),
        cmocka_unit_test(blocks_and_sourced_files_are_logged_as_their_steps),
        cmocka_unit_test(the_log_tells_how_commands_ended),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, own_directory_leave);
}

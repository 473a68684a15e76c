/* SPDX-License-Identifier: MIT */
/* Tests of `session save`: the file repeats whatever the session did.  Random sessions, in which
 * commands fail, are interrupted and reach limits, are saved in both forms and replayed.
 * SAVE_SEED=N in the environment tries one session and prints it.
 */
#include "cli/own_directory.h"
#include "cli/session/files.h"
#include "cli/session/history.h"
#include "cli/session/random_session.h"
#include "emu/lab/lab_state.h"
#include "rdmalab/trace.h"
#include "rounds.h"

#define SEEDS      n_rounds(300)
#define STATEMENTS 16u

/* Reads the log in both directions: entries must be in order, and each tick must belong to one
 * entry.
 */
static void check_log(const struct lab *l)
{
    const struct log *log = &l->s->history->journal.log;
    struct moment end = {0, 0};
    struct log_cursor c, found;
    uint64_t n = 0;

    for (bool more = log_first(&c, log); more; more = log_next(&c)) {
        assert_int_equal(c.entry.i, n++);
        assert_true(c.entry.before.tick >= end.tick && c.entry.before.ns >= end.ns);
        for (uint64_t tick = end.tick + 1; tick <= c.entry.before.tick; tick++)
            assert_false(log_find(&found, log, tick));
        for (uint64_t tick = c.entry.before.tick + 1; tick <= c.entry.after.tick; tick++) {
            assert_true(log_find(&found, log, tick));
            assert_int_equal(found.entry.i, c.entry.i);
            assert_int_equal(found.entry.before.ns, c.entry.before.ns);
        }
        end = c.entry.after;
    }
    assert_int_equal(n, log->n);
    assert_int_equal(end.tick, rdl_tick(l->s->lab));
    assert_int_equal(end.ns, rdl_now_ns(l->s->lab));
}

/* Returns true if the session survives saving; otherwise prints the difference. */
static bool try_seed(uint64_t seed, bool verbose)
{
    struct author a = {.rng = prng_stream(seed, 0)};
    struct rdl_listener *listener = NULL;
    char line[STATEMENT_BYTES], why[2 * DIAG_MESSAGE_BYTES];
    struct text t = text_on(line, sizeof(line));
    const char *wrong;
    struct lab l;

    lab_open(&l, 0);
    assert_int_equal(rdl_listen(l.s->lab, interrupt_then, &l, &listener), RDL_OK);
    author_begin(&a, &t);
    lab_run(&l, line);
    for (uint32_t left = author_below(&a, STATEMENTS); left > 0; left--) {
        t = text_on(line, sizeof(line));
        author_add_statement(&a, &t);
        assert_false(t.cut);
        if (verbose)
            print_message("%s\n", line);
        carry_out(&a, &l, line);
        if (verbose && l.s->diag.kind != DIAG_NONE)
            print_message("  %s\n", l.s->diag.message);
    }
    l.s->limits.ticks_per_step = 0;
    check_log(&l);
    wrong = save_and_replay(&l, why, sizeof(why));
    if (wrong)
        print_message("seed %llu: %s\n  again: SAVE_SEED=%llu tests/t_session_save\n",
                      (unsigned long long)seed, wrong, (unsigned long long)seed);
    rdl_unlisten(l.s->lab, listener);
    lab_close(&l);
    return !wrong;
}

static void whatever_was_done_is_done_again(void **state)
{
    const char *chosen = getenv("SAVE_SEED");
    unsigned n_wrong = 0;

    (void)state;
    if (chosen) {
        assert_true(try_seed(strtoull(chosen, NULL, 10), true));
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        n_wrong += !try_seed(seed, false);
    assert_int_equal(n_wrong, 0);
}

/* Returns the contents of x.lab.  The caller frees them. */
static char *saved_text(struct lab *l)
{
    struct source file = {0};
    char *text;

    lab_run(l, "session save x.lab");
    assert_null(source_read("x.lab", &file));
    text = strdup(file.text);
    assert_non_null(text);
    source_done(&file);
    return text;
}

/* Returns what @statement adds to a saved session that began with @before.  The caller frees it.
 * @interrupt_after: ticks after which ^C is pressed.
 */
static char *saved_of(const char *before, const char *statement, uint64_t interrupt_after)
{
    char why[2 * DIAG_MESSAGE_BYTES], *head, *all;
    struct rdl_listener *listener = NULL;
    const char *wrong;
    struct lab l;

    lab_open(&l, 0);
    assert_int_equal(rdl_listen(l.s->lab, interrupt_then, &l, &listener), RDL_OK);
    lab_run(&l, before);
    head = saved_text(&l);
    if (interrupt_after)
        l.interrupt_at = rdl_tick(l.s->lab) + interrupt_after;
    (void)lab_try(&l, statement);
    l.s->run.step.interrupted = false;
    l.interrupted = 0;
    l.interrupt_at = UINT64_MAX;
    wrong = save_and_replay(&l, why, sizeof(why));
    if (wrong)
        fail_msg("%s: %s", statement, wrong);
    all = saved_text(&l);
    assert_true(strncmp(all, head, strlen(head)) == 0);
    memmove(all, all + strlen(head), strlen(all) - strlen(head) + 1);
    free(head);
    rdl_unlisten(l.s->lab, listener);
    lab_close(&l);
    return all;
}

static void what_went_otherwise_is_saved_as_what_it_did(void **state)
{
    static const struct {
        const char *before, *statement;
        uint64_t interrupt_after; /* ticks; 0: no interrupt */
        const char *saved;
    } rows[] = {
        {"host h1", "ping h1 10.0.0.9 timeout=1ms", 0,
         "refused reason=err_no_route {\n    ping h1 10.0.0.9 timeout=1ms\n}\n"},
        {"host h1", "refused says=x { run 5us; note x }", 0, "run 5us\n# x\n"},
        {"host h1", "refused says=no { note x; host h1 }", 0, "# x\n"},
        {"host h1", "refused says=use { note x; show; host h1 }", 0,
         "refused says=\"use\" {\n    # x\n    show\n    host h1\n}\n"},
        {"host h1", "repeat 3 { show; note x; help; run 1us }", 0,
         "repeat 3 {\n    # x\n    run 1us\n}\n"},
        {"host h1", "repeat 3 { repeat 2 { show } }", 0, ""},
        {"host h1", "repeat 3 { source s0.lab; run 1us }", 0,
         "repeat 3 {\n    alloc_pd h1\n    on h1 {\n        alloc_pd\n    }\n    run 1us\n}\n"},
        {"host h1 h2", "on h1,h2 { alloc_pd as pd; source s0.lab; run 1us }", 0,
         "on h1 {\n    alloc_pd as pd\n}\nalloc_pd h1\non h1 {\n    alloc_pd\n}\n"
         "on h1 {\n    run 1us\n}\n"
         "on h2 {\n    alloc_pd as pd\n}\nalloc_pd h1\non h1 {\n    alloc_pd\n}\n"
         "on h2 {\n    run 1us\n}\n"},
        {"host h1 h2; alloc_pd h2 as p", "on h1,h2 { run 1us; alloc_pd as p; run 2us }", 0,
         "on h1 {\n    run 1us\n    alloc_pd as p\n    run 2us\n}\non h2 {\n    run 1us\n}\n"},
        {"host h1", "repeat 1000000 { repeat 2 { write 0 x }; query_port h1; run 1us }", 0, ""},
        {"host h1", "repeat 1000000 { repeat 2 { query_port h1; run 1us } }", 47,
         "repeat 7 {\n    repeat 2 {\n        query_port h1\n        run 1us\n    }\n}\n"
         "query_port h1\nrun 1us\nquery_port h1\n"},
        {"host h1", "create_cq h1 as c", 1,
         "refused reason=err_timeout ticks=1 {\n    create_cq h1 as c\n}\n"},
        {"host h1", "reg_mr h1.pd len=4k", 0, ""},
        {"host h1; alloc_pd h1 as pd", "reg_mr h1.pd len=4k access=rw", 0, ""},
        {"host h1", "until t > 1s timeout=1us", 0, ""},
        {"host h1", "switch s s", 0, "refused reason=err_exists {\n    switch s s\n}\n"},
    };
    FILE *f = fopen("s0.lab", "w");

    (void)state;
    assert_non_null(f);
    fputs("alloc_pd h1; show; on h1 { alloc_pd }\n", f);
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *saved = saved_of(rows[i].before, rows[i].statement, rows[i].interrupt_after);

        assert_string_equal(saved, rows[i].saved);
        free(saved);
    }
}

/* Blocks of a file that is sourced inside blocks may be nested deeper than a scenario permits. */
static void blocks_are_folded_only_as_deep_as_they_may_be(void **state)
{
    FILE *f = fopen("s0.lab", "w");
    char *saved;

    (void)state;
    assert_non_null(f);
    fputs("repeat 2 { repeat 2 { repeat 2 { on h1 { query_port } } } }\n", f);
    assert_int_equal(fclose(f), 0);
    saved = saved_of(
        "host h1", "repeat 3 { repeat 2 { repeat 2 { repeat 2 { repeat 2 { source s0.lab } } } } }",
        0);
    assert_memory_equal(saved, "repeat 2 {\n    repeat 2 {\n", 24);
    free(saved);
}

static void a_session_is_saved_from_inside_a_block(void **state)
{
    struct source file = {0};
    struct lab l;

    (void)state;
    lab_open(&l, 0);
    lab_run(&l,
            "host h1 h2; on h1,h2 { alloc_pd as pd; repeat 3 { run 1us; session save x.lab } }");
    assert_null(source_read("x.lab", &file));
    assert_non_null(strstr(file.text, "on h1 {\n    alloc_pd as pd\n}\n"
                                      "repeat 3 {\n    on h1 {\n        run 1us\n    }\n}\n"
                                      "on h2 {\n    alloc_pd as pd\n}\n"
                                      "repeat 2 {\n    on h2 {\n        run 1us\n    }\n}\n"
                                      "on h2 {\n    run 1us\n}\n"));
    source_done(&file);
    lab_close(&l);
}

static void a_session_longer_than_a_scenario_is_saved_with_a_limit(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, 0);
    lab_run(&l, "host h1");
    l.s->lab->state->trace.tick = SCENARIO_TICKS_MAX; /* to save the time that this would take */
    text = saved_text(&l);
    assert_non_null(strstr(text, "scenario title=\"x\" seed=1 ticks=20000000\n"));
    free(text);
    lab_close(&l);
}

static void a_refused_block_may_have_a_limit_of_its_own(void **state)
{
    struct lab l;
    uint64_t tick;

    (void)state;
    lab_open(&l, 0);
    lab_run(&l, "host h1");
    for (unsigned patience = 0; patience < 2; patience++) {
        l.s->limits.ticks_per_step = patience; /* that of a prompt: less than the block has */
        tick = rdl_tick(l.s->lab);
        lab_run(&l, "refused ticks=2 says=\"ticks was reached\" { query_port h1 }");
        assert_int_equal(rdl_tick(l.s->lab), tick + 2);
        assert_int_equal(l.s->limits.ticks_per_step, patience);
        l.s->limits.ticks_per_step = 0;
        l.s->limits.whole.ticks = SCENARIO_TICKS_MAX;
        lab_run(&l, "run; query_port h1");
    }
    assert_false(lab_try(&l, "refused reason=err_timeout ticks=99 { query_port h1 }"));
    assert_non_null(strstr(l.s->diag.message, "nothing was refused"));
    assert_int_equal(l.s->limits.whole.ticks, SCENARIO_TICKS_MAX);
    lab_close(&l);
}

/* Equal iterations are stored once, whether or not all of them followed the text. */
static void what_is_repeated_is_kept_once(void **state)
{
    struct journal_end ok = {.host = "h1", .outcome = LOG_DONE};
    struct journal_end cut = {.host = "h1", .outcome = LOG_CUT};
    struct pool pool = {NULL};
    struct journal j = {.open = NULL};
    struct journal_block outer, block;
    struct pool_mark after_two = {NULL, 0};
    size_t logged_after_two = 0;
    struct step *run = step_new(&pool, &cmd_table[CMD_run], (struct span){0, 0});
    struct step *query = step_new(&pool, &cmd_table[CMD_query_port], (struct span){0, 0});
    struct step *repeat = step_new(&pool, &cmd_table[CMD_repeat], (struct span){0, 0});

    (void)state;
    journal_open(&j, &outer, true, true);
    journal_open(&j, &block, false, false);
    for (unsigned i = 0; i < 60000; i++) {
        for (unsigned k = 0; k < 4; k++) {
            ok.before = ok.after = cut.after;
            journal_leaf(&j, run, &ok);
            cut.before = ok.after;
            cut.after.tick += 3;
            journal_leaf(&j, query, &cut);
        }
        journal_round(&j);
        if (i == 1) {
            after_two = pool_mark(&j.scratch);
            logged_after_two = j.log.n_bytes;
        }
    }
    assert_int_equal(j.log.n, 60000 * 8);
    assert_int_equal(j.log.n_bytes, logged_after_two);
    assert_ptr_equal(pool_mark(&j.scratch).chunk, after_two.chunk);
    assert_int_equal(pool_mark(&j.scratch).used, after_two.used);
    journal_close(&j, repeat, "", true);
    journal_close(&j, repeat, "", true);
    repeat = journal_steps(&j, &pool);
    assert_ptr_equal(repeat->cmd, &cmd_table[CMD_repeat]);
    assert_string_equal(step_text(repeat, "count"), "60000");
    assert_null(repeat->next);
    journal_free(&j);
    pool_free(&pool);
}

static int leave_directory(void **state)
{
    remove_session_files();
    return own_directory_leave(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_went_otherwise_is_saved_as_what_it_did),
        cmocka_unit_test(blocks_are_folded_only_as_deep_as_they_may_be),
        cmocka_unit_test(a_session_is_saved_from_inside_a_block),
        cmocka_unit_test(a_session_longer_than_a_scenario_is_saved_with_a_limit),
        cmocka_unit_test(a_refused_block_may_have_a_limit_of_its_own),
        cmocka_unit_test(what_is_repeated_is_kept_once),
        cmocka_unit_test(whatever_was_done_is_done_again),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, leave_directory);
}

/* SPDX-License-Identifier: MIT */
/* Tests of sessions as files: random sessions are saved, opened in another session, and compared.
 * Damaged files are in test_session_file_hostile.c.  SESSION_FILE_SEED=N in the environment tries
 * one session and prints it.
 */
#include "cli/exec/travel.h"
#include "cli/own_directory.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/random_session.h"
#include "cli/session/session_files.h"
#include "cli/session/sight.h"
#include "rdmalab/trace.h"
#include "rounds.h"

#define SEEDS      n_rounds(24)
#define STATEMENTS 10u

static const struct span nowhere = {0, 0};

/* --- Files ------------------------------------------------------------------------------------ */

static void assert_same_files(const char *a, const char *b)
{
    char *x = bytes_of(a), *y = bytes_of(b);

    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* --- Random sessions -------------------------------------------------------------------------- */

static bool same_place(const struct place *a, const struct place *b)
{
    return place_compare(a, b) == 0 && a->at.ns == b->at.ns;
}

static void assert_same_lines(const struct typed_lines *a, const struct typed_lines *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->v[i].text, b->v[i].text);
        assert_true(same_place(&a->v[i].at, &b->v[i].at));
    }
}

static void assert_same_marks(const struct marks *a, const struct marks *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->v[i].name, b->v[i].name);
        assert_true(same_place(&a->v[i].place, &b->v[i].place));
    }
}

static void assert_same_sight(const struct session *a, const struct session *b)
{
    const struct sight x = sight_of(a->lab), y = sight_of(b->lab);

    sight_expect(&y, &x, "opened");
}

static void assert_same_sessions(struct session *a, struct session *b)
{
    const struct place here_a = position_here(a), here_b = position_here(b);
    const struct place end_a = position_end(a), end_b = position_end(b);

    assert_same_sight(a, b);
    assert_true(same_place(&here_a, &here_b));
    assert_true(same_place(&end_a, &end_b));
    assert_int_equal(a->history->position.in_past, b->history->position.in_past);
    assert_same_lines(&a->history->typed, &b->history->typed);
    assert_same_marks(&a->history->futures.marks, &b->history->futures.marks);
    assert_string_equal(futures_current(&a->history->futures),
                        futures_current(&b->history->futures));
    assert_int_equal(a->history->futures.n, b->history->futures.n);
    for (size_t i = 0; i < a->history->futures.n; i++) {
        const struct future *x = &a->history->futures.v[i], *y = &b->history->futures.v[i];

        assert_string_equal(x->name, y->name);
        assert_int_equal(x->unnamed, y->unnamed);
        assert_true(x->hash == 0 || x->hash == y->hash);
        assert_true(same_place(&x->left, &y->left));
        assert_same_lines(&x->typed, &y->typed);
        assert_same_marks(&x->marks, &y->marks);
    }
}

/* Fails unless both sessions save the same file. */
static void assert_same_saved(struct lab *a, struct lab *b)
{
    lab_run(b, "save world w2.json");
    assert_same_files("w.json", "w2.json");
    if (lab_try(a, "session save x.json")) {
        assert_int_equal(rename("x.json", "y.json"), 0);
        lab_run(b, "session save x.json");
        assert_same_files("x.json", "y.json");
        lab_run(a, "session save x.lab");
        assert_int_equal(rename("x.lab", "y.lab"), 0);
        lab_run(b, "session save x.lab");
        assert_same_files("x.lab", "y.lab");
    }
}

struct trip {
    struct author a;
    struct lab l;
};

static void do_statement(struct trip *t, bool verbose)
{
    char line[STATEMENT_BYTES];
    struct text text = text_on(line, sizeof(line));

    author_add_statement(&t->a, &text);
    if (verbose)
        print_message("%s\n", line);
    carry_out(&t->a, &t->l, line);
    t->l.s->limits.ticks_per_step = 0;
}

static void go_somewhere(struct trip *t)
{
    struct session *s = t->l.s;
    const struct place to =
        position_of_tick(s, author_below(&t->a, (uint32_t)position_end(s).at.tick + 1));

    if (!travel_to(s, &to, nowhere))
        fail_msg("%s", s->diag.message);
}

/* Executes statements in some futures, and moves between them. */
static void wander(struct trip *t, bool verbose)
{
    static const char *const names[] = {"f0", "f1", "f2"};

    for (uint32_t i = 0; i < ARRAY_LEN(names); i++) {
        switch (author_below(&t->a, 5)) {
        case 0:
            lab_run(&t->l, i ? "checkpoint one" : "checkpoint two");
            break;
        case 1:
            go_somewhere(t);
            futures_fork(t->l.s, names[i]);
            break;
        case 2:
            lab_try(&t->l, author_below(&t->a, 2) ? "back" : "redo");
            break;
        default:
            go_somewhere(t);
            break;
        }
        if (author_below(&t->a, 2))
            do_statement(t, verbose);
    }
    if (author_below(&t->a, 2))
        go_somewhere(t);
}

/* Executes the same statements in both, with equal results. */
static void go_on(struct trip *t, struct lab *other, bool verbose)
{
    const struct place end = position_end(t->l.s);
    char line[STATEMENT_BYTES];

    if (t->l.s->stops.first)
        lab_run(&t->l, "delete all"); /* stops are not saved */
    for (unsigned i = 0; i < 4; i++) {
        const struct place to =
            position_of_tick(t->l.s, author_below(&t->a, (uint32_t)end.at.tick + 1));

        assert_true(travel_to(t->l.s, &to, nowhere));
        assert_true(travel_to(other->s, &to, nowhere));
        assert_same_sessions(t->l.s, other->s);
    }
    assert_int_equal(lab_try(&t->l, "back 2"), lab_try(other, "back 2"));
    assert_int_equal(lab_try(&t->l, "redo"), lab_try(other, "redo"));
    assert_same_sessions(t->l.s, other->s);
    for (unsigned i = 0; i < 3; i++) {
        struct text text = text_on(line, sizeof(line));

        author_add_statement(&t->a, &text);
        if (verbose)
            print_message("both: %s\n", line);
        t->l.s->limits.ticks_per_step = other->s->limits.ticks_per_step = 2000;
        assert_int_equal(lab_try(&t->l, line), lab_try(other, line));
        t->l.s->limits.ticks_per_step = other->s->limits.ticks_per_step = 0;
        t->l.s->run.quit = other->s->run.quit = false;
        assert_same_sessions(t->l.s, other->s);
    }
    for (size_t i = 0, n = t->l.s->history->futures.n; i < n; i++) {
        char name[RDL_NAME_BYTES];
        struct text text = text_on(name, sizeof(name));

        text_add(&text, t->l.s->history->futures.v[0].name);
        if (!travel_to_future(t->l.s, name, nowhere) || !travel_to_future(other->s, name, nowhere))
            fail_msg("%s: %s %s", name, t->l.s->diag.message, other->s->diag.message);
        assert_same_sessions(t->l.s, other->s);
    }
}

static void try_seed(uint64_t seed, bool verbose)
{
    struct trip t = {.a = {.rng = prng_stream(seed, 3)}};
    struct rdl_listener *listener = NULL;
    char line[STATEMENT_BYTES];
    struct text text = text_on(line, sizeof(line));
    struct lab other;

    if (verbose)
        print_message("seed %llu\n", (unsigned long long)seed);
    lab_open(&t.l, HISTORY_BYTES);
    t.l.s->history->snapshots.gap = 5 + author_below(&t.a, 400);
    assert_int_equal(rdl_listen(t.l.s->lab, interrupt_then, &t.l, &listener), RDL_OK);
    if (author_below(&t.a, 3) == 0)
        do_statement(&t, verbose); /* before there is anything */
    author_begin(&t.a, &text);
    lab_try(&t.l, line);
    for (uint32_t left = author_below(&t.a, STATEMENTS); left > 0; left--)
        do_statement(&t, verbose);
    wander(&t, verbose);
    lab_run(&t.l, "save world w.json");
    if (open_file(&other, "w.json") != EXIT_PASSED)
        fail_msg("%s", other.out);
    other.s->limits.ticks_per_step = 0;
    assert_same_sessions(t.l.s, other.s);
    assert_same_saved(&t.l, &other);
    lab_run(&t.l, author_macros);
    lab_run(&other, author_macros);
    go_on(&t, &other, verbose);
    rdl_unlisten(t.l.s->lab, listener);
    lab_close(&other);
    lab_close(&t.l);
}

static void an_opened_session_is_the_one_that_was_saved(void **state)
{
    const char *chosen = getenv("SESSION_FILE_SEED");

    (void)state;
    if (chosen) {
        try_seed(strtoull(chosen, NULL, 10), true);
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        print_message("again: SESSION_FILE_SEED=%llu tests/t_session_file_session_file\n",
                      (unsigned long long)seed);
        try_seed(seed, false);
    }
}

/* --- Calls that fail in part ------------------------------------------------------------------ */

#define NODES                                                                                      \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=2m access=lw as mr }\n"

/* Each of @fails changes its lab, though no event says so, and what follows shows it. */
static const struct {
    const char *lines, *fails, *then;
} parts[] = {
    {"lnet_start h1", "lnet_stop h1 h2", "run"},
    {"lnet_start h1 h2; run; lnet_attach h2 portal=4 sge=mr\n"
     "lnet_put h1 h2 portal=4 sge=mr[0:64k]; until count(lnet_sent, message==PUT_ACK) == 1",
     "lnet_unlink h2 1", "lnet_put h1 h2 portal=4 sge=mr[0:64]; run"},
    {"lnet_start h1 h2; run; lnet_attach h2 portal=4 sge=mr", "lnet_put h1 h2 portal=4 sge=mr",
     "lnet_put h1 h2 portal=4 sge=mr[0:64] ack; run"},
    {"lnet_start h1 h2; run; lnet_serve h1", "lnet_serve h2 h1", "lnet_test h1 ping to=h2; run"},
};

static void a_call_that_failed_in_part_is_done_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct lab l, other;

        lab_open(&l, HISTORY_BYTES);
        lab_run(&l, NODES);
        lab_run(&l, parts[i].lines);
        assert_false(lab_try(&l, parts[i].fails));
        lab_run(&l, parts[i].then);
        lab_run(&l, "save world w.json");
        if (open_file(&other, "w.json") != EXIT_PASSED)
            fail_msg("%s: %s", parts[i].fails, other.out);
        assert_same_saved(&l, &other);
        lab_close(&other);
        lab_run(&l, "session save s.lab");
        lab_open(&other, HISTORY_BYTES);
        lab_run(&other, "source s.lab");
        assert_int_equal(remove("s.lab"), 0);
        assert_int_equal(rdl_tick(other.s->lab), rdl_tick(l.s->lab));
        assert_int_equal(rdl_now_ns(other.s->lab), rdl_now_ns(l.s->lab));
        lab_close(&other);
        lab_close(&l);
    }
}

/* --- Other versions --------------------------------------------------------------------------- */

#define ALWAYS "\"do\": \"ping\", \"host\": \"h1\", \"to\": \"h2\", \"count\": 3"

static void the_same_version_goes_the_same_way(void **state)
{
    static const char both[] = "the file was changed, or this is a bug of rdmalab";
    char *text = calm_session();
    char *other = replaced(text, VERSION, ANOTHER);
    struct lab l;

    (void)state;
    assert_says(text, PING, ALWAYS, EXIT_FAILED, both);
    assert_says(text, LATENCY, ANOTHER1, EXIT_FAILED, both);
    assert_says(text, "other\"}", "OTHER\"}", EXIT_PASSED, ""); /* no event shows these bytes */
    assert_says(text, VERSION, ANOTHER, EXIT_PASSED, "all goes as it did");
    assert_says(other, PING, ALWAYS, EXIT_PASSED, "the first command that went another way, in");
    assert_says(other, PING, ALWAYS, EXIT_PASSED, "in \"main\": ping h1 h2 count=3");
    assert_says(other, "\"hash\": \"", "\"hash\": \"0000000000000001\", \"x\": \"", EXIT_PASSED,
                "all takes the same time, but other events happen");
    assert_says(other, "\"do\": \"connect\"", "\"do\": \"detach\", \"x\": 1", EXIT_USAGE,
                "unknown");
    free(text);
    text = replaced(other, LATENCY, ANOTHER1);
    assert_int_equal(open_text(&l, text), EXIT_PASSED);
    assert_false(l.s->history->position.in_past);
    assert_true(rdl_tick(l.s->lab) > 0);
    lab_run(&l, "future was1\nback\nredo\nfuture main\nback 2\nredo 2\npost_recv h2.qp\nrun");
    lab_run(&l, "save world w2.json");
    lab_close(&l);
    assert_int_equal(open_file(&l, "w2.json"), EXIT_PASSED);
    lab_close(&l);
    free(text);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_opened_session_is_the_one_that_was_saved),
        cmocka_unit_test(a_call_that_failed_in_part_is_done_again),
        cmocka_unit_test(the_same_version_goes_the_same_way),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, session_files_leave_directory);
}

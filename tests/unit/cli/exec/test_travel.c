/* SPDX-License-Identifier: MIT */
/* Tests of travel in both directions of time: random sessions go to random places of their history.
 * TRAVEL_SEEDS=1..1000 in the environment tries these seeds; TRAVEL_SEED=N tries one and prints it.
 */
#include "cli/exec/travel.h"
#include "cli/live/live.h"
#include "cli/own_directory.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/random_session.h"
#include "cli/session/sight.h"
#include "rdmalab/trace.h"
#include "rounds.h"

#define SEEDS         n_rounds(40)
#define STATEMENTS    24u
#define VISITS        40u
#define HISTORY_BYTES ((size_t)64 << 20)

static const struct span nowhere = {0, 0};

/* --- Random sessions -------------------------------------------------------------------------- */

struct known {
    struct place place;
    struct sight sight;
};

struct trip {
    struct author a;
    struct lab l;
    struct known known[VISITS + STATEMENTS + 1];
    size_t n_known;
};

static void remember(struct trip *t)
{
    t->known[t->n_known].place = position_here(t->l.s);
    t->known[t->n_known++].sight = sight_of(t->l.s->lab);
}

static void go(struct trip *t, const struct place *to)
{
    if (!travel_to(t->l.s, to, nowhere))
        fail_msg("%s", t->l.s->diag.message);
}

/* Goes to a known place, which must be unchanged, or to a new one, which is remembered. */
static void go_somewhere(struct trip *t)
{
    struct session *s = t->l.s;
    const struct place end = position_end(s);
    struct place to;

    if (author_below(&t->a, 2) == 0 && t->n_known < ARRAY_LEN(t->known)) {
        to = position_of_tick(s, author_below(&t->a, (uint32_t)end.at.tick + 1));
        go(t, &to);
        remember(t);
    } else {
        const struct known *k = &t->known[author_below(&t->a, (uint32_t)t->n_known)];
        struct sight now;

        go(t, &k->place);
        now = sight_of(s->lab);
        sight_expect(&now, &k->sight, "again");
    }
}

/* Executes a statement in the past.  The session must still be one that replays. */
static void begin_another_future(struct trip *t, bool verbose)
{
    char line[STATEMENT_BYTES], why[2 * DIAG_MESSAGE_BYTES];
    const char *wrong;

    for (uint32_t left = 1 + author_below(&t->a, 4); left > 0; left--) {
        struct text text = text_on(line, sizeof(line));

        author_add_statement(&t->a, &text);
        if (verbose)
            print_message("then %s\n", line);
        carry_out(&t->a, &t->l, line);
    }
    t->l.s->limits.ticks_per_step = 0;
    go(t, &(struct place){position_end(t->l.s).n_entries, position_end(t->l.s).at});
    wrong = rdl_tick(t->l.s->lab) > 0 ? save_and_replay(&t->l, why, sizeof(why)) : NULL;
    if (wrong)
        fail_msg("%s", wrong);
}

/* Executes a statement in the present future. */
static void do_something(struct trip *t, bool verbose)
{
    char line[STATEMENT_BYTES];
    struct text text = text_on(line, sizeof(line));

    author_add_statement(&t->a, &text);
    if (verbose)
        print_message("in %s: %s\n", futures_current(&t->l.s->history->futures), line);
    carry_out(&t->a, &t->l, line);
    t->l.s->limits.ticks_per_step = 0;
}

static void assert_left(struct trip *t, const char *name, const struct sight *then)
{
    struct sight now;

    if (!travel_to_future(t->l.s, name, nowhere))
        fail_msg("%s: %s", name, t->l.s->diag.message);
    now = sight_of(t->l.s->lab);
    sight_expect(&now, then, name);
}

/* Visits all futures, which must be unchanged.  That includes the one that was left at @last. */
static void go_between_futures(struct trip *t, const struct sight *last, bool verbose)
{
    static const char *const names[] = {"f0", "f1", "f2"};
    struct session *s = t->l.s;
    struct sight left[ARRAY_LEN(names) + 1];

    if (futures_find(&s->history->futures, "was1")) {
        left[0] = sight_of(s->lab);
        assert_left(t, "was1", last);
        assert_left(t, FUTURE_FIRST, &left[0]);
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct place to =
            position_of_tick(s, author_below(&t->a, (uint32_t)position_end(s).at.tick + 1));

        go(t, &to);
        left[i] = sight_of(s->lab); /* a future is left where another one begins */
        futures_fork(s, names[i]);
        t->l.seen.forks = 1;
        do_something(t, verbose);
    }
    left[ARRAY_LEN(names)] = sight_of(s->lab);
    for (unsigned times = 0; times < 6; times++) {
        const uint32_t i = author_below(&t->a, ARRAY_LEN(names) + 1);
        const char *name = i ? names[i - 1] : FUTURE_FIRST;

        if (strcmp(name, futures_current(&s->history->futures)) != 0)
            assert_left(t, name, &left[i]);
    }
}

static void try_seed(uint64_t seed, bool verbose, struct seen *seen)
{
    struct trip t = {.a = {.rng = prng_stream(seed, 1)}};
    struct rdl_listener *listener = NULL;
    char line[STATEMENT_BYTES];
    struct text text = text_on(line, sizeof(line));
    struct place end;
    struct sight last, again;

    if (verbose)
        print_message("seed %llu\n", (unsigned long long)seed);
    lab_open(&t.l, HISTORY_BYTES);
    t.l.s->history->snapshots.gap = 5 + author_below(&t.a, 400);
    assert_int_equal(rdl_listen(t.l.s->lab, interrupt_then, &t.l, &listener), RDL_OK);
    author_begin(&t.a, &text);
    lab_run(&t.l, line);
    for (uint32_t left = author_below(&t.a, STATEMENTS); left > 0; left--) {
        text = text_on(line, sizeof(line));
        author_add_statement(&t.a, &text);
        if (verbose)
            print_message("%s\n", line);
        carry_out(&t.a, &t.l, line);
        remember(&t);
    }
    t.l.s->limits.ticks_per_step = 0;
    remember(&t);
    seen_add(&t.l.seen, t.l.s);
    end = position_here(t.l.s);
    last = sight_of(t.l.s->lab);
    for (unsigned i = 0; i < VISITS; i++)
        go_somewhere(&t);
    go(&t, &end);
    again = sight_of(t.l.s->lab);
    sight_expect(&again, &last, "the end");
    assert_false(t.l.s->history->position.in_past);
    go_somewhere(&t);
    begin_another_future(&t, verbose);
    go_between_futures(&t, &last, verbose);
    rdl_unlisten(t.l.s->lab, listener);
    seen_join(seen, &t.l.seen);
    lab_close(&t.l);
}

static void every_place_is_as_it_was(void **state)
{
    struct seen seen = {.n_sessions = 0};
    uint64_t first, last;
    const bool verbose = seeds_chosen(SEEDS, &first, &last);

    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        print_message("again: TRAVEL_SEED=%llu tests/t_session_travel\n", (unsigned long long)seed);
        try_seed(seed, verbose, &seen);
    }
    seen_expect_all(&seen, false);
}

/* In the past `run` may end between two ticks, even before the first.  The next command happens at
 * that time, which differs from the time of a place where a tick has just ended.
 */
static void time_that_passed_in_the_past_is_part_of_what_follows(void **state)
{
    struct trip t = {.a = {.rng = prng_stream(1, 1)}};
    char line[STATEMENT_BYTES], why[2 * DIAG_MESSAGE_BYTES];
    struct text text = text_on(line, sizeof(line));
    const char *wrong;

    (void)state;
    lab_open(&t.l, HISTORY_BYTES);
    author_begin(&t.a, &text);
    lab_run(&t.l, line);
    for (unsigned ticks = 1; ticks < 5; ticks++) {
        const struct place begin = position_end(t.l.s);
        struct place to;
        uint64_t at_ns;

        lab_run(&t.l, "post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled\nrun");
        to = position_of_tick(t.l.s, begin.at.tick + ticks);
        go(&t, &to);
        at_ns = rdl_now_ns(t.l.s->lab);
        lab_run(&t.l, "run 1ns");
        go(&t, &to);
        assert_int_equal(rdl_now_ns(t.l.s->lab), at_ns);
        lab_run(&t.l, "run 1ns");
        lab_run(&t.l, "write h1.mr[0] \"x\"");
        assert_int_equal(rdl_now_ns(t.l.s->lab), at_ns + 1);
        lab_run(&t.l, "run");
        wrong = save_and_replay(&t.l, why, sizeof(why));
        if (wrong)
            fail_msg("%s", wrong);
    }
    lab_close(&t.l);
}

/* All ticks of the last command are over, but not the time that it let pass after them. */
static void the_end_is_reached_when_its_time_is(void **state)
{
    struct trip t = {.a = {.rng = prng_stream(1, 1)}};
    char line[STATEMENT_BYTES];
    struct text text = text_on(line, sizeof(line));
    uint64_t end_ns;

    (void)state;
    lab_open(&t.l, HISTORY_BYTES);
    author_begin(&t.a, &text);
    lab_run(&t.l, line);
    lab_run(&t.l, "post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled\nrun 1ms");
    end_ns = rdl_now_ns(t.l.s->lab);
    lab_run(&t.l, "back 1 tick");
    lab_run(&t.l, "back 1 tick");
    lab_run(&t.l, "step tick 2");
    assert_true(rdl_now_ns(t.l.s->lab) < end_ns);
    assert_true(t.l.s->history->position.in_past);
    lab_run(&t.l, "write h1.mr[0] \"x\"");
    assert_false(t.l.s->history->position.in_past);
    lab_close(&t.l);
}

static int leave_directory(void **state)
{
    remove_session_files();
    return own_directory_leave(state);
}

/* --- The outside world ------------------------------------------------------------------------ */

static unsigned n_opened;

static struct live *open_live(struct rdl_lab *lab, bool is_virtual)
{
    (void)is_virtual;
    n_opened++;
    return (struct live *)lab; /* never dereferenced */
}

static void close_live(struct live *l)
{
    (void)l;
}

static bool no_tap(struct live *l, const char *device, const char *node, struct live_error *reterr)
{
    (void)l;
    (void)device;
    (void)node;
    *reterr = (struct live_error){.message = "no device"};
    return false;
}

static bool nothing_attached(const struct live *l)
{
    (void)l;
    return false;
}

/* Replayed commands reach nothing outside, whatever the log says. */
static void on_the_way_nothing_is_opened(void **state)
{
    static const struct live_ops ops = {
        .open = open_live, .close = close_live, .tap = no_tap, .attached = nothing_attached};
    const struct source src = source_typed("port tap rdl0 h3");
    struct log_entry port = {.host = ""};
    struct lines lines;
    struct lab l;

    (void)state;
    n_opened = 0;
    lab_open(&l, HISTORY_BYTES);
    l.s->config.live_ops = &ops;
    lab_run(&l, "host h1 h2 h3; link h1 h2 latency=1us");
    session_read(l.s, &src, NULL, false, &lines);
    port.st = lines.script.first;
    port.before = port.after = position_end(l.s).at;
    log_add(&l.s->history->journal.log, &port);
    lab_run(&l, "ping h1 h2; back; redo; goto start; goto end");
    assert_int_equal(n_opened, 0);
    assert_true(l.s->history->snapshots.n > 0);
    script_done(&lines.script);

    assert_false(lab_try(&l, "port tap rdl0 h3"));
    assert_int_equal(n_opened, 1);
    /* Nothing is attached, so the lab can go back. */
    lab_run(&l, "back 2 tick; goto start; goto end");
    assert_int_equal(n_opened, 1);
    assert_non_null(l.s->outside.live);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_as_it_was),
        cmocka_unit_test(the_end_is_reached_when_its_time_is),
        cmocka_unit_test(time_that_passed_in_the_past_is_part_of_what_follows),
        cmocka_unit_test(on_the_way_nothing_is_opened),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, leave_directory);
}

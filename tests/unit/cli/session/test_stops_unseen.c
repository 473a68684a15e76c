/* SPDX-License-Identifier: MIT */
/* Tests that breaks and watches change nothing: random sessions with a hundred of them and without
 * them are compared.
 *
 * If a stop ends a statement in one session, the other is ended at the same tick.  Both must
 * have the same tree, events and journal after each statement, at random places of the past, and in
 * other futures.  TRAVEL_SEEDS=1..1000 in the environment tries these seeds; TRAVEL_SEED=N tries
 * one and prints it.
 */
#include "cli/exec/travel.h"
#include "cli/own_directory.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/random_session.h"
#include "cli/session/sight.h"
#include "rdmalab/trace.h"
#include "rounds.h"

#define SEEDS         n_rounds(24)
#define SEEDS_FOR_ALL 100u /* in so many sessions everything must have happened */
#define STATEMENTS    32u
#define STOPS         100u
#define VISITS        12u
#define HITS_MAX      1u /* a stop with so many hits is disabled */
#define HISTORY_BYTES ((size_t)64 << 20)

/* As in random_session.c: @ is a host, $ a small number, ~ a larger one. */
static const char *const stops[] = {
    "break tx(host==h@, psn==$)",
    "break tx once",
    "break rx(host==h@, bytes>~)",
    "break cqe(host==h@, status!=SUCCESS)",
    "break cqe(wr_id==$)",
    "break qp_state(to==ERR)",
    "break qp_state(host==h@, to==RTS)",
    "break drop",
    "break lost or timeout(retry==$)",
    "break fault(by==delay)",
    "break ping_reply(seq==$)",
    "break gone(host==h@)",
    "break atomic",
    "break key(host==h@, bytes==~)",
    "break count(tx) == ~~",
    "break count(rx, host==h@) > ~~",
    "break count(cqe, status==SUCCESS) == $",
    "break h@.qp.state == ERR",
    "break h@.qp.state != RTS once",
    "break h@.q$.state == RTR",
    "break h@.qp.next_psn > ~ and h@.qp.outstanding == 0",
    "break h@.cq.wc[$].status == SUCCESS",
    "break h@.cq.count == $ or h@.ip.pings == $",
    "break not h@.mr[$] == 0",
    "break h1.mr[0:4] == h2.mr[0:4]",
    "break h@.mw.state == VALID",
    "break h@.srq.nothing == $",
    "break t > ~us and tick > ~~~",
    "break #~~~",
    "break tx(host==h9)",
    "on h@ { break qp.state == SQE }",
    "on h@ { watch cq.count }",
    "watch h@.qp.state",
    "watch h@.qp.sq.driver.avail_idx",
    "watch h@.mr[$:~]",
    "watch h@.wmr[~] once",
    "watch h@.q$.qpn",
    "watch h@.s$.count",
    "watch h@.counters.rnr_naks_sent",
    "watch count(lost)",
    "watch count(tx, host==h@)",
    "watch h1-h2.loss",
    "watch f$.hits",
    "disable $",
};

struct pair {
    struct author a;
    struct lab plain, watched;
    bool verbose;
    bool unlike; /* a stop ended a statement without a tick, so the journals may differ */
};

static void open_lab(struct lab *l, const char *lines, uint64_t gap)
{
    struct rdl_listener *listener = NULL; /* ends with the lab */

    lab_open(l, HISTORY_BYTES);
    l->s->history->snapshots.gap = gap;
    assert_int_equal(rdl_listen(l->s->lab, interrupt_then, l, &listener), RDL_OK);
    lab_run(l, lines);
}

static void add_stops(struct pair *p)
{
    char line[STATEMENT_BYTES];

    while (p->watched.s->stops.n_made < STOPS) {
        struct text t = text_on(line, sizeof(line));

        author_add_line(&p->a, &t, stops[author_below(&p->a, ARRAY_LEN(stops))]);
        if (p->verbose)
            print_message("%s\n", line);
        (void)lab_try(&p->watched, line); /* some name objects that do not or cannot exist */
    }
}

static void expect_alike(struct pair *p, const char *when)
{
    const struct sight watched = sight_of(p->watched.s->lab), plain = sight_of(p->plain.s->lab);

    sight_expect(&watched, &plain, when);
}

/* Returns the number of hits, with an upper bound for the stops that were removed. */
static uint64_t hits(const struct stops *list)
{
    uint64_t n = 0, there = 0;

    for (const struct stop *stop = list->first; stop; stop = stop->next) {
        n += stop->n_hits;
        there++;
    }
    return n + (STOPS - there) * (1 + HITS_MAX);
}

/* Enables stops with few hits; none if @any is false. */
static void enable(struct stops *list, bool any)
{
    for (struct stop *stop = list->first; stop; stop = stop->next)
        stop->enabled = any && stop->n_hits < HITS_MAX;
}

static bool is_about_stops(const char *statement)
{
    return strstr(statement, "break ") || strstr(statement, "watch ") ||
           strstr(statement, "able all") || strstr(statement, "delete all");
}

/* Makes the session check for stops and ^C in each tick.  Otherwise ^C may end a statement later.
 */
static void look_at_each_tick(struct lab *l)
{
    assert_non_null(stops_add_when(&l->s->stops, STOP_OF_PROGRAM, "count(tx) < 0",
                                   (struct span){0, 0}, &l->s->diag));
}

/* A stop may be hit after the last tick, when time has passed.  The other session ended in that
 * tick: lets the time pass there, too.
 */
static void catch_up(struct pair *p)
{
    const uint64_t to = rdl_now_ns(p->watched.s->lab), from = rdl_now_ns(p->plain.s->lab);
    char line[48];

    (void)snprintf(line, sizeof(line), "run %lluns", (unsigned long long)(to - from));
    if (from < to && rdl_tick(p->watched.s->lab) == rdl_tick(p->plain.s->lab))
        lab_run(&p->plain, line);
}

static void do_both(struct pair *p)
{
    const uint64_t before = hits(&p->watched.s->stops);
    char line[STATEMENT_BYTES];
    struct text t;
    struct cut cut;
    bool hit;

    do {
        t = text_on(line, sizeof(line));
        author_add_statement(&p->a, &t);
    } while (is_about_stops(line) || strncmp(line, "source", 6) == 0);
    cut = author_draw_cut(&p->a);
    if (p->verbose)
        print_message("%s\n", line);
    if (cut.by == CUT_INTERRUPT) {
        look_at_each_tick(&p->watched);
        look_at_each_tick(&p->plain);
    }
    carry_out_until(&p->watched, line, cut, 0);
    hit = hits(&p->watched.s->stops) != before;
    p->watched.seen.hits += hit;
    p->unlike |= hit; /* the log entry of a stop differs from that of a limit */
    carry_out_until(&p->plain, line, cut, hit ? rdl_tick(p->watched.s->lab) : 0);
    if (hit)
        catch_up(p);
    expect_alike(p, line);
    enable(&p->watched.s->stops, author_below(&p->a, 3) > 0);
}

/* Returns what "session save" writes; NULL: nothing yet.  The caller frees it. */
static char *journal_of(struct lab *l)
{
    struct source src;
    char *text;

    if (!lab_try(l, "session save x.lab"))
        return NULL;
    assert_null(source_read("x.lab", &src));
    text = (char *)src.text;
    src.text = NULL;
    source_done(&src);
    return text;
}

/* Returns the first line of @text that differs from @other. */
static const char *difference(const char *text, const char *other)
{
    size_t i = 0;

    if (!text || !other)
        return text ? text : "none";
    while (text[i] && text[i] == other[i])
        i++;
    while (i > 0 && text[i - 1] != '\n')
        i--;
    return text + i;
}

static void expect_replay(struct lab *l)
{
    char why[2 * DIAG_MESSAGE_BYTES];
    const char *wrong = save_and_replay(l, why, sizeof(why));

    if (wrong)
        fail_msg("%s", wrong);
}

static void expect_same_journal(struct pair *p)
{
    char *plain = journal_of(&p->plain), *watched = journal_of(&p->watched);

    if (plain && watched && p->unlike) {
        expect_replay(&p->plain);
        expect_replay(&p->watched);
    } else if (!plain != !watched || (plain && strcmp(plain, watched) != 0))
        fail_msg("from here on the journals are others:\n%.300s\nwith stops:\n%.300s",
                 difference(plain, watched), difference(watched, plain));
    free(plain);
    free(watched);
}

static void go(struct lab *l, uint64_t tick)
{
    const struct place to = position_of_tick(l->s, tick);

    if (!travel_to(l->s, &to, (struct span){0, 0}))
        fail_msg("%s", l->s->diag.message);
}

/* Moves both to the same place, sometimes one that a search for a stop or event found. */
static void go_both(struct pair *p)
{
    static const char *const lines[] = {"back stop", "back to tx(host==h1)",
                                        "back to h1.qp.state == RTS", "back to not h2.mr[0] == 0",
                                        "back to count(cqe) == 2"};
    const uint64_t end = position_end(p->plain.s).at.tick;

    go(&p->watched, author_below(&p->a, (uint32_t)end + 1));
    if (author_below(&p->a, 2) == 0)
        (void)lab_try(&p->watched, lines[author_below(&p->a, ARRAY_LEN(lines))]);
    assert_int_not_equal(p->watched.s->diag.kind, DIAG_BROKEN);
    go(&p->plain, rdl_tick(p->watched.s->lab));
    expect_alike(p, "in the past");
}

static void try_seed(uint64_t seed, bool verbose, struct seen *seen)
{
    struct pair p = {.a = {.rng = prng_stream(seed, 2)}, .verbose = verbose};
    char line[STATEMENT_BYTES];
    struct text t = text_on(line, sizeof(line));
    uint64_t gap;

    author_begin(&p.a, &t);
    gap = 5 + author_below(&p.a, 400);
    open_lab(&p.plain, line, gap);
    open_lab(&p.watched, line, gap);
    add_stops(&p);
    for (uint32_t left = author_below(&p.a, STATEMENTS); left > 0; left--)
        do_both(&p);
    seen_add(&p.watched.seen, p.watched.s);
    expect_same_journal(&p);
    for (unsigned i = 0; i < VISITS; i++)
        go_both(&p);
    futures_fork(p.plain.s, "other");
    futures_fork(p.watched.s, "other");
    p.watched.seen.forks++;
    do_both(&p);
    do_both(&p);
    lab_run(&p.plain, "goto end");
    lab_run(&p.watched, "goto end");
    expect_alike(&p, "the end of the other future");
    expect_same_journal(&p);
    seen_join(seen, &p.watched.seen);
    lab_close(&p.plain);
    lab_close(&p.watched);
}

static void stops_change_nothing(void **state)
{
    struct seen seen = {.n_sessions = 0};
    uint64_t first, last;
    const bool verbose = seeds_chosen(SEEDS, &first, &last);

    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        print_message("again: TRAVEL_SEED=%llu tests/t_session_stops_unseen\n",
                      (unsigned long long)seed);
        try_seed(seed, verbose, &seen);
    }
    assert_true(seen.hits > 0);
    if (last - first + 1 >= SEEDS_FOR_ALL)
        seen_expect_all(&seen, true);
}

static int leave_directory(void **state)
{
    remove_session_files();
    return own_directory_leave(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_change_nothing),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, leave_directory);
}

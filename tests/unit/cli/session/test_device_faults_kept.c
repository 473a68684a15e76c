/* SPDX-License-Identifier: MIT */
/* Tests of device faults that are partly done: one of three kicks has passed, late data is in
 * flight, a queue is stuck.  From there the session goes to its past, another future, a file or a
 * saved session.  The rest of the fault must be the same everywhere.
 */
#include "cli/exec/exec.h"
#include "cli/exec/travel.h"
#include "cli/own_directory.h"
#include "cli/session/files.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/random_session.h"
#include "cli/session/session_files.h"
#include "cli/session/sight.h"
#include "process/exit_status.h"
#include "rdmalab/trace.h"

#define STRIDE 5u /* every so many ticks are visited */

#define PAIR_OF(ring)                                                                              \
    "host h1 h2 ram=1m ring=" ring "; link h1 h2\n"                                                \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw,rr as mr; create_cq as cq\n"         \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp sq_psn=0 timeout=4\n"                                                     \
    "repeat 6 { post_recv h2.qp sge=mr[0:64] }\n"
#define SEND "post_send h1.qp sge=mr[0:64] signaled\n"

static const char *const pairs[] = {PAIR_OF("split"), PAIR_OF("packed")};

static const struct story {
    const char *name, *begin, *rest;
} stories[] = {
    {"a kick has passed", "lose the 3rd kick of h1.qp.sq as f\n" SEND "run; expect f.seen == 1\n",
     SEND "run; expect f.seen == 2 and f.hits == 0 and count(cqe, host==h1) == 2\n" SEND
          "run; expect f.hits == 1 and count(cqe, host==h1) == 2\n"
          "kick h1.qp.sq; run; expect f.seen == 3 and count(cqe, host==h1) == 3"},
    {"a kick is lost already",
     "lose the next 2 kicks of h1.qp.sq as f\n" SEND "run; expect f.hits == 1\n",
     "kick h1.qp.sq; run; expect f.hits == 2 and count(tx) == 0\n"
     "kick h1.qp.sq; run; expect f.hits == 2 and count(cqe, host==h1) == 1"},
    {"kicks are lost by chance",
     "lose what=kick queue=h1 count=0 chance=50% as f\n"
     "repeat 7 { kick h1.qp.sq; run }; expect f.seen == 7\n",
     "repeat 20 { kick h1.qp.sq; run }; expect f.seen == 27 and f.hits > 4 and f.hits < 23"},
    {"a kick has met a condition",
     "lose the 2nd kick of h1.qp.sq where avail_idx >= 1 as f\n" SEND "run\nkick h1.qp.sq\n"
     "expect f.seen == 1\n",
     "kick h1.qp.sq; run; expect f.seen == 2 and f.hits == 1"},
    {"an interrupt has passed",
     "lose the 2nd interrupt of h2.cq as f; req_notify_cq h2.cq\n" SEND
     "run; expect f.seen == 1 and count(cq_event) == 1\n",
     "req_notify_cq h2.cq; poll_cq h2.cq; req_notify_cq h2.cq\n" SEND
     "run; expect f.hits == 1 and count(cqe, host==h2) == 2 and count(cq_event) == 1"},
    {"a completion is under way",
     "postpone the next data of h1.cq by 9us as f\n" SEND
     "run 8us; expect f.hits == 1 and count(late_data) == 0\n",
     "run; expect count(late_data) == 1; poll_cq h1.cq"},
    {"a completion is under way whose fault is gone",
     "postpone the next data of h1.cq by 9us as f\n" SEND
     "run 8us; expect f.hits == 1; clear f; expect count(late_data) == 0\n",
     "poll_cq h1.cq; run; expect count(late_data) == 1\n" SEND
     "run; poll_cq h1.cq; expect count(late_data) == 1"},
    {"a frame is under way",
     "postpone the next data of h2.net.rx by 90us as f\n"
     "refused reason=err_timeout { ping h1 to=10.0.0.2 timeout=30us }; expect f.hits == 1 and "
     "count(late_data) == 0\n",
     "run; expect f.hits == 1 and count(late_data) == 2\nping h1 to=10.0.0.2"},
    {"a queue is stopped for a time",
     "stall h1.qp.sq for 1ms as f\n" SEND SEND "run 500us; expect f.hits == 1\n",
     "run 400us; expect count(tx) == 0\n"
     "run; expect count(queue_goes_on) == 1 and count(cqe, host==h1) == 2"},
    {"a queue is stopped", "stall h1.qp.sq as f\n" SEND "run; expect f.hits == 1\n",
     "run; expect count(tx) == 0\n"
     "clear f; run; expect count(queue_goes_on) == 1 and count(cqe, host==h1) == 1"},
    {"a buffer has passed",
     "stall the 2nd buffer of h2.qp.rq for 100us as f\n" SEND "run; expect f.hits == 0\n",
     SEND "run; expect f.hits == 1 and count(queue_goes_on) == 1 and count(cqe, host==h1) == 2"},
    {"a completion has passed",
     "invent the 2nd completion of h1.cq as f\n" SEND "run; poll_cq h1.cq; expect f.hits == 0\n",
     SEND "run; expect f.hits == 1; poll_cq h1.cq max=1\n"
          "refused reason=err_broken { poll_cq h1.cq }; expect count(used_refused) == 1"},
    {"a completion is invented, and nobody has looked",
     "invent a completion of h1.cq as f\n" SEND "run; expect f.hits == 1\n",
     "poll_cq h1.cq max=1; refused reason=err_broken { poll_cq h1.cq }; expect count(used_refused) "
     "== 1"},
    {"a fault was numbered", "lose the next kick of h1.ctrl; clear f1; stall h2.qp.rq as f\n",
     "lose the next kick of h1.qp.sq\n" SEND
     "run; expect f3.hits == 1; clear f3; kick h1.qp.sq; run 20us; expect f.hits == 1\n"
     "clear f; run; expect count(cqe, host==h1) == 1"},
};

/* The state of a session in the middle of a history and at its end. */
struct told {
    struct sight middle, end;
};

static void run_story(struct lab *l, const char *pair, const struct story *s)
{
    lab_open(l, HISTORY_BYTES);
    l->s->history->snapshots.gap = 20;
    lab_run(l, pair);
    lab_run(l, s->begin);
}

static void expect_middle(const struct lab *l, const struct told *told, const char *how)
{
    const struct sight now = sight_of(l->s->lab);

    sight_expect(&now, &told->middle, how);
}

/* Checks that the rest of the history is the same. */
static void expect_rest(struct lab *l, const struct story *s, const struct told *told,
                        const char *how)
{
    struct sight now;

    expect_middle(l, told, how);
    lab_run(l, s->rest);
    now = sight_of(l->s->lab);
    sight_expect(&now, &told->end, how);
}

static struct told tell(const char *pair, const struct story *s)
{
    struct told told;
    struct lab l;

    print_message("%s, %s\n", s->name, pair == pairs[0] ? "split" : "packed");
    run_story(&l, pair, s);
    told.middle = sight_of(l.s->lab);
    lab_run(&l, s->rest);
    told.end = sight_of(l.s->lab);
    lab_close(&l);
    return told;
}

typedef void try_story(const char *pair, const struct story *s, const struct told *told);

static void try_stories(try_story *try)
{
    for (size_t i = 0; i < ARRAY_LEN(stories); i++) {
        for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
            const struct told told = tell(pairs[k], &stories[i]);

            try(pairs[k], &stories[i], &told);
        }
    }
}

static void go_to_tick(struct lab *l, uint64_t tick)
{
    const struct place to = position_of_tick(l->s, tick);

    if (!travel_to(l->s, &to, (struct span){0, 0}))
        fail_msg("tick %llu: %s", (unsigned long long)tick, l->s->diag.message);
}

static void try_past(const char *pair, const struct story *s, const struct told *told)
{
    struct sight *seen;
    struct lab l;
    uint64_t end;

    run_story(&l, pair, s);
    lab_run(&l, "checkpoint middle");
    lab_run(&l, s->rest);
    end = position_end(l.s).at.tick;
    lab_run(&l, "goto start; goto middle");
    expect_middle(&l, told, "goto");
    lab_run(&l, "back 2; redo 2");
    expect_middle(&l, told, "back and redo");
    lab_run(&l, "goto end");
    seen = calloc(end / STRIDE + 1, sizeof(*seen));
    assert_non_null(seen);
    for (uint64_t i = end / STRIDE + 1; i-- > 0;) {
        go_to_tick(&l, i * STRIDE);
        seen[i] = sight_of(l.s->lab);
    }
    for (uint64_t i = 0; i <= end / STRIDE; i++) {
        struct sight now;

        go_to_tick(&l, i * STRIDE);
        now = sight_of(l.s->lab);
        sight_expect(&now, &seen[i], "a tick in both directions");
    }
    free(seen);
    lab_run(&l, "goto middle");
    expect_rest(&l, s, told, "what is done again in the past");
    lab_close(&l);
}

static void they_come_back_with_their_time(void **state)
{
    (void)state;
    try_stories(try_past);
}

static void try_futures(const char *pair, const struct story *s, const struct told *told)
{
    struct lab l;

    run_story(&l, pair, s);
    lab_run(&l, "checkpoint middle; fork other");
    lab_run(&l, "write h1.mr[0] \"other\"; clear all; run; ping h1 to=10.0.0.2");
    lab_run(&l, "future main; goto end");
    expect_rest(&l, s, told, "the future that was left");
    lab_run(&l, "goto middle; fork twin");
    expect_rest(&l, s, told, "a fork");
    lab_run(&l, "future other; future twin; goto middle");
    expect_middle(&l, told, "a fork that was left");
    lab_close(&l);
}

static void they_are_in_each_future(void **state)
{
    (void)state;
    try_stories(try_futures);
}

static void replay(const char *name, const struct story *s, const struct told *told)
{
    struct script script = {.first = NULL};
    struct diag d = {.kind = DIAG_NONE};
    struct lab l;

    lab_open(&l, 0);
    assert_null(source_read(name, &script.src));
    if (!files_parse(&script, &d))
        fail_msg("%s: %s", name, d.message);
    if (!exec_script(l.s, &script))
        fail_msg("%s: %s", name, l.s->diag.message);
    expect_rest(&l, s, told, name);
    source_done(&script.src);
    script_done(&script);
    lab_close(&l);
}

static void try_saved(const char *pair, const struct story *s, const struct told *told)
{
    struct lab l;

    run_story(&l, pair, s);
    lab_run(&l, "session save x.lab; session save x.json");
    lab_close(&l);
    replay("x.lab", s, told);
    replay("x.json", s, told);
}

static void they_are_in_what_a_session_saves(void **state)
{
    (void)state;
    try_stories(try_saved);
}

static void try_session_file(const char *pair, const struct story *s, const struct told *told)
{
    struct lab l;

    run_story(&l, pair, s);
    lab_run(&l, "checkpoint middle; save world w.json");
    expect_rest(&l, s, told, "a session that was saved as a file");
    lab_run(&l, "save world w2.json");
    lab_close(&l);
    if (open_file(&l, "w.json") != EXIT_PASSED)
        fail_msg("%s", l.out);
    expect_rest(&l, s, told, "a session file that was saved in the middle");
    lab_close(&l);
    if (open_file(&l, "w2.json") != EXIT_PASSED)
        fail_msg("%s", l.out);
    lab_run(&l, "goto middle; fork again");
    expect_rest(&l, s, told, "a session file that was saved at the end");
    lab_close(&l);
}

static void they_are_in_a_session_file(void **state)
{
    (void)state;
    try_stories(try_session_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_back_with_their_time),
        cmocka_unit_test(they_are_in_each_future),
        cmocka_unit_test(they_are_in_what_a_session_saves),
        cmocka_unit_test(they_are_in_a_session_file),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, session_files_leave_directory);
}

/* SPDX-License-Identifier: MIT */
/* Tests of `back` to where something happened or began to hold.  The result must equal that of
 * going to every tick and looking.
 */
#include "cli/exec/travel.h"
#include "cli/lab_session.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/stop_look.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

static const struct span nowhere = {0, 0};

#define MORE                                                                                       \
    "post_recv h2.qp sge=mr[0:64]; post_recv h2.qp sge=mr[64:128]\n"                               \
    "post_send h1.qp wr_id=2 sge=mr[0:64] signaled; run\n"                                         \
    "poll_cq h1.cq\n"                                                                              \
    "post_send h1.qp wr_id=3 sge=mr[0:64] signaled; run; write h2.mr[0] \"again\"\n"

/* Conditions, and the kind of event if they are about events; otherwise EV_COUNT. */
static const struct {
    const char *text;
    enum ev_kind kind;
} questions[] = {
    {"h1.qp.state == RTS", EV_COUNT},
    {"h1.qp.retries > 0", EV_COUNT},
    {"h1.qp.sq_psn >= 102 or h1.qp.sq_psn == 100", EV_COUNT},
    {"h2.cq.wc[0].wr_id == 7", EV_COUNT},
    {"count(cqe) >= 3", EV_COUNT},
    {"not h1.qp.state == RESET", EV_COUNT},
    {"t > 15us", EV_COUNT},
    {"#20", EV_COUNT},
    {"cqe", EV_cqe},
    {"lost", EV_lost},
    {"timeout()", EV_timeout},
    {"mem_write", EV_mem_write},
    {"ctrl_request", EV_ctrl_request},
    {"kick", EV_kick},
    {"#13", EV_COUNT},
    {"tick == 43", EV_COUNT},
    {"tick == 20 or tick == 30", EV_COUNT},
};

/* Returns true if an event of @kind happens in the present tick. */
static bool happens_here(const struct session *s, enum ev_kind kind)
{
    const uint64_t tick = rdl_tick(s->lab);

    for (size_t i = rdl_record_count(s->lab); i > 0; i--) {
        const struct ev *e = rdl_record_at(s->lab, i - 1);

        if (ev_tick(e->id) < tick)
            break;
        if (e->kind == kind)
            return true;
    }
    return false;
}

/* Returns true if the condition of @stop holds in the present tick. */
static bool holds_here(const struct session *s, struct stop *stop, enum ev_kind kind)
{
    struct diag ignored;

    if (kind != EV_COUNT)
        return happens_here(s, kind);
    (void)stop_arrive(s, stop, &ignored);
    return stop->held;
}

/* Returns the last tick before @tick in which condition @i begins to hold or its event happens.
 * Visits every tick.  UINT64_MAX: none.
 */
static uint64_t tick_before(struct session *s, size_t i, uint64_t tick)
{
    const enum ev_kind kind = questions[i].kind;
    struct stops alone = {.first = NULL};
    struct stop *stop =
        stops_add_when(&alone, STOP_OF_PROMPT, questions[i].text, nowhere, &s->diag);
    uint64_t found = UINT64_MAX;
    bool held = false;

    assert_non_null(stop);
    assert_true(stop_attach(s, stop, nowhere));
    for (uint64_t at = 0; at < tick; at++) {
        const struct place to = position_of_tick(s, at);
        bool holds;

        assert_true(travel_to(s, &to, nowhere));
        if (rdl_tick(s->lab) != at)
            continue; /* no command stops there */
        holds = holds_here(s, stop, kind);
        if (holds && (!held || kind != EV_COUNT))
            found = at;
        held = holds;
    }
    stops_free(&alone);
    return found;
}

static void back_to_finds_what_going_everywhere_finds(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY MORE);
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        uint64_t tick = position_end(l.s).at.tick;
        char line[128];

        snprintf(line, sizeof(line), "back to %s", questions[i].text);
        lab_run(&l, "goto end");
        for (unsigned times = 0; times < 3 && tick != UINT64_MAX; times++) {
            const struct place from = position_of_tick(l.s, tick);
            const uint64_t want = tick_before(l.s, i, tick);

            assert_true(travel_to(l.s, &from, nowhere));
            if (lab_try(&l, line) != (want != UINT64_MAX))
                fail_msg("%s from #%llu: %s", line, (unsigned long long)tick, l.s->diag.message);
            if (want == UINT64_MAX)
                assert_int_equal(rdl_tick(l.s->lab), tick);
            else if (rdl_tick(l.s->lab) != want)
                fail_msg("%s from #%llu: #%llu, not #%llu", line, (unsigned long long)tick,
                         (unsigned long long)rdl_tick(l.s->lab), (unsigned long long)want);
            tick = want;
        }
    }
    lab_close(&l);
}

/* `back stop` stops where lines were stopped on the way forward. */
static void stops_are_hit_in_both_directions(void **state)
{
    static const char *const lines[] = {
        "break tx; break h1.qp.sq_psn == 103; watch h2.mr[0:8]; watch h1.cq.wc[1].wr_id",
        "post_recv h2.qp sge=mr[0:64]",
        "post_recv h2.qp sge=mr[64:128]",
        "poll_cq h1.cq",
        "write h1.mr[0] \"something else\"",
        "post_send h1.qp wr_id=2 sge=mr[0:64]",
        "post_send h1.qp wr_id=3 sge=mr[0:64] signaled",
        "run",
        "run",
        "run",
        "run",
        "run",
        "run",
        "run",
    };
    uint64_t hits[ARRAY_LEN(lines)];
    size_t n = 0;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        lab_run(&l, lines[i]);
        if (l.s->stops.hit)
            hits[n++] = rdl_tick(l.s->lab);
    }
    assert_true(n >= 4);
    for (uint32_t id = 1; id <= 4; id++)
        assert_true(stops_find(&l.s->stops, id)->n_hits > 0);
    assert_null(l.s->stops.hit);            /* the last line ran to its end */
    n -= hits[n - 1] == rdl_tick(l.s->lab); /* a hit in the present tick does not count */
    while (n-- > 0) {
        lab_run(&l, "back stop");
        assert_int_equal(rdl_tick(l.s->lab), hits[n]);
    }
    lab_close(&l);
}

/* Stops do not change event numbers, and are not part of the history. */
static void stops_leave_no_trace(void **state)
{
    uint64_t hash[2];
    struct lab l;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        lab_open(&l, false);
        lab_run(&l, STORY);
        if (i)
            lab_run(&l, "break rx; watch h1.qp.sq_psn; break t > 100us do { show }");
        for (unsigned times = 0; times < 4; times++) {
            lab_run(&l, "post_recv h2.qp sge=mr[0:64]");
            lab_run(&l, "post_send h1.qp sge=mr[0:64]");
            while (rdl_next_ns(l.s->lab) != RDL_NEVER)
                lab_run(&l, "run");
        }
        if (i)
            assert_true(stops_find(&l.s->stops, 1)->n_hits >= 8 &&
                        stops_find(&l.s->stops, 2)->n_hits == 4);
        hash[i] = rdl_hash(l.s->lab);
        lab_close(&l);
    }
    assert_int_equal(hash[0], hash[1]);
}

/* The block behind `do` is executed at each hit, and the line has ended. */
static void a_block_is_done_at_each_hit(void **state)
{
    uint64_t before;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY "break rx do { write h1.mr[0] \"seen\" }; break rx once");
    before = rdl_total(l.s->lab, EV_mem_write);
    lab_run(&l, "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled");
    lab_run(&l, "run; host h9");
    assert_int_equal(rdl_total(l.s->lab, EV_mem_write), before + 1);
    assert_false(lab_try(&l, "show h9")); /* the line has ended */
    assert_null(stops_find(&l.s->stops, 2));
    lab_run(&l, "run");
    assert_int_equal(rdl_total(l.s->lab, EV_mem_write), before + 2);
    assert_int_equal(stops_find(&l.s->stops, 1)->n_hits, 2);
    lab_run(&l, "run");
    assert_int_equal(stops_find(&l.s->stops, 1)->n_hits, 2);
    lab_close(&l);
}

/* A block may remove its own stop; its output is still printed. */
static void a_block_may_remove_its_own_stop(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY "break post_send do { delete all; read h1.mr[0:4]; show h1.nothing }");
    assert_false(lab_try(&l, "post_send h1.qp sge=mr[0:64] signaled; host h9"));
    assert_string_equal(l.s->diag.message, "nothing is called \"h1.nothing\"");
    assert_non_null(strstr(l.s->diag_src.text, "show h1.nothing"));
    assert_null(l.s->stops.first);
    lab_close(&l);
}

/* A stop ends a line; the next line of a script is executed. */
static void the_next_line_goes_on(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l,
            STORY "break post_recv do { write h1.mr[0] \"x\" }\n"
                  "post_recv h2.qp wr_id=21; post_recv h2.qp wr_id=22\n"
                  "post_recv h2.qp wr_id=23\n"
                  "expect count(post_recv, wr_id==22) == 0 and count(post_recv, wr_id==23) == 1 "
                  "and count(mem_write) == 3");
    assert_int_equal(stops_find(&l.s->stops, 1)->n_hits, 2);
    lab_close(&l);
}

/* The place is inside a command that cannot be continued: no replay can start there. */
static void a_search_from_the_middle_of_a_command_finds_its_way_back(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    l.s->history->snapshots.gap = 1;
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    for (uint64_t tick = 1; tick <= position_end(l.s).at.tick; tick++) {
        const struct place to = position_of_tick(l.s, tick);

        assert_true(travel_to(l.s, &to, nowhere));
        (void)lab_try(&l, "back to reg_write"); /* there may be no earlier one */
        assert_int_not_equal(l.s->diag.kind, DIAG_BROKEN);
        lab_run(&l, "goto end");
    }
    lab_close(&l);
}

/* A list is posted, or completions are polled, within one step of several ticks: there is no place
 * inside.
 */
static void back_by_a_tick_never_stays_where_it_is(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    lab_run(&l, "post_list { post_recv h2.qp sge=mr[0:64]; post_recv h2.qp sge=mr[0:64] }");
    lab_run(&l, "repeat 2 { post_send h1.qp sge=mr[0:64] signaled }; run; poll_cq h1.cq");
    while (rdl_tick(l.s->lab) > 0) {
        const uint64_t before = rdl_tick(l.s->lab);

        lab_run(&l, "back 1 tick");
        assert_true(rdl_tick(l.s->lab) < before);
    }
    lab_close(&l);
}

static void a_line_that_failed_and_did_nothing_is_not_taken_back(void **state)
{
    static const char *const failed[] = {
        "connect h1 h2",
        "connect h1.qp h1.nothing",
        "post_send h1.qp sge=mr[0:64] wr_id=h1.nothing",
        "modify_qp h1.qp state=RTR",
        "expect h1.qp.state == ERR",
        "reg_mr h1.pd len=4k access=rw",
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    assert_false(lab_try(&l, "connect h1 h2"));
    assert_false(lab_try(&l, "back"));
    assert_non_null(strstr(l.s->diag.message, "nothing was done before here"));
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    for (size_t i = 0; i < ARRAY_LEN(failed); i++) {
        const uint64_t before = rdl_tick(l.s->lab);

        lab_run(&l, "alloc_pd h1 as more");
        if (lab_try(&l, failed[i]))
            fail_msg("%s: this works", failed[i]);
        lab_run(&l, "back");
        if (rdl_tick(l.s->lab) != before)
            fail_msg("%s: it was taken back", failed[i]);
    }
    lab_close(&l);
}

/* The call was refused by the lab, and no event of it is left. */
static void a_refused_call_in_the_past_keeps_the_time_that_passed(void **state)
{
    struct lab l;
    uint64_t at_ns;

    (void)state;
    lab_open(&l, false);
    lab_run(&l,
            "host h1; alloc_pd h1 as pd; create_comp_channel h1 as ch\nrun 5us\nback 1\nrun 1us");
    at_ns = rdl_now_ns(l.s->lab);
    assert_false(lab_try(&l, "alloc_pd h1 as pd"));
    lab_run(&l, "get_cq_event h1.ch");
    lab_run(&l, "run 5us");
    lab_run(&l, "back 1");
    assert_int_equal(rdl_now_ns(l.s->lab), at_ns);
    lab_close(&l);
}

static void what_is_said_of_where_one_comes_from(void **state)
{
    static const struct {
        const char *lines, *said;
    } rows[] = {
        {"back cqe", "back before: #56.4   cqe "},
        {"back 2 packet", "back before: #55."},
        {"post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled; run; back to "
         "cqe(host==h1)",
         "  it did at #"},
        {"checkpoint mine; back; alloc_pd h1; futures", "\"mine\", in \"was1\"\n"},
        {"back; alloc_pd h1; future delete was1; futures", "\"was1\" is deleted\n* main"},
        {"back; record keep=4k; goto end", "at the end"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, true);
        lab_run(&l, STORY);
        fflush(l.f);
        l.out[0] = '\0';
        rewind(l.f);
        (void)lab_try(&l, rows[i].lines);
        fflush(l.f);
        if (!strstr(l.out, rows[i].said))
            fail_msg("%s: %s", rows[i].lines, l.out);
        lab_close(&l);
    }
}

/* An absent field is different from 0. */
static void no_comparison_with_an_absent_field_holds(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    lab_run(&l, "expect count(rx, syndrome == NONE) == 1 and count(rx, syndrome != NONE) == 1");
    lab_run(&l, "expect count(rx, syndrome != RNR_NAK) == 1 and count(rx, syndrome != ACK) == 0");
    lab_run(&l, "expect count(cqe, status != SUCCESS) == 0");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_that_failed_and_did_nothing_is_not_taken_back),
        cmocka_unit_test(a_refused_call_in_the_past_keeps_the_time_that_passed),
        cmocka_unit_test(what_is_said_of_where_one_comes_from),
        cmocka_unit_test(no_comparison_with_an_absent_field_holds),
        cmocka_unit_test(back_to_finds_what_going_everywhere_finds),
        cmocka_unit_test(stops_are_hit_in_both_directions),
        cmocka_unit_test(stops_leave_no_trace),
        cmocka_unit_test(a_block_is_done_at_each_hit),
        cmocka_unit_test(a_block_may_remove_its_own_stop),
        cmocka_unit_test(the_next_line_goes_on),
        cmocka_unit_test(back_by_a_tick_never_stays_where_it_is),
        cmocka_unit_test(a_search_from_the_middle_of_a_command_finds_its_way_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

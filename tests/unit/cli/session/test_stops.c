/* SPDX-License-Identifier: MIT */
/* Tests of stops: where they are hit, how often, and what ends there. */
#include "cli/lab_session.h"
#include "cli/session/advance.h"
#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/history.h"
#include "cli/session/stop_look.h"
#include "rdmalab/trace.h"

static struct stop *add_when(struct stops *list, enum stop_owner owner, const char *text)
{
    struct diag d = {.kind = DIAG_NONE};
    struct stop *stop = stops_add_when(list, owner, text, (struct span){0, strlen(text)}, &d);

    if (!stop)
        fail_msg("%s: %s", text, d.message);
    return stop;
}

static void an_id_is_given_once(void **state)
{
    struct stops list = {.first = NULL};
    struct diag d = {.kind = DIAG_NONE};

    (void)state;
    assert_int_equal(stops_add_tick(&list, STOP_OF_PROMPT, 5)->id, 1);
    assert_int_equal(add_when(&list, STOP_OF_PROMPT, "t > 1us")->id, 2);
    assert_null(stops_add_when(&list, STOP_OF_PROMPT, "t >", (struct span){0, 3}, &d));
    assert_int_not_equal(d.kind, DIAG_NONE);
    list.hit = stops_find(&list, 2);
    stops_remove(&list, 2);
    assert_null(list.hit);
    assert_null(stops_find(&list, 2));
    assert_int_equal(add_when(&list, STOP_OF_PROMPT, "#9")->id, 3);
    assert_int_equal(stops_ticks(&list, 5), 4);
    stops_free(&list);
}

/* Without a condition the lab advances in large chunks. */
static void a_place_is_looked_at_when_it_is_reached_and_a_condition_after_each_tick(void **state)
{
    struct stops list = {.first = NULL};

    (void)state;
    assert_true(stops_ticks(&list, 0) == UINT64_MAX);
    stops_add_tick(&list, STOP_OF_PROMPT, 50);
    stops_add_tick(&list, STOP_OF_PROMPT, 20);
    assert_int_equal(stops_ticks(&list, 5), 15);
    assert_int_equal(stops_ticks(&list, 20), 30);
    assert_true(stops_ticks(&list, 50) == UINT64_MAX);
    add_when(&list, STOP_OF_PROMPT, "t > 1us");
    assert_int_equal(stops_ticks(&list, 5), 1);
    stops_find(&list, 3)->enabled = false;
    stops_find(&list, 2)->enabled = false;
    assert_int_equal(stops_ticks(&list, 5), 45);
    stops_free(&list);
}

static void what_goes_on_holding_is_hit_once(void **state)
{
    const struct stop *stop;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2");
    stop = add_when(&l.s->stops, STOP_OF_PROMPT, "h1.ip.pings == 1 or h1.ip.pings == 3");
    lab_run(&l, "ping h1 h2");
    assert_int_equal(stop->n_hits, 1);
    lab_run(&l, "run; expect tick > 0"); /* and it still holds */
    lab_run(&l, "ping h1 h2");
    assert_int_equal(stop->n_hits, 1);
    lab_run(&l, "ping h1 h2");
    assert_int_equal(stop->n_hits, 2);
    lab_close(&l);
}

/* A run that repeats itself ends early, unless a stop may be hit in a later round. */
static void a_stop_that_depends_on_a_time_lets_a_run_go_on(void **state)
{
    static const struct {
        const char *when;
        bool goes_on;
    } rows[] = {
        {"h1.qp.state == ERR", false},
        {"cqe(host==h1)", false},
        {"timeout(host==h2)", false},
        {"t > 1000s", true},
        {"tick > 100000000", true},
        {"#100000000", true},
        {"#3", false},
        {"count(timeout) > 100000000", true},
        {"tx(attempt==100000000)", true},
        {"cqe(host==h1) or t > 1000s", true},
        {"h1.qp.rnr_retries > 100000000", true},
        {"not (h1.qp.state == RTS)", false},
    };
    struct lab l;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t before;

        lab_open(&l, false);
        lab_run(&l, examples_before[BEFORE_CONNECTED]);
        lab_run(&l, "post_send h1.qp wr_id=5 sge=mr[0:64] signaled");
        add_when(&l.s->stops, STOP_OF_PROMPT, rows[i].when);
        assert_true(stops_move(l.s));
        before = rdl_tick(l.s->lab);
        l.s->limits.ticks_per_step = 20000;
        assert_false(lab_try(&l, "run"));
        if ((strstr(l.s->diag.message, "the same 3 ticks") == NULL) != rows[i].goes_on)
            fail_msg("%s: %s", rows[i].when, l.s->diag.message);
        assert_true(rows[i].goes_on == (rdl_tick(l.s->lab) - before == 20000));
        lab_close(&l);
    }
}

static void a_stop_of_the_prompt_ends_the_line_and_the_next_one_goes_on(void **state)
{
    struct stop *stop;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2");
    stop = stops_add_tick(&l.s->stops, STOP_OF_PROMPT, rdl_tick(l.s->lab) + 5);
    lab_run(&l, "repeat 3 { ping h1 h2 }; host h9");
    assert_int_equal(rdl_tick(l.s->lab), stop->when->number);
    assert_ptr_equal(l.s->stops.hit, stop);
    assert_false(l.s->run.quit);
    lab_run(&l, "run; expect tick > 5; ping h1 h2"); /* h9 was not created */
    assert_int_equal(stop->n_hits, 1);
    assert_null(l.s->stops.hit);
    assert_false(lab_try(&l, "ping h9 h1"));
    lab_close(&l);
}

static void a_stop_of_the_program_ends_the_session(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2");
    add_when(&l.s->stops, STOP_OF_PROGRAM, "tick >= 40");
    lab_run(&l, "repeat 1000 { ping h1 h2 }");
    assert_true(l.s->run.quit);
    assert_int_equal(l.s->stops.hit->n_hits, 1);
    lab_close(&l);
}

/* A replay of the session would wait for it in vain. */
static void what_a_stop_has_ended_did_not_do_what_it_says(void **state)
{
    struct log_cursor c;
    struct lab l;
    char here[32];

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2; ping h1 h2; run");
    snprintf(here, sizeof(here), "#%llu", (unsigned long long)rdl_tick(l.s->lab));
    add_when(&l.s->stops, STOP_OF_PROGRAM, here);
    lab_run(&l, "until count(tx) == 7 timeout=1us"); /* nothing is due */
    assert_non_null(l.s->stops.hit);
    assert_true(log_at(&c, &l.s->history->journal.log, l.s->history->journal.log.n - 1));
    assert_ptr_equal(c.entry.st->cmd, &cmd_table[CMD_until]);
    assert_int_equal(c.entry.outcome, LOG_CUT);
    lab_close(&l);
}

static void a_condition_means_the_same_whatever_block_runs(void **state)
{
    struct stop *whole;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2");
    add_when(&l.s->stops, STOP_OF_PROMPT, "ip.pings >= 1"); /* of no host */
    whole = add_when(&l.s->stops, STOP_OF_PROMPT, "h1.ip.pings >= 2");
    lab_run(&l, "on h1 { ping h1 h2 }");
    assert_null(l.s->stops.hit);
    assert_int_equal(l.s->diag.kind, DIAG_NONE);
    lab_run(&l, "on h1 { ping h1 h2 }");
    assert_ptr_equal(l.s->stops.hit, whole);
    lab_close(&l);
}

static void advancing_says_how_it_ended(void **state)
{
    static const struct span nowhere = {0, 0};
    const struct stop *stop;
    struct advanced a;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2");
    assert_int_equal(advance_step(l.s, RDL_STEP_TICK, nowhere).end, ADVANCE_IDLE);
    assert_int_equal(advance_run(l.s, RDL_NEVER, nowhere).end, ADVANCE_IDLE);
    assert_false(lab_try(
        &l, "refused says=x { refused reason=err_timeout ticks=2 { ping h1 h2 } }")); /* it is
                                                                                         running */
    assert_int_equal(advance_run(l.s, rdl_now_ns(l.s->lab), nowhere).end, ADVANCE_GOES_ON);
    assert_int_equal(advance_tick(l.s, rdl_now_ns(l.s->lab), nowhere).end, ADVANCE_GOES_ON);
    assert_int_equal(advance_step(l.s, RDL_STEP_TICK, nowhere).end, ADVANCE_DONE);
    stop = stops_add_tick(&l.s->stops, STOP_OF_PROMPT, rdl_tick(l.s->lab) + 2);
    a = advance_run(l.s, RDL_NEVER, nowhere);
    assert_int_equal(a.end, ADVANCE_STOPPED);
    assert_ptr_equal(a.stop, stop);
    l.s->stops.hit = NULL;
    l.s->limits.whole.ticks = rdl_tick(l.s->lab) + 1;
    assert_int_equal(advance_run(l.s, RDL_NEVER, nowhere).end, ADVANCE_FAILED);
    lab_close(&l);
}

/* In each tick the reason why a condition cannot be evaluated is skipped, and paths are not parsed
 * again.  The results must equal those of the complete evaluation.
 */
static void an_answer_does_not_depend_on_who_reads_why(void **state)
{
    static const char *const conditions[] = {
        "h1.ip.pings == 1",
        "not h1.ip.pings == 1",
        "h1.qp.state == RESET",
        "h1.qp.state == RESTE",
        "h1.qp.state == 1",
        "h1.nobody.state == RESET",
        "h1.cq.wc[0].status == OK",
        "not h1.cq.wc[7].qp_num",
        "h1.cq.wc[0].nothing == 1",
        "not cq.wc[0].nothing == 1",
        "not cq.wc[0].qp_num == 1",
        "h1.mr[0] == 0",
        "h1.mr[0:4] == \"abcd\"",
        "h1.mr[9m] == 0",
        "mr[0] == 0",
        "h1.mr",
        "h1.program.done",
        "program.done",
        "t >= 1ns",
        "t == tick",
        "tick",
        "true",
        "false == true",
        "nonsense",
        "h9.name == h9",
        "count(tx) == 0",
        "count(tx, host==h9) == 0",
        "h1.name == h1",
        "name == h1",
        "h1.gid[0] == h1.gid[99]",
    };
    static const char *const hosts[] = {"", "h1", "h9"};
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < ARRAY_LEN(conditions); i++) {
        struct stop *stop = add_when(&l.s->stops, STOP_OF_PROMPT, conditions[i]);

        assert_true(expr_attach(l.s->lab, stop->when, (struct span){0, 0}, &l.s->diag));
        for (size_t h = 0; h < ARRAY_LEN(hosts); h++) {
            const uint64_t since = 0;
            const struct scope in = {.lab = l.s->lab, .host = hosts[h], .since = &since};
            struct diag why = {.kind = DIAG_NONE};
            bool read = false, unread = false;
            const bool known = expr_holds(&in, stop->when, (struct span){0, 0}, &read, &why);

            assert_int_equal(known,
                             expr_holds(&in, stop->when, (struct span){0, 0}, &unread, NULL));
            assert_int_equal(known, why.kind == DIAG_NONE);
            assert_int_equal(read, unread);
        }
    }
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_given_once),
        cmocka_unit_test(a_place_is_looked_at_when_it_is_reached_and_a_condition_after_each_tick),
        cmocka_unit_test(what_goes_on_holding_is_hit_once),
        cmocka_unit_test(a_stop_that_depends_on_a_time_lets_a_run_go_on),
        cmocka_unit_test(a_stop_of_the_prompt_ends_the_line_and_the_next_one_goes_on),
        cmocka_unit_test(a_stop_of_the_program_ends_the_session),
        cmocka_unit_test(what_a_stop_has_ended_did_not_do_what_it_says),
        cmocka_unit_test(a_condition_means_the_same_whatever_block_runs),
        cmocka_unit_test(advancing_says_how_it_ended),
        cmocka_unit_test(an_answer_does_not_depend_on_who_reads_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

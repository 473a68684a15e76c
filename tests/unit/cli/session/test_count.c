/* SPDX-License-Identifier: MIT */
/* Tests of counting and recording: counts are exact, stops too, and missing records are reported.
 */
#include "cli/exec/exec.h"
#include "cli/lab_session.h"
#include "rdmalab/trace.h"

/* The recorder drops events, but they are counted, and the notes say how many more there are. */
static void counts_do_not_rest_on_the_record(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l,
            "host h1 h2; link h1 h2; drop next from=h1 as f1; expect count(lost, name==f1) == 0");
    rdl_record_bound(l.s->lab, 1024, 1024);
    lab_run(&l, "refused reason=err_timeout { ping h1 h2 }; repeat 500 { ping h1 h2 }");
    assert_true(rdl_record_forgotten(l.s->lab) > 0);
    lab_run(&l,
            "expect count(lost, name==f1) == 1 and count(lost) == 1 and count(ping_sent) == 501");
    assert_false(lab_try(&l, "expect count(lost, name==f1) == 0"));
    assert_non_null(strstr(l.s->diag.message, "it is 1"));
    assert_string_equal(l.s->diag.notes, "  none of them is in the record (any more)\n");
    assert_false(lab_try(&l, "expect count(ping_sent, host==h1) == 501"));
    assert_non_null(strstr(l.s->diag.message, "too late to count"));
    assert_non_null(strstr(l.s->diag.notes, "the record is full"));
    assert_false(lab_try(&l, "expect count(ping_sent, host==h7) == 0"));
    assert_string_equal(l.s->diag.message, "no host is called \"h7\"");
    lab_close(&l);
}

/* A file is read as a whole: what its last step counts is counted from the first step on. */
static void a_script_counts_from_its_beginning(void **state)
{
    static const char lines[] = "host h1 h2; link h1 h2\n"
                                "record off\n"
                                "repeat 3 { ping h1 h2 }\n"
                                "repeat 1 { expect count(ping_sent, host==h1) == 3 }\n";
    struct script script = script_of(lines);
    struct lab l;

    (void)state;
    lab_open(&l, false);
    must_read(&script, false);
    if (!exec_script(l.s, &script))
        fail_msg("%s", l.s->diag.message);
    assert_int_equal(l.s->run.n_expectations, 1);
    script_done(&script);
    lab_close(&l);
}

/* The counters of a script start before any name exists; events of others count for !=. */
static void what_is_not_of_a_later_name_counts(void **state)
{
    static const char lines[] =
        "host h1 h2; link h1 h2; ping h1 h2\n"
        "host h3; switch s1; drop next from=h1 as f1\n"
        "expect count(eth_tx, host!=h3, wire_bytes==98) == 2\n"
        "expect count(eth_tx, host!=h2, wire_bytes==98) == 1\n"
        "expect count(host_up, host!=h2) == 2 and count(host_up, host!=none) == 3\n"
        "expect count(host_up, host==h2) == 1 and count(host_up, host==h3) == 1\n"
        "expect count(lost, name!=f1) == 0 and count(tx, peer!=h3) == 0\n";
    struct script script = script_of(lines);
    struct lab l;

    (void)state;
    lab_open(&l, false);
    must_read(&script, false);
    if (!exec_script(l.s, &script))
        fail_msg("%s", l.s->diag.message);
    /* A later question has the same answer. */
    lab_run(&l, "expect count(eth_tx, wire_bytes==98, host!=h3) == 2");
    script_done(&script);
    lab_close(&l);
}

/* Filters that differ in one word are counted separately, although all of them count from the
 * start.
 */
static void filters_that_look_alike_are_not_one(void **state)
{
    static const char lines[] =
        "host h1 h2; link h1 h2; drop next from=h1 as loss1; drop next from=h2 as loss2\n"
        "refused reason=err_timeout { ping h1 h2 }; refused reason=err_timeout { ping h1 h2 }; "
        "ping h1 h2\n"
        "expect count(lost, name==loss1) == 1 and count(lost, name!=loss1) == 1\n"
        "expect count(lost, name==loss2) == 1 and count(lost, name==loss2, host==h1) == 0\n"
        "expect count(lost, host==h2) == 1 and count(lost, host==h1) == 1\n"
        "expect count(eth_tx, wire_bytes==98) == 5 and count(eth_tx, wire_bytes==99) == 0\n"
        "expect count(eth_tx, wire_bytes>=98) == 5 and count(eth_tx, wire_bytes<98) == 0\n";
    struct script script;
    struct lab l;

    (void)state;
    script = script_of(lines);
    lab_open(&l, false);
    must_read(&script, false);
    if (!exec_script(l.s, &script))
        fail_msg("%s", l.s->diag.message);
    script_done(&script);
    lab_close(&l);
}

static void names_that_nothing_has_cannot_be_counted(void **state)
{
    static const struct {
        const char *that, *message;
    } rows[] = {
        {"count(tx, host==h9) == 0", "no host is called \"h9\""},
        {"count(tx, peer!=h9) == 0", "no host is called \"h9\""},
        {"count(tx, host==f1) == 0", "f1 is a fault, not a host"},
        {"count(lost, name==f9) == 0", "no fault and no switch is called \"f9\""},
        {"count(forwarded, name!=s9) == 0", "no fault and no switch is called \"s9\""},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1; switch s1; link h1 s1; drop next from=h1 as f1");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[128];
        struct text t = text_on(line, sizeof(line));

        text_addf(&t, "expect %s", rows[i].that);
        assert_false(lab_try(&l, line));
        assert_string_equal(l.s->diag.message, rows[i].message);
        if (!l.s->diag.remedy[0])
            fail_msg("%s: no remedy", rows[i].that);
    }
    lab_run(&l, "expect count(lost, name==f1) == 0 and count(lost, name==chance) == 0");
    lab_run(&l, "expect count(forwarded, name==s1) == 0 and count(tx, peer==none) == 0");
    lab_run(
        &l,
        "host h9; expect count(tx, host==h9) == 0; clear f1; expect count(lost, name==f1) == 0");
    lab_close(&l);
}

/* A removed fault is known by its events, or because it was counted while it existed. */
static void a_fault_that_is_gone_can_be_counted(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2; drop next from=h1 as f1; refused reason=err_timeout { "
                "ping h1 h2 }");
    lab_run(&l, "expect not count(lost, name==chance) == 1; clear f1");
    lab_run(&l, "expect count(lost, name==f1) == 1");
    assert_false(lab_try(&l, "expect count(lost, name!=f9) == 1"));
    assert_string_equal(l.s->diag.message, "no fault and no switch is called \"f9\"");
    lab_run(&l, "drop next from=h2 as f2; expect count(lost, name==f2) == 0; clear f2");
    lab_run(&l, "refused says=memory { host h3 ram=64k }; expect count(lost, name==f2) == 0");
    lab_close(&l);
}

/* A name that is given later does not make it a host either. */
static void a_fault_is_no_host_for_who_counts_ahead(void **state)
{
    struct script script =
        script_of("host h1; drop next from=h1 as f1; expect count(tx, peer==f1) == 0\n");
    struct lab l;

    (void)state;
    lab_open(&l, false);
    must_read(&script, false);
    assert_false(exec_script(l.s, &script));
    assert_string_equal(l.s->diag.message, "f1 is a fault, not a host");
    script_done(&script);
    lab_close(&l);
}

/* Stops are exact to the tick in every kind of step. */
static void a_stop_expression_stops_at_its_tick(void **state)
{
    static const char *const stops[] = {"#2", "#3", "#20", "#40", "#46", "#50", "#52", "#54"};
    char lines[sizeof(STORY) + 64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        struct script script;
        struct text t = text_on(lines, sizeof(lines));
        struct diag d;
        struct lab l;

        text_add(&t, STORY);
        script = script_of(lines);
        lab_open(&l, false);
        must_read(&script, false);
        assert_non_null(stops_add_when(&l.s->stops, STOP_OF_PROGRAM, stops[i],
                                       (struct span){0, strlen(stops[i])}, &d));
        assert_true(exec_script(l.s, &script));
        assert_true(l.s->run.quit);
        assert_int_equal(rdl_tick(l.s->lab), strtoul(stops[i] + 1, NULL, 10));
        script_done(&script);
        lab_close(&l);
    }
}

static void what_was_not_recorded_is_said_to_be_missing(void **state)
{
    struct lab l;
    size_t n;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2; record off");
    n = rdl_record_count(l.s->lab);
    lab_run(&l, "ping h1 h2; show events last 1; export events -");
    assert_true(rdl_record_count(l.s->lab) == n);
    fflush(l.f);
    assert_non_null(strstr(l.out, "... recording is off since #4\n"));
    assert_non_null(strstr(l.out, "recording is off since #4: what happened then is missing"));
    lab_run(&l, "expect count(eth_tx) == 2"); /* totals are always kept */
    assert_false(lab_try(&l, "expect count(eth_tx, host==h1) == 1"));
    assert_non_null(strstr(l.s->diag.message, "too late to count: 2 of 2 eth_tx events"));
    assert_non_null(strstr(l.s->diag.notes, "recording is off since #4"));
    lab_run(&l, "record on; ping h1 h2; why");
    assert_true(rdl_record_count(l.s->lab) > n);
    assert_false(lab_try(&l, "why #5.1"));
    assert_non_null(strstr(l.s->diag.remedy, "recording was off at times from #4 to #10"));
    lab_close(&l);
}

static void unrecorded_events_are_not_counted_when_they_are_too_many_to_show(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, "host h1 h2; link h1 h2; record off; ping h1 h2 count=100 interval=1ms");
    fflush(l.f);
    assert_non_null(strstr(l.out, "... and more, which nothing records\n"));
    lab_close(&l);
}

static void attempts_are_counted_without_end(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2\n"
                "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k as mr; create_cq cqe=16 as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "connect h1.qp h2.qp; post_send h1.qp sge=mr[0:20]; run 400ms");
    lab_run(&l, "expect count(tx, attempt==256) == 1 and count(tx, attempt==500) == 1");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_do_not_rest_on_the_record),
        cmocka_unit_test(a_script_counts_from_its_beginning),
        cmocka_unit_test(what_is_not_of_a_later_name_counts),
        cmocka_unit_test(filters_that_look_alike_are_not_one),
        cmocka_unit_test(names_that_nothing_has_cannot_be_counted),
        cmocka_unit_test(a_fault_that_is_gone_can_be_counted),
        cmocka_unit_test(a_fault_is_no_host_for_who_counts_ahead),
        cmocka_unit_test(a_stop_expression_stops_at_its_tick),
        cmocka_unit_test(what_was_not_recorded_is_said_to_be_missing),
        cmocka_unit_test(unrecorded_events_are_not_counted_when_they_are_too_many_to_show),
        cmocka_unit_test(attempts_are_counted_without_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Tests of name resolution: the result depends on where a name is looked up, and not on earlier
 * lookups.
 */
#include "cli/lab_session.h"
#include "cli/own_directory.h"
#include "cli/session/resolve.h"
#include "rdmalab/inspect.h"

static void a_bare_name_is_looked_up_on_the_host_of_its_scope(void **state)
{
    static const struct {
        const char *host, *name, *path;
    } rows[] = {
        {"", "h1.qp", "h1.qp"},   {"", "qp", "qp"},         {"h2", "qp", "h2.qp"},
        {"h2", "h1.qp", "h1.qp"}, {"h2", "h1-h2", "h1-h2"}, {"h2", "nothing", "h2.nothing"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct scope in = {.lab = l.s->lab, .host = rows[i].host};
        char path[SESSION_PATH_BYTES];

        resolve_path(&in, rows[i].name, path);
        assert_string_equal(path, rows[i].path);
    }
    lab_close(&l);
}

static void the_rest_of_a_line_is_on_the_host_of_its_first_name(void **state)
{
    static const struct {
        const char *host, *name, *rest;
    } rows[] = {{"", "h1.qp", "h1"}, {"", "h2", "h2"}, {"h2", "h1.qp", "h2"}, {"h2", "qp", "h2"}};
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct scope in = {.lab = l.s->lab, .host = rows[i].host};
        char host[RDL_NAME_BYTES];

        assert_string_equal(resolve_rest(&in, rows[i].name, host).host, rows[i].rest);
    }
    lab_close(&l);
}

static void what_is_not_found_is_told_and_changes_nothing(void **state)
{
    struct diag d = {.kind = DIAG_NONE};
    struct memory m = {.addr = 7};
    struct lab l;
    struct scope in;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    in = session_outer_scope(l.s);
    assert_false(resolve_memory_text(&in, "mr[0:4]", (struct span){0, 7}, &m, &d));
    assert_int_equal(d.kind, DIAG_VALUE);
    assert_non_null(strstr(d.remedy, "begin with their host"));
    assert_false(resolve_memory_text(&in, "h1.qp", (struct span){0, 5}, &m, &d));
    assert_int_equal(d.kind, DIAG_VALUE);
    assert_int_equal(m.addr, 7);
    in.host = "h1";
    assert_true(resolve_memory_text(&in, "mr[8:12]", (struct span){0, 8}, &m, &d));
    assert_int_equal(m.bytes, 4);
    assert_int_equal(l.s->diag.kind, DIAG_NONE);
    lab_close(&l);
}

static void what_is_not_of_the_wanted_kind_leads_to_what_is(void **state)
{
    static const struct {
        const char *line, *remedy;
    } rows[] = {
        {"connect h1 h2", "did you mean \"h1.qp\"?"},
        {"connect h1.pq h2.qp", "did you mean \"h1.qp\"?"},
        {"connect h1.connection h2.qp", "a queue pair of h1 is \"h1.qp\""},
        {"connect h3.qp h2.qp", "h3 has no queue pair; \"help create_qp\" tells how one is made"},
        {"connect h3 h2", "h3 has no queue pair; \"help create_qp\" tells how one is made"},
        {"poll_cq h1", "did you mean \"h1.cq\"?"},
        {"read h1", "did you mean \"h1.mr\"?"},
        {"post_recv h1.qp sge=hello[0:4]", "a memory region of h1 is \"h1.mr\""},
        {"link nobody h1", "\"host nobody\" adds it"},
        {"write h1.mr[0] hello world", "stands in quotes: \"hello world\""},
        {"connect nobody h2", "\"show\" lists what there is"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    lab_run(&l, "host h3");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (lab_try(&l, rows[i].line) || !strstr(l.s->diag.remedy, rows[i].remedy))
            fail_msg("%s: %s", rows[i].line, l.s->diag.remedy);
    }
    lab_close(&l);
}

/* A name of another host inside `on` belongs to that host, and its answer is awaited. */
static void a_line_may_be_about_another_host_than_its_block(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    lab_run(&l, "on h1 { modify_qp h2.qp state=INIT pkey_index=0 port=1 access=rw\n"
                "  query_qp h2.qp; create_cq h2 as other }\n"
                "expect h2.qp.state == INIT and h2.other.cqe > 0");
    assert_false(lab_try(&l, "on h1 { create_cq h2 as other }"));
    assert_non_null(strstr(l.s->diag.message, "h2 already has a \"other\""));
    lab_close(&l);
}

/* Inline data is memory of the sending host, wherever the line stands. */
static void inline_data_is_of_the_host_of_the_queue_pair(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    lab_run(&l, "create_qp h1.pd send_cq=cq recv_cq=cq max_inline_data=64 as inl\n"
                "connect h1.inl h2.qp; write h1.mr[0] \"right\"; write h2.mr[0] \"wrong\"\n"
                "on h2 { post_recv qp sge=mr[64:128]; post_send h1.inl sge=h1.mr[0:5] inline }\n"
                "run; expect h2.mr[64:69] == \"right\"");
    lab_close(&l);
}

static void a_sourced_file_has_no_host_but_the_limits_around_it(void **state)
{
    FILE *f = fopen("bare.lab", "w");
    struct lab l;

    (void)state;
    assert_non_null(f);
    fputs("query_port\n", f);
    assert_int_equal(fclose(f), 0);
    f = fopen("long.lab", "w");
    assert_non_null(f);
    fputs("query_port h1\n", f);
    assert_int_equal(fclose(f), 0);
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    assert_false(lab_try(&l, "on h1 { source bare.lab }"));
    fflush(l.f);
    assert_non_null(strstr(l.out, "query_port needs a host"));
    lab_run(&l, "refused reason=err_timeout ticks=2 { source long.lab }");
    fflush(l.f);
    assert_non_null(strstr(l.out, "ticks was reached"));
    unlink("bare.lab");
    unlink("long.lab");
    lab_close(&l);
}

static void what_is_of_another_kind_is_told_with_its_article(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    assert_false(lab_try(&l, "destroy_ah h1.pd"));
    assert_string_equal(l.s->diag.message, "h1.pd is a protection domain, not an address handle");
    assert_false(lab_try(&l, "destroy_qp h1.cq"));
    assert_string_equal(l.s->diag.message, "h1.cq is a completion queue, not a queue pair");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_name_is_looked_up_on_the_host_of_its_scope),
        cmocka_unit_test(the_rest_of_a_line_is_on_the_host_of_its_first_name),
        cmocka_unit_test(what_is_not_of_the_wanted_kind_leads_to_what_is),
        cmocka_unit_test(what_is_not_found_is_told_and_changes_nothing),
        cmocka_unit_test(what_is_of_another_kind_is_told_with_its_article),
        cmocka_unit_test(a_line_may_be_about_another_host_than_its_block),
        cmocka_unit_test(inline_data_is_of_the_host_of_the_queue_pair),
        cmocka_unit_test(a_sourced_file_has_no_host_but_the_limits_around_it),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, own_directory_leave);
}

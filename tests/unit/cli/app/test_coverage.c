/* SPDX-License-Identifier: MIT */
#include "cli/app/coverage.h"

#include "cli/explain/explain.h"
#include "cli/lab_session.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/rules.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

static void an_event_adds_the_rows_that_it_names(void **state)
{
    const struct ev e = {.kind = EV_rx,
                         .u.rx = {.opcode = OP_RC_SEND_ONLY,
                                  .syndrome = SYN_NONE,
                                  .act = ACT_RNR,
                                  .rule = RULE_RESP_RECV_WQE}};
    struct coverage c = {0};

    (void)state;
    coverage_event(&c, NULL, &e);
    assert_true(coverage_has(&c, COVER_rules, cover_row_find(COVER_rules, "RESP_RECV_WQE")));
    assert_false(coverage_has(&c, COVER_rules, cover_row_find(COVER_rules, "RESP_PSN")));
    assert_true(coverage_has(&c, COVER_verdicts, cover_row_find(COVER_verdicts, "RNR")));
    assert_true(coverage_has(&c, COVER_received, cover_row_find(COVER_received, "RC_SEND_ONLY")));
    assert_false(coverage_has(&c, COVER_sent, cover_row_find(COVER_sent, "RC_SEND_ONLY")));
    assert_true(coverage_has(&c, COVER_events, EV_rx));
    assert_int_equal(coverage_total(&c).covered, 4); /* SYN_NONE is not required */
}

static void what_work_requests_do_to_keys_is_told_apart(void **state)
{
    static const struct {
        struct ev e;
        const char *row;
    } rows[] = {
        {{.kind = EV_bind, .u.bind = {.bytes = 64}}, "BOUND"},
        {{.kind = EV_bind, .u.bind = {.bytes = 0}}, "UNBOUND"},
        {{.kind = EV_bind, .u.bind = {.bytes = 64, .rule = RULE_BIND_PD}}, "BIND_REFUSED"},
        {{.kind = EV_reg_mr}, "REGISTERED"},
        {{.kind = EV_reg_mr, .u.reg_mr = {.rule = RULE_REG_STATE}}, "REGISTER_REFUSED"},
        {{.kind = EV_invalidate}, "INVALIDATED"},
        {{.kind = EV_invalidate, .u.invalidate = {.rule = RULE_INV_QP}}, "INVALIDATE_REFUSED"},
    };

    (void)state;
    assert_int_equal(cover_rows(COVER_keys), ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct coverage c = {0};

        coverage_event(&c, NULL, &rows[i].e);
        assert_int_equal(coverage_figures(&c, COVER_keys).covered, 1);
        assert_true(coverage_has(&c, COVER_keys, cover_row_find(COVER_keys, rows[i].row)));
    }
}

static void add_to(void *ctx, const struct ev *e)
{
    coverage_event(ctx, NULL, e);
}

/* Runs @lines in a lab and returns the coverage of its events. */
static struct coverage coverage_of(const char *lines)
{
    struct coverage c = {0};
    struct rdl_listener *listener;
    struct lab l;

    lab_open(&l, false);
    assert_int_equal(rdl_listen(l.s->lab, add_to, &c, &listener), RDL_OK);
    lab_run(&l, lines);
    lab_close(&l);
    return c;
}

/* The hosts send none of these packets, but receive, refuse and answer them. */
static void an_injected_packet_is_received_but_not_sent(void **state)
{
    static const struct {
        const char *lines;
        enum cover_class class;
        const char *row;
        bool is_covered;
    } rows[] = {
        {"inject from=h2 dest_qpn=h1.qp opcode=RC_ACKNOWLEDGE syndrome=NAK_REMOTE_OPERATIONAL",
         COVER_syndromes_sent, "NAK_REMOTE_OPERATIONAL", false},
        {"inject from=h2 dest_qpn=h1.qp opcode=RC_ACKNOWLEDGE syndrome=NAK_REMOTE_OPERATIONAL",
         COVER_syndromes_received, "NAK_REMOTE_OPERATIONAL", true},
        {"inject from=h1 to=h1 dest_qpn=h1.qp opcode=RC_FETCH_ADD", COVER_sent, "RC_FETCH_ADD",
         false},
        {"inject from=h1 dest_qpn=h2.qp opcode=RC_FETCH_ADD psn=100", COVER_sent, "RC_FETCH_ADD",
         false},
        {"inject from=h1 dest_qpn=h2.qp opcode=RC_FETCH_ADD psn=100", COVER_received,
         "RC_FETCH_ADD", true},
        {"inject from=h1 dest_qpn=h2.qp opcode=RC_FETCH_ADD psn=100 icrc=wrong", COVER_drops,
         "BAD_ICRC", true},
        {"inject from=h1 dest_qpn=h2.qp opcode=RC_FETCH_ADD psn=100", COVER_events, "tx", true},
        {"inject from=h1 dest_qpn=h2.qp opcode=RC_FETCH_ADD icrc=wrong", COVER_events, "tx", false},
        {"inject from=h1 dest_qpn=h2.qp opcode=RC_FETCH_ADD icrc=wrong", COVER_events, "inject",
         true},
        /* a host has sent the packet that a fault changes on its way */
        {"post_recv h2.qp sge=mr[0:64]; forge next from=h1 field=psn value=7;"
         "post_send h1.qp sge=mr[0:64]",
         COVER_sent, "RC_SEND_ONLY", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char lines[1024];
        struct text t = text_on(lines, sizeof(lines));
        struct coverage c;

        text_addf(&t,
                  "host h1 h2; link h1 h2\n"
                  "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr\n"
                  "  create_cq cqe=16 as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                  "connect h1.qp h2.qp sq_psn=100 timeout=0\n%s\nrun\n",
                  rows[i].lines);
        c = coverage_of(lines);
        if (coverage_has(&c, rows[i].class, cover_row_find(rows[i].class, rows[i].row)) !=
            rows[i].is_covered)
            fail_msg("%s: %s", rows[i].lines, rows[i].row);
    }
}

/* Frames that come in through an external port are a stranger's, too. */
static void what_a_port_lets_in_is_sent_by_no_host(void **state)
{
    const struct ev own[] = {
        {.kind = EV_tx, .u.tx = {.qpn = 2, .opcode = OP_RC_SEND_ONLY}},
        {.kind = EV_eth_tx, .u.eth_tx = {.opcode = FRAME_ARP_REQUEST}},
    };
    const struct ev of_port[] = {
        {.kind = EV_tx, .u.tx = {.host = EV_PORT_FIRST, .opcode = OP_RC_SEND_ONLY}},
        {.kind = EV_eth_tx, .u.eth_tx = {.host = EV_PORT_FIRST, .opcode = FRAME_ARP_REQUEST}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct coverage c = {0};

        coverage_event(&c, NULL, &of_port[i]);
        assert_int_equal(coverage_total(&c).covered, 0);
        coverage_event(&c, NULL, &own[i]);
        assert_int_equal(coverage_figures(&c, COVER_sent).covered, 1);
    }
}

static void moves_are_of_a_type(void **state)
{
    struct coverage c = {0};

    (void)state;
    coverage_move(&c, QPT_UC, QPS_RTS, QPS_SQE);
    assert_true(coverage_has(&c, COVER_moves, cover_row_find(COVER_moves, "UC_RTS_SQE")));
    assert_int_equal(coverage_figures(&c, COVER_moves).covered, 1);
    assert_false(coverage_figures(&c, COVER_moves).stranger);
    coverage_move(&c, QPT_RC, QPS_RTS, QPS_SQE); /* no such transition exists */
    assert_true(coverage_figures(&c, COVER_moves).stranger);
}

static void a_value_without_a_row_is_told(void **state)
{
    struct coverage c = {0};

    (void)state;
    coverage_refused(&c, 254);
    assert_int_equal(coverage_total(&c).covered, 0);
    assert_true(coverage_total(&c).stranger);
}

/* `explain` and `poll_cq` must name a scenario only where one exists.  `./check` requires a
 * scenario for each row that is not excluded, and no scenario can show an excluded row.
 */
static void what_no_scenario_can_show_is_nowhere_said_to_have_one(void **state)
{
    static const struct {
        const struct enum_table *table;
        enum cover_class class;
    } tables[] = {{&enum_wc_status, COVER_statuses}, {&enum_async_event, COVER_async_events}};

    (void)state;
    for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
        const struct enum_table *table = tables[t].table;

        assert_int_equal(cover_rows(tables[t].class), table->n_rows);
        for (size_t i = 0; i < table->n_rows; i++) {
            const bool failed = strcmp(table->rows[i].name, "SUCCESS") != 0;
            struct cover_row row;

            cover_row(tables[t].class, cover_row_find(tables[t].class, table->rows[i].name), &row);
            if (explain_has_scenario(table, &table->rows[i]) != (failed && !row.excluded))
                fail_msg("%s", table->rows[i].name);
        }
    }
}

static void sets_are_merged_row_by_row(void **state)
{
    struct coverage a = {0}, b = {0};

    (void)state;
    coverage_refused(&a, RULE_POST_FLAGS);
    coverage_refused(&b, RULE_POST_FLAGS);
    coverage_refused(&b, RULE_POST_SRQ);
    coverage_merge(&a, &b);
    assert_int_equal(coverage_total(&a).covered, 2);
    assert_int_equal(coverage_total(&b).covered, 2);
}

static void percentages_are_rounded_down(void **state)
{
    static const struct {
        size_t covered, of;
        unsigned percent;
    } rows[] = {{0, 3, 0}, {1, 3, 33}, {2, 3, 66}, {3, 3, 100}, {999, 1000, 99}, {0, 0, 100}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct cover_figures f = {.covered = rows[i].covered, .of = rows[i].of};

        assert_int_equal(cover_percent(&f), rows[i].percent);
    }
}

static void every_exclusion_is_of_a_row_and_says_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_cover_exceptions; i++) {
        const struct cover_exception *x = &cover_exceptions[i];
        const size_t row = cover_row_find(x->class, x->name);
        struct cover_row r;

        if (row == cover_rows(x->class))
            fail_msg("%s has no %s", cover_class_name(x->class), x->name);
        cover_row(x->class, row, &r);
        assert_ptr_equal(r.excluded, x->why); /* each occurs once */
        assert_true(strlen(x->why) > 10);
    }
}

/* An excluded row is not required, and is an error if it happens. */
static void what_is_excluded_must_not_happen(void **state)
{
    struct coverage c = {0};
    const struct cover_figures before = coverage_total(&c);
    struct cover_figures after;
    size_t n = 0;

    (void)state;
    for (size_t class = 0; class < COVER_CLASSES; class ++) {
        for (size_t i = 0; i < cover_rows((enum cover_class) class); i++) {
            struct cover_row r;

            cover_row((enum cover_class) class, i, &r);
            n += !r.nothing && !r.excluded;
            coverage_add(&c, (enum cover_class) class, i);
        }
    }
    after = coverage_total(&c);
    assert_int_equal(before.impossible, 0);
    assert_int_equal(before.of, n);
    assert_int_equal(after.covered, n);
    assert_int_equal(after.impossible, n_cover_exceptions);
    assert_int_equal(cover_percent(&after), 100);
}

/* An event with a new field of one of these enumerations must be noticed. */
static void every_field_of_these_enumerations_is_heard(void **state)
{
    static const struct {
        const char *type;
        enum cover_class class;
    } types[] = {{"rule", COVER_rules},      {"wc_status", COVER_statuses},
                 {"drop", COVER_drops},      {"async_event", COVER_async_events},
                 {"vq_error", COVER_rings},  {"neighbour", COVER_neighbours},
                 {"pkt_act", COVER_verdicts}};

    (void)state;
    for (unsigned kind = 0; kind < EV_COUNT; kind++) {
        const struct ev_schema *schema = ev_schema((enum ev_kind)kind);

        for (size_t i = 0; i < schema->n_fields * ARRAY_LEN(types); i++) {
            const struct ev_field *f = &schema->fields[i / ARRAY_LEN(types)];
            const enum cover_class class = types[i % ARRAY_LEN(types)].class;
            struct ev e = {.kind = (enum ev_kind)kind};
            struct coverage c = {0};

            /* A cqe event has reported this already. */
            if (kind == EV_poll || strcmp(f->type, types[i % ARRAY_LEN(types)].type) != 0)
                continue;
            ev_field_set(&e, f, 1);
            coverage_event(&c, NULL, &e);
            if (!coverage_has(&c, class, 1))
                fail_msg("%s.%s is not heard", schema->name, f->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_adds_the_rows_that_it_names),
        cmocka_unit_test(what_work_requests_do_to_keys_is_told_apart),
        cmocka_unit_test(an_injected_packet_is_received_but_not_sent),
        cmocka_unit_test(what_a_port_lets_in_is_sent_by_no_host),
        cmocka_unit_test(moves_are_of_a_type),
        cmocka_unit_test(a_value_without_a_row_is_told),
        cmocka_unit_test(what_no_scenario_can_show_is_nowhere_said_to_have_one),
        cmocka_unit_test(sets_are_merged_row_by_row),
        cmocka_unit_test(percentages_are_rounded_down),
        cmocka_unit_test(every_exclusion_is_of_a_row_and_says_why),
        cmocka_unit_test(what_is_excluded_must_not_happen),
        cmocka_unit_test(every_field_of_these_enumerations_is_heard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

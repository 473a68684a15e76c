/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/qp_fsm.h"

#define STATES    7u
#define ATTR_BITS 26u

/* What an RC queue pair must get to move from RESET to RTS, and what it may get besides.
 * [IBTA1 11.2.5.2, table of attributes per transition (unverified)]
 */
#define TO_INIT_NEED (QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS)
#define TO_RTR_NEED                                                                                \
    (QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN | QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER)
#define TO_RTR_MAY (QPA_ACCESS_FLAGS | QPA_PKEY_INDEX)
#define TO_RTS_NEED                                                                                \
    (QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_MAX_QP_RD_ATOMIC)
#define TO_RTS_MAY (QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER)
#define IN_SQD_MAY                                                                                 \
    (QPA_PORT | QPA_AV | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_MAX_QP_RD_ATOMIC |      \
     QPA_MAX_DEST_RD_ATOMIC | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX | QPA_MIN_RNR_TIMER)

struct edge {
    enum qp_state from, to;
    unsigned need, may;
};

static const struct edge rc_edges[] = {
    {QPS_RESET, QPS_INIT, TO_INIT_NEED, 0},
    {QPS_INIT, QPS_INIT, 0, TO_INIT_NEED},
    {QPS_INIT, QPS_RTR, TO_RTR_NEED, TO_RTR_MAY},
    {QPS_RTR, QPS_RTS, TO_RTS_NEED, TO_RTS_MAY},
    {QPS_RTS, QPS_RTS, 0, TO_RTS_MAY},
    {QPS_RTS, QPS_SQD, 0, 0},
    {QPS_SQD, QPS_RTS, 0, TO_RTS_MAY},
    {QPS_SQD, QPS_SQD, 0, IN_SQD_MAY},
};

static const struct edge *edge_find(unsigned from, unsigned to)
{
    for (size_t i = 0; i < ARRAY_LEN(rc_edges); i++) {
        if (rc_edges[i].from == from && rc_edges[i].to == to)
            return &rc_edges[i];
    }
    return NULL;
}

static void check(const struct edge *e, unsigned given, unsigned missing, unsigned extra)
{
    unsigned got_missing = 0xdead, got_extra = 0xdead;
    const enum rdl_status st =
        qp_fsm_check(QPT_RC, e->from, e->to, given, &got_missing, &got_extra);

    assert_int_equal(st, missing || extra ? RDL_ERR_INVAL : RDL_OK);
    assert_int_equal(got_missing, missing);
    assert_int_equal(got_extra, extra);
}

static void every_edge_takes_what_it_needs_and_what_it_may(void **state)
{
    (void)state;
    assert_int_equal(n_qp_edges, ARRAY_LEN(rc_edges));
    for (size_t i = 0; i < ARRAY_LEN(rc_edges); i++) {
        const struct edge *e = &rc_edges[i];

        check(e, e->need, 0, 0);
        check(e, e->need | e->may, 0, 0);
        check(e, 0, e->need, 0);
    }
}

static void every_missing_and_every_extra_attribute_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rc_edges); i++) {
        const struct edge *e = &rc_edges[i];

        for (unsigned b = 0; b < ATTR_BITS; b++) {
            const unsigned bit = 1u << b;

            if (e->need & bit)
                check(e, e->need & ~bit, bit, 0);
            else if (e->may & bit)
                check(e, e->need | bit, 0, 0);
            else
                check(e, e->need | bit, 0, bit);
        }
    }
}

static void a_missing_and_an_extra_attribute_are_named_together(void **state)
{
    static const struct edge to_rtr = {QPS_INIT, QPS_RTR, TO_RTR_NEED, TO_RTR_MAY};

    (void)state;
    check(&to_rtr, (TO_RTR_NEED & ~(unsigned)QPA_DEST_QPN) | QPA_QKEY, QPA_DEST_QPN, QPA_QKEY);
}

static void other_moves_are_refused_whatever_is_given(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (unsigned from = 0; from < STATES; from++) {
        for (unsigned to = 0; to < STATES; to++) {
            unsigned missing = 0xdead, extra = 0xdead;

            if (to == QPS_RESET || to == QPS_ERR || edge_find(from, to))
                continue;
            assert_int_equal(qp_fsm_check(QPT_RC, (enum qp_state)from, (enum qp_state)to,
                                          UINT32_MAX, &missing, &extra),
                             RDL_ERR_STATE);
            assert_int_equal(missing, 0);
            assert_int_equal(extra, 0);
            refused++;
        }
    }
    assert_int_equal(refused, STATES * (STATES - 2) - ARRAY_LEN(rc_edges));
}

static void reset_and_error_can_be_reached_from_anywhere_with_nothing(void **state)
{
    static const enum qp_type types[] = {QPT_GSI, QPT_RC, QPT_UC, QPT_UD};
    static const enum qp_state targets[] = {QPS_RESET, QPS_ERR};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        for (unsigned from = 0; from < STATES; from++) {
            for (size_t k = 0; k < ARRAY_LEN(targets); k++) {
                unsigned missing, extra;

                assert_int_equal(
                    qp_fsm_check(types[i], (enum qp_state)from, targets[k], 0, &missing, &extra),
                    RDL_OK);
                assert_int_equal(qp_fsm_check(types[i], (enum qp_state)from, targets[k],
                                              QPA_PATH_MTU, &missing, &extra),
                                 RDL_ERR_INVAL);
                assert_int_equal(missing, 0);
                assert_int_equal(extra, QPA_PATH_MTU);
            }
        }
    }
}

static void the_way_up_needs_what_its_moves_need(void **state)
{
    unsigned missing, extra;

    (void)state;
    for (int to = QPS_INIT; to <= QPS_RTS; to++) {
        const unsigned needs = qp_fsm_needs(QPT_RC, (enum qp_state)to);

        assert_true(needs != 0);
        assert_int_equal(qp_fsm_check(QPT_RC, (enum qp_state)(to - 1), (enum qp_state)to, needs,
                                      &missing, &extra),
                         RDL_OK);
        assert_int_equal(
            qp_fsm_check(QPT_RC, (enum qp_state)(to - 1), (enum qp_state)to, 0, &missing, &extra),
            RDL_ERR_INVAL);
        assert_int_equal(missing, needs);
    }
    assert_int_equal(qp_fsm_needs(QPT_RC, QPS_RESET), 0);
    assert_int_equal(qp_fsm_needs(QPT_RC, QPS_ERR), 0);
    assert_int_equal(qp_fsm_needs(QPT_SMI, QPS_INIT), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge_takes_what_it_needs_and_what_it_may),
        cmocka_unit_test(every_missing_and_every_extra_attribute_is_named),
        cmocka_unit_test(a_missing_and_an_extra_attribute_are_named_together),
        cmocka_unit_test(other_moves_are_refused_whatever_is_given),
        cmocka_unit_test(reset_and_error_can_be_reached_from_anywhere_with_nothing),
        cmocka_unit_test(the_way_up_needs_what_its_moves_need),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

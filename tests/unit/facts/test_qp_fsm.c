/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"

#define STATES    7u
#define ATTR_BITS 26u

/* What is not offered: path migration.  CUR_STATE is checked beside the table. */
#define NOT_OFFERED (unsigned)(QPA_ALT_PATH | QPA_PATH_MIG_STATE | QPA_CUR_STATE)

#define PATH (QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN)
#define MIGR (QPA_ALT_PATH | QPA_PATH_MIG_STATE)

struct edge {
    enum qp_type type;
    enum qp_state from, to;
    unsigned need, may;
};

/* qp_state_table of Linux (drivers/infiniband/core/verbs.c), whole.  [IBTA1 11.2.5.2]
 */
static const struct edge linux_edges[] = {
    {QPT_RC, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS, 0},
    {QPT_RC, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS},
    {QPT_RC, QPS_INIT, QPS_RTR, PATH | QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER,
     QPA_ALT_PATH | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX},
    {QPT_RC, QPS_RTR, QPS_RTS,
     QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN | QPA_MAX_QP_RD_ATOMIC,
     QPA_CUR_STATE | MIGR | QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER},
    {QPT_RC, QPS_RTS, QPS_RTS, 0, QPA_CUR_STATE | MIGR | QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER},
    {QPT_RC, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_RC, QPS_SQD, QPS_RTS, 0, QPA_CUR_STATE | MIGR | QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER},
    {QPT_RC, QPS_SQD, QPS_SQD, 0,
     QPA_PORT | QPA_AV | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_MAX_QP_RD_ATOMIC |
         QPA_MAX_DEST_RD_ATOMIC | MIGR | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX | QPA_MIN_RNR_TIMER},

    {QPT_UC, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS, 0},
    {QPT_UC, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_INIT, QPS_RTR, PATH, QPA_ALT_PATH | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX},
    {QPT_UC, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_CUR_STATE | MIGR | QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_RTS, QPS_RTS, 0, QPA_CUR_STATE | MIGR | QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_UC, QPS_SQD, QPS_RTS, 0, QPA_CUR_STATE | MIGR | QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_SQD, QPS_SQD, 0, QPA_AV | MIGR | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX},
    {QPT_UC, QPS_SQE, QPS_RTS, 0, QPA_CUR_STATE | QPA_ACCESS_FLAGS},

    {QPT_UD, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY, 0},
    {QPT_UD, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY},
    {QPT_UD, QPS_INIT, QPS_RTR, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_UD, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_CUR_STATE | QPA_QKEY},
    {QPT_UD, QPS_RTS, QPS_RTS, 0, QPA_CUR_STATE | QPA_QKEY},
    {QPT_UD, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_UD, QPS_SQD, QPS_RTS, 0, QPA_CUR_STATE | QPA_QKEY},
    {QPT_UD, QPS_SQD, QPS_SQD, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_UD, QPS_SQE, QPS_RTS, 0, QPA_CUR_STATE | QPA_QKEY},

    {QPT_GSI, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_QKEY, 0},
    {QPT_GSI, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_INIT, QPS_RTR, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_CUR_STATE | QPA_QKEY},
    {QPT_GSI, QPS_RTS, QPS_RTS, 0, QPA_CUR_STATE | QPA_QKEY},
    {QPT_GSI, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_GSI, QPS_SQD, QPS_RTS, 0, QPA_CUR_STATE | QPA_QKEY},
    {QPT_GSI, QPS_SQD, QPS_SQD, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_SQE, QPS_RTS, 0, QPA_CUR_STATE | QPA_QKEY},
};

static const enum qp_type offered[] = {QPT_GSI, QPT_RC, QPT_UC, QPT_UD};

static const struct edge *edge_find(enum qp_type type, unsigned from, unsigned to)
{
    for (size_t i = 0; i < ARRAY_LEN(linux_edges); i++) {
        const struct edge *e = &linux_edges[i];

        if (e->type == type && e->from == from && e->to == to)
            return e;
    }
    return NULL;
}

static void check(const struct edge *e, unsigned given, unsigned missing, unsigned extra)
{
    unsigned got_missing = 0xdead, got_extra = 0xdead;
    const enum rdl_status st =
        qp_fsm_check(e->type, e->from, e->to, given, &got_missing, &got_extra);

    assert_int_equal(st, missing || extra ? RDL_ERR_INVAL : RDL_OK);
    assert_int_equal(got_missing, missing);
    assert_int_equal(got_extra, extra);
}

/* Shows B82, B83, B84, B85. */
static void every_edge_takes_what_it_needs_and_what_it_may(void **state)
{
    (void)state;
    assert_int_equal(n_qp_edges, ARRAY_LEN(linux_edges));
    for (size_t i = 0; i < ARRAY_LEN(linux_edges); i++) {
        const struct edge *e = &linux_edges[i];

        check(e, e->need, 0, 0);
        check(e, e->need | (e->may & ~NOT_OFFERED), 0, 0);
        check(e, 0, e->need, 0);
    }
}

/* Shows B82, B83, B84, B85. */
static void every_missing_and_every_extra_attribute_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(linux_edges); i++) {
        const struct edge *e = &linux_edges[i];

        for (unsigned b = 0; b < ATTR_BITS; b++) {
            const unsigned bit = 1u << b;

            if (e->need & bit)
                check(e, e->need & ~bit, bit, 0);
            else if (e->may & ~NOT_OFFERED & bit)
                check(e, e->need | bit, 0, 0);
            else
                check(e, e->need | bit, 0, bit);
        }
    }
}

static void a_missing_and_an_extra_attribute_are_named_together(void **state)
{
    const struct edge *rc = edge_find(QPT_RC, QPS_INIT, QPS_RTR);
    const struct edge *ud = edge_find(QPT_UD, QPS_RESET, QPS_INIT);

    (void)state;
    check(rc, (rc->need & ~(unsigned)QPA_DEST_QPN) | QPA_QKEY, QPA_DEST_QPN, QPA_QKEY);
    check(ud, (ud->need & ~(unsigned)QPA_QKEY) | QPA_ACCESS_FLAGS, QPA_QKEY, QPA_ACCESS_FLAGS);
}

/* Shows B85. */
static void other_moves_are_refused_whatever_is_given(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(offered); i++) {
        for (unsigned from = 0; from < STATES; from++) {
            for (unsigned to = 0; to < STATES; to++) {
                unsigned missing = 0xdead, extra = 0xdead;

                if (to == QPS_RESET || to == QPS_ERR || edge_find(offered[i], from, to))
                    continue;
                assert_int_equal(qp_fsm_check(offered[i], (enum qp_state)from, (enum qp_state)to,
                                              UINT32_MAX, &missing, &extra),
                                 RDL_ERR_STATE);
                assert_int_equal(missing, 0);
                assert_int_equal(extra, 0);
                refused++;
            }
        }
    }
    assert_int_equal(refused, ARRAY_LEN(offered) * STATES * (STATES - 2) - ARRAY_LEN(linux_edges));
}

/* Shows B85. */
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

/* The way up: RESET - INIT - RTR - RTS. */
static void the_way_up_needs_what_its_moves_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(offered); i++) {
        for (unsigned to = QPS_INIT; to <= QPS_RTS; to++)
            assert_int_equal(qp_fsm_needs(offered[i], (enum qp_state)to),
                             edge_find(offered[i], to - 1, to)->need);
        assert_int_equal(qp_fsm_needs(offered[i], QPS_RESET), 0);
        assert_int_equal(qp_fsm_needs(offered[i], QPS_ERR), 0);
    }
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

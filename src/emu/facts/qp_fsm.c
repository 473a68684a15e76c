/* SPDX-License-Identifier: MIT */
#include "emu/facts/qp_fsm.h"

#include <stdbool.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"

/* The kernel's qp_state_table has the same rows, and alternate paths in addition, which are not
 * supported here.  [IBTA1 11.2.5.2]
 */
const struct qp_edge qp_edges[] = {
    {QPT_RC, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS, 0},
    {QPT_RC, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS},
    {QPT_RC, QPS_INIT, QPS_RTR,
     QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN | QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER,
     QPA_ACCESS_FLAGS | QPA_PKEY_INDEX | QPA_CREDITS},
    {QPT_RC, QPS_RTR, QPS_RTS,
     QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN | QPA_MAX_QP_RD_ATOMIC,
     QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER},
    {QPT_RC, QPS_RTS, QPS_RTS, 0, QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER},
    {QPT_RC, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_RC, QPS_SQD, QPS_RTS, 0, QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER},
    {QPT_RC, QPS_SQD, QPS_SQD, 0,
     QPA_PORT | QPA_AV | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_MAX_QP_RD_ATOMIC |
         QPA_MAX_DEST_RD_ATOMIC | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX | QPA_MIN_RNR_TIMER},

    {QPT_UC, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS, 0},
    {QPT_UC, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_INIT, QPS_RTR, QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN,
     QPA_ACCESS_FLAGS | QPA_PKEY_INDEX},
    {QPT_UC, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_RTS, QPS_RTS, 0, QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_UC, QPS_SQD, QPS_RTS, 0, QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_SQD, QPS_SQD, 0, QPA_AV | QPA_ACCESS_FLAGS | QPA_PKEY_INDEX},
    {QPT_UC, QPS_SQE, QPS_RTS, 0, QPA_ACCESS_FLAGS},

    {QPT_UD, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY, 0},
    {QPT_UD, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_PORT | QPA_QKEY},
    {QPT_UD, QPS_INIT, QPS_RTR, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_UD, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_QKEY},
    {QPT_UD, QPS_RTS, QPS_RTS, 0, QPA_QKEY},
    {QPT_UD, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_UD, QPS_SQD, QPS_RTS, 0, QPA_QKEY},
    {QPT_UD, QPS_SQD, QPS_SQD, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_UD, QPS_SQE, QPS_RTS, 0, QPA_QKEY},

    /* Like UD, but QPN 1 is that of a port: PORT is not an attribute. */
    {QPT_GSI, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_QKEY, 0},
    {QPT_GSI, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_INIT, QPS_RTR, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_QKEY},
    {QPT_GSI, QPS_RTS, QPS_RTS, 0, QPA_QKEY},
    {QPT_GSI, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_GSI, QPS_SQD, QPS_RTS, 0, QPA_QKEY},
    {QPT_GSI, QPS_SQD, QPS_SQD, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_SQE, QPS_RTS, 0, QPA_QKEY},
};
const size_t n_qp_edges = ARRAY_LEN(qp_edges);

enum rdl_status qp_fsm_check(uint32_t type, enum qp_state from, enum qp_state to, unsigned given,
                             unsigned *reterr_missing, unsigned *reterr_extra)
{
    unsigned need = 0, may = 0;
    bool found = to == QPS_RESET || to == QPS_ERR;

    for (size_t i = 0; i < n_qp_edges && !found; i++) {
        const struct qp_edge *e = &qp_edges[i];

        if (e->type != type || e->from != from || e->to != to)
            continue;
        need = e->need;
        may = e->may;
        found = true;
    }
    *reterr_missing = need & ~given;
    *reterr_extra = found ? given & ~(need | may) : 0;
    if (!found)
        return RDL_ERR_STATE;
    return *reterr_missing || *reterr_extra ? RDL_ERR_INVAL : RDL_OK;
}

unsigned qp_fsm_needs(uint32_t type, enum qp_state to)
{
    unsigned need = 0;

    /* At most one transition into a state needs attributes. */
    for (size_t i = 0; i < n_qp_edges; i++) {
        if (qp_edges[i].type == type && qp_edges[i].to == to)
            need |= qp_edges[i].need;
    }
    return need;
}

const struct qp_edge *qp_fsm_takes(uint32_t type, unsigned attr, const struct qp_edge *after)
{
    for (const struct qp_edge *e = after ? after + 1 : qp_edges; e < qp_edges + n_qp_edges; e++) {
        if (e->type == type && ((e->need | e->may) & attr))
            return e;
    }
    return NULL;
}

const struct qp_edge *qp_fsm_leads(uint32_t type, enum qp_state to, const struct qp_edge *after)
{
    for (const struct qp_edge *e = after ? after + 1 : qp_edges; e < qp_edges + n_qp_edges; e++) {
        if (e->type == type && e->to == to)
            return e;
    }
    return NULL;
}

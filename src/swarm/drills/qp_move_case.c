/* SPDX-License-Identifier: MIT */
#include "swarm/drills/qp_move_case.h"

#include <stddef.h>

#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"

#define UP   (QPA_PKEY_INDEX | QPA_PORT)
#define KEYS (QPA_ACCESS_FLAGS | QPA_PKEY_INDEX)
#define RNR  (QPA_ACCESS_FLAGS | QPA_MIN_RNR_TIMER)

static const struct qp_move_case moves[] = {
    {QPT_RC, QPS_RESET, QPS_INIT, UP | QPA_ACCESS_FLAGS, 0},
    {QPT_RC, QPS_INIT, QPS_INIT, 0, UP | QPA_ACCESS_FLAGS},
    {QPT_RC, QPS_INIT, QPS_RTR,
     QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN | QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER,
     KEYS},
    {QPT_RC, QPS_RTR, QPS_RTS,
     QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN | QPA_MAX_QP_RD_ATOMIC, RNR},
    {QPT_RC, QPS_RTS, QPS_RTS, 0, RNR},
    {QPT_RC, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_RC, QPS_SQD, QPS_RTS, 0, RNR},
    {QPT_RC, QPS_SQD, QPS_SQD, 0,
     QPA_PORT | QPA_AV | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_MAX_QP_RD_ATOMIC |
         QPA_MAX_DEST_RD_ATOMIC | QPA_PKEY_INDEX | RNR},
    {QPT_UC, QPS_RESET, QPS_INIT, UP | QPA_ACCESS_FLAGS, 0},
    {QPT_UC, QPS_INIT, QPS_INIT, 0, UP | QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_INIT, QPS_RTR, QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN, KEYS},
    {QPT_UC, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_RTS, QPS_RTS, 0, QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_UC, QPS_SQD, QPS_RTS, 0, QPA_ACCESS_FLAGS},
    {QPT_UC, QPS_SQD, QPS_SQD, 0, QPA_AV | KEYS},
    {QPT_UD, QPS_RESET, QPS_INIT, UP | QPA_QKEY, 0},
    {QPT_UD, QPS_INIT, QPS_INIT, 0, UP | QPA_QKEY},
    {QPT_UD, QPS_INIT, QPS_RTR, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_UD, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_QKEY},
    {QPT_UD, QPS_RTS, QPS_RTS, 0, QPA_QKEY},
    {QPT_UD, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_UD, QPS_SQD, QPS_RTS, 0, QPA_QKEY},
    {QPT_UD, QPS_SQD, QPS_SQD, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_RESET, QPS_INIT, QPA_PKEY_INDEX | QPA_QKEY, 0},
    {QPT_GSI, QPS_INIT, QPS_INIT, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_INIT, QPS_RTR, 0, QPA_PKEY_INDEX | QPA_QKEY},
    {QPT_GSI, QPS_RTR, QPS_RTS, QPA_SQ_PSN, QPA_QKEY},
    {QPT_GSI, QPS_RTS, QPS_RTS, 0, QPA_QKEY},
    {QPT_GSI, QPS_RTS, QPS_SQD, 0, QPA_EN_SQD_ASYNC_NOTIFY},
    {QPT_GSI, QPS_SQD, QPS_RTS, 0, QPA_QKEY},
    {QPT_GSI, QPS_SQD, QPS_SQD, 0, QPA_PKEY_INDEX | QPA_QKEY},
};

#define N_MOVES (sizeof(moves) / sizeof(moves[0]))

const struct qp_move_case *qp_move_case(uint32_t type, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < N_MOVES; i++) {
        if (moves[i].type == type && moves[i].from == from && moves[i].to == to)
            return &moves[i];
    }
    return NULL;
}

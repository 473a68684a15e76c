/* SPDX-License-Identifier: MIT */
/* Bits of the attribute mask of MODIFY_QP.  [virtio-rdma RFC, enum ib_qp_attr_mask] */
#ifndef EMU_FACTS_ENUM_QP_ATTR_H
#define EMU_FACTS_ENUM_QP_ATTR_H

#include "emu/facts/enum_table.h"

#define ENUM_QP_ATTR(X)                                                                            \
    X(QPA, STATE, 1u << 0, "state")                                                                \
    X(QPA, CUR_STATE, 1u << 1, "cur_state")                                                        \
    X(QPA, EN_SQD_ASYNC_NOTIFY, 1u << 2, "en_sqd_async_notify")                                    \
    X(QPA, ACCESS_FLAGS, 1u << 3, "access")                                                        \
    X(QPA, PKEY_INDEX, 1u << 4, "pkey_index")                                                      \
    X(QPA, PORT, 1u << 5, "port")                                                                  \
    X(QPA, QKEY, 1u << 6, "qkey")                                                                  \
    X(QPA, AV, 1u << 7, "ah")                                                                      \
    X(QPA, PATH_MTU, 1u << 8, "mtu")                                                               \
    X(QPA, TIMEOUT, 1u << 9, "timeout")                                                            \
    X(QPA, RETRY_CNT, 1u << 10, "retry_cnt")                                                       \
    X(QPA, RNR_RETRY, 1u << 11, "rnr_retry")                                                       \
    X(QPA, RQ_PSN, 1u << 12, "rq_psn")                                                             \
    X(QPA, MAX_QP_RD_ATOMIC, 1u << 13, "max_rd_atomic")                                            \
    X(QPA, ALT_PATH, 1u << 14, "alt_path")                                                         \
    X(QPA, MIN_RNR_TIMER, 1u << 15, "min_rnr_timer")                                               \
    X(QPA, SQ_PSN, 1u << 16, "sq_psn")                                                             \
    X(QPA, MAX_DEST_RD_ATOMIC, 1u << 17, "max_dest_rd_atomic")                                     \
    X(QPA, PATH_MIG_STATE, 1u << 18, "path_mig_state")                                             \
    X(QPA, CAP, 1u << 19, "cap")                                                                   \
    X(QPA, DEST_QPN, 1u << 20, "dest_qpn")                                                         \
    X(QPA, RATE_LIMIT, 1u << 25, "rate_limit")                                                     \
    X(QPA, CREDITS, 1u << 30, "credits")

enum qp_attr_bit { ENUM_QP_ATTR(ENUM_MEMBER) };

#endif

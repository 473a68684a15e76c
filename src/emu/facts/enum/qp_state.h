/* SPDX-License-Identifier: MIT */
/* The states of a queue pair.  [virtio-rdma RFC, enum ib_qp_state] */
#ifndef EMU_FACTS_ENUM_QP_STATE_H
#define EMU_FACTS_ENUM_QP_STATE_H

#include "emu/facts/enum_table.h"

#define ENUM_QP_STATE(X)                                                                           \
    X(QPS, RESET, 0, "just created: nothing can be posted, nothing is received")                   \
    X(QPS, INIT, 1, "receives can be posted; packets that arrive are dropped")                     \
    X(QPS, RTR, 2, "ready to receive: the receive queue works, the send queue does not")           \
    X(QPS, RTS, 3, "ready to send: both queues work")                                              \
    X(QPS, SQD, 4, "send queue drained: what was started finishes, new work waits")                \
    X(QPS, SQE, 5, "send queue error (UC and UD only): sends are flushed, receives work")          \
    X(QPS, ERR, 6, "error: everything posted completes with WR_FLUSH_ERR")

enum qp_state { ENUM_QP_STATE(ENUM_MEMBER) };

#endif

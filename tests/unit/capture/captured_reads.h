/* SPDX-License-Identifier: MIT */
/* Rows of captures: READs and atomic operations of host a, and the answers of host b. */
#ifndef CAPTURED_READS_H
#define CAPTURED_READS_H

#include "captured.h"

#define READ(when, at, bytes)                                                                      \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_RDMA_READ_REQUEST, .psn = (at), .n = (bytes),    \
        .ack_req = true                                                                            \
    }
#define RESPONSE(when, position, at, bytes, msns)                                                  \
    {                                                                                              \
        .at_us = (when), .from = 'b', .op = OP_RC_RDMA_READ_RESPONSE_##position, .psn = (at),      \
        .n = (bytes), .syndrome = 31, .msn = (msns)                                                \
    }
#define ATOMIC(when, at)                                                                           \
    {                                                                                              \
        .at_us = (when), .from = 'a', .op = OP_RC_FETCH_ADD, .psn = (at), .ack_req = true          \
    }
#define FOUND(when, at, what, msns)                                                                \
    {                                                                                              \
        .at_us = (when), .from = 'b', .op = OP_RC_ATOMIC_ACKNOWLEDGE, .psn = (at),                 \
        .value = (what), .syndrome = 31, .msn = (msns)                                             \
    }

#endif

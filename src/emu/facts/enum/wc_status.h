/* SPDX-License-Identifier: MIT */
/* The statuses of completions.  [virtio-rdma RFC, enum ib_wc_status] */
#ifndef EMU_FACTS_ENUM_WC_STATUS_H
#define EMU_FACTS_ENUM_WC_STATUS_H

#include "emu/facts/enum_table.h"

#define ENUM_WC_STATUS(X)                                                                          \
    X(WCS, SUCCESS, 0, "the work request was carried out")                                         \
    X(WCS, LOC_LEN_ERR, 1, "local length error: the message does not fit the buffers or limits")   \
    X(WCS, LOC_QP_OP_ERR, 2, "local QP operation error: the QP cannot carry out this request")     \
    X(WCS, LOC_EEC_OP_ERR, 3, "local EE context error (reliable datagram, never seen here)")       \
    X(WCS, LOC_PROT_ERR, 4, "local protection error: an SGE's key, range, PD or access is wrong")  \
    X(WCS, WR_FLUSH_ERR, 5, "flushed: the QP was in the error state before this was carried out")  \
    X(WCS, MW_BIND_ERR, 6,                                                                         \
      "memory management operation error: the keys of a bind, REG_MR or invalidate")               \
    X(WCS, BAD_RESP_ERR, 7, "bad response: the responder sent what it must not")                   \
    X(WCS, LOC_ACCESS_ERR, 8,                                                                      \
      "local access error: the key of a WRITE with immediate data was refused")                    \
    X(WCS, REM_INV_REQ_ERR, 9, "remote invalid request: the responder refused the request's form") \
    X(WCS, REM_ACCESS_ERR, 10, "remote access error: the responder refused the key or range")      \
    X(WCS, REM_OP_ERR, 11, "remote operation error: the responder could not carry it out")         \
    X(WCS, RETRY_EXC_ERR, 12, "transport retries exceeded: no answer, or NAK after NAK")           \
    X(WCS, RNR_RETRY_EXC_ERR, 13, "receiver-not-ready retries exceeded: no receive was posted")    \
    X(WCS, LOC_RDD_VIOL_ERR, 14, "local RDD violation (reliable datagram, never seen here)")       \
    X(WCS, REM_INV_RD_REQ_ERR, 15, "remote invalid RD request (never seen here)")                  \
    X(WCS, REM_ABORT_ERR, 16, "remote aborted (never seen here)")                                  \
    X(WCS, INV_EECN_ERR, 17, "invalid EE context number (never seen here)")                        \
    X(WCS, INV_EEC_STATE_ERR, 18, "invalid EE context state (never seen here)")                    \
    X(WCS, FATAL_ERR, 19, "the device failed; rxe: a READ response answered no READ")              \
    X(WCS, RESP_TIMEOUT_ERR, 20, "response timeout (never seen here)")                             \
    X(WCS, GENERAL_ERR, 21, "another error than all these (never seen here)")

enum wc_status { ENUM_WC_STATUS(ENUM_MEMBER) };

#endif

/* SPDX-License-Identifier: MIT */
/* The states of an ID of rdma_cm.  [Linux, enum rdma_cm_state] */
#ifndef EMU_FACTS_ENUM_CMA_STATE_H
#define EMU_FACTS_ENUM_CMA_STATE_H

#include "emu/facts/enum_table.h"

#define ENUM_CMA_STATE(X)                                                                          \
    X(CMA, IDLE, 0, "new")                                                                         \
    X(CMA, ADDR_QUERY, 1, "the peer's address is being resolved")                                  \
    X(CMA, ADDR_RESOLVED, 2, "the peer's address is known")                                        \
    X(CMA, ROUTE_QUERY, 3, "the path is being resolved")                                           \
    X(CMA, ROUTE_RESOLVED, 4, "the path is known")                                                 \
    X(CMA, CONNECT, 5, "connecting, or connected")                                                 \
    X(CMA, DISCONNECT, 6, "the connection is over")                                                \
    X(CMA, ADDR_BOUND, 7, "has an address and a port here")                                        \
    X(CMA, LISTEN, 8, "waits for requests")                                                        \
    X(CMA, DESTROYING, 9, "is being destroyed")

enum cma_state { ENUM_CMA_STATE(ENUM_MEMBER) };

#endif

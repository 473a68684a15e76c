/* SPDX-License-Identifier: MIT */
/* The calls of librdmacm that a lab remembers: those that start something, and those that get an
 * event.  [librdmacm]
 */
#ifndef EMU_FACTS_ENUM_CM_CALL_H
#define EMU_FACTS_ENUM_CM_CALL_H

#include "emu/facts/enum_table.h"

#define ENUM_CM_CALL(X)                                                                            \
    X(CM_CALL, rdma_bind_addr, 0, "gives an ID an address and a port")                             \
    X(CM_CALL, rdma_listen, 1, "waits for requests")                                               \
    X(CM_CALL, rdma_resolve_addr, 2, "asks for the way to an address")                             \
    X(CM_CALL, rdma_resolve_route, 3, "asks for a path")                                           \
    X(CM_CALL, rdma_connect, 4, "asks a peer for a connection, or for a queue pair")               \
    X(CM_CALL, rdma_accept, 5, "accepts a request")                                                \
    X(CM_CALL, rdma_reject, 6, "refuses a request")                                                \
    X(CM_CALL, rdma_disconnect, 7, "ends a connection")                                            \
    X(CM_CALL, rdma_notify, 8, "tells the kernel that data has come")                              \
    X(CM_CALL, rdma_join_multicast, 9, "joins a group")                                            \
    X(CM_CALL, rdma_destroy_id, 10, "destroys an ID")                                              \
    X(CM_CALL, rdma_get_cm_event, 11, "takes an event")

enum cm_call { ENUM_CM_CALL(ENUM_MEMBER) };

#endif

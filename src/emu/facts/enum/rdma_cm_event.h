/* SPDX-License-Identifier: MIT */
/* The events of rdma_cm.  [librdmacm, enum rdma_cm_event_type] */
#ifndef EMU_FACTS_ENUM_RDMA_CM_EVENT_H
#define EMU_FACTS_ENUM_RDMA_CM_EVENT_H

#include "emu/facts/enum_table.h"

#define ENUM_RDMA_CM_EVENT(X)                                                                      \
    X(RDMA_CM_EVENT, ADDR_RESOLVED, 0, "the peer's address has a MAC, and a device here")          \
    X(RDMA_CM_EVENT, ADDR_ERROR, 1, "the peer's address could not be resolved")                    \
    X(RDMA_CM_EVENT, ROUTE_RESOLVED, 2, "the path is known")                                       \
    X(RDMA_CM_EVENT, ROUTE_ERROR, 3, "no path is known")                                           \
    X(RDMA_CM_EVENT, CONNECT_REQUEST, 4, "a peer wants a connection, or a queue pair; a new ID")   \
    X(RDMA_CM_EVENT, CONNECT_RESPONSE, 5, "the peer accepts, and the program has to establish")    \
    X(RDMA_CM_EVENT, CONNECT_ERROR, 6, "the connection failed on this side")                       \
    X(RDMA_CM_EVENT, UNREACHABLE, 7, "the peer did not answer, or offers no such service")         \
    X(RDMA_CM_EVENT, REJECTED, 8, "the peer rejects, for a reason")                                \
    X(RDMA_CM_EVENT, ESTABLISHED, 9, "connected, or the queue pair of the peer is known")          \
    X(RDMA_CM_EVENT, DISCONNECTED, 10, "the connection is over")                                   \
    X(RDMA_CM_EVENT, DEVICE_REMOVAL, 11, "the device has gone")                                    \
    X(RDMA_CM_EVENT, MULTICAST_JOIN, 12, "the group was joined")                                   \
    X(RDMA_CM_EVENT, MULTICAST_ERROR, 13, "the group could not be joined, or is over")             \
    X(RDMA_CM_EVENT, ADDR_CHANGE, 14, "the address is at another device now")                      \
    X(RDMA_CM_EVENT, TIMEWAIT_EXIT, 15, "no packet of the old connection is under way any more")

enum rdma_cm_event { ENUM_RDMA_CM_EVENT(ENUM_MEMBER) };

#endif

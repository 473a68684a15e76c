/* SPDX-License-Identifier: MIT */
/* Reasons in the private data of a reject of o2iblnd.  [Lustre, o2iblnd-idl.h] */
#ifndef EMU_FACTS_ENUM_LNET_WHY_H
#define EMU_FACTS_ENUM_LNET_WHY_H

#include "emu/facts/enum_table.h"

#define ENUM_LNET_WHY(X)                                                                           \
    X(LNET_WHY, CONN_RACE, 1, "both sides connect, and the connection of the other side stays")    \
    X(LNET_WHY, NO_RESOURCES, 2, "memory or an object of the adapter could not be had")            \
    X(LNET_WHY, FATAL, 3, "the request is not understood, or not acceptable")                      \
    X(LNET_WHY, CONN_UNCOMPAT, 4, "the version of the protocol is not supported")                  \
    X(LNET_WHY, CONN_STALE, 5, "the request is for an earlier incarnation of this node")           \
    X(LNET_WHY, RDMA_FRAGS, 6, "the peer would use too many fragments")                            \
    X(LNET_WHY, MSG_QUEUE_SIZE, 7, "the peer would send too many messages at a time")              \
    X(LNET_WHY, INVALID_SRV_ID, 8, "no listener has the service number")                           \
    X(LNET_WHY, EARLY, 9, "the network of this node is not up yet")

enum lnet_why { ENUM_LNET_WHY(ENUM_MEMBER) };

#endif

/* SPDX-License-Identifier: MIT */
/* The classes of RoCEv2 packets that a fault can select. */
#ifndef EMU_FACTS_ENUM_PACKET_CLASS_H
#define EMU_FACTS_ENUM_PACKET_CLASS_H

#include "emu/facts/enum_table.h"

#define ENUM_PACKET_CLASS(X)                                                                       \
    X(PKC, ANY, 0, "any frame")                                                                    \
    X(PKC, REQUEST, 1, "a packet that asks the other side for something")                          \
    X(PKC, ANSWER, 2, "an ACK, a NAK or a response")                                               \
    X(PKC, SEND, 3, "a packet of a SEND of any kind")                                              \
    X(PKC, WRITE, 4, "a packet of an RDMA WRITE of any kind")                                      \
    X(PKC, READ_REQUEST, 5, "the request of an RDMA READ")                                         \
    X(PKC, READ_RESPONSE, 6, "a packet that brings what a READ asked for")                         \
    X(PKC, ATOMIC_REQUEST, 7, "the request of an atomic")                                          \
    X(PKC, ATOMIC_RESPONSE, 8, "what an atomic brings back")                                       \
    X(PKC, ACK, 9, "a packet that only acknowledges")                                              \
    X(PKC, NAK, 10, "a NAK of any kind, but no RNR NAK")                                           \
    X(PKC, RNR_NAK, 11, "receiver not ready")

enum packet_class { ENUM_PACKET_CLASS(ENUM_MEMBER) };

#endif

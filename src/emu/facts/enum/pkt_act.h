/* SPDX-License-Identifier: MIT */
/* The verdicts of the responder on requests, and of the completer on acknowledges and responses. */
#ifndef EMU_FACTS_ENUM_PKT_ACT_H
#define EMU_FACTS_ENUM_PKT_ACT_H

#include "emu/facts/enum_table.h"

#define ENUM_PKT_ACT(X)                                                                            \
    X(ACT, ACCEPT, 0, "in order")                                                                  \
    X(ACT, DUPLICATE, 1, "duplicate, acknowledged again")                                          \
    X(ACT, NAK_SEQUENCE, 2, "ahead of the expected PSN: sequence NAK")                             \
    X(ACT, DROP, 3, "dropped without an answer")                                                   \
    X(ACT, RNR, 4, "no receive posted: RNR NAK")                                                   \
    X(ACT, NAK_INVALID, 5, "refused: NAK invalid request")                                         \
    X(ACT, NAK_ACCESS, 6, "refused: NAK remote access")                                            \
    X(ACT, NAK_OPERATIONAL, 7, "refused: NAK remote operational")                                  \
    X(ACT, ACKS, 8, "acknowledges")                                                                \
    X(ACT, GO_BACK, 9, "asks for retransmission")                                                  \
    X(ACT, WAIT_RNR, 10, "asks to wait and send again")                                            \
    X(ACT, FAIL, 11, "ends the work request with an error")                                        \
    X(ACT, REPLAY, 12, "duplicate, answered again")                                                \
    X(ACT, CREDITS, 13, "tells how many receives there are")                                       \
    X(ACT, TAKE_AND_FAIL, 14, "taken and acknowledged, but its receive fails")

enum pkt_act { ENUM_PKT_ACT(ENUM_MEMBER) };

#endif

/* SPDX-License-Identifier: MIT */
/* The classes of the AETH syndrome.  [IBTA1 9.7.5.1.2; values: tshark, Linux rxe] */
#ifndef EMU_FACTS_ENUM_SYNDROME_H
#define EMU_FACTS_ENUM_SYNDROME_H

#include "emu/facts/enum_table.h"

#define ENUM_SYNDROME(X)                                                                           \
    X(SYN, NONE, 0, "no AETH")                                                                     \
    X(SYN, ACK, 1, "acknowledges everything up to its PSN")                                        \
    X(SYN, RNR_NAK, 2, "receiver not ready: no receive is posted; send again after the timer")     \
    X(SYN, NAK_PSN_SEQUENCE, 3, "a packet is missing before the one that arrived")                 \
    X(SYN, NAK_INVALID_REQUEST, 4, "the request is malformed or not allowed on this QP")           \
    X(SYN, NAK_REMOTE_ACCESS, 5, "key, range or access of the request was refused")                \
    X(SYN, NAK_REMOTE_OPERATIONAL, 6, "the responder failed at its own side")                      \
    X(SYN, NAK_RESERVED, 7, "a NAK code that the specification does not define")

enum syndrome { ENUM_SYNDROME(ENUM_MEMBER) };

#endif

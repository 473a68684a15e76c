/* SPDX-License-Identifier: MIT */
/* The messages of the connection manager: attribute IDs of its MADs.  [IBTA1 12.6] */
#ifndef EMU_FACTS_ENUM_CM_MESSAGE_H
#define EMU_FACTS_ENUM_CM_MESSAGE_H

#include "emu/facts/enum_table.h"

#define ENUM_CM_MESSAGE(X)                                                                         \
    X(CM, REQ, 0x10, "request for a connection, from the active side")                             \
    X(CM, MRA, 0x11, "message receipt acknowledgement: the answer takes a while")                  \
    X(CM, REJ, 0x12, "reject: no connection, for a reason")                                        \
    X(CM, REP, 0x13, "reply: the passive side accepts")                                            \
    X(CM, RTU, 0x14, "ready to use: the active side has received the reply")                       \
    X(CM, DREQ, 0x15, "request to disconnect")                                                     \
    X(CM, DREP, 0x16, "reply to a request to disconnect")                                          \
    X(CM, SIDR_REQ, 0x17, "request for the queue pair of a datagram service")                      \
    X(CM, SIDR_REP, 0x18, "reply with the queue pair of a datagram service, or a refusal")         \
    X(CM, LAP, 0x19, "load alternate path; not used on RoCE")                                      \
    X(CM, APR, 0x1a, "alternate path response; not used on RoCE")

enum cm_message { ENUM_CM_MESSAGE(ENUM_MEMBER) };

#endif

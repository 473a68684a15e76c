/* SPDX-License-Identifier: MIT */
/* The states of a communication ID.  [Linux, enum ib_cm_state] */
#ifndef EMU_FACTS_ENUM_CM_STATE_H
#define EMU_FACTS_ENUM_CM_STATE_H

#include "emu/facts/enum_table.h"

#define ENUM_CM_STATE(X)                                                                           \
    X(CMS, IDLE, 0, "no connection")                                                               \
    X(CMS, LISTEN, 1, "waits for a REQ or a SIDR_REQ for its service")                             \
    X(CMS, REQ_SENT, 2, "active: waits for the answer to its REQ")                                 \
    X(CMS, REQ_RCVD, 3, "passive: the program has the request")                                    \
    X(CMS, MRA_REQ_SENT, 4, "passive: as REQ_RCVD; a duplicate REQ is answered with a MRA")        \
    X(CMS, MRA_REQ_RCVD, 5, "active: as REQ_SENT, with the longer timeout of a MRA")               \
    X(CMS, REP_SENT, 6, "passive: waits for the RTU")                                              \
    X(CMS, REP_RCVD, 7, "active: the program has the reply")                                       \
    X(CMS, MRA_REP_SENT, 8, "active: as REP_RCVD; a duplicate REP is answered with a MRA")         \
    X(CMS, MRA_REP_RCVD, 9, "passive: as REP_SENT, with the longer timeout of a MRA")              \
    X(CMS, ESTABLISHED, 10, "connected")                                                           \
    X(CMS, DREQ_SENT, 11, "waits for the answer to its DREQ")                                      \
    X(CMS, DREQ_RCVD, 12, "the peer disconnects, and the program has yet to answer")               \
    X(CMS, TIMEWAIT, 13, "disconnected; packets may still be under way")                           \
    X(CMS, SIDR_REQ_SENT, 14, "waits for the answer to its SIDR_REQ")                              \
    X(CMS, SIDR_REQ_RCVD, 15, "the program has the request for a queue pair")

enum cm_state { ENUM_CM_STATE(ENUM_MEMBER) };

#define CM_STATES 16u

#endif

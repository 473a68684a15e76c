/* SPDX-License-Identifier: MIT */
/* The kinds of named objects in a lab, other than hosts and switches. */
#ifndef EMU_FACTS_ENUM_OBJECT_H
#define EMU_FACTS_ENUM_OBJECT_H

#include "emu/facts/enum_table.h"

#define ENUM_OBJECT(X)                                                                             \
    X(OBJ, NONE, 0, "nothing")                                                                     \
    X(OBJ, PD, 1, "protection domain")                                                             \
    X(OBJ, MR, 2, "memory region")                                                                 \
    X(OBJ, CQ, 3, "completion queue")                                                              \
    X(OBJ, QP, 4, "queue pair")                                                                    \
    X(OBJ, FAULT, 5, "fault")                                                                      \
    X(OBJ, LINK, 6, "link")                                                                        \
    X(OBJ, PORT, 7, "external port")                                                               \
    X(OBJ, AH, 8, "address handle")                                                                \
    X(OBJ, MW, 9, "memory window")                                                                 \
    X(OBJ, CHANNEL, 11, "completion channel")                                                      \
    X(OBJ, SRQ, 10, "shared receive queue")                                                        \
    X(OBJ, EVENT_CHANNEL, 12, "event channel of rdma_cm")                                          \
    X(OBJ, CM_ID, 13, "ID of rdma_cm")

enum object_kind { ENUM_OBJECT(ENUM_MEMBER) };

#endif

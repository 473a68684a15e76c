/* SPDX-License-Identifier: MIT */
/* The status of a SIDR_REP.  [IBTA1 12.11] */
#ifndef EMU_FACTS_ENUM_SIDR_STATUS_H
#define EMU_FACTS_ENUM_SIDR_STATUS_H

#include "emu/facts/enum_table.h"

#define ENUM_SIDR_STATUS(X)                                                                        \
    X(SIDR, SUCCESS, 0, "the queue pair and its Q_Key are valid")                                  \
    X(SIDR, UNSUPPORTED, 1, "nobody listens at this service ID")                                   \
    X(SIDR, REJECT, 2, "the program refuses")                                                      \
    X(SIDR, NO_QP, 3, "no queue pair is available")                                                \
    X(SIDR, REDIRECT, 4, "another connection manager serves it")                                   \
    X(SIDR, UNSUPPORTED_VERSION, 5, "the version is not supported")

enum sidr_status { ENUM_SIDR_STATUS(ENUM_MEMBER) };

#endif

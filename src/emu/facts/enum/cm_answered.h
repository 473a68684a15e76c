/* SPDX-License-Identifier: MIT */
/* The message that a MRA or a REJ answers, as these say it.  [IBTA1 12.6] */
#ifndef EMU_FACTS_ENUM_CM_ANSWERED_H
#define EMU_FACTS_ENUM_CM_ANSWERED_H

#include "emu/facts/enum_table.h"

#define ENUM_CM_ANSWERED(X)                                                                        \
    X(CM_ANSWERED, REQ, 0, "a REQ")                                                                \
    X(CM_ANSWERED, REP, 1, "a REP")                                                                \
    X(CM_ANSWERED, OTHER, 2, "another message, or none")

enum cm_answered { ENUM_CM_ANSWERED(ENUM_MEMBER) };

#endif

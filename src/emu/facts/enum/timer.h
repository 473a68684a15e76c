/* SPDX-License-Identifier: MIT */
/* The timers of a queue pair. */
#ifndef EMU_FACTS_ENUM_TIMER_H
#define EMU_FACTS_ENUM_TIMER_H

#include "emu/facts/enum_table.h"

#define ENUM_TIMER(X)                                                                              \
    X(TMR, ACK, 0, "local ACK timeout: 4.096 us x 2^timeout")                                      \
    X(TMR, RNR, 1, "RNR NAK timer, told by the responder")

enum timer_kind { ENUM_TIMER(ENUM_MEMBER) };

#endif

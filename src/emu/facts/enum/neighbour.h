/* SPDX-License-Identifier: MIT */
/* The states of an entry in a guest's neighbour table, which maps IP addresses to MACs. */
#ifndef EMU_FACTS_ENUM_NEIGHBOUR_H
#define EMU_FACTS_ENUM_NEIGHBOUR_H

#include "emu/facts/enum_table.h"

#define ENUM_NEIGHBOUR(X)                                                                          \
    X(NB, INCOMPLETE, 0, "asked for; no answer yet")                                               \
    X(NB, REACHABLE, 1, "it answered, or asked itself, not long ago")                              \
    X(NB, FAILED, 2, "nobody answered")                                                            \
    X(NB, PERMANENT, 3, "told by the lab, never asked for")

enum neighbour_state { ENUM_NEIGHBOUR(ENUM_MEMBER) };

#endif

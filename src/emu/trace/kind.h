/* SPDX-License-Identifier: MIT */
/* The kinds of events.  kinds.def has a row for each kind. */
#ifndef EMU_TRACE_KIND_H
#define EMU_TRACE_KIND_H

#include "emu/trace/set.h"

enum ev_kind {
#define KIND(name) EV_##name,
#include "emu/trace/kinds.def"
#undef KIND
    EV_COUNT
};

_Static_assert(EV_COUNT <= EV_KINDS_MAX, "a set has room for every kind");

#endif

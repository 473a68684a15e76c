/* SPDX-License-Identifier: MIT */
/* Events of faults: their orders, and what a fault of a device does.
 *
 * A file that emits one of them includes this header; readers include emu/trace/event.h.
 */
#ifndef EMU_TRACE_EVENTS_FAULTS_H
#define EMU_TRACE_EVENTS_FAULTS_H

#include "emu/trace/fields.h"

#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events/faults.def"
#undef EVENT
#undef F

#endif

/* SPDX-License-Identifier: MIT */
/* Events of the lab: hosts, switches, external ports, links and objects are added, named, changed
 * or removed.
 *
 * A file that emits these events includes this header.  A file that reads the fields of events
 * includes emu/trace/event.h instead.
 */
#ifndef EMU_TRACE_EVENTS_LAB_H
#define EMU_TRACE_EVENTS_LAB_H

#include "emu/trace/fields.h"

#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events/lab.def"
#undef EVENT
#undef F

#endif

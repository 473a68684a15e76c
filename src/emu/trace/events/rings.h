/* SPDX-License-Identifier: MIT */
/* Events of virtqueues: notifications, used buffers, resets, errors of driver and device.
 *
 * A file that emits one of them includes this header; readers include emu/trace/event.h.
 */
#ifndef EMU_TRACE_EVENTS_RINGS_H
#define EMU_TRACE_EVENTS_RINGS_H

#include "emu/trace/fields.h"

#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events/rings.def"
#undef EVENT
#undef F

#endif

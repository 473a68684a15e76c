/* SPDX-License-Identifier: MIT */
/* Events of a guest's IP stack.
 *
 * A file that emits one of them includes this header; readers include emu/trace/event.h.
 */
#ifndef EMU_TRACE_EVENTS_IP_H
#define EMU_TRACE_EVENTS_IP_H

#include "emu/trace/fields.h"

#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events/ip.def"
#undef EVENT
#undef F

#endif

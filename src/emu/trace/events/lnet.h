/* SPDX-License-Identifier: MIT */
/* Events of nodes of LNet.
 *
 * A file that emits these events includes this header.  A file that reads the fields of events
 * includes emu/trace/event.h instead.
 */
#ifndef EMU_TRACE_EVENTS_LNET_H
#define EMU_TRACE_EVENTS_LNET_H

#include "emu/trace/fields.h"

#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events/lnet.def"
#undef EVENT
#undef F

#endif

/* SPDX-License-Identifier: MIT */
/* Events at the registers and the configuration space of a PCI function, and its interrupts.
 *
 * A file that emits one of them includes this header; readers include emu/trace/event.h.
 */
#ifndef EMU_TRACE_EVENTS_REGISTERS_H
#define EMU_TRACE_EVENTS_REGISTERS_H

#include "emu/trace/fields.h"

#define F(type, field) evf_##type field;
#define EVENT(name, whom, tone, fields, text)                                                      \
    struct ev_##name {                                                                             \
        fields                                                                                     \
    };
#include "emu/trace/events/registers.def"
#undef EVENT
#undef F

#endif

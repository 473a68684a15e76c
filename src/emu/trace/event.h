/* SPDX-License-Identifier: MIT */
/* One event of the trace, with the fields of every kind.
 *
 * A file that reads fields of struct ev includes this header.  A file that emits events includes
 * emit.h and the headers in emu/trace/events that declare the events' structs.  A file that only
 * names or prints events includes id.h, kind.h, schema.h, names.h or render.h.
 */
#ifndef EMU_TRACE_EVENT_H
#define EMU_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/trace/events/cm.h"
#include "emu/trace/events/faults.h"
#include "emu/trace/events/frames.h"
#include "emu/trace/events/ip.h"
#include "emu/trace/events/lab.h"
#include "emu/trace/events/lnet.h"
#include "emu/trace/events/pvrdma.h"
#include "emu/trace/events/qp.h"
#include "emu/trace/events/registers.h"
#include "emu/trace/events/rings.h"
#include "emu/trace/events/verbs.h"
#include "emu/trace/id.h"
#include "emu/trace/kind.h"
#include "emu/trace/names.h"
#include "emu/trace/render.h"
#include "emu/trace/schema.h"

struct ev {
    uint64_t at_ns; /* simulated time */
    ev_id id;
    ev_id cause; /* the event that caused this one; 0: an action of the user */
    enum ev_kind kind;
    union {
#define EVENT(name, whom, tone, fields, text) struct ev_##name name;
#include "emu/trace/events.def"
#undef EVENT
    } u;
};

/* Returns true if the record stores a frame for @e: a message that took a shortcut has none. */
static inline bool event_has_frame(const struct ev *e)
{
    return (e->kind == EV_tx && !e->u.tx.copied) || e->kind == EV_eth_tx;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Emitting events: TRACE() and TRACE_ID().
 *
 * Each kind of event has a struct, struct ev_KIND.  The headers in emu/trace/events declare them.
 * A file that emits events also includes the header that declares their structs.
 */
#ifndef EMU_TRACE_EMIT_H
#define EMU_TRACE_EMIT_H

#include <stddef.h>

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/trace/kind.h"
#include "emu/trace/trace.h"

/* Returns true if a sink hears events of @kind. */
static inline bool trace_listens(const struct trace *t, enum ev_kind kind)
{
    return ev_set_has(&t->sinks->kinds, kind);
}

/* Allocates and returns the id of the next event, and counts the event in the total of @kind.
 * Only TRACE() and TRACE_ID() call it.
 */
static inline ev_id trace_next(struct trace *t, enum ev_kind kind)
{
    RDL_ASSERT(t->row < EV_ROW_MAX);
    t->row++;
    t->totals[kind]++;
    return ev_id_of(t->tick, t->row);
}

/* Passes the event @id of @kind to every sink that hears the kind.  @fields is the struct of the
 * event, of @bytes bytes.  Only TRACE() and TRACE_ID() call it.
 */
RDL_COLD void trace_hand_out(const struct trace *t, enum ev_kind kind, const void *fields,
                             size_t bytes, ev_id id);

#define TRACE_HAND_OUT(t, id, event, ...)                                                          \
    if (trace_listens((t), EV_##event)) {                                                          \
        const struct ev_##event trace_fields = {__VA_ARGS__};                                      \
                                                                                                   \
        trace_hand_out((t), EV_##event, &trace_fields, sizeof(trace_fields), (id));                \
    }

/* Emits an event.  TRACE(t, tx, .qpn = 17, .psn = 4) sets fields by name; the others are zero. */
#define TRACE(t, event, ...)                                                                       \
    do {                                                                                           \
        const ev_id trace_id = trace_next((t), EV_##event);                                        \
                                                                                                   \
        TRACE_HAND_OUT(t, trace_id, event, __VA_ARGS__)                                            \
    } while (0)

/* As TRACE(), and sets @ret_id to the id of the event. */
#define TRACE_ID(t, ret_id, event, ...)                                                            \
    do {                                                                                           \
        (ret_id) = trace_next((t), EV_##event);                                                    \
        TRACE_HAND_OUT(t, ret_id, event, __VA_ARGS__)                                              \
    } while (0)

#endif

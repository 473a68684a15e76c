/* SPDX-License-Identifier: MIT */
/* The trace of one lab: numbers events, records their causes, and passes them to sinks.
 *
 * Event numbers advance with or without sinks, so observing changes nothing.  The struct of an
 * event is built only if a sink hears its kind.
 *
 * @cause is implicit: it is the event being handled, and becomes the cause of everything that is
 * emitted or scheduled.  trace_begin() starts a tick with the cause that was stored with the
 * scheduled item.  A handler that acts on an event which it emitted sets the cause with
 * trace_because().
 */
#ifndef EMU_TRACE_TRACE_H
#define EMU_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/trace/event.h"

/* A consumer of events.  Sinks are outside the lab's arena: restoring a checkpoint does not bring
 * back old ones.
 */
struct trace_sink {
    void (*event)(void *ctx, const struct ev *e);
    void *ctx;
    struct ev_set kinds; /* kinds that it hears; change with trace_sink_hear() */
    struct trace_sink *next;
};

struct trace_sinks {
    struct trace_sink *first;
    struct ev_set kinds; /* kinds that at least one sink hears */
};

struct trace {
    uint64_t now_ns;
    uint64_t tick;             /* number of the current or last tick */
    uint64_t tick_ns;          /* time at which that tick began */
    uint32_t row;              /* number of events in that tick so far */
    ev_id cause;               /* cause of the events emitted next */
    uint64_t totals[EV_COUNT]; /* events of each kind so far, with or without sinks */
    const struct trace_sinks *sinks;
};

/* Starts the next tick at @now_ns.  @cause is the event that led to it; 0: the user did. */
static inline void trace_begin(struct trace *t, uint64_t now_ns, ev_id cause)
{
    RDL_ASSERT(now_ns >= t->now_ns);
    t->now_ns = t->tick_ns = now_ns;
    t->tick++;
    t->row = 0;
    t->cause = cause;
}

/* Returns true if a sink hears events of @kind. */
static inline bool trace_listens(const struct trace *t, enum ev_kind kind)
{
    return ev_set_has(&t->sinks->kinds, kind);
}

/* Allocates the id of the next event, which is of @kind.  For TRACE() and TRACE_ID(). */
static inline ev_id trace_next(struct trace *t, enum ev_kind kind)
{
    RDL_ASSERT(t->row < EV_ROW_MAX);
    t->row++;
    t->totals[kind]++;
    return ev_id_of(t->tick, t->row);
}

/* Sets the cause of what follows to @id.  Returns the previous cause, to be restored later. */
static inline ev_id trace_because(struct trace *t, ev_id id)
{
    const ev_id old = t->cause;

    t->cause = id;
    return old;
}

/* Completes @e (time, id, cause) and passes it to every sink that hears its kind.  Use TRACE(). */
RDL_COLD void trace_hand_out(const struct trace *t, struct ev *e, ev_id id);

#define TRACE_HAND_OUT(t, id, event, ...)                                                          \
    if (trace_listens((t), EV_##event)) {                                                          \
        struct ev trace_e = {.kind = EV_##event, .u.event = {__VA_ARGS__}};                        \
                                                                                                   \
        trace_hand_out((t), &trace_e, (id));                                                       \
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

void trace_sink_add(struct trace_sinks *s, struct trace_sink *sink);
void trace_sink_remove(struct trace_sinks *s, struct trace_sink *sink);

/* Sets the kinds that @sink hears.  A sink may call this while it handles an event. */
void trace_sink_hear(struct trace_sinks *s, struct trace_sink *sink, const struct ev_set *kinds);

/* A 64-bit hash of all events: FNV-1a over time, id, cause, kind and all fields, numbers in
 * little-endian order.  It is the same on every machine.
 */
struct trace_hash {
    uint64_t value;
};

#define TRACE_HASH_START ((struct trace_hash){0xcbf29ce484222325u})

void trace_hash_event(struct trace_hash *h, const struct ev *e);

#endif

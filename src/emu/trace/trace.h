/* SPDX-License-Identifier: MIT */
/* The trace of one lab: numbers events, records their causes, and passes them to sinks.
 *
 * Event numbers advance with or without sinks, so observing changes nothing.  The struct of an
 * event is built only if a sink hears its kind.
 *
 * The field @cause is the event being handled.  It becomes the cause of all events that are emitted
 * and of all items that are scheduled.  trace_begin() starts a tick with the cause that was stored
 * with the scheduled item.  A handler that acts on an event which it emitted itself sets the cause
 * with trace_because().
 */
#ifndef EMU_TRACE_TRACE_H
#define EMU_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/trace/id.h"
#include "emu/trace/set.h"

struct ev;

/* A consumer of events.  Sinks are not in the lab's arena: restoring a checkpoint neither adds nor
 * removes sinks.
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
    uint64_t tick;                 /* number of the current or last tick */
    uint64_t tick_ns;              /* time at which that tick began */
    uint32_t row;                  /* number of events in that tick so far */
    ev_id cause;                   /* cause of the events emitted next */
    uint64_t totals[EV_KINDS_MAX]; /* events of each kind so far, with or without sinks */
    const struct trace_sinks *sinks;
};

/* Starts the next tick at @now_ns, which must not be in the past.  @cause is the event that caused
 * the tick, or 0 for an action of the user.
 */
static inline void trace_begin(struct trace *t, uint64_t now_ns, ev_id cause)
{
    RDL_ASSERT(now_ns >= t->now_ns);
    t->now_ns = t->tick_ns = now_ns;
    t->tick++;
    t->row = 0;
    t->cause = cause;
}

/* Sets the cause of the following events to @id.  Returns the previous cause: the caller restores
 * it with another call.
 */
static inline ev_id trace_because(struct trace *t, ev_id id)
{
    const ev_id old = t->cause;

    t->cause = id;
    return old;
}

/* Returns the id of the last event of this tick; the tick has one. */
static inline ev_id trace_last(const struct trace *t)
{
    RDL_ASSERT(t->row > 0);
    return ev_id_of(t->tick, t->row);
}

/* Add @sink to @s, or remove it.  The caller owns the sink.  A sink to be removed must be in @s. */
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

/* Continues @h with the event @e. */
void trace_hash_event(struct trace_hash *h, const struct ev *e);

#endif

/* SPDX-License-Identifier: MIT */
/* The trace of one lab: numbers events, knows their causes, hands them to whoever listens.
 *
 * Numbers advance whether or not anything listens, so looking changes nothing; the struct of an
 * event is built only if a sink hears events of its kind.
 *
 * Causes are ambient.  @cause is the event being handled: it is the cause of all that is emitted
 * and scheduled.  trace_begin() starts a tick with the cause that was kept with the scheduled item;
 * a handler that acts on an event of its own says so with trace_because().
 */
#ifndef EMU_TRACE_TRACE_H
#define EMU_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/trace/event.h"

/* Sinks are outside the lab's arena: a restored checkpoint does not bring back old listeners. */
struct trace_sink {
    void (*event)(void *ctx, const struct ev *e);
    void *ctx;
    struct ev_set kinds; /* that it hears; change it by trace_sink_hear() */
    struct trace_sink *next;
};

struct trace_sinks {
    struct trace_sink *first;
    struct ev_set kinds; /* that any sink hears */
};

struct trace {
    uint64_t now_ns;
    uint64_t tick;             /* of the tick being handled, or the last one */
    uint64_t tick_ns;          /* when that began */
    uint32_t row;              /* rows of that tick so far */
    ev_id cause;               /* ambient: of what is emitted next */
    uint64_t totals[EV_COUNT]; /* events of each kind so far, whoever listened */
    const struct trace_sinks *sinks;
};

/* Starts the next tick at @now_ns; @cause is what led to it, 0 if a person did. */
static inline void trace_begin(struct trace *t, uint64_t now_ns, ev_id cause)
{
    RDL_ASSERT(now_ns >= t->now_ns);
    t->now_ns = t->tick_ns = now_ns;
    t->tick++;
    t->row = 0;
    t->cause = cause;
}

/* Does anything hear events of @kind? */
static inline bool trace_listens(const struct trace *t, enum ev_kind kind)
{
    return ev_set_has(&t->sinks->kinds, kind);
}

/* The id of the next event, which is of @kind, for TRACE() and TRACE_ID(). */
static inline ev_id trace_next(struct trace *t, enum ev_kind kind)
{
    RDL_ASSERT(t->row < EV_ROW_MAX);
    t->row++;
    t->totals[kind]++;
    return ev_id_of(t->tick, t->row);
}

/* What follows happens because of @id.  Returns the cause that was, to put it back. */
static inline ev_id trace_because(struct trace *t, ev_id id)
{
    const ev_id old = t->cause;

    t->cause = id;
    return old;
}

/* Completes @e (time, id, cause) and hands it to every sink that hears its kind.  Use
 * TRACE(). */
RDL_COLD void trace_hand_out(const struct trace *t, struct ev *e, ev_id id);

#define TRACE_HAND_OUT(t, id, event, ...)                                                          \
    if (trace_listens((t), EV_##event)) {                                                          \
        struct ev trace_e = {.kind = EV_##event, .u.event = {__VA_ARGS__}};                        \
                                                                                                   \
        trace_hand_out((t), &trace_e, (id));                                                       \
    }

/* TRACE(t, tx, .qpn = 17, .psn = 4) emits an event: fields by name, the rest zero. */
#define TRACE(t, event, ...)                                                                       \
    do {                                                                                           \
        const ev_id trace_id = trace_next((t), EV_##event);                                        \
                                                                                                   \
        TRACE_HAND_OUT(t, trace_id, event, __VA_ARGS__)                                            \
    } while (0)

/* TRACE_ID() emits an event as TRACE() does, and sets @ret_id to its id. */
#define TRACE_ID(t, ret_id, event, ...)                                                            \
    do {                                                                                           \
        (ret_id) = trace_next((t), EV_##event);                                                    \
        TRACE_HAND_OUT(t, ret_id, event, __VA_ARGS__)                                              \
    } while (0)

void trace_sink_add(struct trace_sinks *s, struct trace_sink *sink);
void trace_sink_remove(struct trace_sinks *s, struct trace_sink *sink);

/* From now on @sink hears @kinds.  A sink may do this while it is handed an event. */
void trace_sink_hear(struct trace_sinks *s, struct trace_sink *sink, const struct ev_set *kinds);

/* A 64-bit hash over everything that events say (FNV-1a over their fields, little-endian, in
 * schema order), the same on every machine.
 */
struct trace_hash {
    uint64_t value;
};

#define TRACE_HASH_START ((struct trace_hash){0xcbf29ce484222325u})

void trace_hash_event(struct trace_hash *h, const struct ev *e);

#endif

/* SPDX-License-Identifier: MIT */
/* The simulated clock and the queue of scheduled items.
 *
 * An item is plain data that a table of handlers dispatches.  There are no closures, so a
 * checkpoint is a memory copy.  Items are ordered by time, then by the order of scheduling.  One
 * dispatch is one tick of the trace.  Its cause is the event that was being handled when the item
 * was scheduled.
 *
 * Items wait in two rows (linked lists) and a heap.  Items that are never cancelled mostly become
 * due in the order in which they were scheduled.  There is one row for what a host does soon, and
 * one for frames on the wire.  Appending to a row costs almost nothing.  The heap has the items
 * that can be cancelled, and those that are due before the last item of their row.  It stays small.
 */
#ifndef EMU_SIM_SIM_H
#define EMU_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/trace/trace.h"

enum sim_kind {
#define SIM(kind, what) SIM_##kind,
#include "emu/sim/kinds.def"
#undef SIM
    SIM_KIND_COUNT
};

/* A scheduled action, small enough for two registers.  kinds.def describes @target and @arg of each
 * kind.
 */
struct sim_item {
    uint64_t arg;
    uint32_t target;
    enum sim_kind kind;
};

/* Identifies a scheduled item until it is dispatched or cancelled.  0 means no item. */
typedef uint64_t sim_ticket;

/* Carries out @item.  @world is the argument of sim_init(). */
typedef void sim_handler(void *world, struct sim_item item);

/* The sort key of items: due time, then number in the order of scheduling. */
struct sim_when {
    uint64_t at_ns, seq;
};

/* The queues in which items wait.  SIM_FAR is the row for arrivals of frames, and SIM_NEAR the row
 * for all other items.  SIM_ROWS is the number of rows.
 */
enum sim_queue { SIM_NEAR, SIM_FAR, SIM_ROWS, SIM_HEAP = SIM_ROWS };

/* A scheduled item.  Its address does not change. */
struct sim_place {
    struct sim_when when;
    struct sim_item item;
    ev_id cause;            /* the event that was being handled when it was scheduled */
    struct sim_place *next; /* next item of its row, or next unused place */
    enum sim_queue queue;
    uint32_t at;   /* index in the heap, if @queue is SIM_HEAP */
    uint32_t gen;  /* counts removals of this place from the heap; part of a ticket */
    uint32_t slot; /* number of the place, from 1; part of a ticket */
};

/* A row: a list of items in the order in which they are due.  If the row is empty, @first is the
 * sentinel sim.end, and @last is not valid.
 */
struct sim_row {
    struct sim_place *first, *last;
};

/* An entry of the heap. */
struct sim_due {
    struct sim_when when;
    struct sim_place *place;
};

struct sim {
    struct arena *arena;
    struct trace *trace;          /* its now_ns is the clock */
    sim_handler *const *handlers; /* a const table of SIM_KIND_COUNT */
    void *world;                  /* argument of the handlers */
    uint64_t seq;                 /* number of items scheduled so far */
    /* Earliest time of a dispatch: items that are due earlier are dispatched at this time. */
    uint64_t floor_ns;
    /* A sentinel, due at the end of time.  It is the first item of every empty queue, so that a
     * search for the next item need not test for empty queues.
     */
    struct sim_place end;
    struct sim_row rows[SIM_ROWS];
    struct sim_due *heap; /* a binary heap, with room for all places */
    uint32_t heap_len, heap_cap;
    struct sim_place *unused;  /* list of free places; NULL: none */
    struct sim_place **chunks; /* arrays that contain all places, in the order of their slots */
    uint32_t n_chunks, chunks_cap;
};

/* Initializes @s without scheduled items.  @t becomes the clock.  Returns false if the arena is
 * full.
 */
bool sim_init(struct sim *s, struct arena *a, struct trace *t, sim_handler *const *handlers,
              void *world);

/* Schedules an item for @at_ns, which must not be in the past.  Its cause is the trace's current
 * cause.  Returns its ticket, or 0 if the arena is full: the lab then stops with RDL_ERR_NOMEM.
 */
sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg);

/* Schedules an item as sim_schedule() does, but returns no ticket: the item cannot be cancelled.
 * It costs less.
 */
void sim_enqueue(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target, uint64_t arg);

/* Cancels the item of @ticket.  Returns false if the item was already dispatched or cancelled. */
bool sim_cancel(struct sim *s, sim_ticket ticket);

/* Returns true if the item with key @x is dispatched before the item with key @y. */
static inline bool sim_is_before(const struct sim_when *x, const struct sim_when *y)
{
    return x->at_ns != y->at_ns ? x->at_ns < y->at_ns : x->seq < y->seq;
}

/* Returns the item that is dispatched next.  The result is valid until an item is scheduled,
 * cancelled or dispatched.  If no item is scheduled, returns the sentinel, which is due at
 * UINT64_MAX.
 */
static inline struct sim_place *sim_first(const struct sim *s)
{
    struct sim_place *near = s->rows[SIM_NEAR].first, *far = s->rows[SIM_FAR].first;
    struct sim_place *first = sim_is_before(&far->when, &near->when) ? far : near;

    return sim_is_before(&s->heap[0].when, &first->when) ? s->heap[0].place : first;
}

/* Returns the time at which the next item is due, or UINT64_MAX if there is none. */
static inline uint64_t sim_next_ns(const struct sim *s)
{
    return sim_first(s)->when.at_ns;
}

/* Dispatches @first, the result of sim_first(): removes the item, starts a tick at its due time or
 * at floor_ns, whichever is later, and calls the handler of its kind.
 */
void sim_dispatch_first(struct sim *s, struct sim_place *first);

/* Dispatches the next item, which must exist. */
static inline void sim_dispatch(struct sim *s)
{
    sim_dispatch_first(s, sim_first(s));
}

/* Advances the clock without a tick.  @now_ns must not be after the next item. */
void sim_advance(struct sim *s, uint64_t now_ns);

/* Returns the simulated time in ns. */
static inline uint64_t sim_now(const struct sim *s)
{
    return s->trace->now_ns;
}

#endif

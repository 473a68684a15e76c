/* SPDX-License-Identifier: MIT */
/* The simulated clock and its queue of due work.
 *
 * What is scheduled is plain data, dispatched by a table: no closures, so that a checkpoint is a
 * copy.  Items are ordered by (time, sequence of scheduling).  One dispatch is one tick of the
 * trace; the cause is the event that was being handled when the item was scheduled.
 *
 * Items wait in a heap or in a row.  Frames arrive mostly in the order in which they were sent, so
 * an arrival that is not before the last one of the row is put behind it, at no cost.  Everything
 * else is in the heap, which stays small.  The next item is the first of the row or of the heap.
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

struct sim_item {
    uint64_t at_ns;
    ev_id cause;
    uint64_t arg;
    uint32_t target;
    enum sim_kind kind;
};

/* Names a scheduled item until it is dispatched or cancelled; 0 is none. */
typedef uint64_t sim_ticket;

typedef void sim_handler(void *world, const struct sim_item *item);

struct sim_place; /* sim.c: an item and its position */

/* An entry of the heap or the row: when, and where the item is. */
struct sim_due {
    uint64_t at_ns, seq;
    uint32_t slot;
};

struct sim {
    struct arena *arena;
    struct trace *trace;          /* its now_ns is the clock */
    sim_handler *const *handlers; /* SIM_KIND_COUNT of them, a const table */
    void *world;
    uint64_t seq;
    uint64_t floor_ns;        /* what is due before happens then */
    struct sim_place *places; /* items, by slot */
    struct sim_due *heap;     /* a binary heap by (at_ns, seq) */
    struct sim_due *row;      /* by (at_ns, seq), a ring; what was cancelled leaves a gap */
    uint32_t *free;           /* unused slots, a stack */
    uint32_t len, heap_len;   /* items in all, and in the heap */
    uint32_t row_first;       /* where the row begins: never a gap */
    uint32_t row_len;         /* with its gaps */
    uint32_t cap;             /* of each table, a power of two */
};

/* False when the arena is full. */
bool sim_init(struct sim *s, struct arena *a, struct trace *t, sim_handler *const *handlers,
              void *world);

/* Schedules for @at_ns (not before now).  The cause is the trace's ambient one.  That the arena
 * is full is our bug: the arena reserves far more than a lab can use.
 */
sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg);

/* Takes back what is still scheduled; false when it was dispatched or cancelled already. */
bool sim_cancel(struct sim *s, sim_ticket ticket);

/* When the next item is due, UINT64_MAX when there is none. */
static inline uint64_t sim_next_ns(const struct sim *s)
{
    const uint64_t heap = s->heap_len ? s->heap[0].at_ns : UINT64_MAX;
    const uint64_t row = s->row_len ? s->row[s->row_first].at_ns : UINT64_MAX;

    return heap < row ? heap : row;
}

/* Dispatches the next item: one tick.  There must be one.  It happens when it is due, or at
 * floor_ns when that is later.
 */
void sim_dispatch(struct sim *s);

/* Moves the clock on without a tick; @now_ns must not be beyond the next item. */
void sim_advance(struct sim *s, uint64_t now_ns);

static inline uint64_t sim_now(const struct sim *s)
{
    return s->trace->now_ns;
}

#endif

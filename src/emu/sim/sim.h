/* SPDX-License-Identifier: MIT */
/* The simulated clock and its queue of due work.
 *
 * What is scheduled is plain data, dispatched by a table: no closures, so that a checkpoint is a
 * copy.  Items are ordered by (time, sequence of scheduling).  One dispatch is one tick of the
 * trace; the cause is the event that was being handled when the item was scheduled.
 *
 * Items wait in two rows and a heap.  What is never taken back mostly comes due in the order in
 * which it was scheduled: what a host does itself soon, and what its line carries later, so each
 * has a row, behind which an item is put at no cost.  What is before the last one of its row, and
 * what may be taken back, is in the heap, which stays small.
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

/* What is due, small enough for two registers. */
struct sim_item {
    uint64_t arg;
    uint32_t target;
    enum sim_kind kind;
};

/* Names a scheduled item until it is dispatched or cancelled; 0 is none. */
typedef uint64_t sim_ticket;

typedef void sim_handler(void *world, struct sim_item item);

/* When an item is due: the order of items. */
struct sim_when {
    uint64_t at_ns, seq;
};

/* Where items wait. */
enum sim_queue { SIM_NEAR, SIM_FAR, SIM_ROWS, SIM_HEAP = SIM_ROWS };

/* A scheduled item.  It stays at its address. */
struct sim_place {
    struct sim_when when;
    struct sim_item item;
    ev_id cause;            /* what was being handled when it was scheduled */
    struct sim_place *next; /* the one behind it in its row, or of those that are unused */
    enum sim_queue queue;
    uint32_t at;   /* index in the heap */
    uint32_t gen;  /* how often an item of this place has left the heap */
    uint32_t slot; /* its number, from 1 on: part of a ticket */
};

/* In the order in which they are due; @last says something only if there is one. */
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
    sim_handler *const *handlers; /* SIM_KIND_COUNT of them, a const table */
    void *world;
    uint64_t seq;
    uint64_t floor_ns; /* what is due before happens then */
    /* Due at the end of time, and the first of every queue that is empty: so nobody who looks for
     * the next item must ask which ones are.
     */
    struct sim_place end;
    struct sim_row rows[SIM_ROWS];
    struct sim_due *heap; /* a binary heap, with room for all places */
    uint32_t heap_len, heap_cap;
    struct sim_place *unused;  /* a list; NULL: there are none */
    struct sim_place **chunks; /* all places, by slot */
    uint32_t n_chunks, chunks_cap;
};

/* False when the arena is full. */
bool sim_init(struct sim *s, struct arena *a, struct trace *t, sim_handler *const *handlers,
              void *world);

/* Schedules for @at_ns (not before now).  The cause is the trace's ambient one.  That the arena is
 * full is our bug: the arena reserves far more than a lab can use.
 */
sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg);

/* The same for what is never taken back, which costs less. */
void sim_enqueue(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target, uint64_t arg);

/* Takes back what is still scheduled; false when it was dispatched or cancelled already. */
bool sim_cancel(struct sim *s, sim_ticket ticket);

static inline bool sim_is_before(const struct sim_when *x, const struct sim_when *y)
{
    return x->at_ns != y->at_ns ? x->at_ns < y->at_ns : x->seq < y->seq;
}

/* What is due next, until something is scheduled, cancelled or dispatched.  If there is nothing, it
 * is due at UINT64_MAX.
 */
static inline struct sim_place *sim_first(const struct sim *s)
{
    struct sim_place *near = s->rows[SIM_NEAR].first, *far = s->rows[SIM_FAR].first;
    struct sim_place *first = sim_is_before(&far->when, &near->when) ? far : near;

    return sim_is_before(&s->heap[0].when, &first->when) ? s->heap[0].place : first;
}

/* When the next item is due, UINT64_MAX when there is none. */
static inline uint64_t sim_next_ns(const struct sim *s)
{
    return sim_first(s)->when.at_ns;
}

/* Dispatches @first, which sim_first() gave: one tick.  It happens when it is due, or at floor_ns
 * when that is later.
 */
void sim_dispatch_first(struct sim *s, struct sim_place *first);

/* Dispatches the next item.  There must be one. */
static inline void sim_dispatch(struct sim *s)
{
    sim_dispatch_first(s, sim_first(s));
}

/* Moves the clock on without a tick; @now_ns must not be beyond the next item. */
void sim_advance(struct sim *s, uint64_t now_ns);

static inline uint64_t sim_now(const struct sim *s)
{
    return s->trace->now_ns;
}

#endif

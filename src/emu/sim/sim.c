/* SPDX-License-Identifier: MIT */
#include "emu/sim/sim.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cold.h"

#define CAP_FIRST 64u
#define NO_SLOT   0u

static const struct sim_due end_of_time = {UINT64_MAX, UINT64_MAX, NO_SLOT};

/* Called when every slot is in use: the new ones are unused, the lowest is used first. */
static bool grow(struct sim *s)
{
    const uint32_t cap = s->cap ? 2 * s->cap : CAP_FIRST;
    struct sim_place *places = arena_alloc(s->arena, cap * sizeof(*places));
    struct sim_due *heap = arena_alloc(s->arena, cap * sizeof(*heap));

    if (!places || !heap)
        return false;
    if (s->cap) {
        memcpy(places, s->places, s->cap * sizeof(*places));
        memcpy(heap, s->heap, s->cap * sizeof(*heap));
    } else {
        places[NO_SLOT].due = end_of_time;
        heap[0] = end_of_time;
    }
    arena_release(s->arena, s->places, s->cap * sizeof(*s->places));
    arena_release(s->arena, s->heap, s->cap * sizeof(*s->heap));
    s->places = places;
    s->heap = heap;
    for (uint32_t i = cap; i-- > (s->cap ? s->cap : NO_SLOT + 1);) {
        places[i].next = s->unused;
        s->unused = i;
    }
    s->cap = cap;
    return true;
}

bool sim_init(struct sim *s, struct arena *a, struct trace *t, sim_handler *const *handlers,
              void *world)
{
    *s = (struct sim){.arena = a, .trace = t, .handlers = handlers, .world = world};
    return grow(s);
}

static void put(struct sim *s, uint32_t at, struct sim_due due)
{
    s->heap[at] = due;
    s->places[due.slot].at = at;
}

/* Moves the hole at @at up, or down, to where @due belongs, and fills it. */
static void sift_up(struct sim *s, uint32_t at, struct sim_due due)
{
    while (at > 0 && sim_is_before(&due, &s->heap[(at - 1) / 2])) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(s, at, due);
}

static void sift_down(struct sim *s, uint32_t at, struct sim_due due)
{
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= s->heap_len)
            break;
        if (child + 1 < s->heap_len && sim_is_before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!sim_is_before(&s->heap[child], &due))
            break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, due);
}

static void add_to_heap(struct sim *s, struct sim_place *place)
{
    place->queue = SIM_HEAP;
    sift_up(s, s->heap_len++, place->due);
}

static void remove_from_heap(struct sim *s, struct sim_place *place)
{
    const struct sim_due last = s->heap[--s->heap_len];
    const uint32_t at = place->at;

    place->gen++;
    if (s->heap_len == 0)
        s->heap[0] = end_of_time;
    else if (at > 0 && at < s->heap_len && sim_is_before(&last, &s->heap[(at - 1) / 2]))
        sift_up(s, at, last);
    else if (at < s->heap_len)
        sift_down(s, at, last);
}

static void remove_place(struct sim *s, struct sim_place *place)
{
    if (place->queue == SIM_HEAP)
        remove_from_heap(s, place);
    else
        s->rows[place->queue].first = place->next;
    place->next = s->unused;
    s->unused = place->due.slot;
}

/* An item for an unused slot, of which there is one. */
static inline struct sim_place *place_new(struct sim *s, uint64_t at_ns, struct sim_item item)
{
    struct sim_place *place = &s->places[s->unused];

    RDL_ASSERT(at_ns >= sim_now(s));
    place->due = (struct sim_due){at_ns, s->seq++, s->unused};
    place->cause = s->trace->cause;
    place->item = item;
    s->unused = place->next;
    return place;
}

sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg)
{
    struct sim_place *place;

    if (s->unused == NO_SLOT && !grow(s))
        return 0; /* the arena is short from now on, and the lab goes on no more */
    place = place_new(s, at_ns, (struct sim_item){arg, target, kind});
    add_to_heap(s, place);
    return (uint64_t)place->gen << 32 | place->due.slot;
}

/* sim_enqueue() when every slot is in use.  It is kept apart, so that sim_enqueue() itself calls
 * nothing and need not save registers.
 */
RDL_COLD __attribute__((noinline)) static void
grow_and_enqueue(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target, uint64_t arg)
{
    if (grow(s))
        sim_enqueue(s, at_ns, kind, target, arg);
}

void sim_enqueue(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target, uint64_t arg)
{
    const enum sim_queue queue = kind == SIM_ARRIVE ? SIM_FAR : SIM_NEAR;
    struct sim_row *row = &s->rows[queue];
    struct sim_place *place;

    if (s->unused == NO_SLOT) {
        grow_and_enqueue(s, at_ns, kind, target, arg);
        return;
    }
    place = place_new(s, at_ns, (struct sim_item){arg, target, kind});
    if (row->first == NO_SLOT) {
        row->first = place->due.slot;
    } else if (s->places[row->last].due.at_ns <= at_ns) {
        s->places[row->last].next = place->due.slot;
    } else {
        add_to_heap(s, place);
        return;
    }
    row->last = place->due.slot;
    place->queue = queue;
    place->next = NO_SLOT;
}

bool sim_cancel(struct sim *s, sim_ticket ticket)
{
    const uint32_t slot = (uint32_t)ticket;

    if (slot == NO_SLOT || slot >= s->cap || s->places[slot].gen != ticket >> 32)
        return false;
    remove_place(s, &s->places[slot]);
    return true;
}

void sim_dispatch_first(struct sim *s, const struct sim_due *first)
{
    struct sim_place *place = &s->places[first->slot];
    const uint64_t at_ns = place->due.at_ns;

    RDL_ASSERT(first->slot != NO_SLOT);
    trace_begin(s->trace, at_ns < s->floor_ns ? s->floor_ns : at_ns, place->cause);
    remove_place(s, place);
    /* Until something else is scheduled, the place still says what was there. */
    s->handlers[place->item.kind](s->world, place->item);
}

void sim_advance(struct sim *s, uint64_t now_ns)
{
    RDL_ASSERT(now_ns >= sim_now(s) && now_ns <= sim_next_ns(s));
    s->trace->now_ns = now_ns;
}

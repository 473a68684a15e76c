/* SPDX-License-Identifier: MIT */
#include "emu/sim/sim.h"

#include <string.h>

#include "emu/base/assert.h"

#define CAP_FIRST 64u

struct sim_place {
    struct sim_item item;
    uint32_t at;  /* index in the heap */
    uint32_t gen; /* odd: scheduled */
};

static void release_tables(struct sim *s)
{
    arena_release(s->arena, s->places, s->cap * sizeof(*s->places));
    arena_release(s->arena, s->heap, s->cap * sizeof(*s->heap));
    arena_release(s->arena, s->free, s->cap * sizeof(*s->free));
}

static bool grow(struct sim *s)
{
    const uint32_t cap = s->cap ? 2 * s->cap : CAP_FIRST;
    struct sim_place *places = arena_alloc(s->arena, cap * sizeof(*places));
    struct sim_due *heap = arena_alloc(s->arena, cap * sizeof(*heap));
    uint32_t *free_slots = arena_alloc(s->arena, cap * sizeof(*free_slots));

    if (!places || !heap || !free_slots)
        return false;
    if (s->cap) {
        memcpy(places, s->places, s->cap * sizeof(*places));
        memcpy(heap, s->heap, s->cap * sizeof(*heap));
    }
    release_tables(s);
    s->places = places;
    s->heap = heap;
    s->free = free_slots;
    /* Called when every slot is in use: the new ones are the free ones, lowest on top. */
    for (uint32_t i = cap; i > s->cap; i--)
        s->free[cap - i] = i - 1;
    s->cap = cap;
    return true;
}

bool sim_init(struct sim *s, struct arena *a, struct trace *t, sim_handler *const *handlers,
              void *world)
{
    *s = (struct sim){.arena = a, .trace = t, .handlers = handlers, .world = world};
    return grow(s);
}

static bool before(const struct sim_due *x, const struct sim_due *y)
{
    return x->at_ns != y->at_ns ? x->at_ns < y->at_ns : x->seq < y->seq;
}

static void put(struct sim *s, uint32_t at, struct sim_due due)
{
    s->heap[at] = due;
    s->places[due.slot].at = at;
}

/* Moves the hole at @at up, or down, to where @due belongs, and fills it. */
static void sift_up(struct sim *s, uint32_t at, struct sim_due due)
{
    while (at > 0 && before(&due, &s->heap[(at - 1) / 2])) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(s, at, due);
}

static void sift_down(struct sim *s, uint32_t at, struct sim_due due)
{
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= s->len)
            break;
        if (child + 1 < s->len && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &due))
            break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, due);
}

static void remove_at(struct sim *s, uint32_t at)
{
    const uint32_t slot = s->heap[at].slot;
    const struct sim_due last = s->heap[--s->len];

    s->places[slot].gen++;
    s->free[s->cap - s->len - 1] = slot;
    if (at == s->len)
        return;
    if (at > 0 && before(&last, &s->heap[(at - 1) / 2]))
        sift_up(s, at, last);
    else
        sift_down(s, at, last);
}

sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg)
{
    struct sim_place *place;
    uint32_t slot;

    RDL_ASSERT(at_ns >= sim_now(s));
    if (s->len == s->cap && !grow(s))
        return 0; /* the arena is short from now on, and the lab goes on no more */
    slot = s->free[s->cap - s->len - 1];
    place = &s->places[slot];
    place->item = (struct sim_item){at_ns, s->trace->cause, arg, target, kind};
    place->gen++;
    sift_up(s, s->len++, (struct sim_due){at_ns, s->seq++, slot});
    return (uint64_t)place->gen << 32 | (slot + 1);
}

bool sim_cancel(struct sim *s, sim_ticket ticket)
{
    const uint32_t slot = (uint32_t)ticket - 1;

    if (ticket == 0 || slot >= s->cap || s->places[slot].gen != ticket >> 32)
        return false;
    remove_at(s, s->places[slot].at);
    return true;
}

void sim_dispatch(struct sim *s)
{
    struct sim_item item;

    RDL_ASSERT(s->len > 0);
    item = s->places[s->heap[0].slot].item;
    remove_at(s, 0);
    trace_begin(s->trace, item.at_ns < s->floor_ns ? s->floor_ns : item.at_ns, item.cause);
    s->handlers[item.kind](s->world, &item);
}

void sim_advance(struct sim *s, uint64_t now_ns)
{
    RDL_ASSERT(now_ns >= sim_now(s) && now_ns <= sim_next_ns(s));
    s->trace->now_ns = now_ns;
}

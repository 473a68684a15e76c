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

static bool grow(struct sim *s)
{
    const uint32_t cap = s->cap ? 2 * s->cap : CAP_FIRST;
    struct sim_place *places = arena_alloc(s->arena, cap * sizeof(*places));
    uint32_t *heap = arena_alloc(s->arena, cap * sizeof(*heap));
    uint32_t *free_slots = arena_alloc(s->arena, cap * sizeof(*free_slots));

    if (!places || !heap || !free_slots)
        return false;
    if (s->cap) {
        memcpy(places, s->places, s->cap * sizeof(*places));
        memcpy(heap, s->heap, s->cap * sizeof(*heap));
    }
    sim_done(s);
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

void sim_done(struct sim *s)
{
    arena_release(s->arena, s->places, s->cap * sizeof(*s->places));
    arena_release(s->arena, s->heap, s->cap * sizeof(*s->heap));
    arena_release(s->arena, s->free, s->cap * sizeof(*s->free));
}

static bool before(const struct sim *s, uint32_t a, uint32_t b)
{
    const struct sim_item *x = &s->places[a].item, *y = &s->places[b].item;

    return x->at_ns != y->at_ns ? x->at_ns < y->at_ns : x->seq < y->seq;
}

static void put(struct sim *s, uint32_t at, uint32_t slot)
{
    s->heap[at] = slot;
    s->places[slot].at = at;
}

static void sift_up(struct sim *s, uint32_t at)
{
    const uint32_t slot = s->heap[at];

    while (at > 0 && before(s, slot, s->heap[(at - 1) / 2])) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(s, at, slot);
}

static void sift_down(struct sim *s, uint32_t at)
{
    const uint32_t slot = s->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= s->len)
            break;
        if (child + 1 < s->len && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], slot))
            break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, slot);
}

static void remove_at(struct sim *s, uint32_t at)
{
    const uint32_t slot = s->heap[at];
    const uint32_t last = s->heap[--s->len];

    s->places[slot].gen++;
    s->free[s->cap - s->len - 1] = slot;
    if (at == s->len)
        return;
    put(s, at, last);
    sift_up(s, at);
    sift_down(s, s->places[last].at);
}

sim_ticket sim_schedule(struct sim *s, uint64_t at_ns, enum sim_kind kind, uint32_t target,
                        uint64_t arg)
{
    uint32_t slot;

    RDL_ASSERT(at_ns >= sim_now(s));
    if (s->len == s->cap && !grow(s))
        assert_fail("the arena has room for the event queue", __FILE__, __LINE__);
    slot = s->free[s->cap - s->len - 1];
    s->places[slot].item = (struct sim_item){at_ns, s->seq++, s->trace->cause, arg, target, kind};
    s->places[slot].gen++;
    s->heap[s->len] = slot;
    s->places[slot].at = s->len;
    s->len++;
    sift_up(s, s->len - 1);
    return (uint64_t)s->places[slot].gen << 32 | (slot + 1);
}

bool sim_cancel(struct sim *s, sim_ticket ticket)
{
    const uint32_t slot = (uint32_t)ticket - 1;

    if (ticket == 0 || slot >= s->cap || s->places[slot].gen != ticket >> 32)
        return false;
    remove_at(s, s->places[slot].at);
    return true;
}

uint64_t sim_next_ns(const struct sim *s)
{
    return s->len ? s->places[s->heap[0]].item.at_ns : UINT64_MAX;
}

void sim_dispatch(struct sim *s)
{
    struct sim_item item;

    RDL_ASSERT(s->len > 0);
    item = s->places[s->heap[0]].item;
    remove_at(s, 0);
    trace_begin(s->trace, item.at_ns, item.cause);
    s->handlers[item.kind](s->world, &item);
}

void sim_advance(struct sim *s, uint64_t now_ns)
{
    RDL_ASSERT(now_ns >= sim_now(s) && now_ns <= sim_next_ns(s));
    s->trace->now_ns = now_ns;
}

/* SPDX-License-Identifier: MIT */
#include "emu/sim/sim.h"

#include <string.h>

#include "emu/base/assert.h"

#define CAP_FIRST 64u
#define GAP       UINT32_MAX /* in the row: the slot of what was cancelled */

struct sim_place {
    struct sim_item item;
    uint32_t at; /* index in the heap, or in the row */
    bool in_row;
    uint32_t gen; /* odd: scheduled */
};

static void release_tables(struct sim *s)
{
    arena_release(s->arena, s->places, s->cap * sizeof(*s->places));
    arena_release(s->arena, s->heap, s->cap * sizeof(*s->heap));
    arena_release(s->arena, s->row, s->cap * sizeof(*s->row));
    arena_release(s->arena, s->free, s->cap * sizeof(*s->free));
}

static struct sim_due *row_at(const struct sim *s, uint32_t i)
{
    return &s->row[(s->row_first + i) & (s->cap - 1)];
}

/* Copies the row to @to, from its beginning on. */
static void move_row(struct sim *s, struct sim_due *to, struct sim_place *places)
{
    for (uint32_t i = 0; i < s->row_len; i++) {
        to[i] = *row_at(s, i);
        if (to[i].slot != GAP)
            places[to[i].slot].at = i;
    }
    s->row_first = 0;
}

static bool grow(struct sim *s)
{
    const uint32_t cap = s->cap ? 2 * s->cap : CAP_FIRST;
    struct sim_place *places = arena_alloc(s->arena, cap * sizeof(*places));
    struct sim_due *heap = arena_alloc(s->arena, cap * sizeof(*heap));
    struct sim_due *row = arena_alloc(s->arena, cap * sizeof(*row));
    uint32_t *free_slots = arena_alloc(s->arena, cap * sizeof(*free_slots));

    if (!places || !heap || !row || !free_slots)
        return false;
    if (s->cap) {
        memcpy(places, s->places, s->cap * sizeof(*places));
        memcpy(heap, s->heap, s->cap * sizeof(*heap));
        move_row(s, row, places);
    }
    release_tables(s);
    s->places = places;
    s->heap = heap;
    s->row = row;
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

        if (child >= s->heap_len)
            break;
        if (child + 1 < s->heap_len && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &due))
            break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, due);
}

static void remove_from_heap(struct sim *s, uint32_t at)
{
    const struct sim_due last = s->heap[--s->heap_len];

    if (at == s->heap_len)
        return;
    if (at > 0 && before(&last, &s->heap[(at - 1) / 2]))
        sift_up(s, at, last);
    else
        sift_down(s, at, last);
}

static void remove_from_row(struct sim *s, uint32_t at)
{
    s->row[at].slot = GAP;
    while (s->row_len > 0 && s->row[s->row_first].slot == GAP) {
        s->row_first = (s->row_first + 1) & (s->cap - 1);
        s->row_len--;
    }
}

static void remove_item(struct sim *s, uint32_t slot)
{
    struct sim_place *place = &s->places[slot];

    if (place->in_row)
        remove_from_row(s, place->at);
    else
        remove_from_heap(s, place->at);
    place->gen++;
    s->free[s->cap - s->len--] = slot;
}

/* May @due be put behind the row? */
static bool fits_row(const struct sim *s, const struct sim_due *due, enum sim_kind kind)
{
    if (kind != SIM_ARRIVE || s->row_len == s->cap)
        return false;
    return s->row_len == 0 || row_at(s, s->row_len - 1)->at_ns <= due->at_ns;
}

static void add(struct sim *s, struct sim_due due, enum sim_kind kind)
{
    struct sim_place *place = &s->places[due.slot];

    place->in_row = fits_row(s, &due, kind);
    if (place->in_row) {
        place->at = (s->row_first + s->row_len++) & (s->cap - 1);
        s->row[place->at] = due;
    } else {
        sift_up(s, s->heap_len++, due);
    }
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
    s->len++;
    add(s, (struct sim_due){at_ns, s->seq++, slot}, kind);
    return (uint64_t)place->gen << 32 | (slot + 1);
}

bool sim_cancel(struct sim *s, sim_ticket ticket)
{
    const uint32_t slot = (uint32_t)ticket - 1;

    if (ticket == 0 || slot >= s->cap || s->places[slot].gen != ticket >> 32)
        return false;
    remove_item(s, slot);
    return true;
}

/* The slot of what is due first; there is something. */
static uint32_t next_slot(const struct sim *s)
{
    const struct sim_due *row = &s->row[s->row_first];

    if (s->row_len > 0 && (s->heap_len == 0 || before(row, &s->heap[0])))
        return row->slot;
    return s->heap[0].slot;
}

void sim_dispatch(struct sim *s)
{
    struct sim_item item;
    uint32_t slot;

    RDL_ASSERT(s->len > 0);
    slot = next_slot(s);
    item = s->places[slot].item;
    remove_item(s, slot);
    trace_begin(s->trace, item.at_ns < s->floor_ns ? s->floor_ns : item.at_ns, item.cause);
    s->handlers[item.kind](s->world, &item);
}

void sim_advance(struct sim *s, uint64_t now_ns)
{
    RDL_ASSERT(now_ns >= sim_now(s) && now_ns <= sim_next_ns(s));
    s->trace->now_ns = now_ns;
}

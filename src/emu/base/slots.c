/* SPDX-License-Identifier: MIT */
#include "emu/base/slots.h"

#include <string.h>

#include "emu/base/assert.h"

#define LEN_FIRST 16u

static size_t words(uint32_t len)
{
    return (len + 63u) / 64u;
}

void slots_init(struct slots *s, struct arena *a, uint32_t max)
{
    RDL_ASSERT(max > 0 && max <= SLOTS_MAX);
    *s = (struct slots){.arena = a, .max = max};
}

void slots_init_oldest_first(struct slots *s, struct arena *a, uint32_t max)
{
    slots_init(s, a, max);
    s->oldest_first = true;
}

static void release(const struct slots *s)
{
    arena_release(s->arena, s->v, s->len * sizeof(*s->v));
    arena_release(s->arena, s->free, words(s->len) * sizeof(*s->free));
}

void slots_done(struct slots *s)
{
    release(s);
    *s = (struct slots){0};
}

/* Doubles the table.  Returns false when the arena is full. */
static bool grow(struct slots *s)
{
    struct slots longer = *s;

    longer.len = s->len ? 2 * s->len : LEN_FIRST;
    if (longer.len > s->max)
        longer.len = s->max;
    longer.v = arena_alloc(s->arena, longer.len * sizeof(*s->v));
    longer.free = arena_alloc(s->arena, words(longer.len) * sizeof(*s->free));
    if (!longer.v || !longer.free) {
        release(&longer);
        return false;
    }
    if (s->len > 0) {
        memcpy(longer.v, s->v, s->len * sizeof(*s->v));
        memcpy(longer.free, s->free, words(s->len) * sizeof(*s->free));
    }
    for (uint32_t i = s->len; i < longer.len; i++) {
        longer.v[i].gen = 1;
        longer.free[i / 64] |= (uint64_t)1 << (i % 64);
    }
    release(s);
    *s = longer;
    return true;
}

/* Lowest free index.  The table must not be full, here and below. */
static uint32_t lowest_free(struct slots *s)
{
    while (!s->free[s->low])
        s->low++;
    return s->low * 64 + (uint32_t)__builtin_ctzll(s->free[s->low]);
}

static uint32_t oldest_free(const struct slots *s)
{
    return s->n_touched < s->max ? s->n_touched : s->first;
}

/* Returns true if the next index that slots_add() takes is not allocated yet. */
static bool is_too_short(const struct slots *s)
{
    return s->oldest_first ? oldest_free(s) >= s->len : s->used == s->len;
}

/* Marks the free index @i as used. */
static void take(struct slots *s, uint32_t i)
{
    if (i == s->n_touched)
        s->n_touched++;
    else if (s->oldest_first)
        s->first = s->v[i].next;
    s->free[i / 64] &= ~((uint64_t)1 << (i % 64));
    s->used++;
}

/* Marks index @i as free and appends it to the queue of freed slots. */
static void give_back(struct slots *s, uint32_t i)
{
    const bool alone = s->used == s->n_touched;

    s->free[i / 64] |= (uint64_t)1 << (i % 64);
    s->low = i / 64 < s->low ? i / 64 : s->low;
    s->used--;
    if (!s->oldest_first)
        return;
    if (alone)
        s->first = i;
    else
        s->v[s->last].next = i;
    s->last = i;
}

uint64_t slots_add(struct slots *s, void *obj)
{
    uint32_t i;

    RDL_ASSERT(obj);
    if (slots_are_full(s) || (is_too_short(s) && !grow(s)))
        return 0;
    i = s->oldest_first ? oldest_free(s) : lowest_free(s);
    take(s, i);
    s->v[i].obj = obj;
    return slots_name(s, i);
}

void slots_remove(struct slots *s, uint64_t name)
{
    const uint32_t i = slots_index(name);

    RDL_ASSERT(slots_get(s, name));
    s->v[i].obj = NULL;
    s->v[i].gen = s->v[i].gen == SLOTS_GEN_MAX ? 1 : s->v[i].gen + 1;
    give_back(s, i);
}

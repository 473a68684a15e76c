/* SPDX-License-Identifier: MIT */
/* A table that turns pointers into names which can go stale but never dangle.
 * A name is generation << 24 | index, 48 bits; generation 0 is never used, so name 0 is "none".  A
 * name is stale until its slot was used again 2^24 - 1 times.
 */
#ifndef EMU_BASE_SLOTS_H
#define EMU_BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"

#define SLOTS_INDEX_BITS 24u
#define SLOTS_MAX        (1u << SLOTS_INDEX_BITS)
#define SLOTS_GEN_MAX    0xffffffu

struct slot {
    void *obj; /* NULL: free */
    uint32_t gen;
    uint32_t next; /* of a slot in the queue of those that were given back: the one behind it */
};

struct slots {
    struct arena *arena;
    struct slot *v;
    uint64_t *free; /* bit set: the slot is free */
    uint32_t len;   /* slots that there are; more come as they are needed */
    uint32_t max;
    uint32_t used;
    bool oldest_first;    /* who made the table wants that order */
    uint32_t n_touched;   /* slots that were ever used: the indices below this */
    uint32_t first, last; /* of the queue of slots that were given back; none if used = n_touched */
};

/* An empty table of at most @max (1..SLOTS_MAX) objects, which takes its memory from @a later. */
void slots_init(struct slots *s, struct arena *a, uint32_t max);

/* The same, but an index that was given back is used again as late as possible: those that were
 * never used come first, in order, then the one that has been free for longest.
 */
void slots_init_oldest_first(struct slots *s, struct arena *a, uint32_t max);
void slots_done(struct slots *s);

static inline bool slots_are_full(const struct slots *s)
{
    return s->used == s->max;
}

/* Returns the new name, or 0 if the table or the arena is full.  Lowest free index first (from a
 * bitmap) unless the table was made otherwise, so that a scenario replayed gets the same names.
 */
uint64_t slots_add(struct slots *s, void *obj);

/* Makes @name stale.  @name must be valid. */
void slots_remove(struct slots *s, uint64_t name);

/* Where in the table @name is, or was. */
static inline uint32_t slots_index(uint64_t name)
{
    return (uint32_t)name & (SLOTS_MAX - 1);
}

/* The object called @name, or NULL: it is gone. */
static inline void *slots_get(const struct slots *s, uint64_t name)
{
    const uint32_t i = slots_index(name);

    if (i >= s->len || s->v[i].gen != name >> SLOTS_INDEX_BITS)
        return NULL;
    return s->v[i].obj;
}

/* The object at index @i, or NULL; for walking over all of them. */
static inline void *slots_at(const struct slots *s, uint32_t i)
{
    return i < s->len ? s->v[i].obj : NULL;
}

/* The name of the object at index @i; 0 when there is none. */
static inline uint64_t slots_name(const struct slots *s, uint32_t i)
{
    return i < s->len && s->v[i].obj ? (uint64_t)s->v[i].gen << SLOTS_INDEX_BITS | i : 0;
}

#endif

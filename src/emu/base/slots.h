/* SPDX-License-Identifier: MIT */
/* A table of objects with handles that contain a generation: the handle of a removed object is
 * detected as stale.
 *
 * A handle, the parameter @name of the functions, is generation << 24 | index: 48 bits.
 * Generation 0 is not used, so handle 0 means "none".  A stale handle becomes valid again only
 * after its slot was reused 2^24 - 1 times.
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
    void *obj; /* NULL: the slot is free */
    uint32_t gen;
    uint32_t next; /* only with oldest_first: index of the next slot in the queue of free slots */
};

struct slots {
    struct arena *arena;
    struct slot *v;
    uint64_t *free;       /* bit set: the slot is free */
    uint32_t low;         /* words of @free below this index have no bit set */
    uint32_t len;         /* allocated slots; the table grows as needed */
    uint32_t max;         /* maximum number of objects */
    uint32_t used;        /* number of objects */
    bool oldest_first;    /* allocation order, see slots_init_oldest_first() */
    uint32_t n_touched;   /* number of slots that were ever used; their indices are below it */
    uint32_t first, last; /* queue of freed slots; it is empty if used == n_touched */
};

/* Initializes an empty table for at most @max (1..SLOTS_MAX) objects, which allocates from @a as it
 * grows.
 */
void slots_init(struct slots *s, struct arena *a, uint32_t max);

/* As slots_init(), but reuses an index as late as possible: first all unused indices in order, then
 * the one that has been free for longest.
 */
void slots_init_oldest_first(struct slots *s, struct arena *a, uint32_t max);

/* Frees the table.  The caller frees the objects. */
void slots_done(struct slots *s);

static inline bool slots_are_full(const struct slots *s)
{
    return s->used == s->max;
}

/* Adds @obj and returns its handle, or 0 if the table or the arena is full.  Uses the lowest free
 * index, unless slots_init_oldest_first() made the table.  A replayed scenario therefore gets the
 * same handles.
 */
uint64_t slots_add(struct slots *s, void *obj);

/* Removes the object with the handle @name, which must be valid.  The handle becomes stale.  The
 * caller frees the object.
 */
void slots_remove(struct slots *s, uint64_t name);

/* Returns the index that the handle @name contains.  The handle may be stale. */
static inline uint32_t slots_index(uint64_t name)
{
    return (uint32_t)name & (SLOTS_MAX - 1);
}

/* Returns the object with the handle @name, or NULL if the handle is stale or 0. */
static inline void *slots_get(const struct slots *s, uint64_t name)
{
    const uint32_t i = slots_index(name);

    if (i >= s->len || s->v[i].gen != name >> SLOTS_INDEX_BITS)
        return NULL;
    return s->v[i].obj;
}

/* Returns the object at index @i, or NULL if there is none.  For iteration. */
static inline void *slots_at(const struct slots *s, uint32_t i)
{
    return i < s->len ? s->v[i].obj : NULL;
}

/* Returns the handle of the object at index @i, or 0 if there is none. */
static inline uint64_t slots_name(const struct slots *s, uint32_t i)
{
    return i < s->len && s->v[i].obj ? (uint64_t)s->v[i].gen << SLOTS_INDEX_BITS | i : 0;
}

#endif

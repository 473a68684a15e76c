/* SPDX-License-Identifier: MIT */
/* Fixed table that turns pointers into names which can go stale but never dangle.
 * A name is generation << 16 | index; generation 0 is never used, so name 0 is "none".
 */
#ifndef EMU_BASE_SLOTS_H
#define EMU_BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"

#define SLOTS_MAX 65536u

struct slot {
    void *obj; /* NULL: free */
    uint16_t gen;
};

struct slots {
    struct slot *v;
    uint64_t *free; /* bit set: the slot is free */
    uint32_t len;
    uint32_t used;
};

/* A table of @len slots (1..SLOTS_MAX) in @a; false when the arena is full. */
bool slots_init(struct slots *s, struct arena *a, uint32_t len);
void slots_done(struct slots *s, struct arena *a);

/* Returns the new name, or 0 if the table is full.  Lowest free index first (from a bitmap), so
 * that a scenario replayed gets the same names.
 */
uint32_t slots_add(struct slots *s, void *obj);

/* Makes @name stale.  @name must be valid. */
void slots_remove(struct slots *s, uint32_t name);

/* Where in the table @name is, or was. */
static inline uint32_t slots_index(uint32_t name)
{
    return name & 0xffffu;
}

/* The object called @name, or NULL: it is gone. */
static inline void *slots_get(const struct slots *s, uint32_t name)
{
    const uint32_t i = slots_index(name);

    if (i >= s->len || s->v[i].gen != name >> 16)
        return NULL;
    return s->v[i].obj;
}

/* The object at index @i, or NULL; for walking over all of them. */
static inline void *slots_at(const struct slots *s, uint32_t i)
{
    return i < s->len ? s->v[i].obj : NULL;
}

/* The name of the object at index @i; 0 when there is none. */
static inline uint32_t slots_name(const struct slots *s, uint32_t i)
{
    return i < s->len && s->v[i].obj ? (uint32_t)s->v[i].gen << 16 | i : 0;
}

#endif

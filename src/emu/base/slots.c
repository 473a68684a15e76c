/* SPDX-License-Identifier: MIT */
#include "emu/base/slots.h"

#include <string.h>

#include "emu/base/assert.h"

static size_t words(uint32_t len)
{
    return (len + 63u) / 64u;
}

bool slots_init(struct slots *s, struct arena *a, uint32_t len)
{
    *s = (struct slots){0};
    return slots_grow(s, a, len);
}

bool slots_grow(struct slots *s, struct arena *a, uint32_t len)
{
    struct slots longer = {.len = len, .used = s->used};

    RDL_ASSERT(len > 0 && len >= s->len && len <= SLOTS_MAX);
    longer.v = arena_alloc(a, len * sizeof(*s->v));
    longer.free = arena_alloc(a, words(len) * sizeof(*s->free));
    if (!longer.v || !longer.free) {
        slots_done(&longer, a);
        return false;
    }
    if (s->len > 0) {
        memcpy(longer.v, s->v, s->len * sizeof(*s->v));
        memcpy(longer.free, s->free, words(s->len) * sizeof(*s->free));
    }
    for (uint32_t i = s->len; i < len; i++) {
        longer.v[i].gen = 1;
        longer.free[i / 64] |= (uint64_t)1 << (i % 64);
    }
    slots_done(s, a);
    *s = longer;
    return true;
}

void slots_done(struct slots *s, struct arena *a)
{
    arena_release(a, s->v, s->len * sizeof(*s->v));
    arena_release(a, s->free, words(s->len) * sizeof(*s->free));
    *s = (struct slots){0};
}

uint64_t slots_add(struct slots *s, void *obj)
{
    RDL_ASSERT(obj);
    for (size_t w = 0; w < words(s->len); w++) {
        uint32_t i;

        if (!s->free[w])
            continue;
        i = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(s->free[w]);
        s->free[w] &= s->free[w] - 1;
        s->v[i].obj = obj;
        s->used++;
        return slots_name(s, i);
    }
    return 0;
}

void slots_remove(struct slots *s, uint64_t name)
{
    const uint32_t i = slots_index(name);

    RDL_ASSERT(slots_get(s, name));
    s->v[i].obj = NULL;
    s->v[i].gen = s->v[i].gen == SLOTS_GEN_MAX ? 1 : s->v[i].gen + 1;
    s->free[i / 64] |= (uint64_t)1 << (i % 64);
    s->used--;
}

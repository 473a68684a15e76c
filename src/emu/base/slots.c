/* SPDX-License-Identifier: MIT */
#include "emu/base/slots.h"

#include "emu/base/assert.h"

static size_t words(uint32_t len)
{
    return (len + 63u) / 64u;
}

bool slots_init(struct slots *s, struct arena *a, uint32_t len)
{
    RDL_ASSERT(len > 0 && len <= SLOTS_MAX);
    *s = (struct slots){.len = len};
    s->v = arena_alloc(a, len * sizeof(*s->v));
    s->free = arena_alloc(a, words(len) * sizeof(*s->free));
    if (!s->v || !s->free) {
        slots_done(s, a);
        return false;
    }
    for (uint32_t i = 0; i < len; i++) {
        s->v[i].gen = 1;
        s->free[i / 64] |= (uint64_t)1 << (i % 64);
    }
    return true;
}

void slots_done(struct slots *s, struct arena *a)
{
    arena_release(a, s->v, s->len * sizeof(*s->v));
    arena_release(a, s->free, words(s->len) * sizeof(*s->free));
    *s = (struct slots){0};
}

uint32_t slots_add(struct slots *s, void *obj)
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
        return (uint32_t)s->v[i].gen << 16 | i;
    }
    return 0;
}

void slots_remove(struct slots *s, uint32_t name)
{
    const uint32_t i = slots_index(name);

    RDL_ASSERT(slots_get(s, name));
    s->v[i].obj = NULL;
    s->v[i].gen = s->v[i].gen == UINT16_MAX ? 1 : (uint16_t)(s->v[i].gen + 1);
    s->free[i / 64] |= (uint64_t)1 << (i % 64);
    s->used--;
}

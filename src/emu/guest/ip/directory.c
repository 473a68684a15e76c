/* SPDX-License-Identifier: MIT */
#include "emu/guest/ip/directory.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"

#define CAP_FIRST 16u /* a power of two, as all capacities are */

void directory_init(struct directory *d, struct arena *a)
{
    *d = (struct directory){.arena = a};
}

static uint32_t list_of(const struct directory *d, const uint8_t gid[GID_BYTES])
{
    const uint32_t h = fnv1a(gid, GID_BYTES);

    return (h ^ h >> 16) & (d->cap - 1);
}

static struct directory_entry *entry_of(const struct directory *d, const uint8_t gid[GID_BYTES])
{
    uint32_t i = d->cap ? d->lists[list_of(d, gid)] : 0;

    while (i && memcmp(d->v[i - 1].gid, gid, GID_BYTES) != 0)
        i = d->v[i - 1].next;
    return i ? &d->v[i - 1] : NULL;
}

static void list_add(struct directory *d, uint32_t i)
{
    uint32_t *list = &d->lists[list_of(d, d->v[i].gid)];

    d->v[i].next = *list;
    *list = i + 1;
}

bool directory_reserve(struct directory *d, uint32_t n)
{
    struct directory more = *d;

    if (n <= d->cap - d->n)
        return true;
    if (more.cap == 0)
        more.cap = CAP_FIRST;
    while (more.cap - d->n < n)
        more.cap *= 2;
    more.v = arena_alloc(d->arena, more.cap * sizeof(*more.v));
    more.lists = more.v ? arena_alloc(d->arena, more.cap * sizeof(*more.lists)) : NULL;
    if (!more.lists) {
        arena_release(d->arena, more.v, more.cap * sizeof(*more.v));
        return false;
    }
    if (d->n > 0)
        memcpy(more.v, d->v, d->n * sizeof(*d->v));
    for (uint32_t i = 0; i < d->n; i++)
        list_add(&more, i);
    arena_release(d->arena, d->v, d->cap * sizeof(*d->v));
    arena_release(d->arena, d->lists, d->cap * sizeof(*d->lists));
    *d = more;
    return true;
}

void directory_add(struct directory *d, const uint8_t gid[GID_BYTES], const uint8_t mac[MAC_BYTES],
                   uint32_t host)
{
    struct directory_entry *e = entry_of(d, gid);

    if (!e) {
        RDL_ASSERT(d->n < d->cap);
        e = &d->v[d->n];
        memcpy(e->gid, gid, GID_BYTES);
        list_add(d, d->n++);
    }
    memcpy(e->mac, mac, MAC_BYTES);
    e->host = host;
}

const struct directory_entry *directory_find(const struct directory *d,
                                             const uint8_t gid[GID_BYTES])
{
    return entry_of(d, gid);
}

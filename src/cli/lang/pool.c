/* SPDX-License-Identifier: MIT */
#include "cli/lang/pool.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "process/must.h"

#define CHUNK_BYTES 4096u

struct pool_chunk {
    struct pool_chunk *next;
    size_t used, cap;
    alignas(max_align_t) char bytes[];
};

static struct pool_chunk *chunk_new(size_t bytes)
{
    const size_t cap = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct pool_chunk *c = must_malloc(sizeof(*c) + cap);

    memset(c, 0, sizeof(*c) + cap);
    c->cap = cap;
    return c;
}

void *pool_alloc(struct pool *p, size_t bytes)
{
    const size_t unit = alignof(max_align_t);
    const size_t rounded = (bytes + unit - 1) / unit * unit;
    struct pool_chunk *c = p->first;
    void *ret;

    if (!c || c->cap - c->used < rounded) {
        c = chunk_new(rounded);
        c->next = p->first;
        p->first = c;
    }
    ret = c->bytes + c->used;
    c->used += rounded;
    return ret;
}

char *pool_copy(struct pool *p, const char *s, size_t n)
{
    char *ret = pool_alloc(p, n + 1);

    memcpy(ret, s, n);
    return ret;
}

struct pool_mark pool_mark(const struct pool *p)
{
    return (struct pool_mark){p->first, p->first ? p->first->used : 0};
}

void pool_back(struct pool *p, struct pool_mark m)
{
    while (p->first != m.chunk) {
        struct pool_chunk *c = p->first;

        p->first = c->next;
        free(c);
    }
    if (!m.chunk)
        return;
    memset(m.chunk->bytes + m.used, 0, m.chunk->used - m.used);
    m.chunk->used = m.used;
}

void pool_free(struct pool *p)
{
    while (p->first) {
        struct pool_chunk *c = p->first;

        p->first = c->next;
        free(c);
    }
}

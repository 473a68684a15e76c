/* SPDX-License-Identifier: MIT */
#include "emu/base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/base/assert.h"

#define CLASS_MIN_BITS 4u                               /* smallest block: 16 bytes */
#define CLASS_MAX_BITS (sizeof(size_t) > 4 ? 32u : 31u) /* largest: 4 GiB, if there are more */
#define LINE_BITS      6u
#define PAGE_BITS      12u
#define EXTENT_FIRST   8u /* elements of an array that begins */

struct free_block {
    struct free_block *next;
};

struct arena {
    size_t max_bytes;
    size_t used_bytes; /* from the start of the mapping, this struct included */
    size_t live_bytes; /* of blocks that are handed out */
    bool is_short;
    struct free_block *free[CLASS_MAX_BITS + 1];
};

struct arena_checkpoint {
    const struct arena *of;
    size_t used_bytes;
    uint8_t bytes[];
};

static unsigned class_of(size_t bytes)
{
    unsigned bits = CLASS_MIN_BITS;

    if (bytes > (size_t)1 << CLASS_MIN_BITS)
        bits = (unsigned)(64 - __builtin_clzll(bytes - 1));
    return bits;
}

/* Advice to the kernel: what a large lab needs lies all over, and small pages miss the TLB. */
static void ask_for_large_pages(void *bytes, size_t n)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(bytes, n, MADV_HUGEPAGE);
#else
    (void)bytes;
    (void)n;
#endif
}

struct arena *arena_new(size_t bytes)
{
    struct arena *a;

    if (bytes < (size_t)1 << PAGE_BITS)
        return NULL;
    a = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (a == MAP_FAILED)
        return NULL;
    ask_for_large_pages(a, bytes);
    a->max_bytes = bytes;
    a->used_bytes = (sizeof(*a) + 15u) & ~(size_t)15u;
    return a;
}

struct arena *arena_new_within(size_t min_bytes, size_t max_bytes)
{
    struct arena *a = NULL;

    for (size_t bytes = max_bytes; !a && bytes > 0 && bytes >= min_bytes; bytes /= 2)
        a = arena_new(bytes);
    return a;
}

void arena_free(struct arena *a)
{
    if (a && munmap(a, a->max_bytes) != 0)
        assert_fail("munmap(arena) == 0", __FILE__, __LINE__);
}

/* Takes fresh bytes at the end of the used part.  A block begins with a page or a line of the cache
 * if it can fill one, and what is smaller lies in one.
 */
static void *grow(struct arena *a, unsigned bits)
{
    const size_t bytes = (size_t)1 << bits;
    const unsigned most = bits >= PAGE_BITS ? PAGE_BITS : LINE_BITS;
    const size_t align = (size_t)1 << (bits < most ? bits : most);
    const size_t at = (a->used_bytes + align - 1) & ~(align - 1);

    if (at > a->max_bytes || a->max_bytes - at < bytes) {
        a->is_short = true;
        return NULL;
    }
    a->used_bytes = at + bytes;
    return (uint8_t *)a + at;
}

void *arena_alloc_raw(struct arena *a, size_t bytes)
{
    const unsigned bits = class_of(bytes);
    struct free_block *b;

    if (bits > CLASS_MAX_BITS)
        return NULL;
    b = a->free[bits];
    if (b)
        a->free[bits] = b->next;
    else
        b = grow(a, bits);
    if (b)
        a->live_bytes += (size_t)1 << bits;
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    void *p = arena_alloc_raw(a, bytes);

    if (p)
        memset(p, 0, bytes);
    return p;
}

void arena_release(struct arena *a, void *block, size_t bytes)
{
    const unsigned bits = class_of(bytes);
    struct free_block *b = block;

    if (!b)
        return;
    RDL_ASSERT((uint8_t *)block > (uint8_t *)a);
    RDL_ASSERT((uint8_t *)block < (uint8_t *)a + a->used_bytes);
    RDL_ASSERT(a->live_bytes >= (size_t)1 << bits);
    a->live_bytes -= (size_t)1 << bits;
    b->next = a->free[bits];
    a->free[bits] = b;
}

void *arena_extend(struct arena *a, void *v, uint32_t *cap, uint32_t used, uint32_t need,
                   size_t bytes)
{
    uint32_t longer = *cap ? *cap : EXTENT_FIRST;
    void *to;

    if (need <= *cap)
        return v;
    while (longer < need)
        longer *= 2;
    to = arena_alloc(a, longer * bytes);
    if (!to)
        return NULL;
    if (used > 0)
        memcpy(to, v, used * bytes);
    arena_release(a, v, *cap * bytes);
    *cap = longer;
    return to;
}

bool arena_is_short(const struct arena *a)
{
    return a->is_short;
}

size_t arena_used_bytes(const struct arena *a)
{
    return a->used_bytes;
}

size_t arena_live_bytes(const struct arena *a)
{
    return a->live_bytes;
}

struct arena_checkpoint *arena_save(const struct arena *a)
{
    struct arena_checkpoint *c = malloc(sizeof(*c) + a->used_bytes);

    if (!c)
        return NULL;
    c->of = a;
    c->used_bytes = a->used_bytes;
    memcpy(c->bytes, a, a->used_bytes);
    return c;
}

void arena_restore(struct arena *a, const struct arena_checkpoint *c)
{
    RDL_ASSERT(c->of == a);
    /* What lies beyond is not reachable from the restored part, and fresh blocks are zeroed by
     * arena_alloc(), so the tail may keep its bytes.
     */
    memcpy(a, c->bytes, c->used_bytes);
}

void arena_checkpoint_free(struct arena_checkpoint *c)
{
    free(c);
}

/* SPDX-License-Identifier: MIT */
#include "emu/base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/base/assert.h"

#define CLASS_MIN_BITS 4u /* smallest block: 16 bytes */
/* largest: 4 GiB; 2 GiB with a 32-bit size_t. */
#define CLASS_MAX_BITS (sizeof(size_t) > 4 ? 32u : 31u)
#define LINE_BITS      6u
#define LINE_BYTES     ((size_t)1 << LINE_BITS)
#define PAGE_BITS      12u
#define EXTENT_FIRST   8u /* elements of a new array in arena_extend() */

struct free_block {
    struct free_block *next;
};

struct arena {
    size_t max_bytes;
    size_t used_bytes; /* from the start of the mapping, including this struct */
    size_t live_bytes; /* of allocated blocks */
    bool is_short;
    struct free_block *free[CLASS_MAX_BITS + 1];
};

/* A range of bytes; @at counts from the start of the arena. */
struct piece {
    size_t at, bytes;
};

struct arena_checkpoint {
    const struct arena *of;
    size_t n_pieces, saved_bytes;
    struct piece *pieces; /* the saved ranges, ascending */
    uint8_t *bytes;       /* the contents of all ranges, concatenated */
};

static unsigned class_of(size_t bytes)
{
    unsigned bits = CLASS_MIN_BITS;

    if (bytes > (size_t)1 << CLASS_MIN_BITS)
        bits = (unsigned)(64 - __builtin_clzll(bytes - 1));
    return bits;
}

/* Requests huge pages: a large lab's working set is scattered and would miss the TLB with small
 * ones.
 */
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

/* Puts the gap between the used part and @at, which is page aligned, into the free lists. */
static void keep_gap(struct arena *a, size_t at)
{
    size_t from = (a->used_bytes + (1u << LINE_BITS) - 1) & ~((size_t)(1u << LINE_BITS) - 1);

    while (at > from && at - from >= (size_t)1 << LINE_BITS) {
        const unsigned bits = (unsigned)(63 - __builtin_clzll(at - from));
        struct free_block *b = (struct free_block *)(void *)((uint8_t *)a + from);

        b->next = a->free[bits];
        a->free[bits] = b;
        from += (size_t)1 << bits;
    }
}

/* Allocates a new block behind the used part.  A block of at least a page or a cache line starts at
 * such a boundary; a smaller one does not cross a cache line.
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
    keep_gap(a, at);
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

/* Counts the free blocks that are large enough to be left out of a checkpoint. */
static size_t count_holes(const struct arena *a)
{
    size_t n = 0;

    for (unsigned bits = PAGE_BITS; bits <= CLASS_MAX_BITS; bits++) {
        for (const struct free_block *b = a->free[bits]; b; b = b->next)
            n++;
    }
    return n;
}

static int by_place(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;

    return (a->at > b->at) - (a->at < b->at);
}

/* Lists these free blocks in ascending order, without their first cache line, which holds the free
 * list.
 */
static void find_holes(const struct arena *a, struct piece *ret)
{
    struct piece *hole = ret;

    for (unsigned bits = PAGE_BITS; bits <= CLASS_MAX_BITS; bits++) {
        for (const struct free_block *b = a->free[bits]; b; b = b->next) {
            const size_t at = (size_t)((const uint8_t *)b - (const uint8_t *)a);

            *hole++ = (struct piece){at + LINE_BYTES, ((size_t)1 << bits) - LINE_BYTES};
        }
    }
    qsort(ret, (size_t)(hole - ret), sizeof(*ret), by_place);
}

/* Replaces the holes pieces[1] .. pieces[@n] by the @n + 1 ranges between them.  Returns the bytes
 * of these ranges.
 */
static size_t between_holes(struct piece *pieces, size_t n, size_t used_bytes)
{
    size_t at = 0, sum = 0;

    for (size_t i = 0; i <= n; i++) {
        const struct piece hole = i < n ? pieces[i + 1] : (struct piece){used_bytes, 0};

        pieces[i] = (struct piece){at, hole.at - at};
        sum += hole.at - at;
        at = hole.at + hole.bytes;
    }
    return sum;
}

struct arena_checkpoint *arena_save(const struct arena *a)
{
    const size_t holes = count_holes(a);
    struct arena_checkpoint *c = calloc(1, sizeof(*c));
    size_t at = 0;

    if (!c)
        return NULL;
    c->of = a;
    c->n_pieces = holes + 1;
    c->pieces = calloc(c->n_pieces, sizeof(*c->pieces));
    if (!c->pieces)
        goto out;
    find_holes(a, c->pieces + 1);
    c->saved_bytes = between_holes(c->pieces, holes, a->used_bytes);
    c->bytes = malloc(c->saved_bytes);
    if (!c->bytes)
        goto out;
    for (size_t i = 0; i < c->n_pieces; i++) {
        memcpy(c->bytes + at, (const uint8_t *)a + c->pieces[i].at, c->pieces[i].bytes);
        at += c->pieces[i].bytes;
    }
    return c;
out:
    arena_checkpoint_free(c);
    return NULL;
}

void arena_restore(struct arena *a, const struct arena_checkpoint *c)
{
    size_t at = 0;

    RDL_ASSERT(c->of == a);
    /* Free blocks and the part beyond keep arbitrary bytes.  The restored part has no pointers into
     * them, and arena_alloc() zeroes blocks.
     */
    for (size_t i = 0; i < c->n_pieces; i++) {
        memcpy((uint8_t *)a + c->pieces[i].at, c->bytes + at, c->pieces[i].bytes);
        at += c->pieces[i].bytes;
    }
}

size_t arena_checkpoint_bytes(const struct arena_checkpoint *c)
{
    return c->saved_bytes + c->n_pieces * sizeof(*c->pieces);
}

void arena_checkpoint_free(struct arena_checkpoint *c)
{
    if (!c)
        return;
    free(c->pieces);
    free(c->bytes);
    free(c);
}

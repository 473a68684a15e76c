/* SPDX-License-Identifier: MIT */
#include "emu/mem/space.h"

#include <string.h>

#include "emu/base/assert.h"

#define FEISTEL_ROUNDS 4u

bool space_init(struct space *s, struct ram *ram, struct prng *rng)
{
    const uint32_t n_pages = (uint32_t)(ram->bytes >> RAM_PAGE_BITS);
    const uint32_t n_dma = n_pages / 8 > 2 ? n_pages / 8 : 2;

    *s = (struct space){.ram = ram, .dma_next = RAM_PAGE_BYTES, .key = prng_next(rng)};
    if (n_pages <= n_dma)
        return false;
    s->dma_end = (uint64_t)n_dma << RAM_PAGE_BITS;
    s->n_scattered = n_pages - n_dma;
    return true;
}

void space_init_lent(struct space *s, struct ram *ram, uint32_t lender)
{
    *s = (struct space){.ram = ram, .lender = lender};
}

/* Returns the @i-th page of a permutation of the scattered pages.  It is computed on demand, not
 * stored.  A Feistel network permutes the smallest even number of bits that holds all page numbers.
 * A result that is no page number is fed through the network again.
 */
static uint32_t scattered(const struct space *s, uint32_t i)
{
    const unsigned half = (33u - (unsigned)__builtin_clz(s->n_scattered)) / 2;
    const uint32_t mask = (1u << half) - 1;

    do {
        uint32_t left = i >> half, right = i & mask;

        for (uint32_t round = 0; round < FEISTEL_ROUNDS; round++) {
            struct prng mix = prng_stream(s->key + round, right);
            const uint32_t turned = left ^ ((uint32_t)prng_next(&mix) & mask);

            left = right;
            right = turned;
        }
        i = left << half | right;
    } while (i >= s->n_scattered);
    return (uint32_t)(s->dma_end >> RAM_PAGE_BITS) + i;
}

uint64_t space_alloc_dma(struct space *s, uint64_t bytes, uint64_t align)
{
    const uint64_t at = (s->dma_next + align - 1) & ~(align - 1);

    if (at > s->dma_end || s->dma_end - at < bytes)
        return 0;
    s->dma_next = at + bytes;
    return at;
}

static bool table_reserve(struct space *s, uint32_t len)
{
    uint32_t *v = arena_extend(s->ram->arena, s->table, &s->table_cap, s->n_table, len, sizeof(*v));

    if (v)
        s->table = v;
    return v != NULL;
}

/* Reserves room in the stack of freed pages for @n more, so that space_free() never allocates. */
static bool free_reserve(struct space *s, uint32_t n)
{
    const uint32_t len = s->n_taken + (n > s->n_free ? n - s->n_free : 0);
    uint32_t *v =
        arena_extend(s->ram->arena, s->free_pages, &s->free_cap, s->n_free, len, sizeof(*v));

    if (v)
        s->free_pages = v;
    return v != NULL;
}

/* Reserves room for the holes between @n allocations, for the same reason. */
static bool holes_reserve(struct space *s, uint32_t n)
{
    struct space_hole *v =
        arena_extend(s->ram->arena, s->holes, &s->holes_cap, s->n_holes, n, sizeof(*v));

    if (v)
        s->holes = v;
    return v != NULL;
}

static uint64_t pages_of(uint64_t bytes)
{
    return bytes ? (bytes + RAM_PAGE_BYTES - 1) >> RAM_PAGE_BITS : 1;
}

static uint64_t addr_of(uint32_t page)
{
    return SPACE_FIRST_ADDR + ((uint64_t)page << RAM_PAGE_BITS);
}

/* Removes the first @n pages of hole @i. */
static void hole_take(struct space *s, uint32_t i, uint32_t n)
{
    struct space_hole *h = &s->holes[i];

    h->first += n;
    h->n -= n;
    if (h->n > 0)
        return;
    s->n_holes--;
    memmove(h, h + 1, (s->n_holes - i) * sizeof(*h));
}

/* Takes @n consecutive virtual pages from the lowest hole that fits, or at the end of the table.
 * Returns UINT32_MAX when the arena is full.
 */
static uint32_t take_addresses(struct space *s, uint32_t n)
{
    uint32_t first;

    for (uint32_t i = 0; i < s->n_holes; i++) {
        if (s->holes[i].n < n)
            continue;
        first = s->holes[i].first;
        hole_take(s, i, n);
        return first;
    }
    if (!table_reserve(s, s->n_table + n))
        return UINT32_MAX;
    first = s->n_table;
    s->n_table += n;
    return first;
}

/* Frees the @n virtual pages from @first on, which are unmapped: a new hole, merged with its
 * neighbours.
 */
static void give_addresses(struct space *s, uint32_t first, uint32_t n)
{
    struct space_hole *h;
    uint32_t i = 0;

    while (i < s->n_holes && s->holes[i].first < first)
        i++;
    h = &s->holes[i];
    if (i > 0 && h[-1].first + h[-1].n == first) {
        h--;
        h->n += n;
    } else {
        RDL_ASSERT(s->n_holes < s->holes_cap);
        memmove(h + 1, h, (s->n_holes - i) * sizeof(*h));
        *h = (struct space_hole){first, n};
        s->n_holes++;
    }
    i = (uint32_t)(h - s->holes);
    if (i + 1 < s->n_holes && h->first + h->n == h[1].first) {
        const uint32_t more = h[1].n;

        hole_take(s, i + 1, more);
        h->n += more;
    }
    if (h->first + h->n == s->n_table) {
        s->n_table = h->first;
        hole_take(s, i, h->n);
    }
}

static uint32_t take_page(struct space *s)
{
    return s->n_free > 0 ? s->free_pages[--s->n_free] : scattered(s, s->n_taken++);
}

uint64_t space_alloc(struct space *s, uint64_t bytes)
{
    const uint64_t pages = pages_of(bytes);
    const uint32_t n = (uint32_t)pages;
    uint32_t first;

    if (pages > s->n_free + (s->n_scattered - s->n_taken) || !free_reserve(s, n) ||
        !holes_reserve(s, s->n_allocs + 1))
        return 0;
    /* An unmapped page follows, so that an overrun faults instead of reaching the next allocation.
     */
    first = take_addresses(s, n + 1);
    if (first == UINT32_MAX)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t page = take_page(s);

        /* A device that got a wrong address may have written to a free page. */
        ram_forget(s->ram, page);
        s->table[first + i] = page + 1;
    }
    s->table[first + n] = 0;
    s->n_allocs++;
    return addr_of(first);
}

uint64_t space_alloc_at(const struct space *s, uint64_t addr, uint64_t *ret_bytes)
{
    uint64_t gpa;
    uint32_t first, end;

    if (!space_translate(s, addr, &gpa))
        return 0;
    first = (uint32_t)((addr - SPACE_FIRST_ADDR) >> RAM_PAGE_BITS);
    for (end = first; s->table[end]; end++)
        ;
    while (first > 0 && s->table[first - 1])
        first--;
    *ret_bytes = (uint64_t)(end - first) << RAM_PAGE_BITS;
    return addr_of(first);
}

void space_free(struct space *s, uint64_t addr)
{
    uint64_t bytes = 0;
    const uint64_t start = space_alloc_at(s, addr, &bytes);
    const uint32_t first = (uint32_t)((start - SPACE_FIRST_ADDR) >> RAM_PAGE_BITS);
    const uint32_t n = (uint32_t)(bytes >> RAM_PAGE_BITS);

    RDL_ASSERT(start != 0);
    /* Backwards, so that repeating the same allocation gets the same pages. */
    for (uint32_t i = n; i-- > 0;) {
        const uint32_t page = s->table[first + i] - 1;

        ram_forget(s->ram, page);
        s->free_pages[s->n_free++] = page;
        s->table[first + i] = 0;
    }
    s->n_allocs--;
    give_addresses(s, first, n + 1);
}

bool space_translate(const struct space *s, uint64_t addr, uint64_t *ret_gpa)
{
    const uint64_t page = (addr - SPACE_FIRST_ADDR) >> RAM_PAGE_BITS;

    if (s->lender) {
        *ret_gpa = RAM_LENT(s->lender, addr);
        return addr < RAM_LENT_BYTES;
    }
    if (addr < SPACE_FIRST_ADDR || page >= s->n_table || !s->table[page])
        return false;
    *ret_gpa = (uint64_t)(s->table[page] - 1) << RAM_PAGE_BITS | (addr & (RAM_PAGE_BYTES - 1));
    return true;
}

bool space_is_mapped(const struct space *s, uint64_t addr, uint64_t n)
{
    uint64_t gpa;

    if (n > UINT64_MAX - addr)
        return false;
    if (s->lender)
        return addr + n <= RAM_LENT_BYTES;
    for (uint64_t at = addr & ~(uint64_t)(RAM_PAGE_BYTES - 1); at < addr + n;
         at += RAM_PAGE_BYTES) {
        if (!space_translate(s, at, &gpa))
            return false;
    }
    return true;
}

bool space_read(const struct space *s, uint64_t addr, void *out, size_t n)
{
    uint8_t *to = out;

    if (!space_is_mapped(s, addr, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(addr, n);
        uint64_t gpa;

        if (!space_translate(s, addr, &gpa) || !ram_read(s->ram, gpa, to, run))
            return false;
        to += run;
        addr += run;
        n -= run;
    }
    return true;
}

bool space_write(struct space *s, uint64_t addr, const void *in, size_t n)
{
    const uint8_t *from = in;

    if (!space_is_mapped(s, addr, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(addr, n);
        uint64_t gpa;

        if (!space_translate(s, addr, &gpa) || !ram_write(s->ram, gpa, from, run))
            return false;
        from += run;
        addr += run;
        n -= run;
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "emu/mem/space.h"

#include <string.h>

#define TABLE_CAP_FIRST 64u

bool space_init(struct space *s, struct ram *ram, struct prng *rng)
{
    const uint32_t n_pages = (uint32_t)(ram->bytes >> RAM_PAGE_BITS);
    const uint32_t n_dma = n_pages / 8 > 2 ? n_pages / 8 : 2;

    *s = (struct space){.ram = ram, .dma_next = RAM_PAGE_BYTES};
    if (n_pages <= n_dma)
        return false;
    s->dma_end = (uint64_t)n_dma << RAM_PAGE_BITS;
    s->n_free = n_pages - n_dma;
    s->free_pages = arena_alloc(ram->arena, s->n_free * sizeof(*s->free_pages));
    if (!s->free_pages)
        return false;
    /* Fisher-Yates, filling as it goes. */
    for (uint32_t i = 0; i < s->n_free; i++) {
        const uint32_t j = (uint32_t)prng_below(rng, i + 1);

        s->free_pages[i] = s->free_pages[j];
        s->free_pages[j] = n_dma + i;
    }
    return true;
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
    uint32_t cap = s->table_cap ? s->table_cap : TABLE_CAP_FIRST;
    uint32_t *table;

    if (len <= s->table_cap)
        return true;
    while (cap < len)
        cap *= 2;
    table = arena_alloc(s->ram->arena, cap * sizeof(*table));
    if (!table)
        return false;
    if (s->n_table)
        memcpy(table, s->table, s->n_table * sizeof(*table));
    arena_release(s->ram->arena, s->table, s->table_cap * sizeof(*s->table));
    s->table = table;
    s->table_cap = cap;
    return true;
}

static uint64_t pages_of(uint64_t bytes)
{
    return bytes ? (bytes + RAM_PAGE_BYTES - 1) >> RAM_PAGE_BITS : 1;
}

/* A device that was told a wrong address may have written here; a guest gets zeros all the same. */
static void page_zero(struct ram *r, uint32_t page)
{
    if (r->pages[page])
        memset(r->pages[page], 0, RAM_PAGE_BYTES);
}

uint64_t space_alloc(struct space *s, uint64_t bytes)
{
    const uint64_t n = pages_of(bytes);
    const uint32_t first = s->n_table;

    /* One unmapped page follows, so that an overrun faults instead of reaching a neighbour. */
    if (n > s->n_free || !table_reserve(s, first + (uint32_t)n + 1))
        return 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t page = s->free_pages[--s->n_free];

        page_zero(s->ram, page);
        s->table[first + i] = page + 1;
    }
    s->table[first + n] = 0;
    s->n_table = first + (uint32_t)n + 1;
    return SPACE_FIRST_ADDR + ((uint64_t)first << RAM_PAGE_BITS);
}

bool space_translate(const struct space *s, uint64_t addr, uint64_t *ret_gpa)
{
    const uint64_t page = (addr - SPACE_FIRST_ADDR) >> RAM_PAGE_BITS;

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

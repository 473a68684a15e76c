/* SPDX-License-Identifier: MIT */
/* A guest's view of its RAM: a page allocator and one virtual address space.
 *
 * The guest maps consecutive virtual pages to scattered guest-physical pages (a seeded
 * permutation).  Code that wrongly assumes contiguous memory therefore fails.  space_alloc_dma()
 * allocates the physically contiguous memory that rings and page lists need.
 *
 *   guest-physical  0 ... DMA area (an eighth of RAM, at least 2 pages) | scattered pages ... size
 *   guest-virtual   SPACE_FIRST_ADDR ...: allocations with an unmapped page between them
 *
 * Freed memory is reused: pages last in, first out; addresses from the lowest hole that is large
 * enough.  Adjacent holes are merged, and a hole at the end of the table is removed.
 */
#ifndef EMU_MEM_SPACE_H
#define EMU_MEM_SPACE_H

#include "emu/base/prng.h"
#include "emu/mem/ram.h"

#define SPACE_FIRST_ADDR 0x7f0000000000u

/* A range of unmapped virtual pages between allocations. */
struct space_hole {
    uint32_t first, n; /* first page, as an index in the table; number of pages */
};

struct space {
    struct ram *ram;
    uint32_t lender; /* the program whose own memory this is, see ram_lend(); 0: pages of @ram */
    uint64_t dma_next, dma_end; /* free part of the DMA area; address 0 is never allocated */
    uint64_t key;               /* seed of the permutation */
    uint32_t n_scattered;       /* number of pages after the DMA area */
    uint32_t n_taken;           /* number of these pages that were ever allocated */
    uint32_t *free_pages;       /* stack of the page numbers of freed pages */
    uint32_t n_free, free_cap;
    /* For each virtual page from SPACE_FIRST_ADDR: its page number + 1; 0: not mapped. */
    uint32_t *table;
    uint32_t n_table, table_cap;
    struct space_hole *holes; /* unmapped ranges between allocations, sorted by address */
    uint32_t n_holes, holes_cap;
    uint32_t n_allocs; /* number of allocations that are not freed */
};

/* Initializes @s without allocations.  Draws the seed of the permutation from @rng.  Returns false
 * if the RAM has no more pages than the DMA area.
 */
bool space_init(struct space *s, struct ram *ram, struct prng *rng);

/* Initializes @s as the address space of the program that is lender @lender of @ram.  All its
 * addresses count as mapped.  Nothing can be allocated there.
 */
void space_init_lent(struct space *s, struct ram *ram, uint32_t lender);

/* Allocates @bytes of physically contiguous, zeroed memory aligned to @align (a power of two).
 * Returns its guest-physical address, or 0 if the DMA area is full.  This memory cannot be freed: a
 * driver that reuses memory keeps its own pool.
 */
uint64_t space_alloc_dma(struct space *s, uint64_t bytes, uint64_t align);

/* Allocates @bytes of zeroed virtual memory over scattered pages, at least one page.  Returns a
 * page-aligned guest-virtual address, or 0 when RAM or the arena is full.
 */
uint64_t space_alloc(struct space *s, uint64_t bytes);

/* Finds the allocation that contains @addr.  Returns its address, with its size in *@ret_bytes, a
 * multiple of the page size.  Returns 0 and leaves *@ret_bytes unchanged if there is no such
 * allocation.
 */
uint64_t space_alloc_at(const struct space *s, uint64_t addr, uint64_t *ret_bytes);

/* Frees the allocation that contains @addr, which must exist. */
void space_free(struct space *s, uint64_t addr);

/* Translates guest-virtual @addr to the guest-physical address *@ret_gpa.  Returns false if @addr
 * is not mapped.
 */
bool space_translate(const struct space *s, uint64_t addr, uint64_t *ret_gpa);

/* Returns true if every page of [@addr, @addr + @n) is mapped. */
bool space_is_mapped(const struct space *s, uint64_t addr, uint64_t n);

/* Copy @n bytes from or to guest-virtual @addr.  Return false and copy nothing if part of the range
 * is not mapped.
 */
bool space_read(const struct space *s, uint64_t addr, void *out, size_t n);
bool space_write(struct space *s, uint64_t addr, const void *in, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* A guest's view of its RAM: page allocator and one virtual address space.
 *
 * The guest maps consecutive virtual pages to guest-physical pages that are scattered on purpose
 * (a seeded permutation), so that nothing works by accident because memory happened to be
 * contiguous.  Rings and page lists need physically contiguous memory: space_alloc_dma().
 *
 *   guest-physical  0 ... DMA area (an eighth of RAM) | scattered pages ... size
 *   guest-virtual   SPACE_FIRST_ADDR ...: allocations with an unmapped page between them
 *
 * What is given back is used again: pages last in, first out, addresses from the lowest hole that
 * is large enough.  A hole never has another or the end of the table beside it.
 */
#ifndef EMU_MEM_SPACE_H
#define EMU_MEM_SPACE_H

#include "emu/base/prng.h"
#include "emu/mem/ram.h"

#define SPACE_FIRST_ADDR 0x7f0000000000u

/* Virtual pages that nothing is mapped to, between allocations. */
struct space_hole {
    uint32_t first, n;
};

struct space {
    struct ram *ram;
    uint64_t dma_next, dma_end; /* guest-physical; address 0 is never handed out */
    uint64_t key;               /* decides the scattering */
    uint32_t n_scattered;       /* pages behind the DMA area */
    uint32_t n_taken;           /* of them: handed out at some time */
    uint32_t *free_pages;       /* of those: not in use, a stack of page numbers */
    uint32_t n_free, free_cap;
    uint32_t *table; /* virtual page, from SPACE_FIRST_ADDR, to page number + 1; 0: unmapped */
    uint32_t n_table, table_cap;
    struct space_hole *holes; /* by address */
    uint32_t n_holes, holes_cap;
    uint32_t n_allocs; /* that live */
};

/* @rng decides the scattering.  False: RAM is too small. */
bool space_init(struct space *s, struct ram *ram, struct prng *rng);

/* Physically contiguous, zeroed, aligned to @align (a power of two); 0 when the area is full.
 * There is no free: a driver that gives memory back keeps a pool of its own.
 */
uint64_t space_alloc_dma(struct space *s, uint64_t bytes, uint64_t align);

/* Page-aligned, zeroed virtual memory over scattered pages; 0 when RAM is full. */
uint64_t space_alloc(struct space *s, uint64_t bytes);

/* The allocation that @addr lies in: its address, and its @ret_bytes, whole pages; 0: none. */
uint64_t space_alloc_at(const struct space *s, uint64_t addr, uint64_t *ret_bytes);

/* Gives back the allocation that @addr lies in; there must be one. */
void space_free(struct space *s, uint64_t addr);

/* Guest-virtual to guest-physical; false when @addr is unmapped. */
bool space_translate(const struct space *s, uint64_t addr, uint64_t *ret_gpa);

/* Is every page of [@addr, @addr + @n) mapped? */
bool space_is_mapped(const struct space *s, uint64_t addr, uint64_t n);

/* Copies at guest-virtual addresses.  False: not all of it is mapped; nothing was copied. */
bool space_read(const struct space *s, uint64_t addr, void *out, size_t n);
bool space_write(struct space *s, uint64_t addr, const void *in, size_t n);

#endif

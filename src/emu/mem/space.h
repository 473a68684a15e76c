/* SPDX-License-Identifier: MIT */
/* A guest's view of its RAM: page allocator and one virtual address space.
 *
 * The guest maps consecutive virtual pages to guest-physical pages that are scattered on purpose
 * (a seeded permutation), so that nothing works by accident because memory happened to be
 * contiguous.  Rings and page lists need physically contiguous memory: space_alloc_dma().
 *
 *   guest-physical  0 ... DMA area (an eighth of RAM) | scattered pages ... size
 *   guest-virtual   SPACE_FIRST_ADDR ...: allocations with an unmapped page between them
 */
#ifndef EMU_MEM_SPACE_H
#define EMU_MEM_SPACE_H

#include "emu/base/prng.h"
#include "emu/mem/ram.h"

#define SPACE_FIRST_ADDR 0x7f0000000000u

struct space {
    struct ram *ram;
    uint64_t dma_next, dma_end; /* guest-physical; address 0 is never handed out */
    uint32_t *free_pages;       /* scattered pages not in use, a stack of page numbers */
    uint32_t n_free;
    uint32_t *table; /* virtual page, from SPACE_FIRST_ADDR, to page number + 1; 0: unmapped */
    uint32_t n_table, table_cap;
};

/* False when the arena is full.  @rng decides the scattering. */
bool space_init(struct space *s, struct ram *ram, struct prng *rng);

/* Physically contiguous, zeroed, aligned to @align (a power of two); 0 when the area is full.
 * There is no free: a driver that gives memory back keeps a pool of its own.
 */
uint64_t space_alloc_dma(struct space *s, uint64_t bytes, uint64_t align);

/* Page-aligned, zeroed virtual memory over scattered pages; 0 when RAM is full.  There is no free
 * here either: what a guest allocated it keeps.
 */
uint64_t space_alloc(struct space *s, uint64_t bytes);

/* Guest-virtual to guest-physical; false when @addr is unmapped. */
bool space_translate(const struct space *s, uint64_t addr, uint64_t *ret_gpa);

/* Is every page of [@addr, @addr + @n) mapped? */
bool space_is_mapped(const struct space *s, uint64_t addr, uint64_t n);

/* Copies at guest-virtual addresses.  False: not all of it is mapped; nothing was copied. */
bool space_read(const struct space *s, uint64_t addr, void *out, size_t n);
bool space_write(struct space *s, uint64_t addr, const void *in, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* The drivers' DMA memory: physically contiguous blocks for rings, WQEs, CQEs and page lists.
 *
 * A block's size is a power of two.  A block crosses a page boundary only if it is larger than a
 * page.  Freed blocks are reused for blocks of the same size, last in, first out.
 */
#ifndef EMU_GUEST_DMA_H
#define EMU_GUEST_DMA_H

#include <stdint.h>

#include "emu/mem/space.h"

#define DMA_BLOCK_BYTES_MIN 64u
#define DMA_CLASSES         32u

struct dma_pool {
    struct space *space;
    /* Free lists by log2 of the block size: address of the first block, 0 if there is none.  Each
     * block begins with the address of the next one.
     */
    uint64_t free[DMA_CLASSES];
    uint64_t used; /* bytes of all blocks that are taken */
};

void dma_init(struct dma_pool *p, struct space *space);

/* Allocates at least @bytes zeroed bytes.  Returns the guest-physical address, or 0 if the DMA area
 * is full.
 */
uint64_t dma_take(struct dma_pool *p, uint64_t bytes);

/* Like dma_take(), but a new block smaller than a page comes from a page that is divided into
 * blocks of this size only.  Used for rings, so that pages of buffers that are never written stay
 * untouched.  Undo it with dma_give(), not dma_undo().
 */
uint64_t dma_take_shared(struct dma_pool *p, uint64_t bytes);

/* Frees the block @gpa, which dma_take() or dma_take_shared() has returned for the same @bytes.
 * Does nothing if @gpa is 0.
 */
void dma_give(struct dma_pool *p, uint64_t gpa, uint64_t bytes);

/* Undo the allocations of a request that was refused before it was sent, so that the next request
 * gets the same addresses.  dma_mark() returns the mark; call it before the allocations.
 * dma_undo() frees the block @gpa of @bytes.  Undo several blocks in reverse order.
 */
static inline uint64_t dma_mark(const struct dma_pool *p)
{
    return p->space->dma_next;
}

void dma_undo(struct dma_pool *p, uint64_t gpa, uint64_t bytes, uint64_t mark);

#endif

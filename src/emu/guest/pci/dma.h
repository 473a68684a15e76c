/* SPDX-License-Identifier: MIT */
/* The driver's DMA memory: physically contiguous blocks for rings, WQEs, CQEs and page lists.
 *
 * A block has a power-of-two size and does not cross a page unless it is larger than one.  What is
 * given back is used again for blocks of the same size, last in, first out.
 */
#ifndef EMU_GUEST_DMA_H
#define EMU_GUEST_DMA_H

#include <stdint.h>

#include "emu/mem/space.h"

#define DMA_BLOCK_BYTES_MIN 64u
#define DMA_CLASSES         32u

struct dma_pool {
    struct space *space;
    /* By log2 of the size: the first block; each begins with the next. */
    uint64_t free[DMA_CLASSES];
};

void dma_init(struct dma_pool *p, struct space *space);

/* Guest-physical address of at least @bytes zeroed bytes; 0 when the DMA area is full. */
uint64_t dma_take(struct dma_pool *p, uint64_t bytes);

/* The same, in a page with other such blocks alone: for rings that are written while the buffers
 * around them may never be.  Never to be undone: dma_give().
 */
uint64_t dma_take_shared(struct dma_pool *p, uint64_t bytes);

/* Gives back what dma_take() gave for the same @bytes; address 0 is fine. */
void dma_give(struct dma_pool *p, uint64_t gpa, uint64_t bytes);

/* What a request takes that is refused before it is sent is taken back as if it never had been:
 * where it is from, the next request finds it.  @mark is dma_mark() of before; of several blocks
 * the last one taken is undone first.
 */
static inline uint64_t dma_mark(const struct dma_pool *p)
{
    return p->space->dma_next;
}

void dma_undo(struct dma_pool *p, uint64_t gpa, uint64_t bytes, uint64_t mark);

#endif

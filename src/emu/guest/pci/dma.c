/* SPDX-License-Identifier: MIT */
#include "emu/guest/pci/dma.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"

void dma_init(struct dma_pool *p, struct space *space)
{
    *p = (struct dma_pool){.space = space};
}

static uint64_t block_bytes(uint64_t bytes)
{
    return bytes <= DMA_BLOCK_BYTES_MIN ? DMA_BLOCK_BYTES_MIN : pow2_ceil(bytes);
}

static unsigned class_of(uint64_t block)
{
    return (unsigned)__builtin_ctzll(block);
}

static uint64_t take_free(struct dma_pool *p, uint64_t block)
{
    uint64_t *first = &p->free[class_of(block)];
    const uint64_t gpa = *first;
    uint8_t next[8];

    /* Zeroes the reused block, as a kernel would. */
    if (!ram_read(p->space->ram, gpa, next, sizeof(next)) || !ram_zero(p->space->ram, gpa, block))
        return 0;
    *first = ld_le64(next);
    return gpa;
}

/* Frees the block @gpa of @block bytes, which does not count as used. */
static void put_free(struct dma_pool *p, uint64_t gpa, uint64_t block)
{
    uint64_t *first = &p->free[class_of(block)];
    uint8_t next[8];

    st_le64(next, *first);
    if (ram_write(p->space->ram, gpa, next, sizeof(next)))
        *first = gpa;
}

uint64_t dma_take(struct dma_pool *p, uint64_t bytes)
{
    const uint64_t block = block_bytes(bytes);
    uint64_t gpa;

    if (class_of(block) >= DMA_CLASSES)
        return 0;
    if (p->free[class_of(block)])
        gpa = take_free(p, block);
    else
        gpa = space_alloc_dma(p->space, block, block < RAM_PAGE_BYTES ? block : RAM_PAGE_BYTES);
    p->used += gpa ? block : 0;
    return gpa;
}

uint64_t dma_take_shared(struct dma_pool *p, uint64_t bytes)
{
    const uint64_t block = block_bytes(bytes);
    uint64_t page;

    if (block >= RAM_PAGE_BYTES || p->free[class_of(block)])
        return dma_take(p, bytes);
    page = space_alloc_dma(p->space, RAM_PAGE_BYTES, RAM_PAGE_BYTES);
    for (uint64_t at = RAM_PAGE_BYTES - block; page && at > 0; at -= block)
        put_free(p, page + at, block);
    p->used += page ? block : 0;
    return page;
}

void dma_give(struct dma_pool *p, uint64_t gpa, uint64_t bytes)
{
    if (!gpa)
        return;
    p->used -= block_bytes(bytes);
    put_free(p, gpa, block_bytes(bytes));
}

void dma_undo(struct dma_pool *p, uint64_t gpa, uint64_t bytes, uint64_t mark)
{
    if (gpa < mark) {
        dma_give(p, gpa, bytes);
        return;
    }
    p->used -= block_bytes(bytes);
    p->space->dma_next = mark; /* also undoes all blocks allocated after it */
}

/* SPDX-License-Identifier: MIT */
/* The history of bytes in a program's memory: who wrote them, and from where they came. */
#ifndef CLI_WHY_BYTES_SOURCE_H
#define CLI_WHY_BYTES_SOURCE_H

#include "emu/past/past_index.h"

/* Bytes of a region.  A device knows them at @iova, the program at @addr. */
struct byte_range {
    uint32_t host; /* number in the events */
    uint64_t iova, addr, bytes;
};

/* Returns the last recorded event before event @before (0: no limit) that wrote to @r: dma_write,
 * atomic or mem_write.  Returns NULL if none is recorded.
 */
const struct ev *bytes_last_write(const struct past *p, const struct byte_range *r, ev_id before);

/* Returns the first recorded event after event @after that wrote to @r; NULL: there is none. */
const struct ev *bytes_next_write(const struct past *p, const struct byte_range *r, ev_id after);

/* The memory from which a device took bytes that another one wrote. */
struct bytes_origin {
    uint32_t host;
    uint64_t iova, bytes;
    ev_id read; /* event in which a packet took them along */
};

/* Finds the origin of those bytes of @r that dma_write event @w wrote: the gather list of the
 * sender of a SEND or WRITE, the address of a READ.  If the bytes came from several places, it is
 * the first one.
 *
 * SIMPLIFIED: datagrams, inline data and the results of atomics have no origin.
 *
 * Returns false if it has none or it is not recorded.
 */
bool bytes_find_origin(const struct past_index *x, const struct ev *w, const struct byte_range *r,
                       struct bytes_origin *ret);

/* Returns the fetch event of the request that made a device write in dma_write event @w, which is
 * that of the writing host for a READ and of its peer otherwise; NULL: it is not recorded.
 */
const struct ev *bytes_work(const struct past_index *x, const struct ev *w);

#endif

/* SPDX-License-Identifier: MIT */
/* Accesses of registers. */
#ifndef EMU_PCI_OVERLAP_H
#define EMU_PCI_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

struct overlap {
    uint32_t in_reg, in_access; /* first common bit, counted in the register and in the access */
    uint64_t mask;              /* ones for each common bit, from bit 0; 0: no overlap */
};

/* Returns the overlap of a register of @bytes at offset @at with an access of @width bytes at
 * @offset.  The register and the access are 1 to 8 bytes long.
 */
static inline struct overlap overlap_of(uint32_t at, uint32_t bytes, uint32_t offset,
                                        uint32_t width)
{
    const uint32_t first = at > offset ? at : offset;
    const uint32_t end = at + bytes < offset + width ? at + bytes : offset + width;

    if (first >= end)
        return (struct overlap){0, 0, 0};
    return (struct overlap){
        .in_reg = 8 * (first - at),
        .in_access = 8 * (first - offset),
        .mask = UINT64_MAX >> (64 - 8 * (end - first)),
    };
}

/* Returns true for an access that configuration space of @config_bytes answers. */
static inline bool is_config_access(uint32_t config_bytes, uint32_t offset, uint32_t width)
{
    return (width == 1 || width == 2 || width == 4) && offset % width == 0 && offset < config_bytes;
}

/* Returns the value of @width bytes whose bits are all 1; of 4 bytes if there is no such width. */
static inline uint32_t all_ones(uint32_t width)
{
    return width >= 1 && width <= 4 ? UINT32_MAX >> (32 - 8 * width) : UINT32_MAX;
}

#endif

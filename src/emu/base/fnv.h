/* SPDX-License-Identifier: MIT */
/* FNV-1a, 32 bits: spreads names and addresses over small tables. */
#ifndef EMU_BASE_FNV_H
#define EMU_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t fnv1a(const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    uint32_t h = 0x811c9dc5u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x01000193u;
    return h;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef EMU_BASE_MIN_H
#define EMU_BASE_MIN_H

#include <stdint.h>

/* Returns the smaller one of @a and @b. */
static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#endif

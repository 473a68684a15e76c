/* SPDX-License-Identifier: MIT */
/* Powers of two. */
#ifndef EMU_BASE_LOG2_H
#define EMU_BASE_LOG2_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_pow2(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

/* Returns the smallest power of two >= @v; 1 for 0.  @v <= 2^63. */
static inline uint64_t pow2_ceil(uint64_t v)
{
    return v <= 1 ? 1 : (uint64_t)1 << (64 - __builtin_clzll(v - 1));
}

/* Returns the largest n with 2^n <= @v.  @v > 0. */
static inline uint32_t ilog2(uint32_t v)
{
    return 31 - (uint32_t)__builtin_clz(v);
}

#endif

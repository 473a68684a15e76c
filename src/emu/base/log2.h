/* SPDX-License-Identifier: MIT */
/* Powers of two. */
#ifndef EMU_BASE_LOG2_H
#define EMU_BASE_LOG2_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if @v is a power of two. */
static inline bool is_pow2(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

/* Returns the smallest power of two that is at least @v, or 1 if @v is 0.  @v is at most 2^63. */
static inline uint64_t pow2_ceil(uint64_t v)
{
    return v <= 1 ? 1 : (uint64_t)1 << (64 - __builtin_clzll(v - 1));
}

/* Returns the largest n for which 2^n is at most @v.  @v must not be 0. */
static inline uint32_t ilog2(uint32_t v)
{
    return 31 - (uint32_t)__builtin_clz(v);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Packet sequence numbers (PSN): 24 bits, and they wrap.  A PSN is a struct, so that a comparison
 * with `<`, which would be wrong, does not compile.
 */
#ifndef EMU_FACTS_PSN_H
#define EMU_FACTS_PSN_H

#include <stdint.h>

#define PSN_MASK 0xffffffu

struct psn {
    uint32_t v; /* 0 .. PSN_MASK */
};

static inline struct psn psn_add(struct psn a, uint32_t n)
{
    return (struct psn){(a.v + n) & PSN_MASK};
}

/* Returns @a - @b modulo 2^24 as a signed number, -2^23 .. 2^23 - 1.  It is positive if @a is ahead
 * of @b.
 */
static inline int32_t psn_diff(struct psn a, struct psn b)
{
    const uint32_t d = (a.v - b.v) & PSN_MASK;

    return d < 0x800000u ? (int32_t)d : (int32_t)d - 0x1000000;
}

#endif

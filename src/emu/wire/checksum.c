/* SPDX-License-Identifier: MIT */
#include "emu/wire/checksum.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"

uint32_t checksum_add(uint32_t sum, const uint8_t *bytes, size_t n)
{
    uint64_t wide = sum;
    size_t i = 0;

    /* Four words, then two at a time.  The carries are folded in below.  [RFC 1071, 2 (C)] */
    for (; i + 7 < n; i += 8)
        wide += ld_be32(bytes + i) + (uint64_t)ld_be32(bytes + i + 4);
    for (; i + 3 < n; i += 4)
        wide += ld_be32(bytes + i);
    for (; i + 1 < n; i += 2)
        wide += ld_be16(bytes + i);
    if (i < n)
        wide += (uint32_t)bytes[i] << 8;
    return (uint32_t)((wide & 0xffffu) + (wide >> 16 & 0xffffu) + (wide >> 32));
}

uint32_t checksum_add_pseudo_header(uint32_t sum, const struct ip *h)
{
    RDL_ASSERT(h->version == 6);
    sum = checksum_add(sum, h->src, GID_BYTES);
    sum = checksum_add(sum, h->dst, GID_BYTES);
    return sum + h->payload_bytes + h->protocol;
}

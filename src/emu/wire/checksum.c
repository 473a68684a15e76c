/* SPDX-License-Identifier: MIT */
#include "emu/wire/checksum.h"

#include "emu/base/assert.h"

uint32_t checksum_add(uint32_t sum, const uint8_t *bytes, size_t n)
{
    size_t i = 0;

    for (; i + 1 < n; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    if (i < n)
        sum += (uint32_t)bytes[i] << 8;
    return sum;
}

uint32_t checksum_add_pseudo_header(uint32_t sum, const struct ip *h)
{
    RDL_ASSERT(h->version == 6);
    sum = checksum_add(sum, h->src, GID_BYTES);
    sum = checksum_add(sum, h->dst, GID_BYTES);
    return sum + h->payload_bytes + h->protocol;
}

uint16_t checksum_fold(uint32_t sum)
{
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    return (uint16_t)~sum;
}

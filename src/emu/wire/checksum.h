/* SPDX-License-Identifier: MIT */
/* The Internet checksum: the complement of the ones' complement sum of big-endian 16-bit words.
 * The checksum of data that already contains its own correct checksum is 0.  [RFC 1071]
 *
 *	checksum_fold(checksum_add(checksum_add(0, part, n), other_part, m))
 */
#ifndef EMU_WIRE_CHECKSUM_H
#define EMU_WIRE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "emu/wire/ip.h"

/* Returns @sum plus the words of the @n bytes.  @sum is 0 for the first part.  Every part except
 * the last must have an even length.  The sum is exact for up to 65536 words.
 */
uint32_t checksum_add(uint32_t sum, const uint8_t *bytes, size_t n);

/* Returns @sum plus the words of the pseudo header of the IPv6 packet @h.  ICMPv6 checksums cover
 * this header; ICMP over IPv4 has none.
 * [RFC 8200, 8.1]
 */
uint32_t checksum_add_pseudo_header(uint32_t sum, const struct ip *h);

/* Returns the checksum for the sum @sum of all parts. */
static inline uint16_t checksum_fold(uint32_t sum)
{
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    return (uint16_t)~sum;
}

#endif

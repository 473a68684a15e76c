/* SPDX-License-Identifier: MIT */
/* The Internet checksum: the ones' complement of the ones' complement sum of 16-bit words, most
 * significant byte first.  Over data that includes its own right checksum it is 0.  [RFC 1071]
 *
 *	checksum_fold(checksum_add(checksum_add(0, part, n), other_part, m))
 */
#ifndef EMU_WIRE_CHECKSUM_H
#define EMU_WIRE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "emu/wire/ip.h"

/* Adds @n bytes to a sum that began with 0; all parts but the last have an even length.  Sums of up
 * to 65536 words are exact.
 */
uint32_t checksum_add(uint32_t sum, const uint8_t *bytes, size_t n);

/* Adds what a protocol above IP covers of the IP header.  ICMP over IPv4 has none of it; ICMPv6
 * has.  [RFC 8200, 8.1]
 */
uint32_t checksum_add_pseudo_header(uint32_t sum, const struct ip *h);

/* The checksum of what was added. */
static inline uint16_t checksum_fold(uint32_t sum)
{
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    return (uint16_t)~sum;
}

#endif

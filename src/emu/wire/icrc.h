/* SPDX-License-Identifier: MIT */
/* The invariant CRC (ICRC) at the end of every RoCEv2 packet.  [RoCEv2 A17.3.3]
 *
 * It is a CRC-32 as in zlib.  It covers eight bytes 0xff in place of InfiniBand's local route
 * header, then the IP, UDP and BTH headers, then everything else up to the end of the pad.  Fields
 * that routers may change count as ones: IPv4 TOS, TTL and header checksum; IPv6 traffic class,
 * flow label and hop limit; the UDP checksum; byte 4 of the BTH (FECN, BECN, reserved).
 */
#ifndef EMU_WIRE_ICRC_H
#define EMU_WIRE_ICRC_H

#include <stddef.h>
#include <stdint.h>

/* Returns the ICRC of the packet whose IP header is at @ip.  @bytes is the length from there to the
 * end of the pad, at least the IP, UDP and base transport headers.  The ICRC is sent least
 * significant byte first.
 */
uint32_t icrc_compute(const uint8_t *ip, size_t bytes);

/* Continues @icrc, the ICRC of all bytes before @more, with @bytes more. */
uint32_t icrc_more(uint32_t icrc, const uint8_t *more, size_t bytes);

#endif

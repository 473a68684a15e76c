/* SPDX-License-Identifier: MIT */
/* The invariant CRC at the end of every RoCEv2 packet.  [RoCEv2 A17.3.3]
 *
 * CRC-32 as in zlib over eight bytes 0xff (the place of InfiniBand's local route header), the IP,
 * UDP and BTH headers with ones where routers may write, and everything else to the end of the pad.
 * Masked are: IPv4 TOS, TTL and header checksum; IPv6 traffic class, flow label and hop limit; the
 * UDP checksum; byte 4 of the BTH (FECN, BECN, reserved).
 */
#ifndef EMU_WIRE_ICRC_H
#define EMU_WIRE_ICRC_H

#include <stddef.h>
#include <stdint.h>

/* The ICRC of the packet whose IP header is at @ip and which has @bytes bytes from there to the end
 * of the pad: at least the IP, UDP and base transport headers.  It goes on the wire least
 * significant byte first.
 */
uint32_t icrc_compute(const uint8_t *ip, size_t bytes);

/* Goes on with one of fewer bytes: @icrc is that of all before @more. */
uint32_t icrc_more(uint32_t icrc, const uint8_t *more, size_t bytes);

#endif

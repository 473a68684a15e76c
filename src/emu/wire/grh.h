/* SPDX-License-Identifier: MIT */
/* The GRH area: 40 bytes in front of a datagram's payload in the receive buffer.
 *
 * In InfiniBand it contains the global route header, which has the format of an IPv6 header.  With
 * RoCEv2 it contains the IP header of the packet: an IPv6 header as is, an IPv4 header in the last
 * 20 bytes.  No specification defines the 20 bytes before an IPv4 header; here they are zero.
 */
#ifndef EMU_WIRE_GRH_H
#define EMU_WIRE_GRH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/wire/packet.h"

#define GRH_BYTES 40u

/* Writes the area for @p to @out.  packet_parse() must have accepted @p, and the frame to which @p
 * points must still exist.
 */
void grh_from_packet(uint8_t out[GRH_BYTES], const struct packet *p);

/* Writes the area for @p as a device of RoCE version 1 fills it: a global route header with the
 * GIDs, also if the packet came with an IPv4 header.  It needs no frame.
 */
void grh_global_from_packet(uint8_t out[GRH_BYTES], const struct packet *p);

/* The decoded area. */
struct grh {
    unsigned version; /* IP version */
    uint8_t tclass, hop_limit;
    uint32_t flow_label; /* 0 for IPv4 */
    uint8_t src[GID_BYTES], dst[GID_BYTES];
};

/* Decodes an area as Linux and libibverbs do.  An area that starts like an IPv6 header can also be
 * undefined bytes before an IPv4 header.  It is decoded as IPv4 if its last 20 bytes are an IPv4
 * header with a correct checksum.  Returns false and leaves @out unchanged if the area contains
 * neither header.
 */
bool grh_parse(struct grh *out, const uint8_t area[GRH_BYTES]);

#endif

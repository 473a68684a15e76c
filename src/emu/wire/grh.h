/* SPDX-License-Identifier: MIT */
/* The GRH area: the 40 bytes in front of a datagram's payload in the receiver's memory.
 *
 * InfiniBand puts the global route header there, which has the form of an IPv6 header.  With RoCEv2
 * it is the IP header of the packet: of IPv6 as it is, of IPv4 in the last 20 bytes.  Nobody says
 * what the 20 bytes before that are; here they are zero.
 */
#ifndef EMU_WIRE_GRH_H
#define EMU_WIRE_GRH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/wire/packet.h"

#define GRH_BYTES 40u

/* The area for @p, which packet_parse() has taken and whose frame is still there. */
void grh_from_packet(uint8_t out[GRH_BYTES], const struct packet *p);

/* What the area says. */
struct grh {
    unsigned version; /* of IP */
    uint8_t tclass, hop_limit;
    uint32_t flow_label; /* 0 of IPv4 */
    uint8_t src[GID_BYTES], dst[GID_BYTES];
};

/* Reads an area as Linux and libibverbs do, which have to guess: what begins like IPv6 may be the
 * 20 open bytes before a sound IPv4 header.  False: it is neither, and @out is untouched.
 */
bool grh_parse(struct grh *out, const uint8_t area[GRH_BYTES]);

#endif

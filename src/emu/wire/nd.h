/* SPDX-License-Identifier: MIT */
/* Neighbour discovery: solicitations and advertisements, the ARP of IPv6.  [RFC 4861]
 *
 * A solicitation for an address goes to the solicited-node multicast group of the address:
 * ff02::1:ffXX:XXXX with the last three bytes of the address.  The MAC of an
 * IPv6 group is 33:33 and the last four bytes of its address.
 *
 * Routers, prefixes and redirects are not supported: all neighbours are on one link.
 */
#ifndef EMU_WIRE_ND_H
#define EMU_WIRE_ND_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/wire/icmp.h"

#define ND_BYTES     32u  /* a message with a link-layer address, including the ICMPv6 header */
#define ND_HOP_LIMIT 255u /* a router would have decremented it: the sender is on this link */

struct nd {
    bool advert;    /* otherwise a solicitation */
    bool router;    /* advertisement: the sender is a router */
    bool solicited; /* advertisement: it answers a solicitation */
    bool override;  /* advertisement: its MAC replaces the one that the receiver knows */
    bool has_mac;   /* the message contains the option with @mac */
    uint8_t target[GID_BYTES];
    /* MAC of the sender of a solicitation, or of the target of an advertisement */
    uint8_t mac[MAC_BYTES];
};

/* Parses a message after its ICMPv6 header @h in the packet @ip.  Returns DROP_NONE, or
 * DROP_BAD_ND if a check of RFC 4861, 7.1.1 and 7.1.2 fails.  Options other than the link-layer
 * address are skipped.  On failure @out is unchanged.
 */
enum drop_reason nd_parse(struct nd *out, const struct icmp *h, const struct ip *ip,
                          struct rd_cur *in);

/* Appends a complete message to @out, with the link-layer address n->mac.  n->has_mac must be true.
 * The checksum covers fields of @ip, the IPv6 header of the packet.
 */
void nd_build(const struct nd *n, const struct ip *ip, struct wr_cur *out);

/* Returns true if @addr is an IPv6 multicast address (ff00::/8). */
static inline bool ipv6_is_group(const uint8_t addr[GID_BYTES])
{
    return addr[0] == 0xff;
}

/* Set @ret to the solicited-node group of @addr, or to the group of all nodes of the link. */
void ipv6_solicited_group(uint8_t ret[GID_BYTES], const uint8_t addr[GID_BYTES]);
void ipv6_all_nodes(uint8_t ret[GID_BYTES]);

#endif

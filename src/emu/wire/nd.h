/* SPDX-License-Identifier: MIT */
/* Neighbour discovery: solicitations and advertisements, IPv6's ARP.  [RFC 4861]
 *
 * "Who has this address?" goes to a multicast group that few others are in: the solicited-node
 * group of the address, ff02::1:ffXX:XXXX with its last three bytes.  An IPv6 group's MAC is
 * 33:33 and the last four bytes of its address.
 *
 * Routers, prefixes and redirects are left out: all neighbours are on one link.
 */
#ifndef EMU_WIRE_ND_H
#define EMU_WIRE_ND_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enums.h"
#include "emu/wire/icmp.h"

#define ND_BYTES     32u  /* of a message with a link-layer address, the ICMPv6 head included */
#define ND_HOP_LIMIT 255u /* proof that no router has passed the message on */

struct nd {
    bool advert;    /* otherwise a solicitation */
    bool router;    /* of an advertisement: the sender is a router, */
    bool solicited; /* it answers a solicitation, */
    bool override;  /* it replaces what is known */
    bool has_mac;
    uint8_t target[GID_BYTES];
    uint8_t mac[MAC_BYTES]; /* of a solicitation's sender, of an advertisement's target */
};

/* Reads what follows the head @h of a message in the packet @ip.  DROP_NONE, or DROP_BAD_ND: one of
 * the checks of RFC 4861, 7.1.1 and 7.1.2 refuses it.  Options other than the link-layer address
 * are skipped.  @out is untouched on failure.
 */
enum drop_reason nd_parse(struct nd *out, const struct icmp *h, const struct ip *ip,
                          struct rd_cur *in);

/* Writes a whole message with its link-layer address; @ip counts for the checksum. */
void nd_build(const struct nd *n, const struct ip *ip, struct wr_cur *out);

/* Is @addr a group's? */
static inline bool ipv6_is_group(const uint8_t addr[GID_BYTES])
{
    return addr[0] == 0xff;
}

/* The solicited-node group of @addr; all nodes of the link. */
void ipv6_solicited_group(uint8_t ret[GID_BYTES], const uint8_t addr[GID_BYTES]);
void ipv6_all_nodes(uint8_t ret[GID_BYTES]);

#endif

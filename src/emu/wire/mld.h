/* SPDX-License-Identifier: MIT */
/* MLDv2: a station announces its membership in IPv6 multicast groups, as with IGMPv3.  [RFC 3810]
 *
 * A message is ICMPv6 after a hop-by-hop header with the Router Alert option.  ip.h does not
 * support extension headers.  mld_build() therefore also writes the IP headers, and mld_parse()
 * starts after the IPv6 header.  Not supported: source lists, and version 1.
 */
#ifndef EMU_WIRE_MLD_H
#define EMU_WIRE_MLD_H

#include "emu/facts/enum/drop.h"
#include "emu/wire/igmp.h"
#include "emu/wire/ip.h"

#define IP_PROTOCOL_HOP_BY_HOP 0u
#define MLD_PACKET_BYTES       76u /* a report with its IP headers */

/* Sets @ret to the destination of reports, ff02::16. */
void mld_routers(uint8_t ret[GID_BYTES]);

/* Return true if an ICMPv6 message of @type is a report of version 2, or a query. */
bool mld_is_report(uint8_t type);
bool mld_is_query(uint8_t type);

/* Parses the message after the IP header @ip, whose protocol is IP_PROTOCOL_HOP_BY_HOP.  On failure
 * @out is unchanged.
 *
 * Return: DROP_NONE               a query of version 2
 *	   DROP_BAD_ICMP           too short for the hop-by-hop header
 *	   DROP_BAD_ICMP_CHECKSUM  the checksum of a message that is as long as a query is wrong
 *	   DROP_NO_LISTENER        another hop-by-hop header or message, a shorter message, or a
 *	                           query that may come from another link
 */
enum drop_reason mld_parse(struct group_query *out, const struct ip *ip, struct rd_cur *in);

/* Appends a complete IP packet to @out: a report from @src about @group.  Both addresses must be
 * IPv6; @src must be link-local or all zero.  [RFC 3810, 5.2.13]
 */
void mld_build(enum group_record record, const uint8_t src[GID_BYTES],
               const uint8_t group[GID_BYTES], struct wr_cur *out);

#endif

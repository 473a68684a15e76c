/* SPDX-License-Identifier: MIT */
/* MLDv2: how a station says which IPv6 multicast groups it is in, IPv6's IGMPv3.  [RFC 3810]
 *
 * Its messages are ICMPv6 behind a hop-by-hop header with the Router Alert option, so both
 * directions have the IP header here.  Left out: lists of senders, and version 1.
 */
#ifndef EMU_WIRE_MLD_H
#define EMU_WIRE_MLD_H

#include "emu/wire/igmp.h"
#include "emu/wire/ip.h"

#define IP_PROTOCOL_HOP_BY_HOP 0u
#define MLD_PACKET_BYTES       76u /* a report with its IP headers */

/* The group to which reports go: ff02::16. */
void mld_routers(uint8_t ret[GID_BYTES]);

/* What a message of @type is. */
bool mld_is_report(uint8_t type);
bool mld_is_query(uint8_t type);

/* Reads what follows the IP header @ip, whose protocol is IP_PROTOCOL_HOP_BY_HOP.
 *
 * Return: DROP_NONE               a query of version 2
 *	   DROP_BAD_ICMP           it ends too early
 *	   DROP_BAD_ICMP_CHECKSUM
 *	   DROP_NO_LISTENER        anything else: another message, option or version, or a query
 *	                           that may come from another link
 * @out is untouched then.
 */
enum drop_reason mld_parse(struct group_query *out, const struct ip *ip, struct rd_cur *in);

/* Writes the IP packet of a report from @src about @group, both IPv6's.  @src is link-local, or all
 * zero.  [RFC 3810, 5.2.13]
 */
void mld_build(enum group_record record, const uint8_t src[GID_BYTES],
               const uint8_t group[GID_BYTES], struct wr_cur *out);

#endif

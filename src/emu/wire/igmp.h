/* SPDX-License-Identifier: MIT */
/* IGMPv3: how a station says which IPv4 multicast groups it is in.  [RFC 3376]  MLDv2, the same for
 * IPv6, is in mld.h.
 *
 * A report has records, one for each group that it is about; here always one.  A station that wants
 * all that is sent to a group, whoever sends it, excludes no sender: mode EXCLUDE of nobody.  To
 * leave is mode INCLUDE of nobody.
 *
 * Reports and queries carry the Router Alert option, so their IP header is longer than ip.h knows:
 * both directions have it here.  Left out: lists of senders, and versions 1 and 2.
 */
#ifndef EMU_WIRE_IGMP_H
#define EMU_WIRE_IGMP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enums.h"
#include "emu/wire/addr.h"

#define IP_PROTOCOL_IGMP  2u
#define IGMP_PACKET_BYTES 40u /* a report with its IP header */

/* What a record says of a group; MLDv2 has the same values.  [RFC 3376, 4.2.12; RFC 3810, 5.2.12]
 */
enum group_record {
    GROUP_IS_EXCLUDE = 2, /* in it, in answer to a query */
    GROUP_TO_INCLUDE = 3, /* left it just now */
    GROUP_TO_EXCLUDE = 4  /* joined it just now */
};

/* Who is in which groups? */
struct group_query {
    uint8_t group[GID_BYTES]; /* all zero: which is in any */
    uint32_t max_response_ms; /* an answer comes within this time */
};

/* A report's bytes from its type on, which is @type: one record about the group of @n bytes at
 * @group, without senders, the checksum 0.  MLDv2 has the same.  [RFC 3376, 4.2; RFC 3810, 5.2]
 */
void group_report(uint8_t type, enum group_record record, const uint8_t *group, size_t n,
                  struct wr_cur *out);

/* The group to which reports go: 224.0.0.22. */
void igmp_routers(uint8_t ret[GID_BYTES]);

/* What a message of @type is. */
bool igmp_is_report(uint8_t type);
bool igmp_is_query(uint8_t type);

/* Is the IPv4 packet at @in an IGMP message, as far as its protocol says? */
bool igmp_is(const struct rd_cur *in);

/* Reads the IPv4 packet at @in, from its IP header on.
 *
 * Return: DROP_NONE            a query of version 3
 *	   DROP_BAD_IP_HEADER, DROP_BAD_IP_CHECKSUM, DROP_FRAGMENT, DROP_SHORT
 *	   DROP_NO_LISTENER     anything else: another message or version, a wrong checksum
 * @out is untouched then.
 */
enum drop_reason igmp_parse(struct group_query *out, struct rd_cur *in);

/* Writes the IP packet of a report from @src about @group, both IPv4's. */
void igmp_build(enum group_record record, const uint8_t src[GID_BYTES],
                const uint8_t group[GID_BYTES], struct wr_cur *out);

#endif

/* SPDX-License-Identifier: MIT */
/* IGMPv3: a station announces its membership in IPv4 multicast groups.  [RFC 3376]  mld.h has
 * MLDv2, the corresponding protocol of IPv6.
 *
 * A report has one record for each group; the reports that are sent here have exactly one.  A
 * member that accepts all senders of a group reports mode EXCLUDE with an empty list of senders.
 * It leaves the group with mode INCLUDE and an empty list.
 *
 * Messages carry the Router Alert option.  ip.h does not support options, so the functions below
 * also handle the IP header.  Not supported: source lists, and versions 1 and 2.
 */
#ifndef EMU_WIRE_IGMP_H
#define EMU_WIRE_IGMP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/wire/addr.h"

#define IP_PROTOCOL_IGMP  2u
#define IGMP_PACKET_BYTES 40u /* a report with its IP header */

/* The type of a group record.  MLDv2 has the same values.  [RFC 3376, 4.2.12; RFC 3810, 5.2.12] */
enum group_record {
    GROUP_IS_EXCLUDE = 2, /* the station is a member; in response to a query */
    GROUP_TO_INCLUDE = 3, /* the station has just left the group */
    GROUP_TO_EXCLUDE = 4  /* the station has just joined the group */
};

/* A query: asks the members of groups to report. */
struct group_query {
    uint8_t group[GID_BYTES]; /* all zero: any group */
    uint32_t max_response_ms; /* the answer must come within this time */
};

/* Appends a report of @type to @out, without IP header and with checksum 0.  The report has one
 * record without sources, for the group whose address is the @n bytes at @group.  MLDv2 has the
 * same format.  [RFC 3376, 4.2; RFC 3810, 5.2]
 */
void group_report(uint8_t type, enum group_record record, const uint8_t *group, size_t n,
                  struct wr_cur *out);

/* Sets @ret to the destination of reports, 224.0.0.22. */
void igmp_routers(uint8_t ret[GID_BYTES]);

/* Return true if a message of @type (its first byte) is a report of version 3, or a query. */
bool igmp_is_report(uint8_t type);
bool igmp_is_query(uint8_t type);

/* Returns true if the packet at @in has an IPv4 header with protocol IGMP. */
bool igmp_is(const struct rd_cur *in);

/* Appends a complete IP packet to @out: a report from @src about @group.  Both addresses must be
 * IPv4.
 */
void igmp_build(enum group_record record, const uint8_t src[GID_BYTES],
                const uint8_t group[GID_BYTES], struct wr_cur *out);

#endif

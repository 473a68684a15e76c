/* SPDX-License-Identifier: MIT */
/* The multicast groups that a guest is in, and what it says of them: IGMPv3 [RFC 3376] for IPv4,
 * MLDv2 [RFC 3810] for IPv6.
 *
 *	the first joins      a report now, and once more after GROUP_REPEAT_NS
 *	the last leaves      the same
 *	a router asks        a report for each group that it asks about, some time later
 *
 * So switches that look into reports, and routers, know whom frames to a group must reach.  That
 * the first report is repeated once is the robustness variable of both protocols, 2.
 *
 * SIMPLIFIED: each report is about one group.  The delays, which the RFCs draw at random so that
 * not all stations speak at once, follow from MAC address and group.  Queries for a list of senders
 * are answered like those for the group: all are wanted.  Of the groups that nobody speaks of (all
 * hosts, and IPv6's of interface scope) nothing is said.
 */
#ifndef EMU_GUEST_GROUP_H
#define EMU_GUEST_GROUP_H

#include "emu/guest/ip/stack.h"

/* A query at @in, from its IP header on, or (of MLD) behind the header @ip. */
enum drop_reason group_receive_igmp(struct guest_net *net, struct rd_cur *in);
enum drop_reason group_receive_mld(struct guest_net *net, const struct ip *ip, struct rd_cur *in);

/* Is the guest in the group @gid? */
bool group_is_joined(const struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* The next report about group number @index is due. */
void group_timer(struct guest_net *net, uint32_t index);

#endif

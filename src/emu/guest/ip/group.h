/* SPDX-License-Identifier: MIT */
/* The multicast groups of a guest and the reports about them: IGMPv3 [RFC 3376] for IPv4, MLDv2
 * [RFC 3810] for IPv6.
 *
 *	first member joins   a report now, repeated once after 1 s
 *	last member leaves   a report now, repeated once after 1 s
 *	a router queries     a report for each group queried, after a delay that is
 *	                     less than the maximum response time in the query
 *
 * Switches with snooping and routers learn from the reports where to forward a group's frames.  The
 * number of reports is the robustness variable of both protocols, 2.
 *
 * SIMPLIFIED: each report is about one group.  The RFCs draw the delays at random so that not all
 * stations answer at once; here they follow from MAC address and group.  Queries for a list of
 * senders are answered like queries for the group: all senders are wanted.  Groups that the RFCs
 * exempt (all hosts, and IPv6 groups of interface scope) are not reported.
 */
#ifndef EMU_GUEST_GROUP_H
#define EMU_GUEST_GROUP_H

#include "emu/guest/ip/stack.h"

/* Handle a query: schedule the reports that it asks for.  For IGMP, @in begins with the IP header;
 * for MLD, after the header @ip.  Return DROP_NONE, or the reason why the packet was dropped.
 */
enum drop_reason group_receive_igmp(struct guest_net *net, struct rd_cur *in);
enum drop_reason group_receive_mld(struct guest_net *net, const struct ip *ip, struct rd_cur *in);

/* Returns true if the guest is in the group @gid. */
bool group_is_joined(const struct guest_net *net, const uint8_t gid[GID_BYTES]);

/* Handler of the timer of group number @index: sends the next report, and schedules another one if
 * reports are left.
 */
void group_timer(struct guest_net *net, uint32_t index);

#endif

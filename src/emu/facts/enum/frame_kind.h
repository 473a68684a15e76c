/* SPDX-License-Identifier: MIT */
/* The kinds of frames without a BTH.
 *
 * The values are larger than all BTH opcodes.  A number in a trace or a fault is therefore either
 * an opcode or a kind of frame, and can denote any frame.
 */
#ifndef EMU_FACTS_ENUM_FRAME_KIND_H
#define EMU_FACTS_ENUM_FRAME_KIND_H

#include "emu/facts/enum_table.h"

#define ENUM_FRAME_KIND(X)                                                                         \
    X(FRAME, OTHER, 0x100, "a frame of a protocol that is not taken apart here")                   \
    X(FRAME, ARP_REQUEST, 0x101, "who has this IPv4 address?")                                     \
    X(FRAME, ARP_REPLY, 0x102, "this IPv4 address is at this MAC")                                 \
    X(FRAME, ND_SOLICIT, 0x103, "neighbour solicitation: who has this IPv6 address?")              \
    X(FRAME, ND_ADVERT, 0x104, "neighbour advertisement: this IPv6 address is at this MAC")        \
    X(FRAME, ECHO_REQUEST, 0x105, "ICMP or ICMPv6 echo request: ping")                             \
    X(FRAME, ECHO_REPLY, 0x106, "ICMP or ICMPv6 echo reply: the answer to a ping")                 \
    X(FRAME, ICMP, 0x107, "another ICMP or ICMPv6 message")                                        \
    X(FRAME, UDP, 0x108, "UDP, not to RoCEv2's port")                                              \
    X(FRAME, TCP, 0x109, "TCP")                                                                    \
    X(FRAME, GROUP_REPORT, 0x10a, "IGMP or MLD: this station is in this multicast group, or left") \
    X(FRAME, GROUP_QUERY, 0x10b, "IGMP or MLD: who is in which multicast groups?")

enum frame_kind { ENUM_FRAME_KIND(ENUM_MEMBER) };

#endif

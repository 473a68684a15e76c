/* SPDX-License-Identifier: MIT */
/* Classifies frames for switching, delivery and traces, without checking them.
 *
 * No checksum, length or version is verified: classification must not reject a frame.  The receiver
 * parses the frame, and drops it with a reason.
 */
#ifndef EMU_WIRE_GLANCE_H
#define EMU_WIRE_GLANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/psn.h"
#include "emu/wire/addr.h"

/* Returns true with the destination IP address in @ret_dst if the frame is UDP to the RoCEv2 port.
 * Otherwise returns false and leaves @ret_dst unchanged.  A frame with the tag of a VLAN is none:
 * ports look at frames behind their tag.
 */
bool glance_is_roce(const uint8_t *frame, size_t len, uint8_t ret_dst[GID_BYTES]);

/* Returns true with the two IP addresses of a frame, with a tag or without.  ARP: those of its
 * sender and its target.  A neighbour solicitation: @ret_dst is the address whose MAC is requested.
 * Returns false, and leaves both unchanged, if the frame has no complete IPv4, IPv6 or ARP header.
 */
bool glance_addresses(const uint8_t *frame, size_t len, uint8_t ret_src[GID_BYTES],
                      uint8_t ret_dst[GID_BYTES]);

struct glance {
    uint32_t opcode; /* enum opcode, or enum frame_kind of a frame without a BTH */
    /* @addr is the destination IP address, with these exceptions.  ARP and neighbour discovery: the
     * address whose MAC is requested or announced.  IGMP and MLD: the group.  If has_addr is false,
     * the frame has no such address and @addr is zero.
     */
    bool has_addr;
    uint8_t addr[GID_BYTES];
    /* Fields of a RoCEv2 packet; otherwise 0. */
    struct psn psn;
    uint32_t dest_qpn;
    bool ack_req;
    uint32_t syndrome; /* enum syndrome; SYN_NONE without an AETH */
    uint32_t msn;
    uint32_t payload_bytes;
    uint32_t cm; /* enum cm_message, as packet_message() */
};

/* Returns the class and the main fields of a frame, which can consist of any bytes.  The tag of a
 * VLAN makes no difference.  The opcode is FRAME_OTHER if the protocol is unknown.
 */
struct glance glance(const uint8_t *frame, size_t len);

#endif

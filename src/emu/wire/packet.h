/* SPDX-License-Identifier: MIT */
/* A whole RoCEv2 frame, decoded: Ethernet, IP, UDP, BTH, extension headers, payload, pad, ICRC.
 *
 * Receiving: packet_parse() checks the frame and points into it; nothing is copied or allocated.
 * Sending: packet_build() writes everything but payload and ICRC, and returns the place of the
 * payload; the caller copies the payload there (the one copy out of guest memory), packet_finish()
 * adds the ICRC.  Who sends many packets along one path prepares its headers by packet_path_of().
 */
#ifndef EMU_WIRE_PACKET_H
#define EMU_WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/compared.h"
#include "emu/facts/enums.h"
#include "emu/facts/opcode.h"
#include "emu/wire/bth.h"
#include "emu/wire/eth.h"
#include "emu/wire/ext.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"

/* A header that the opcode does not have is zero after packet_parse(), ignored by packet_build().
 */
struct packet {
    struct eth eth;
    struct ip ip;
    uint16_t udp_src_port;
    struct bth bth;
    const struct op_info *op; /* row of bth.opcode */
    struct deth deth;
    struct reth reth;
    struct atomic_eth atomic;
    struct aeth aeth;
    uint64_t atomic_ack;         /* what the atomic found */
    uint8_t imm_data[IMM_BYTES]; /* network order, as the verbs have it */
    uint32_t ieth_rkey;          /* to invalidate */
    const uint8_t *payload;      /* in the frame */
    uint32_t payload_bytes;      /* without the pad */
    struct compared refused;     /* by packet_parse(): what the check that failed compared */
};

/* The pad that a payload of so many bytes needs: both together are a multiple of 4. */
static inline uint32_t packet_pad_bytes(uint32_t payload_bytes)
{
    return -payload_bytes & 3u;
}

/* All bytes of the frame that @p describes: ip.version, bth.opcode and payload_bytes count. */
size_t packet_frame_bytes(const struct packet *p);

/* Decodes and checks @len bytes at @frame.  The checks, in this order, and what they answer:
 *
 *	Ethernet header there		DROP_SHORT
 *	IPv4 or IPv6			DROP_BAD_ETHERTYPE (VLAN tags, ARP)
 *	IP header			see ip_parse()
 *	UDP to port 4791		DROP_NOT_ROCE
 *	UDP length is the IP payload's	DROP_BAD_UDP_LENGTH
 *	BTH and ICRC there		DROP_SHORT
 *	ICRC				DROP_BAD_ICRC
 *	transport version		DROP_BAD_VERSION
 *	opcode defined			DROP_BAD_OPCODE
 *	extension headers there		DROP_SHORT
 *	pad count			DROP_BAD_PAD: more than there is
 *
 * The ICRC comes before anything that it protects, so that a damaged frame is never answered.  With
 * DROP_BAD_OPCODE everything up to bth is filled, and @out->op->name is NULL: a responder may send
 * a NAK.  With other failures @out is zero but for @refused.
 * Bytes after the IP packet (Ethernet padding) are accepted and ignored.  Whether the MAC, GID,
 * QPN or P_Key are anybody's is not asked here, nor whether the pad is what the payload needs: who
 * may answer has to.
 */
enum drop_reason packet_parse(struct packet *out, const uint8_t *frame, size_t len);

/* Where in a frame the ICRC is, which nothing is checked against; 0 if it is no RoCEv2 frame, or
 * one that packet_parse() would refuse before it looks at the ICRC.
 */
size_t packet_icrc_at(const uint8_t *frame, size_t len);

/* What all packets along one path begin with: the bytes of their Ethernet, IP and UDP headers, as
 * if nothing followed the IP header.
 */
struct packet_path {
    uint8_t bytes[ETH_BYTES + IPV6_BYTES + UDP_BYTES];
    uint8_t ip_bytes; /* of the IP header among them */
};

/* The path of @p: its eth, ip and udp_src_port count, but not what packet_build() derives.  Its
 * addresses must fit ip.version.
 */
struct packet_path packet_path_of(const struct packet *p);

/* A frame whose headers are written. */
struct packet_room {
    uint8_t *payload;   /* where its payload_bytes go */
    size_t frame_bytes; /* all of the frame, packet_frame_bytes() */
};

/* Writes all of @p but payload and ICRC to @frame, which has room for at least
 * packet_frame_bytes(@p) bytes.  @path is packet_path_of(@p).  Derived, whatever @p says: op,
 * ethertype, IP protocol and length, UDP length, pad count.  The opcode must be defined.
 */
struct packet_room packet_build_along(const struct packet_path *path, const struct packet *p,
                                      uint8_t *frame);

/* The same for a path that is used once; returns where the payload goes. */
uint8_t *packet_build(const struct packet *p, uint8_t *frame);

/* Adds the ICRC to a frame of @frame_bytes bytes (with it) that packet_build() wrote and whose
 * payload is in place.
 */
void packet_finish(uint8_t *frame, size_t frame_bytes);

/* The same for who sums while copying: packet_sum() is the ICRC of all before the payload, at
 * @payload; icrc_more() goes on over it; and @icrc is that of all before @end, the payload's end.
 */
uint32_t packet_sum(const uint8_t *frame, const uint8_t *payload);
void packet_finish_summed(uint8_t *frame, size_t frame_bytes, const uint8_t *end, uint32_t icrc);

#endif

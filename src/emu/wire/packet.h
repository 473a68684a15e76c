/* SPDX-License-Identifier: MIT */
/* A complete RoCEv2 frame, decoded: Ethernet, IP, UDP, BTH, extension headers, payload, pad, ICRC.
 *
 * A received frame may have the tag of a VLAN.  Frames are built without one: ports push it.
 *
 * Receiving: packet_parse() checks the frame.  The result points into the frame; nothing is copied
 * or allocated.
 *
 * Sending: packet_build() writes everything except payload and ICRC, and returns where the payload
 * belongs.  The caller copies the payload there, which is the only copy out of guest memory.
 * packet_finish() adds the ICRC.  To send many packets along one path, prepare its headers once
 * with packet_path_of().
 */
#ifndef EMU_WIRE_PACKET_H
#define EMU_WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/compared.h"
#include "emu/facts/opcode.h"
#include "emu/wire/bth.h"
#include "emu/wire/eth.h"
#include "emu/wire/ext.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"

struct whole;

/* A decoded packet.  Headers that the opcode does not have are zero after packet_parse(), and
 * ignored by packet_build().
 */
struct packet {
    struct eth eth; /* its ethertype is that behind the tag */
    bool is_tagged; /* has the tag of a VLAN, whose contents are @tci; ignored by packet_build() */
    uint16_t tci;
    uint16_t udp_src_port;
    struct ip ip;
    struct bth bth;
    const struct op_info *op; /* properties of bth.opcode */
    struct deth deth;
    struct feth feth;
    struct reth reth;
    struct atomic_eth atomic;
    struct aeth aeth;
    uint64_t atomic_ack;       /* original value of the atomic's memory */
    uint8_t imm_data[4];       /* in network order, as in the verbs */
    uint32_t ieth_rkey;        /* key to invalidate */
    const uint8_t *payload;    /* points into the frame */
    const struct whole *whole; /* the message that it is, in place of @payload; see xport/whole.h */
    uint32_t payload_bytes;    /* without the pad */
    bool icrc_of_rxe;          /* FLUSH: packet_icrc_of_rxe() */
    struct compared refused;   /* the values that a failed check of packet_parse() compared */
};

/* Returns the number of pad bytes (0..3) that make the length of a payload a multiple of 4. */
static inline uint32_t packet_pad_bytes(uint32_t payload_bytes)
{
    return -payload_bytes & 3u;
}

/* Returns the length of the whole frame of @p.  Uses ip.version, bth.opcode and payload_bytes only.
 */
size_t packet_frame_bytes(const struct packet *p);

/* Returns the offset of the ICRC in a frame, without checking it.  Returns 0 if the frame is not
 * RoCEv2, or packet_parse() would refuse it before it checks the ICRC.
 */
size_t packet_icrc_at(const uint8_t *frame, size_t len);

/* Returns the message of the connection manager, an enum cm_message, that the datagram @p to QPN 1
 * carries.  Returns 0 for other packets.  Uses bth, payload and payload_bytes only.
 */
uint32_t packet_message(const struct packet *p);

/* The headers that all packets along one path share: Ethernet, IP and UDP, with an IP payload of
 * zero bytes.
 */
struct packet_path {
    uint8_t bytes[ETH_BYTES + IPV6_BYTES + UDP_BYTES];
    uint8_t ip_bytes; /* length of the IP header */
};

/* Returns the path of @p, from its eth, ip and udp_src_port.  Fields that packet_build() derives
 * are ignored.  The addresses must fit ip.version.
 */
struct packet_path packet_path_of(const struct packet *p);

/* A frame with complete headers. */
struct packet_room {
    uint8_t *payload;   /* destination for payload_bytes of payload */
    size_t frame_bytes; /* length of the whole frame, packet_frame_bytes() */
};

/* Writes all of @p except payload and ICRC to @frame, which has room for packet_frame_bytes(@p).
 * @path is packet_path_of(@p).  Returns the destination of the payload, and the length of the
 * frame.  The opcode must be defined.  These fields of @p are ignored because they follow from the
 * others: op, ethertype, IP protocol and length, UDP length, pad count.
 */
struct packet_room packet_build_along(const struct packet_path *path, const struct packet *p,
                                      uint8_t *frame);

/* As packet_build_along(), for a path that is used once.  Returns the destination of the payload in
 * @frame.
 */
uint8_t *packet_build(const struct packet *p, uint8_t *frame);

/* Adds the ICRC to a frame that packet_build() wrote and whose payload is in place.  @frame_bytes
 * includes the ICRC.  The frame may have got a tag meanwhile.
 */
void packet_finish(uint8_t *frame, size_t frame_bytes);

/* Returns the ICRC that rxe of Linux 7.3 computes for a FLUSH.  It covers the bytes from the BTH on
 * a second time.  Other devices take it for a wrong one.  @icrc_at is packet_icrc_at(@frame).
 */
uint32_t packet_icrc_of_rxe(const uint8_t *frame, size_t icrc_at);

/* Returns true if the frame is a FLUSH with such an ICRC. */
bool packet_has_icrc_of_rxe(const uint8_t *frame, size_t icrc_at);

/* packet_finish() in two steps, for callers that compute the ICRC while they copy the payload.
 * packet_sum() returns the ICRC of everything before @payload.  The caller continues it over the
 * payload with icrc_more(), and passes the result to packet_finish_summed() as @icrc.  @end is the
 * end of the payload without the pad.
 */
uint32_t packet_sum(const uint8_t *frame, const uint8_t *payload);
void packet_finish_summed(uint8_t *frame, size_t frame_bytes, const uint8_t *end, uint32_t icrc);

#endif

/* SPDX-License-Identifier: MIT */
/* Parsers of headers and whole frames from the network, which may be malformed.  Each returns
 * DROP_NONE, or the reason why the frame is dropped.
 *
 * eth.h, ip.h, udp.h, bth.h, igmp.h and packet.h declare the decoded forms.  arp.h, nd.h, icmp.h
 * and mld.h declare the parsers of their own messages.
 */
#ifndef EMU_WIRE_PARSE_H
#define EMU_WIRE_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/wire/bth.h"
#include "emu/wire/eth.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"

struct group_query;
struct packet;

/* Decodes the next header of @in, with any ethertype.  Returns DROP_NONE or DROP_SHORT.  On failure
 * @out is unchanged.
 */
static inline enum drop_reason eth_parse(struct eth *out, struct rd_cur *in)
{
    const uint8_t *h = rd_take(in, ETH_BYTES);

    if (!h)
        return DROP_SHORT;
    eth_read(out, h);
    return DROP_NONE;
}

/* Decodes and checks the next header of @in.  Returns DROP_NONE, or the result of the first check
 * that fails, in this order: DROP_SHORT, DROP_BAD_IP_HEADER (version, header length),
 * DROP_BAD_IP_CHECKSUM, DROP_BAD_IP_HEADER (total length), DROP_FRAGMENT.  On success @in ends with
 * the IP packet, which removes Ethernet padding.  On failure @out is unchanged.
 */
enum drop_reason ip_parse(struct ip *out, struct rd_cur *in);

/* Decodes the next header of @in.  Returns DROP_NONE or DROP_SHORT.  The caller checks ports and
 * length.  On failure @out is unchanged.
 */
static inline enum drop_reason udp_parse(struct udp *out, struct rd_cur *in)
{
    const uint8_t *h = rd_take(in, UDP_BYTES);

    if (!h)
        return DROP_SHORT;
    *out = udp_read(h);
    return DROP_NONE;
}

/* Decodes the next header of @in.  Returns DROP_NONE, DROP_SHORT, or DROP_BAD_VERSION if TVer is
 * not 0.  On failure @out is unchanged.
 */
static inline enum drop_reason bth_parse(struct bth *out, struct rd_cur *in)
{
    const uint8_t *h = rd_take(in, BTH_BYTES);

    if (!h)
        return DROP_SHORT;
    if ((h[1] & BTH_TVER) != 0)
        return DROP_BAD_VERSION;
    bth_read(out, h);
    return DROP_NONE;
}

/* Parses an IGMP message in the IPv4 packet at @in, from its IP header on.  On failure @out is
 * unchanged.
 *
 * Return: DROP_NONE         a query of version 3
 *	   DROP_SHORT        no IPv4 header, or the protocol is not IGMP
 *	   DROP_BAD_IP_HEADER, DROP_BAD_IP_CHECKSUM, DROP_FRAGMENT
 *	                     as for ip_parse(), but the IPv4 header may have options
 *	   DROP_NO_LISTENER  another IGMP message or version, or a wrong IGMP checksum
 */
enum drop_reason igmp_parse(struct group_query *out, struct rd_cur *in);

/* Decodes and checks @len bytes at @frame.  The checks, in this order, and their results:
 *
 *	Ethernet header and tag present	DROP_SHORT
 *	IPv4 or IPv6			DROP_BAD_ETHERTYPE (ARP, a second VLAN tag)
 *	IP header			see ip_parse()
 *	UDP to port 4791		DROP_NOT_ROCE
 *	UDP length is the IP payload's	DROP_BAD_UDP_LENGTH
 *	BTH and ICRC present		DROP_SHORT
 *	ICRC				DROP_BAD_ICRC
 *	transport version		DROP_BAD_VERSION
 *	opcode defined			DROP_BAD_OPCODE
 *	extension headers present	DROP_SHORT
 *	pad count			DROP_BAD_PAD: larger than the rest of the packet
 *
 * The ICRC is checked before everything that it protects, so a damaged frame is never answered.
 * With DROP_BAD_OPCODE everything up to bth is set, and @out->op->name is NULL: a responder may
 * send a NAK.  With other failures all of @out is zero except @refused.
 *
 * Bytes after the IP packet (Ethernet padding) are ignored.  The caller checks MAC, GID, QPN and
 * P_Key.  It also checks that the pad is the one that the payload needs, because a failure may need
 * an answer.
 */
enum drop_reason packet_parse(struct packet *out, const uint8_t *frame, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
#include "emu/wire/glance.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/opcode.h"
#include "emu/wire/bth.h"
#include "emu/wire/eth.h"
#include "emu/wire/ext.h"
#include "emu/wire/icmp.h"
#include "emu/wire/igmp.h"
#include "emu/wire/ip.h"
#include "emu/wire/mld.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"
#include "emu/wire/udp.h"
#include "emu/wire/vlan.h"

/* Offsets within the headers. */
#define IPV4_TOTAL_AT     2u
#define IPV4_PROTOCOL_AT  9u
#define IPV4_SRC_AT       12u
#define IPV4_DST_AT       16u
#define IPV6_PAYLOAD_AT   4u
#define IPV6_PROTOCOL_AT  6u
#define IPV6_SRC_AT       8u
#define IPV6_DST_AT       24u
#define UDP_DST_PORT_AT   2u
#define ARP_OPERATION_AT  7u /* its low byte; 1 is a request */
#define ARP_SENDER_AT     14u
#define ARP_TARGET_AT     24u
#define ND_TARGET_AT      8u
#define HOP_BY_HOP_BYTES  8u
#define GROUP_MESSAGE_MIN 8u
#define GROUP_RECORD_AT   12u /* offset of the address in the first record of a report */
#define IGMP_QUERY_AT     4u
#define MLD_QUERY_AT      8u
#define IPV4_HEADER_WORDS 5u /* IHL of a header without options */

/* An IP packet with a complete header of standard length. */
struct ip_glance {
    unsigned version; /* 4 or 6; 0: not such a packet */
    unsigned protocol;
    size_t payload_at, end; /* offsets in the frame */
};

static struct ip_glance glance_ip(const uint8_t *frame, size_t len)
{
    const uint8_t *ip = frame + ETH_BYTES;
    struct ip_glance g = {.end = len};
    size_t end;

    if (len < ETH_BYTES + IPV4_BYTES)
        return g;
    if (ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV4 &&
        (ip[0] & 0xfu) == IPV4_HEADER_WORDS) {
        g.version = 4;
        g.protocol = ip[IPV4_PROTOCOL_AT];
        g.payload_at = ETH_BYTES + IPV4_BYTES;
        end = ETH_BYTES + ld_be16(ip + IPV4_TOTAL_AT);
    } else if (ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV6 &&
               len >= ETH_BYTES + IPV6_BYTES) {
        g.version = 6;
        g.protocol = ip[IPV6_PROTOCOL_AT];
        g.payload_at = ETH_BYTES + IPV6_BYTES;
        end = g.payload_at + ld_be16(ip + IPV6_PAYLOAD_AT);
    } else {
        return g;
    }
    if (end < g.end)
        g.end = end > g.payload_at ? end : g.payload_at;
    return g;
}

static void read_dst(const uint8_t *frame, unsigned version, uint8_t dst[GID_BYTES])
{
    if (version == 4)
        gid_from_ipv4(dst, frame + ETH_BYTES + IPV4_DST_AT);
    else
        memcpy(dst, frame + ETH_BYTES + IPV6_DST_AT, GID_BYTES);
}

/* Returns true if the packet at @ip is UDP to the RoCEv2 port.  Its header of @ip_bytes must be
 * complete.
 */
static bool is_roce(const uint8_t *ip, size_t ip_bytes, unsigned protocol, size_t len)
{
    return protocol == IP_PROTOCOL_UDP && len >= ETH_BYTES + ip_bytes + UDP_DST_PORT_AT + 2 &&
           ld_be16(ip + ip_bytes + UDP_DST_PORT_AT) == UDP_PORT_ROCE;
}

/* Does not use glance_ip(), to be fast: it runs for every frame that arrives. */
bool glance_is_roce(const uint8_t *frame, size_t len, uint8_t ret_dst[GID_BYTES])
{
    const uint8_t *ip = frame + ETH_BYTES;
    unsigned version;

    if (len < ETH_BYTES + IPV4_BYTES)
        return false;
    if (ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV4 &&
        (ip[0] & 0xfu) == IPV4_HEADER_WORDS && is_roce(ip, IPV4_BYTES, ip[IPV4_PROTOCOL_AT], len))
        version = 4;
    else if (ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV6 && len >= ETH_BYTES + IPV6_BYTES &&
             is_roce(ip, IPV6_BYTES, ip[IPV6_PROTOCOL_AT], len))
        version = 6;
    else
        return false;
    read_dst(frame, version, ret_dst);
    return true;
}

/* Reads the BTH, and the AETH if there is one. */
static void read_bth(struct glance *out, struct rd_cur *in)
{
    struct bth bth;
    struct aeth aeth;
    const struct op_info *op;
    size_t tail;

    out->opcode = FRAME_UDP;
    if (bth_parse(&bth, in) != DROP_NONE)
        return;
    out->opcode = bth.opcode;
    out->psn = bth.psn;
    out->dest_qpn = bth.dest_qpn;
    out->ack_req = bth.ack_req;
    op = op_info(bth.opcode);
    tail = op_headers_bytes(op->headers) + bth.pad_bytes + ICRC_BYTES;
    if (rd_left(in) > tail) {
        const struct packet p = {.bth = bth,
                                 .payload = in->p + op_headers_bytes(op->headers),
                                 .payload_bytes = (uint32_t)(rd_left(in) - tail)};

        out->payload_bytes = p.payload_bytes;
        out->cm = packet_message(&p);
    }
    if (op->headers & H_AETH) {
        aeth_parse(&aeth, in); /* the AETH always comes first */
        out->syndrome = in->bad ? SYN_NONE : aeth_unpack(aeth.syndrome).kind;
        out->msn = aeth.msn;
    }
}

static struct glance glance_arp(const uint8_t *frame, size_t len)
{
    const uint8_t *arp = frame + ETH_BYTES;
    struct glance out = {.opcode = FRAME_OTHER};

    if (len < ETH_BYTES + ARP_TARGET_AT + 4)
        return out;
    out.opcode = arp[ARP_OPERATION_AT] == 1 ? FRAME_ARP_REQUEST : FRAME_ARP_REPLY;
    out.has_addr = true;
    gid_from_ipv4(out.addr,
                  arp + (out.opcode == FRAME_ARP_REQUEST ? ARP_TARGET_AT : ARP_SENDER_AT));
    return out;
}

static void glance_icmp(struct glance *out, unsigned version, const uint8_t *message, size_t n)
{
    out->opcode = n > 0 ? icmp_kind(version, message[0]) : FRAME_ICMP;
    if ((out->opcode == FRAME_ND_SOLICIT || out->opcode == FRAME_ND_ADVERT) &&
        n >= ND_TARGET_AT + GID_BYTES)
        memcpy(out->addr, message + ND_TARGET_AT, GID_BYTES);
}

/* Reads an IGMP or MLD message, which follows an IPv4 header with options or an IPv6 extension
 * header.
 */
static bool glance_group(struct glance *out, const uint8_t *frame, size_t len)
{
    const uint8_t *ip = frame + ETH_BYTES;
    const bool ipv4 = ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV4;
    size_t at = ETH_BYTES + IPV6_BYTES + HOP_BY_HOP_BYTES, addr_at;
    bool report, query;

    if (ipv4)
        at = ETH_BYTES + (size_t)(ip[0] & 0xfu) * 4;
    if (len < at + GROUP_MESSAGE_MIN)
        return false;
    report = (ipv4 ? igmp_is_report : mld_is_report)(frame[at]);
    query = (ipv4 ? igmp_is_query : mld_is_query)(frame[at]);
    addr_at = at + (report ? GROUP_RECORD_AT : ipv4 ? IGMP_QUERY_AT : MLD_QUERY_AT);
    if ((!report && !query) || len < addr_at + (ipv4 ? 4 : GID_BYTES))
        return false;
    *out = (struct glance){.opcode = report ? FRAME_GROUP_REPORT : FRAME_GROUP_QUERY,
                           .has_addr = true};
    if (ipv4)
        gid_from_ipv4(out->addr, frame + addr_at);
    else
        memcpy(out->addr, frame + addr_at, GID_BYTES);
    return true;
}

/* Returns true if the IP header allows an IGMP or MLD message. */
static bool may_be_group(const uint8_t *frame, size_t len)
{
    const uint8_t *ip = frame + ETH_BYTES;

    if (len < ETH_BYTES + IPV4_BYTES)
        return false;
    if (ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV4)
        return ip[IPV4_PROTOCOL_AT] == IP_PROTOCOL_IGMP;
    return ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV6 &&
           len >= ETH_BYTES + IPV6_BYTES + HOP_BY_HOP_BYTES &&
           ip[IPV6_PROTOCOL_AT] == IP_PROTOCOL_HOP_BY_HOP && ip[IPV6_BYTES] == IP_PROTOCOL_ICMPV6;
}

/* As glance(), for the frame without its tag. */
static struct glance glance_plain(const uint8_t *frame, size_t len)
{
    const struct ip_glance g = glance_ip(frame, len);
    struct glance out = {.opcode = FRAME_OTHER};
    struct rd_cur in;

    if (len >= ETH_BYTES && ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_ARP)
        return glance_arp(frame, len);
    if (may_be_group(frame, len) && glance_group(&out, frame, len))
        return out;
    if (!g.version)
        return out;
    out.has_addr = true;
    read_dst(frame, g.version, out.addr);
    in = rd_cur(frame + g.payload_at, g.end - g.payload_at);
    if (glance_is_roce(frame, len, out.addr)) {
        in.p += rd_left(&in) < UDP_BYTES ? rd_left(&in) : UDP_BYTES;
        read_bth(&out, &in);
    } else if (g.protocol == (g.version == 4 ? IP_PROTOCOL_ICMP : IP_PROTOCOL_ICMPV6)) {
        glance_icmp(&out, g.version, in.p, rd_left(&in));
    } else if (g.protocol == IP_PROTOCOL_UDP) {
        out.opcode = FRAME_UDP;
    } else if (g.protocol == IP_PROTOCOL_TCP) {
        out.opcode = FRAME_TCP;
    }
    return out;
}

struct glance glance(const uint8_t *frame, size_t len)
{
    const size_t tag_bytes = vlan_bytes(frame, len);

    return glance_plain(frame + tag_bytes, len - tag_bytes);
}

/* As glance_addresses(), for an IPv6 packet at @ip with @len bytes. */
static bool addresses_of_ipv6(const uint8_t *ip, size_t len, uint8_t ret_src[GID_BYTES],
                              uint8_t ret_dst[GID_BYTES])
{
    const uint8_t *dst = ip + IPV6_DST_AT;

    if (len < IPV6_BYTES)
        return false;
    if (ip[IPV6_PROTOCOL_AT] == IP_PROTOCOL_ICMPV6 &&
        len >= IPV6_BYTES + ND_TARGET_AT + GID_BYTES &&
        icmp_kind(6, ip[IPV6_BYTES]) == FRAME_ND_SOLICIT)
        dst = ip + IPV6_BYTES + ND_TARGET_AT;
    memcpy(ret_src, ip + IPV6_SRC_AT, GID_BYTES);
    memcpy(ret_dst, dst, GID_BYTES);
    return true;
}

bool glance_addresses(const uint8_t *frame, size_t len, uint8_t ret_src[GID_BYTES],
                      uint8_t ret_dst[GID_BYTES])
{
    const size_t ip_at = ETH_BYTES + vlan_bytes(frame, len);
    const uint8_t *ip = frame + ip_at;
    uint32_t src_at = IPV4_SRC_AT, dst_at = IPV4_DST_AT;

    if (len < ip_at + IPV4_BYTES)
        return false;
    switch (ld_be16(ip - 2)) {
    case ETHERTYPE_IPV6:
        return addresses_of_ipv6(ip, len - ip_at, ret_src, ret_dst);
    case ETHERTYPE_ARP:
        if (len < ip_at + ARP_TARGET_AT + 4)
            return false;
        src_at = ARP_SENDER_AT;
        dst_at = ARP_TARGET_AT;
        break;
    case ETHERTYPE_IPV4:
        break;
    default:
        return false;
    }
    gid_from_ipv4(ret_src, ip + src_at);
    gid_from_ipv4(ret_dst, ip + dst_at);
    return true;
}

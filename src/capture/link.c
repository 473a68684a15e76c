/* SPDX-License-Identifier: MIT */
#include "capture/link.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/wire/checksum.h"
#include "emu/wire/eth.h"
#include "emu/wire/udp.h"
#include "emu/wire/vlan.h"

#define ETHERTYPE_QINQ    0x88a8u
#define ETHERTYPE_QINQ1   0x9100u /* the same, before it was standardized */
#define ETHERTYPE_ROCE_V1 0x8915u
#define ETHERTYPE_CONTROL 0x8808u /* MAC control: PAUSE and PFC [IEEE 802.3, 31] */
#define ETHERTYPE_BRIDGED 0x6558u /* a whole Ethernet frame, in Geneve */
#define VLAN_TAGS_MAX     4u
#define SLL_BYTES         16u
#define SLL2_BYTES        20u
#define NULL_BYTES        4u
#define SLL_SENT          4u /* packet type: sent by this host */
#define TUNNELS_MAX       3u /* tunnels in one another */
#define EXTENSIONS_MAX    8u /* extension headers of a packet */

#define CONTROL_PAUSE 0x0001u
#define CONTROL_PFC   0x0101u
#define PFC_BYTES     20u /* opcode, priorities, a time for each of eight */

#define UDP_PORT_VXLAN     4789u
#define UDP_PORT_VXLAN_OLD 8472u /* of Linux, before it had a number */
#define UDP_PORT_GENEVE    6081u
#define TUNNEL_BYTES       8u

/* Numbers of IPv6 extension headers. */
enum ip_next { NEXT_HOPS = 0, NEXT_ROUTE = 43, NEXT_FRAGMENT = 44, NEXT_AH = 51, NEXT_GOAL = 60 };
#define ROUTE_BY_SEGMENTS 4u
#define FRAGMENT_MASK     0xfff9u /* offset, and "more fragments" */

/* The part of a frame that is not decoded yet. */
struct link_part {
    const uint8_t *at;
    uint32_t n, n_cut; /* captured bytes; bytes behind them that were not captured */
    uint16_t ethertype;
    uint16_t vlan; /* of the last tag */
    uint32_t place;
    enum capture_direction direction;
};

static bool skip(struct link_part *p, uint32_t bytes)
{
    if (p->n < bytes)
        return false;
    p->at += bytes;
    p->n -= bytes;
    return true;
}

static void add_to_place(struct link_part *p, uint32_t what)
{
    p->place = p->place * 31 + what + 1;
}

/* Skips an Ethernet header. */
static bool skip_ethernet(struct link_part *p)
{
    if (p->n < ETH_BYTES)
        return false;
    p->ethertype = ld_be16(p->at + ETH_ETHERTYPE_AT);
    return skip(p, ETH_BYTES);
}

static void skip_tags(struct link_part *p)
{
    p->vlan = 0;
    for (unsigned i = 0; i < VLAN_TAGS_MAX && p->n >= VLAN_TAG_BYTES; i++) {
        if (p->ethertype != ETHERTYPE_VLAN && p->ethertype != ETHERTYPE_QINQ &&
            p->ethertype != ETHERTYPE_QINQ1)
            return;
        p->vlan = ld_be16(p->at) & VLAN_VID_MASK;
        p->ethertype = ld_be16(p->at + 2);
        skip(p, VLAN_TAG_BYTES);
    }
}

static uint16_t ethertype_of_ip(const struct link_part *p)
{
    return p->n > 0 && p->at[0] >> 4 == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4;
}

static enum capture_direction direction_of(uint32_t packet_type)
{
    return packet_type == SLL_SENT ? CAPTURE_OUTBOUND : CAPTURE_INBOUND;
}

/* Skips the header of the link.  Returns false if it is not complete.  *@ret_is_read is false if
 * the link type is not read.
 */
static bool skip_link(struct link_part *p, uint32_t link, bool *ret_is_read)
{
    *ret_is_read = true;
    switch (link) {
    case CAPTURE_ETHERNET:
        return skip_ethernet(p);
    case CAPTURE_LINUX_SLL:
        if (p->n < SLL_BYTES)
            return false;
        p->direction = direction_of(ld_be16(p->at));
        p->ethertype = ld_be16(p->at + 14);
        return skip(p, SLL_BYTES);
    case CAPTURE_LINUX_SLL2:
        if (p->n < SLL2_BYTES)
            return false;
        p->direction = direction_of(p->at[10]);
        p->ethertype = ld_be16(p->at);
        add_to_place(p, ld_be32(p->at + 4)); /* the interface of Linux */
        return skip(p, SLL2_BYTES);
    case CAPTURE_NULL:
    case CAPTURE_LOOP:
        if (!skip(p, NULL_BYTES))
            return false;
        p->ethertype = ethertype_of_ip(p);
        return p->n > 0;
    case CAPTURE_RAW:
    case CAPTURE_RAW_BSD:
    case CAPTURE_IPV4:
    case CAPTURE_IPV6:
        p->ethertype = ethertype_of_ip(p);
        return p->n > 0;
    default:
        *ret_is_read = false;
        return false;
    }
}

/* --- IP headers ------------------------------------------------------------------------------- */

static void begin_ip(struct link_ip *to, const struct link_part *p, uint32_t head_bytes)
{
    *to = (struct link_ip){.head_bytes = head_bytes,
                           .n_cut = p->n_cut,
                           .ethertype = p->ethertype,
                           .vlan = p->vlan,
                           .direction = p->direction,
                           .place = p->place};
    memcpy(to->head, p->at, head_bytes);
}

/* Takes the options out of the IPv4 header, whose checksum stays as right or wrong as it was. */
static bool take_ipv4(struct link_ip *to, struct link_part *p)
{
    const uint32_t bytes = p->n > 0 ? (p->at[0] & 0xfu) * 4u : 0;
    bool is_right;

    if (p->n < IPV4_BYTES || p->at[0] >> 4 != 4)
        return false;
    begin_ip(to, p, IPV4_BYTES);
    add_to_place(p, p->at[8]);
    to->place = p->place;
    if (bytes > IPV4_BYTES && bytes <= p->n && ld_be16(p->at + 2) >= bytes) {
        is_right = checksum_fold(checksum_add(0, p->at, bytes)) == 0;
        to->was_longer = true;
        to->head[0] = IPV4_VERSION_IHL;
        st_be16(to->head + 2, (uint16_t)(ld_be16(p->at + 2) - (bytes - IPV4_BYTES)));
        st_be16(to->head + 10, 0);
        st_be16(to->head + 10,
                (uint16_t)(checksum_fold(checksum_add(0, to->head, IPV4_BYTES)) ^ !is_right));
    }
    skip(p, to->was_longer ? bytes : IPV4_BYTES);
    to->rest = p->at;
    to->n_rest = p->n;
    return true;
}

/* Returns the length of the extension header @next at @p, and its final destination, if it has one.
 * Returns 0 if it is none, or cannot be skipped.
 */
static uint32_t extension_bytes(const struct link_part *p, uint8_t next, struct link_ip *to)
{
    uint32_t bytes;

    if (p->n < 8)
        return 0;
    bytes = next == NEXT_FRAGMENT ? 8u
            : next == NEXT_AH     ? (p->at[1] + 2u) * 4u
                                  : (p->at[1] + 1u) * 8u;
    if (bytes > p->n)
        return 0;
    if (next == NEXT_FRAGMENT)
        return ld_be16(p->at + 2) & FRAGMENT_MASK ? 0 : bytes;
    if (next == NEXT_ROUTE && p->at[2] == ROUTE_BY_SEGMENTS && bytes >= 8 + GID_BYTES) {
        memcpy(to->goal, p->at + 8, GID_BYTES); /* the list begins with the last segment */
        to->has_goal = true;
    }
    return next == NEXT_HOPS || next == NEXT_ROUTE || next == NEXT_GOAL || next == NEXT_AH ? bytes
                                                                                           : 0;
}

static bool take_ipv6(struct link_ip *to, struct link_part *p)
{
    uint32_t n_before, extension;

    if (p->n < IPV6_BYTES || p->at[0] >> 4 != 6)
        return false;
    begin_ip(to, p, IPV6_BYTES);
    add_to_place(p, p->at[7]);
    to->place = p->place;
    skip(p, IPV6_BYTES);
    n_before = p->n;
    for (unsigned i = 0; i < EXTENSIONS_MAX; i++) {
        extension = extension_bytes(p, to->head[6], to);
        if (extension == 0 || n_before - p->n + extension > ld_be16(to->head + 4))
            break;
        to->head[6] = p->at[0];
        skip(p, extension);
    }
    if (p->n < n_before) {
        to->was_longer = true;
        ipv6_set_payload(to->head, (uint16_t)(ld_be16(to->head + 4) - (n_before - p->n)));
    }
    to->rest = p->at;
    to->n_rest = p->n;
    return true;
}

/* --- Tunnels ---------------------------------------------------------------------------------- */

/* If @ip is a tunnel, makes @p the frame in it, behind its Ethernet header.  Returns false if it is
 * none.
 */
static bool enter_tunnel(const struct link_ip *ip, struct link_part *p)
{
    const uint8_t protocol = ip->ethertype == ETHERTYPE_IPV6 ? ip->head[6] : ip->head[9];
    uint32_t port, bytes = TUNNEL_BYTES;

    if (protocol != IP_PROTOCOL_UDP || p->n < UDP_BYTES + TUNNEL_BYTES)
        return false;
    port = ld_be16(p->at + 2);
    if (port == UDP_PORT_GENEVE && ld_be16(p->at + UDP_BYTES + 2) == ETHERTYPE_BRIDGED)
        bytes += (p->at[UDP_BYTES] & 0x3fu) * 4u;
    else if (port != UDP_PORT_VXLAN && port != UDP_PORT_VXLAN_OLD)
        return false;
    add_to_place(p, ld_be32(p->at + UDP_BYTES + 4)); /* the number of the network */
    return skip(p, UDP_BYTES + bytes) && skip_ethernet(p);
}

/* --- Frames ----------------------------------------------------------------------------------- */

static enum link_result read_control(const struct link_part *p, struct link_pause *ret)
{
    *ret = (struct link_pause){0};
    if (p->n >= 4 && ld_be16(p->at) == CONTROL_PAUSE) {
        if (ld_be16(p->at + 2))
            ret->stops = 0xff;
        else
            ret->starts = 0xff;
        return LINK_PAUSE;
    }
    if (p->n < PFC_BYTES || ld_be16(p->at) != CONTROL_PFC)
        return LINK_OTHER;
    for (unsigned i = 0; i < 8; i++) {
        if (!(p->at[3] & 1u << i))
            continue;
        if (ld_be16(p->at + 4 + (size_t)2 * i))
            ret->stops |= (uint8_t)(1u << i);
        else
            ret->starts |= (uint8_t)(1u << i);
    }
    return LINK_PAUSE;
}

enum link_result link_find(const struct capture_frame *f, struct link_ip *ret,
                           struct link_pause *ret_pause)
{
    struct link_part p = {.at = f->bytes,
                          .n = f->n_bytes,
                          .n_cut = f->n_on_wire > f->n_bytes ? f->n_on_wire - f->n_bytes : 0,
                          .direction = f->direction,
                          .place = f->interface};
    bool is_read;

    if (!skip_link(&p, f->link, &is_read))
        return is_read ? LINK_OTHER : LINK_UNREAD;
    for (unsigned i = 0; i <= TUNNELS_MAX; i++) {
        skip_tags(&p);
        if (p.ethertype == ETHERTYPE_ROCE_V1)
            return LINK_ROCE_V1;
        if (p.ethertype == ETHERTYPE_CONTROL)
            return read_control(&p, ret_pause);
        if (!(p.ethertype == ETHERTYPE_IPV4 && take_ipv4(ret, &p)) &&
            !(p.ethertype == ETHERTYPE_IPV6 && take_ipv6(ret, &p)))
            return LINK_OTHER;
        if (!enter_tunnel(ret, &p))
            return LINK_IP;
    }
    return LINK_OTHER;
}

const char *link_name(uint32_t link)
{
    static const struct {
        uint32_t link;
        const char *name;
    } rows[] = {
        {6, "Token Ring"},
        {9, "PPP"},
        {50, "PPP"},
        {105, "IEEE 802.11"},
        {119, "IEEE 802.11"},
        {127, "IEEE 802.11"},
        {147, "private use"},
        {187, "Bluetooth"},
        {189, "USB"},
        {195, "IEEE 802.15.4"},
        {197, "ERF"},
        {201, "Bluetooth"},
        {220, "USB"},
        {224, "Fibre Channel"},
        {239, "NFLOG of Linux"},
        {247, "InfiniBand"},
        {249, "USB"},
        {251, "Bluetooth"},
        {253, "netlink of Linux"},
        {271, "vsock"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].link == link)
            return rows[i].name;
    }
    return NULL;
}

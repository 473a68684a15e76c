/* SPDX-License-Identifier: MIT */
#include "swarm/outside/hostile.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/roce.h"
#include "emu/wire/arp.h"
#include "emu/wire/checksum.h"
#include "emu/wire/icrc.h"
#include "emu/wire/nd.h"
#include "emu/wire/packet.h"

#define DATA_MAX   1400u /* bytes that a valid frame carries */
#define DAMAGE_MAX 4u    /* places per frame */
#define GROUP_QPN  0xffffffu

/* Offsets in a frame. */
#define ETHERTYPE_AT     12u
#define IPV4_TOTAL_AT    (ETH_BYTES + 2u)
#define IPV4_FRAGMENT_AT (ETH_BYTES + 6u)
#define IPV4_PROTOCOL_AT (ETH_BYTES + 9u)
#define IPV4_CHECKSUM_AT (ETH_BYTES + 10u)
#define IPV4_SRC_AT      (ETH_BYTES + 12u)
#define IPV6_PAYLOAD_AT  (ETH_BYTES + 4u)
#define IPV6_NEXT_AT     (ETH_BYTES + 6u)
#define IPV6_SRC_AT      (ETH_BYTES + 8u)
#define VLAN_BYTES       4u
#define BTH_PAD_SHIFT    4u /* in the second byte of the BTH */

struct hostile_frame {
    struct hostile *h;
    uint8_t *frame;
    size_t n;
};

static uint32_t below(struct hostile *h, uint32_t n)
{
    return (uint32_t)prng_below(&h->rng, n);
}

static bool one_in(struct hostile *h, uint32_t n)
{
    return below(h, n) == 0;
}

static uint8_t some_byte(struct hostile *h)
{
    return (uint8_t)prng_next(&h->rng);
}

static void fill(struct hostile *h, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = some_byte(h);
}

static unsigned be16(const uint8_t *b)
{
    return (unsigned)b[0] << 8 | b[1];
}

static void put_be16(uint8_t *b, unsigned v)
{
    b[0] = (uint8_t)(v >> 8);
    b[1] = (uint8_t)v;
}

/* --- Valid frames ----------------------------------------------------------------------------- */

static const struct hostile_station *some_host(struct hostile *h)
{
    return &h->host[below(h, HOSTILE_HOSTS)];
}

/* Draws an address: the stranger's, a host's, an unused one, or sometimes a multicast group. */
static void some_gid(struct hostile *h, unsigned index, uint8_t ret[GID_BYTES])
{
    const uint32_t pick = below(h, 8);

    memcpy(ret, pick < 4 ? h->self.gid[index] : some_host(h)->gid[index], GID_BYTES);
    if (pick == 7)
        fill(h, ret + GID_IPV4_AT, 4);
    if (pick == 6 && index == 1)
        ipv6_solicited_group(ret, h->host[0].gid[index]);
}

static struct ip some_ip(struct hostile *h, unsigned index, uint8_t protocol, size_t payload_bytes)
{
    const uint8_t ttl = some_byte(h);
    struct ip ip = {.version = index ? 6 : 4,
                    .ttl = one_in(h, 4) ? ttl : ND_HOP_LIMIT,
                    .protocol = protocol,
                    .payload_bytes = (uint16_t)payload_bytes};

    some_gid(h, index, ip.src);
    memcpy(ip.dst, some_host(h)->gid[index], GID_BYTES);
    if (one_in(h, 8))
        some_gid(h, index, ip.dst);
    return ip;
}

/* Builds an Ethernet header from the stranger to the host with address @dst, or to all hosts. */
static struct eth eth_to(struct hostile *h, const uint8_t dst[GID_BYTES], unsigned ethertype)
{
    struct eth eth = {.ethertype = (uint16_t)ethertype};

    memcpy(eth.src, h->self.mac, MAC_BYTES);
    memset(eth.dst, 0xff, MAC_BYTES);
    for (size_t i = 0; i < HOSTILE_HOSTS; i++) {
        if (memcmp(dst, h->host[i].gid[0], GID_BYTES) == 0 ||
            memcmp(dst, h->host[i].gid[1], GID_BYTES) == 0)
            memcpy(eth.dst, h->host[i].mac, MAC_BYTES);
    }
    return eth;
}

/* Writes Ethernet and IP headers.  Returns a cursor behind them. */
static struct wr_cur begin_ip(struct hostile_frame *m, const struct ip *ip)
{
    struct wr_cur out = wr_cur(m->frame, HOSTILE_BYTES);
    const struct eth eth =
        eth_to(m->h, ip->dst, ip->version == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);

    eth_build(&eth, &out);
    ip_build(ip, &out);
    m->n = ETH_BYTES + ip_header_bytes(ip->version) + ip->payload_bytes;
    return out;
}

static void make_chance(struct hostile_frame *m)
{
    const uint32_t max = one_in(m->h, 50) ? HOSTILE_BYTES : DATA_MAX;

    m->n = 1 + below(m->h, max);
    fill(m->h, m->frame, m->n);
}

/* Random bytes behind valid Ethernet and IP headers. */
static void make_chance_to_host(struct hostile_frame *m)
{
    const unsigned index = below(m->h, 2);
    const uint8_t protocol = some_byte(m->h);
    const uint32_t n = below(m->h, 400);
    const struct ip ip = some_ip(m->h, index, protocol, n);
    const struct wr_cur out = begin_ip(m, &ip);

    fill(m->h, out.p, ip.payload_bytes);
}

static void make_arp(struct hostile_frame *m)
{
    struct hostile *h = m->h;
    struct wr_cur out = wr_cur(m->frame, HOSTILE_BYTES);
    struct arp arp = {.reply = one_in(h, 2)};
    struct eth eth;

    some_gid(h, 0, arp.sender);
    some_gid(h, 0, arp.target);
    memcpy(arp.sender_mac, h->self.mac, MAC_BYTES);
    eth = eth_to(h, arp.target, ETHERTYPE_ARP);
    eth_build(&eth, &out);
    arp_build(&arp, &out);
    m->n = ETH_BYTES + ARP_BYTES;
}

static void make_echo(struct hostile_frame *m)
{
    struct hostile *h = m->h;
    const unsigned index = below(h, 2);
    const bool reply = one_in(h, 3);
    const uint16_t id = (uint16_t)prng_next(&h->rng);
    const uint32_t n = below(h, DATA_MAX);
    uint8_t data[DATA_MAX];
    const struct icmp_echo e = {.reply = reply, .id = id, .data = data, .data_bytes = n};
    const struct ip ip = some_ip(h, index, index ? IP_PROTOCOL_ICMPV6 : IP_PROTOCOL_ICMP,
                                 ICMP_ECHO_BYTES + e.data_bytes);
    struct wr_cur out = begin_ip(m, &ip);

    fill(h, data, e.data_bytes);
    icmp_echo_build(&e, &ip, &out);
}

static void make_nd(struct hostile_frame *m)
{
    struct hostile *h = m->h;
    const struct ip ip = some_ip(h, 1, IP_PROTOCOL_ICMPV6, ND_BYTES);
    struct nd nd = {.has_mac = true};
    struct wr_cur out = begin_ip(m, &ip);

    nd.advert = one_in(h, 2);
    nd.solicited = one_in(h, 2);
    some_gid(h, 1, nd.target);
    memcpy(nd.mac, h->self.mac, MAC_BYTES);
    nd_build(&nd, &ip, &out);
}

/* UDP, TCP and other packets that no host handles. */
static void make_other_ip(struct hostile_frame *m)
{
    static const uint8_t protocols[] = {IP_PROTOCOL_TCP, IP_PROTOCOL_UDP, IP_PROTOCOL_ICMP, 2, 44};
    const uint8_t protocol = protocols[below(m->h, ARRAY_LEN(protocols))];
    const unsigned index = below(m->h, 2);
    const uint32_t n = below(m->h, DATA_MAX);
    const struct ip ip = some_ip(m->h, index, protocol, n);
    const struct wr_cur out = begin_ip(m, &ip);

    fill(m->h, out.p, ip.payload_bytes);
}

/* Addresses @p to the multicast group of the UD queue pair. */
static void address_group(struct hostile *h, struct packet *p)
{
    const unsigned i = h->gid_index;

    memcpy(p->ip.dst, h->group[i], GID_BYTES);
    mac_from_multicast(p->eth.dst, h->group[i]);
    p->bth.dest_qpn = GROUP_QPN;
}

/* Returns a packet for queue pair @to.  The caller sets opcode, PSN and payload. */
static struct packet packet_to_host(struct hostile *h, enum hostile_qp to)
{
    const unsigned i = h->gid_index;
    struct packet p = {
        .ip = {.version = i ? 6 : 4, .ttl = 64},
        .udp_src_port = 0xc000,
        .bth = {.pkey = 0xffff, .dest_qpn = h->qpn[to]},
        .deth = {.qkey = h->qkey, .src_qpn = 1},
    };

    p.bth.ack_req = one_in(h, 2);
    memcpy(p.eth.dst, h->host[0].mac, MAC_BYTES);
    memcpy(p.eth.src, h->self.mac, MAC_BYTES);
    memcpy(p.ip.src, h->self.gid[i], GID_BYTES);
    memcpy(p.ip.dst, h->host[0].gid[i], GID_BYTES);
    return p;
}

/* Sets the ICRC of the RoCEv2 packet that ends at @end. */
static void set_icrc(struct hostile_frame *m, size_t end)
{
    st_le32(m->frame + end - ICRC_BYTES,
            icrc_compute(m->frame + ETH_BYTES, end - ICRC_BYTES - ETH_BYTES));
}

static void finish_packet(struct hostile_frame *m, const struct packet *p)
{
    m->n = packet_frame_bytes(p);
    fill(m->h, packet_build(p, m->frame), p->payload_bytes);
    packet_finish(m->frame, m->n);
    if (one_in(m->h, 16)) { /* a pad count that does not match the payload */
        const size_t at = ETH_BYTES + ip_header_bytes(p->ip.version) + UDP_BYTES + 1;

        m->frame[at] ^= (uint8_t)((1 + below(m->h, 3)) << BTH_PAD_SHIFT);
        set_icrc(m, m->n);
    }
}

/* Returns @about, or a PSN near it. */
static struct psn near(struct hostile *h, struct psn about)
{
    const uint32_t distance = below(h, 9) + PSN_MASK - 3;

    return psn_add(about, one_in(h, 2) ? 0 : distance);
}

/* Draws a payload length: the one that the opcode needs, or an arbitrary one. */
static uint32_t some_payload(struct hostile *h, const struct op_info *op)
{
    const uint32_t mtu = h->mtu_bytes;
    const uint32_t sizes[] = {0, 1, 3, 64, 255, mtu - 1, mtu, mtu + 1};

    if (one_in(h, 4))
        return sizes[below(h, ARRAY_LEN(sizes))];
    if (op->kind == OPK_ATOMIC_WRITE)
        return ATOMIC_WORD_BYTES;
    if (op_has_response(op) || op->kind == OPK_ATOMIC_ACK)
        return 0;
    if (op->pos == OPP_FIRST || op->pos == OPP_MIDDLE)
        return mtu;
    return below(h, mtu) + (op->pos == OPP_LAST);
}

/* Draws the length in a RETH: one that matches the opcode and payload, or an arbitrary one. */
static uint32_t some_length(struct hostile *h, const struct packet *p)
{
    const uint32_t sizes[] = {0,          1,          h->open_bytes, h->open_bytes + 1,
                              0x7fffffff, 0x80000000, UINT32_MAX};
    const struct op_info *op = op_info(p->bth.opcode);

    if (one_in(h, 4))
        return sizes[below(h, ARRAY_LEN(sizes))];
    if (op->kind == OPK_READ)
        return below(h, h->open_bytes);
    return p->payload_bytes + (op->pos == OPP_FIRST ? 1 + below(h, 2 * h->mtu_bytes) : 0);
}

/* Draws an address for @bytes: in the open memory, just outside of it, or arbitrary. */
static uint64_t some_target(struct hostile *h, uint32_t bytes)
{
    const uint32_t room = bytes < h->open_bytes ? h->open_bytes - bytes : 0;
    const uint64_t at = h->open_at + below(h, room + 1);

    switch (below(h, 8)) {
    case 0:
        return h->open_at - 1 - below(h, 64);
    case 1:
        return h->open_at + room + 1 + below(h, 64);
    case 2:
        return prng_next(&h->rng);
    default:
        return at;
    }
}

static uint32_t some_rkey(struct hostile *h)
{
    const uint32_t any = below(h, 65536);

    return one_in(h, 8) ? any : h->open_rkey;
}

/* Draws the memory that a request accesses.  Mostly the access is permitted. */
static void aim(struct hostile *h, struct packet *p)
{
    p->reth.dma_bytes = some_length(h, p);
    p->reth.va = some_target(h, p->reth.dma_bytes);
    p->reth.rkey = some_rkey(h);
    p->feth.placement = (uint8_t)below(h, 4);
    p->feth.level = (uint8_t)below(h, 3);
    p->atomic.va = some_target(h, ATOMIC_WORD_BYTES);
    if (!one_in(h, 8))
        p->atomic.va -= p->atomic.va % ATOMIC_WORD_BYTES;
    p->atomic.rkey = some_rkey(h);
    p->atomic.swap_add = prng_next(&h->rng);
    p->atomic.compare = prng_next(&h->rng);
}

/* Draws an opcode, mostly of the service of @to. */
static uint8_t some_opcode(struct hostile *h, enum hostile_qp to)
{
    static const struct {
        uint8_t first, last;
    } own[HOSTILE_QPS] = {
        [HOSTILE_RC] = {OP_RC_SEND_FIRST, OP_RC_ATOMIC_WRITE},
        [HOSTILE_UC] = {OP_UC_SEND_FIRST, OP_UC_RDMA_WRITE_ONLY_WITH_IMM},
        [HOSTILE_UD] = {OP_UD_SEND_ONLY, OP_UD_SEND_ONLY_WITH_IMM},
    };
    uint8_t opcode;

    do {
        opcode = (uint8_t)(own[to].first + below(h, own[to].last - own[to].first + 1u));
        if (one_in(h, 4))
            opcode = some_byte(h);
    } while (!op_info(opcode)->name);
    return opcode;
}

/* Sets a wrong P_Key, a wrong Q_Key or a wrong source address. */
static void make_wrong(struct hostile *h, struct packet *p)
{
    switch (below(h, 3)) {
    case 0:
        p->bth.pkey = (uint16_t)prng_next(&h->rng);
        break;
    case 1:
        p->deth.qkey = (uint32_t)prng_next(&h->rng);
        break;
    default:
        fill(h, p->ip.src + GID_IPV4_AT, 4);
        break;
    }
}

/* Builds a request or response of any opcode with a plausible PSN and payload. */
static void make_request(struct hostile_frame *m)
{
    struct hostile *h = m->h;
    const enum hostile_qp any = (enum hostile_qp)below(h, HOSTILE_QPS);
    const enum hostile_qp to = one_in(h, 2) ? HOSTILE_RC : any;
    struct packet p = packet_to_host(h, to);

    p.bth.opcode = some_opcode(h, to);
    p.bth.psn = near(h, op_is_response(op_info(p.bth.opcode)) ? h->acked : h->expected[to]);
    if (to == HOSTILE_UD && one_in(h, 2))
        address_group(h, &p);
    if (one_in(h, 16))
        make_wrong(h, &p);
    p.payload_bytes = some_payload(h, op_info(p.bth.opcode));
    p.aeth.msn = below(h, PSN_MASK);
    aim(h, &p);
    finish_packet(m, &p);
}

/* Builds an acknowledgment of something that host[0] sent, or of nothing. */
static void make_acknowledge(struct hostile_frame *m)
{
    struct hostile *h = m->h;
    struct packet p = packet_to_host(h, HOSTILE_RC);

    p.bth.opcode = OP_RC_ACKNOWLEDGE;
    p.bth.psn = near(h, h->acked);
    p.aeth.syndrome = some_byte(h);
    p.aeth.msn = below(h, PSN_MASK);
    finish_packet(m, &p);
}

/* Builds a datagram to the connection manager of a host.  Now and then its length or Q_Key is
 * wrong.
 */
static void make_mad(struct hostile_frame *m)
{
    struct hostile *h = m->h;
    struct packet p = packet_to_host(h, HOSTILE_UD);
    const uint32_t any = below(h, 2 * MAD_BYTES);

    p.bth.opcode = OP_UD_SEND_ONLY;
    p.bth.dest_qpn = QPN_GSI;
    p.deth.qkey = QKEY_GSI;
    p.payload_bytes = one_in(h, 16) ? any : MAD_BYTES;
    if (one_in(h, 16))
        make_wrong(h, &p);
    finish_packet(m, &p);
    if (p.payload_bytes == MAD_BYTES)
        hostile_mad(h, m->frame + m->n - ICRC_BYTES - MAD_BYTES);
    set_icrc(m, m->n);
}

static const struct {
    void (*make)(struct hostile_frame *m);
    uint32_t weight;
} kinds[] = {
    {make_chance, 2}, {make_chance_to_host, 2}, {make_arp, 3},      {make_echo, 3},
    {make_nd, 3},     {make_other_ip, 2},       {make_request, 12}, {make_acknowledge, 4},
    {make_mad, 8},
};

static void make_some(struct hostile_frame *m)
{
    uint32_t sum = 0, pick;
    size_t i = 0;

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        sum += kinds[k].weight;
    for (pick = below(m->h, sum); pick >= kinds[i].weight; i++)
        pick -= kinds[i].weight;
    kinds[i].make(m);
}

/* --- Damage ----------------------------------------------------------------------------------- */

static void flip_bit(struct hostile_frame *m)
{
    const uint32_t at = below(m->h, (uint32_t)m->n);

    m->frame[at] ^= (uint8_t)(1u << below(m->h, 8));
}

/* Headers are hit more often than data. */
static void set_byte(struct hostile_frame *m)
{
    const uint32_t n = m->n > 80 && !one_in(m->h, 4) ? 80 : (uint32_t)m->n;
    const uint32_t at = below(m->h, n);

    m->frame[at] = some_byte(m->h);
}

/* Writes a 16-bit boundary value. */
static void set_number(struct hostile_frame *m)
{
    static const uint16_t edges[] = {0, 1, 3, 4, 0x7fff, 0x8000, 0xfffe, 0xffff};

    if (m->n >= 2) {
        const size_t at = 2 * (size_t)below(m->h, (uint32_t)m->n / 2);

        put_be16(m->frame + at, edges[below(m->h, ARRAY_LEN(edges))]);
    }
}

static void truncate_frame(struct hostile_frame *m)
{
    m->n = 1 + below(m->h, (uint32_t)m->n);
}

/* Appends padding, or more than fits a buffer. */
static void extend(struct hostile_frame *m)
{
    const uint32_t few = below(m->h, 64);
    const uint32_t more = one_in(m->h, 8) ? HOSTILE_BYTES : few;
    const uint32_t room = (uint32_t)(HOSTILE_BYTES - m->n);
    const uint32_t n = more < room ? more : room;

    fill(m->h, m->frame + m->n, n);
    m->n += n;
}

static void tag_vlan(struct hostile_frame *m)
{
    if (m->n < ETH_BYTES || m->n + VLAN_BYTES > HOSTILE_BYTES)
        return;
    memmove(m->frame + ETHERTYPE_AT + VLAN_BYTES, m->frame + ETHERTYPE_AT, m->n - ETHERTYPE_AT);
    put_be16(m->frame + ETHERTYPE_AT, 0x8100);
    put_be16(m->frame + ETHERTYPE_AT + 2, below(m->h, 4096));
    m->n += VLAN_BYTES;
}

static void make_fragment(struct hostile_frame *m)
{
    if (m->n > IPV4_FRAGMENT_AT + 1)
        put_be16(m->frame + IPV4_FRAGMENT_AT, below(m->h, 65536));
}

/* Makes an IP or UDP length too small or too large. */
static void lie_about_length(struct hostile_frame *m)
{
    static const size_t places[] = {IPV4_TOTAL_AT, IPV6_PAYLOAD_AT, ETH_BYTES + IPV4_BYTES + 4,
                                    ETH_BYTES + IPV6_BYTES + 4};
    const size_t at = places[below(m->h, ARRAY_LEN(places))];

    if (at + 2 > m->n)
        return;
    if (one_in(m->h, 2))
        put_be16(m->frame + at, be16(m->frame + at) + below(m->h, 17) - 8);
    else
        put_be16(m->frame + at, below(m->h, 65536));
}

/* Takes the MAC of a host as the source.  This is rare: the switch learns it, and sends frames for
 * that host to the external port until the host sends again.
 */
static void borrow_mac(struct hostile_frame *m)
{
    if (m->n >= ETH_BYTES && one_in(m->h, 16))
        memcpy(m->frame + MAC_BYTES, some_host(m->h)->mac, MAC_BYTES);
}

static void to_group(struct hostile_frame *m)
{
    if (m->n >= ETH_BYTES)
        m->frame[0] |= MAC_GROUP_BIT;
}

static void (*const damages[])(struct hostile_frame *m) = {
    flip_bit, set_byte, set_byte,      set_number,       set_number, truncate_frame,
    extend,   tag_vlan, make_fragment, lie_about_length, borrow_mac, to_group,
};

/* --- Repair ----------------------------------------------------------------------------------- */

/* Returns the IP version if the frame has a whole IP header; otherwise 0. */
static unsigned ip_version(const struct hostile_frame *m)
{
    const unsigned ethertype = m->n > ETH_BYTES ? be16(m->frame + ETHERTYPE_AT) : 0;

    if (ethertype == ETHERTYPE_IPV4 && m->n >= ETH_BYTES + IPV4_BYTES &&
        m->frame[ETH_BYTES] >> 4 == 4)
        return 4;
    if (ethertype == ETHERTYPE_IPV6 && m->n >= ETH_BYTES + IPV6_BYTES &&
        m->frame[ETH_BYTES] >> 4 == 6)
        return 6;
    return 0;
}

/* Returns the end of the IP packet according to its header, at most the end of the frame. */
static size_t ip_end(const struct hostile_frame *m, unsigned version)
{
    const size_t end = version == 4 ? ETH_BYTES + be16(m->frame + IPV4_TOTAL_AT)
                                    : ETH_BYTES + IPV6_BYTES + be16(m->frame + IPV6_PAYLOAD_AT);

    return end < m->n ? end : m->n;
}

static unsigned ip_protocol(const struct hostile_frame *m, unsigned version)
{
    return m->frame[version == 4 ? IPV4_PROTOCOL_AT : IPV6_NEXT_AT];
}

/* Replaces a source address of the lab by the stranger's (hostile.h). */
static void disown(struct hostile_frame *m, unsigned version)
{
    const struct hostile *h = m->h;
    const size_t at = version == 4 ? IPV4_SRC_AT : IPV6_SRC_AT;
    const size_t skip = version == 4 ? GID_IPV4_AT : 0, n = GID_BYTES - skip;
    const unsigned index = version == 6;

    for (size_t i = 0; i < HOSTILE_HOSTS; i++) {
        if (memcmp(m->frame + at, h->host[i].gid[index] + skip, n) == 0)
            memcpy(m->frame + at, h->self.gid[index] + skip, n);
    }
}

static void repair_icmp(struct hostile_frame *m, unsigned version, size_t from, size_t end)
{
    struct ip ip = {.version = (uint8_t)version, .payload_bytes = (uint16_t)(end - from)};

    if (end < from + ICMP_BYTES)
        return;
    if (version == 6) {
        ip.protocol = IP_PROTOCOL_ICMPV6;
        memcpy(ip.src, m->frame + IPV6_SRC_AT, GID_BYTES);
        memcpy(ip.dst, m->frame + IPV6_SRC_AT + GID_BYTES, GID_BYTES);
    }
    icmp_finish(&ip, m->frame + from, end - from);
}

static void repair(struct hostile_frame *m, unsigned version)
{
    const size_t from = ETH_BYTES + ip_header_bytes(version), end = ip_end(m, version);
    const unsigned protocol = ip_protocol(m, version);

    if (protocol == IP_PROTOCOL_UDP && end >= from + UDP_BYTES + BTH_BYTES + ICRC_BYTES)
        set_icrc(m, end);
    else if (protocol == IP_PROTOCOL_ICMP || protocol == IP_PROTOCOL_ICMPV6)
        repair_icmp(m, version, from, end);
    if (version == 4) {
        put_be16(m->frame + IPV4_CHECKSUM_AT, 0);
        put_be16(m->frame + IPV4_CHECKSUM_AT,
                 checksum_fold(checksum_add(0, m->frame + ETH_BYTES, IPV4_BYTES)));
    }
}

size_t hostile_frame(struct hostile *h, uint8_t frame[HOSTILE_BYTES])
{
    struct hostile_frame m = {.h = h, .frame = frame};
    uint32_t n_damaged = 0;
    unsigned version;

    make_some(&m);
    if (!one_in(h, 4))
        n_damaged = 1 + below(h, DAMAGE_MAX);
    for (uint32_t i = 0; i < n_damaged; i++)
        damages[below(h, ARRAY_LEN(damages))](&m);
    version = ip_version(&m);
    if (version && ip_protocol(&m, version) == IP_PROTOCOL_UDP)
        disown(&m, version);
    if (version && one_in(h, 2))
        repair(&m, version);
    return m.n;
}

size_t hostile_read(struct hostile *h, bool again, uint8_t frame[HOSTILE_BYTES])
{
    struct packet p = packet_to_host(h, HOSTILE_RC);
    const uint32_t n_psns = (h->open_bytes + h->mtu_bytes - 1) / h->mtu_bytes;
    struct psn *expected = &h->expected[HOSTILE_RC];

    p.bth.opcode = OP_RC_RDMA_READ_REQUEST;
    p.bth.psn = again ? psn_add(*expected, PSN_MASK + 1 - n_psns) : *expected;
    p.reth.va = h->open_at;
    p.reth.rkey = h->open_rkey;
    p.reth.dma_bytes = h->open_bytes;
    if (!again)
        *expected = psn_add(*expected, n_psns);
    packet_build(&p, frame);
    packet_finish(frame, packet_frame_bytes(&p));
    return packet_frame_bytes(&p);
}

/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a frame, given to all frame parsers.
 *
 * The input is in memory of exactly its size, so that reads beyond it are detected.  Checked:
 *   - parsing gives the same result twice;
 *   - what parses can be built again, and that parses to the same fields and payload;
 *   - built a second time it has the same bytes;
 *   - it has the bytes of the input, except where a receiver ignores them or the builder has one
 *     form only: the IPv4 flags (it sets "don't fragment") and so the header checksum, the UDP
 *     checksum, reserved bits, the pad bytes, more pad than needed, and so the ICRC; and bytes
 * after the IP packet. RoCEv2 packets of a defined opcode are built by packet_build(); ARP,
 * neighbour discovery and echo by their own functions.
 */
#include <string.h>

#include "emu/facts/enum/op_header.h"
#include "emu/wire/arp.h"
#include "emu/wire/glance.h"
#include "emu/wire/grh.h"
#include "emu/wire/icmp.h"
#include "emu/wire/igmp.h"
#include "emu/wire/mld.h"
#include "emu/wire/nd.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"
#include "emu/wire/vlan.h"
#include "frame_repair.h"
#include "fuzz.h"

#define IPV4_FLAGS_AT    6u
#define IPV4_CHECKSUM_AT 10u
#define UDP_CHECKSUM_AT  6u
#define BTH_FLAGS_AT     1u
#define BTH_RESERVED_AT  4u
#define BTH_ACK_AT       8u

static bool same_transport(const struct packet *a, const struct packet *b)
{
    return a->deth.qkey == b->deth.qkey && a->deth.src_qpn == b->deth.src_qpn &&
           a->reth.va == b->reth.va && a->reth.rkey == b->reth.rkey &&
           a->reth.dma_bytes == b->reth.dma_bytes && a->atomic.va == b->atomic.va &&
           a->atomic.rkey == b->atomic.rkey && a->atomic.swap_add == b->atomic.swap_add &&
           a->atomic.compare == b->atomic.compare && a->aeth.syndrome == b->aeth.syndrome &&
           a->aeth.msn == b->aeth.msn && a->atomic_ack == b->atomic_ack &&
           memcmp(a->imm_data, b->imm_data, IMM_BYTES) == 0 && a->ieth_rkey == b->ieth_rkey;
}

/* All but what depends on the length of the pad. */
static bool same_packet(const struct packet *a, const struct packet *b)
{
    return memcmp(&a->eth, &b->eth, sizeof(a->eth)) == 0 && a->ip.version == b->ip.version &&
           a->ip.tclass == b->ip.tclass && a->ip.ttl == b->ip.ttl &&
           a->ip.protocol == b->ip.protocol && a->ip.id == b->ip.id &&
           a->ip.flow_label == b->ip.flow_label && memcmp(a->ip.src, b->ip.src, GID_BYTES) == 0 &&
           memcmp(a->ip.dst, b->ip.dst, GID_BYTES) == 0 && a->udp_src_port == b->udp_src_port &&
           a->bth.opcode == b->bth.opcode && a->bth.solicited == b->bth.solicited &&
           a->bth.migrated == b->bth.migrated && a->bth.pkey == b->bth.pkey &&
           a->bth.fecn == b->bth.fecn && a->bth.becn == b->bth.becn &&
           a->bth.dest_qpn == b->bth.dest_qpn && a->bth.ack_req == b->bth.ack_req &&
           a->bth.psn.v == b->bth.psn.v && a->op == b->op && same_transport(a, b) &&
           a->payload_bytes == b->payload_bytes &&
           (a->payload_bytes == 0 || memcmp(a->payload, b->payload, a->payload_bytes) == 0);
}

/* A frame of @p in memory of its exact size; to be freed. */
static uint8_t *built(const struct packet *p, size_t *ret)
{
    const size_t n = packet_frame_bytes(p);
    uint8_t *frame = malloc(n), *payload;

    FUZZ_CHECK(frame);
    payload = packet_build(p, frame);
    if (p->payload_bytes)
        memcpy(payload, p->payload, p->payload_bytes);
    packet_finish(frame, n);
    *ret = n;
    return frame;
}

/* Copies to @to of @from what the builder need not give back. */
static void forgive(const struct packet *p, uint8_t *to, const uint8_t *from, size_t n)
{
    const size_t udp = ETH_BYTES + ip_header_bytes(p->ip.version), bth = udp + UDP_BYTES;
    const size_t payload_end = n - ICRC_BYTES - packet_pad_bytes(p->payload_bytes);

    if (p->ip.version == 4) {
        to[ETH_BYTES + IPV4_FLAGS_AT] = from[ETH_BYTES + IPV4_FLAGS_AT];
        memcpy(to + ETH_BYTES + IPV4_CHECKSUM_AT, from + ETH_BYTES + IPV4_CHECKSUM_AT, 2);
    }
    memcpy(to + udp + UDP_CHECKSUM_AT, from + udp + UDP_CHECKSUM_AT, 2);
    to[bth + BTH_RESERVED_AT] |= from[bth + BTH_RESERVED_AT] & 0x3fu;
    to[bth + BTH_ACK_AT] |= from[bth + BTH_ACK_AT] & 0x7fu;
    if (p->op->headers & H_DETH)
        to[bth + BTH_BYTES + 4] = from[bth + BTH_BYTES + 4];
    if (p->op->headers & H_FETH) {
        memcpy(to + bth + BTH_BYTES, from + bth + BTH_BYTES, FETH_BYTES - 1);
        to[bth + BTH_BYTES + 3] |= from[bth + BTH_BYTES + 3] & 0xc0u;
    }
    if (p->op->headers & H_CNP)
        memcpy(to + bth + BTH_BYTES, from + bth + BTH_BYTES, CNP_BYTES);
    memcpy(to + payload_end, from + payload_end, n - payload_end);
}

/* The GRH area of a datagram can be read back. */
static void try_grh(const struct packet *p)
{
    uint8_t area[GRH_BYTES];
    struct grh grh;

    grh_from_packet(area, p);
    (void)grh_parse(&grh, area);
}

/* The packet that was parsed from @frame is built again, without a tag. */
static void build_again(const struct packet *p, const uint8_t *frame, size_t n)
{
    const uint8_t *behind = frame + vlan_bytes(frame, n);
    size_t once_bytes, twice_bytes;
    uint8_t *once, *twice;
    struct packet q;

    if (packet_frame_bytes(p) - ETH_BYTES > UINT16_MAX)
        return; /* the pad that its payload needs is more than fits */
    once = built(p, &once_bytes);
    FUZZ_CHECK(packet_parse(&q, once, once_bytes) == DROP_NONE);
    FUZZ_CHECK(same_packet(p, &q));
    twice = built(&q, &twice_bytes);
    FUZZ_CHECK(once_bytes == twice_bytes && memcmp(once, twice, once_bytes) == 0);
    if (p->bth.pad_bytes == packet_pad_bytes(p->payload_bytes)) {
        FUZZ_CHECK(p->is_tagged == (behind != frame) && behind + once_bytes <= frame + n);
        forgive(p, once, behind, once_bytes);
        FUZZ_CHECK(memcmp(once, frame, ETH_ETHERTYPE_AT) == 0);
        FUZZ_CHECK(memcmp(once + ETH_ETHERTYPE_AT, behind + ETH_ETHERTYPE_AT,
                          once_bytes - ETH_ETHERTYPE_AT) == 0);
    }
    try_grh(p);
    free(once);
    free(twice);
}

static void try_packet(const uint8_t *frame, size_t n)
{
    struct packet p, again;
    const enum drop_reason why = packet_parse(&p, frame, n);

    FUZZ_CHECK(packet_parse(&again, frame, n) == why);
    FUZZ_CHECK(packet_icrc_at(frame, n) <= n);
    if (why != DROP_NONE)
        return;
    FUZZ_CHECK(same_packet(&p, &again) && p.payload == again.payload);
    FUZZ_CHECK(p.payload >= frame && p.payload + p.payload_bytes <= frame + n);
    FUZZ_CHECK(packet_icrc_at(frame, n) > 0);
    build_again(&p, frame, n);
}

static void try_arp(struct rd_cur in)
{
    const uint8_t *from = in.p;
    uint8_t bytes[ARP_BYTES];
    struct wr_cur out = wr_cur(bytes, sizeof(bytes));
    struct arp arp;

    if (arp_parse(&arp, &in) != DROP_NONE)
        return;
    arp_build(&arp, &out);
    FUZZ_CHECK(!out.bad && memcmp(bytes, from, ARP_BYTES) == 0);
}

static void try_nd(const struct icmp *h, const struct ip *ip, struct rd_cur in)
{
    uint8_t bytes[ND_BYTES];
    struct wr_cur out = wr_cur(bytes, sizeof(bytes));
    struct rd_cur back = rd_cur(bytes, sizeof(bytes));
    struct ip shorter = *ip;
    struct nd nd, again;
    struct icmp head;

    if (nd_parse(&nd, h, ip, &in) != DROP_NONE || !nd.has_mac)
        return;
    shorter.payload_bytes = ND_BYTES;
    nd_build(&nd, &shorter, &out);
    FUZZ_CHECK(!out.bad && icmp_parse(&head, &shorter, &back) == DROP_NONE);
    FUZZ_CHECK(nd_parse(&again, &head, &shorter, &back) == DROP_NONE);
    FUZZ_CHECK(again.advert == nd.advert && again.router == nd.router &&
               again.solicited == nd.solicited && again.override == nd.override && again.has_mac &&
               memcmp(again.target, nd.target, GID_BYTES) == 0 &&
               memcmp(again.mac, nd.mac, MAC_BYTES) == 0);
}

static void try_echo(const struct icmp *h, const struct ip *ip, const uint8_t *message,
                     struct rd_cur in)
{
    struct icmp_echo echo;
    struct wr_cur out;
    uint8_t *bytes;
    size_t n;

    if (icmp_echo_parse(&echo, h, &in) != DROP_NONE)
        return;
    n = ICMP_ECHO_BYTES + echo.data_bytes;
    bytes = malloc(n);
    FUZZ_CHECK(bytes && n == ip->payload_bytes);
    out = wr_cur(bytes, n);
    icmp_echo_build(&echo, ip, &out);
    FUZZ_CHECK(!out.bad);
    /* A sum of ones' complement has two zeros, of which the builder writes one. */
    memcpy(bytes + 2, message + 2, 2);
    FUZZ_CHECK(h->code != 0 || memcmp(bytes, message, n) == 0);
    free(bytes);
}

static void try_ip(struct rd_cur in)
{
    struct rd_cur groups = in, hop;
    struct group_query query;
    const uint8_t *message;
    struct icmp icmp;
    struct ip ip;

    (void)igmp_parse(&query, &groups);
    if (ip_parse(&ip, &in) != DROP_NONE)
        return;
    hop = in;
    if (ip.version == 6 && ip.protocol == IP_PROTOCOL_HOP_BY_HOP)
        (void)mld_parse(&query, &ip, &hop);
    message = in.p;
    if (ip.protocol != (ip.version == 4 ? IP_PROTOCOL_ICMP : IP_PROTOCOL_ICMPV6) ||
        icmp_parse(&icmp, &ip, &in) != DROP_NONE)
        return;
    if (icmp.kind == FRAME_ND_SOLICIT || icmp.kind == FRAME_ND_ADVERT)
        try_nd(&icmp, &ip, in);
    else if (icmp.kind != FRAME_ICMP)
        try_echo(&icmp, &ip, message, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *frame = malloc(n ? n : 1), dst[GID_BYTES];
    struct rd_cur in;
    struct eth eth;

    FUZZ_CHECK(frame);
    if (n)
        memcpy(frame, data, n);
    in = rd_cur(frame, n);
    try_packet(frame, n);
    (void)glance(frame, n);
    (void)glance_is_roce(frame, n, dst);
    if (eth_parse(&eth, &in) == DROP_NONE) {
        if (eth.ethertype == ETHERTYPE_ARP)
            try_arp(in);
        else if (eth.ethertype == ETHERTYPE_IPV4 || eth.ethertype == ETHERTYPE_IPV6)
            try_ip(in);
    }
    FUZZ_CHECK(n == 0 || memcmp(frame, data, n) == 0);
    free(frame);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
    const size_t m = LLVMFuzzerMutate(data, n, max);

    if (seed & 1)
        frame_repair(data, m, seed >> 1 & (REPAIR_LENGTHS | REPAIR_SUMS | REPAIR_ICRC));
    return m;
}

/* SPDX-License-Identifier: MIT */
/* Address resolution: ARP for IPv4 [RFC 826], neighbour discovery for IPv6 [RFC 4861]. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/guest/ip/stack.h"
#include "emu/wire/arp.h"
#include "emu/wire/eth.h"
#include "emu/wire/nd.h"

/* Room for either kind of request or answer. */
#define QUESTION_BYTES (ETH_BYTES + IPV6_BYTES + ND_BYTES)

static const uint8_t everybody[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void send_arp(struct guest_net *net, const struct arp *arp, const uint8_t dst[MAC_BYTES])
{
    uint8_t frame[ETH_BYTES + ARP_BYTES];
    struct wr_cur out = wr_cur(frame, sizeof(frame));
    struct eth eth = {.ethertype = ETHERTYPE_ARP};

    memcpy(eth.dst, dst, MAC_BYTES);
    memcpy(eth.src, net->config.mac, MAC_BYTES);
    eth_build(&eth, &out);
    arp_build(arp, &out);
    RDL_ASSERT(!out.bad);
    nic_send(net, frame, sizeof(frame));
}

/* An ARP packet from this guest: a reply to @target_mac, or a request if that is NULL. */
static struct arp arp_from_us(const struct guest_net *net, const uint8_t target[GID_BYTES],
                              const uint8_t *target_mac)
{
    struct arp arp = {.reply = target_mac != NULL};

    memcpy(arp.sender_mac, net->config.mac, MAC_BYTES);
    memcpy(arp.sender, stack_source(net, target), GID_BYTES);
    memcpy(arp.target, target, GID_BYTES);
    if (target_mac)
        memcpy(arp.target_mac, target_mac, MAC_BYTES);
    return arp;
}

static void send_nd(struct guest_net *net, struct nd *nd, const uint8_t dst[GID_BYTES])
{
    uint8_t frame[QUESTION_BYTES];
    struct wr_cur out;
    struct ip ip = {.version = 6,
                    .ttl = ND_HOP_LIMIT,
                    .protocol = IP_PROTOCOL_ICMPV6,
                    .payload_bytes = ND_BYTES};

    memcpy(ip.src, nd->advert ? nd->target : stack_source(net, nd->target), GID_BYTES);
    memcpy(ip.dst, dst, GID_BYTES);
    nd->has_mac = true;
    memcpy(nd->mac, net->config.mac, MAC_BYTES);
    out = stack_begin(net, &ip, frame, sizeof(frame));
    nd_build(nd, &ip, &out);
    stack_end(net, &ip, frame, &out);
}

void arp_nd_ask(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    uint8_t group[GID_BYTES];
    struct nd nd = {.advert = false};

    if (gid_is_ipv4(gid)) {
        const struct arp arp = arp_from_us(net, gid, NULL);

        send_arp(net, &arp, everybody);
        return;
    }
    memcpy(nd.target, gid, GID_BYTES);
    ipv6_solicited_group(group, gid);
    send_nd(net, &nd, group);
}

void guest_net_announce(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    struct arp arp = arp_from_us(net, gid, NULL);

    memcpy(arp.sender, gid, GID_BYTES);
    send_arp(net, &arp, everybody);
}

enum drop_reason arp_receive(struct guest_net *net, struct rd_cur *in)
{
    struct arp arp;
    const enum drop_reason why = arp_parse(&arp, in);
    bool wanted;

    if (why != DROP_NONE)
        return why;
    if (!stack_answers_for(net, arp.target)) {
        /* Not for this guest, but it may update a neighbour that is known already. */
        wanted = neighbour_heard(net, arp.sender, arp.sender_mac, false);
        return wanted ? DROP_NONE : DROP_NO_SUCH_GID;
    }
    wanted = neighbour_heard(net, arp.sender, arp.sender_mac, !arp.reply);
    if (!arp.reply) {
        struct arp answer = arp_from_us(net, arp.sender, arp.sender_mac);

        memcpy(answer.sender, arp.target, GID_BYTES);
        send_arp(net, &answer, arp.sender_mac);
        return DROP_NONE;
    }
    return wanted ? DROP_NONE : DROP_GHOST_REPLY;
}

/* Answers a solicitation.  One without a source address is duplicate address detection: the answer
 * goes to all nodes.
 */
static void advertise(struct guest_net *net, const struct ip *ip, const struct nd *question)
{
    const bool has_source = stack_is_unicast(ip->src);
    struct nd nd = {.advert = true, .solicited = has_source, .override = true};
    uint8_t all[GID_BYTES];

    memcpy(nd.target, question->target, GID_BYTES);
    ipv6_all_nodes(all);
    send_nd(net, &nd, has_source ? ip->src : all);
}

enum drop_reason nd_receive(struct guest_net *net, const struct ip *ip, const struct icmp *h,
                            struct rd_cur *in)
{
    struct nd nd;
    const enum drop_reason why = nd_parse(&nd, h, ip, in);

    if (why != DROP_NONE)
        return why;
    if (gid_is_ipv4(nd.target))
        return DROP_BAD_ND; /* IPv4 addresses are resolved with ARP */
    if (nd.advert)
        return nd.has_mac && neighbour_heard(net, nd.target, nd.mac, false) ? DROP_NONE
                                                                            : DROP_GHOST_REPLY;
    if (!stack_answers_for(net, nd.target))
        return DROP_NO_SUCH_GID;
    if (nd.has_mac)
        neighbour_heard(net, ip->src, nd.mac, true);
    advertise(net, ip, &nd);
    return DROP_NONE;
}

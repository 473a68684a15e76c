/* SPDX-License-Identifier: MIT */
/* IP: demultiplexing of received frames, and output of packets. */
#include "emu/guest/ip/stack.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/guest/ip/group.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/eth.h"
#include "emu/wire/glance.h"
#include "emu/wire/mld.h"
#include "emu/wire/nd.h"
#include "emu/wire/parse.h"

void guest_net_init(struct guest_net *net, struct arena *a, const struct guest_net_config *config,
                    const struct guest_pci *pci)
{
    *net = (struct guest_net){.config = *config, .arena = a, .virtio.pci = *pci};
}

bool stack_is_own(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        if (memcmp(net->config.gid[i], gid, GID_BYTES) == 0)
            return true;
    }
    return false;
}

bool stack_answers_for(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; net->config.wire_gid && i < GUEST_GIDS; i++) {
        if (memcmp(net->config.wire_gid + i * GID_BYTES, gid, GID_BYTES) == 0)
            return true;
    }
    return stack_is_own(net, gid);
}

bool stack_is_unicast(const uint8_t gid[GID_BYTES])
{
    static const uint8_t none[GID_BYTES];
    const uint8_t first = gid[GID_IPV4_AT];

    if (gid_is_ipv4(gid))
        return first != 0 && first < 224; /* excludes this network, groups, reserved, broadcast */
    return gid[0] != 0xff && memcmp(gid, none, GID_BYTES) != 0;
}

const uint8_t *stack_source(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        if (gid_is_ipv4(net->config.gid[i]) == gid_is_ipv4(gid))
            return net->config.gid[i];
    }
    return NULL;
}

/* Returns true if @dst is the solicited-node group of one of the GUEST_GIDS addresses at @gids;
 * NULL: there are none.
 */
static bool is_solicited_of(const uint8_t *gids, const uint8_t dst[GID_BYTES])
{
    uint8_t solicited[GID_BYTES];

    for (uint32_t i = 0; gids && i < GUEST_GIDS; i++) {
        if (gid_is_ipv4(gids + i * GID_BYTES))
            continue;
        ipv6_solicited_group(solicited, gids + i * GID_BYTES);
        if (memcmp(solicited, dst, GID_BYTES) == 0)
            return true;
    }
    return false;
}

/* Returns true for the groups that every IPv6 station is in: all nodes, and its solicited-node
 * groups.
 */
static bool is_own_group(const struct guest_net *net, const uint8_t dst[GID_BYTES])
{
    uint8_t all[GID_BYTES];
    bool has_ipv6 = false;

    ipv6_all_nodes(all);
    for (uint32_t i = 0; i < GUEST_GIDS; i++)
        has_ipv6 = has_ipv6 || !gid_is_ipv4(net->config.gid[i]);
    return (has_ipv6 && memcmp(all, dst, GID_BYTES) == 0) ||
           is_solicited_of(net->config.gid[0], dst) || is_solicited_of(net->config.wire_gid, dst);
}

static void trace_drop(struct guest_net *net, const uint8_t *frame, size_t n,
                       enum drop_reason reason)
{
    TRACE(net->config.trace, drop, .host = net->config.host, .opcode = glance(frame, n).opcode,
          .reason = (uint32_t)reason, .wire_bytes = (uint32_t)n);
}

void stack_drop_tx(struct guest_net *net, const uint8_t *frame, size_t n, enum drop_reason reason)
{
    trace_drop(net, frame, n, reason);
    net->tx_drops[reason]++;
}

static enum drop_reason receive_icmp(struct guest_net *net, const struct ip *ip, struct rd_cur *in)
{
    struct icmp h;
    const enum drop_reason why = icmp_parse(&h, ip, in);

    if (why != DROP_NONE)
        return why;
    switch (h.kind) {
    case FRAME_ECHO_REQUEST:
    case FRAME_ECHO_REPLY:
        return ping_receive(net, ip, &h, in);
    case FRAME_ND_SOLICIT:
    case FRAME_ND_ADVERT:
        return nd_receive(net, ip, &h, in);
    default:
        return DROP_NO_LISTENER;
    }
}

static enum drop_reason receive_ip(struct guest_net *net, unsigned version, struct rd_cur *in)
{
    struct ip ip;
    enum drop_reason why;

    if (version == 4 && igmp_is(in))
        /* its IP header has an option, which ip_parse() refuses */
        return group_receive_igmp(net, in);
    why = ip_parse(&ip, in);
    if (why != DROP_NONE)
        return why;
    /* Rejects IPv4-mapped addresses in an IPv6 header: no IPv6 answer could be sent to them. */
    if (ip.version != version || gid_is_ipv4(ip.src) != (version == 4) ||
        gid_is_ipv4(ip.dst) != (version == 4))
        return DROP_BAD_IP_HEADER;
    if (!stack_is_own(net, ip.dst) && !is_own_group(net, ip.dst) && !group_is_joined(net, ip.dst))
        return DROP_NO_SUCH_GID;
    if (version == 6 && ip.protocol == IP_PROTOCOL_HOP_BY_HOP)
        return group_receive_mld(net, &ip, in);
    if (ip.protocol == (version == 4 ? IP_PROTOCOL_ICMP : IP_PROTOCOL_ICMPV6))
        return receive_icmp(net, &ip, in);
    return DROP_NO_LISTENER;
}

/* Returns true for another station's membership report.  Reports are for routers, but links that
 * flood multicast deliver them to every host.
 */
static bool is_report(const uint8_t *frame, size_t n)
{
    return glance(frame, n).opcode == FRAME_GROUP_REPORT;
}

void stack_receive(struct guest_net *net, const uint8_t *frame, size_t n)
{
    struct rd_cur in = rd_cur(frame, n);
    struct eth eth;
    enum drop_reason why = eth_parse(&eth, &in);

    if (why == DROP_NONE) {
        if (eth.ethertype == ETHERTYPE_ARP)
            why = arp_receive(net, &in);
        else if (eth.ethertype == ETHERTYPE_IPV4 || eth.ethertype == ETHERTYPE_IPV6)
            why = receive_ip(net, eth.ethertype == ETHERTYPE_IPV4 ? 4 : 6, &in);
        else
            why = DROP_BAD_ETHERTYPE;
    }
    if (why == DROP_NONE || (why == DROP_NO_LISTENER && is_report(frame, n))) {
        net->taken_frames++;
        return;
    }
    trace_drop(net, frame, n, why);
    net->drops[why]++;
}

struct wr_cur stack_begin(const struct guest_net *net, const struct ip *ip, uint8_t *frame,
                          size_t cap)
{
    struct wr_cur out = wr_cur(frame, cap);
    struct eth eth = {.ethertype = ip->version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6};

    memcpy(eth.src, net->config.mac, MAC_BYTES);
    eth_build(&eth, &out);
    ip_build(ip, &out);
    return out;
}

void stack_end(struct guest_net *net, const struct ip *ip, uint8_t *frame, const struct wr_cur *out)
{
    const size_t n = (size_t)(out->p - frame);
    const uint8_t *mac;

    RDL_ASSERT(!out->bad && n == ETH_BYTES + ip_header_bytes(ip->version) + ip->payload_bytes);
    if (ip->version == 6 && ipv6_is_group(ip->dst)) {
        mac_from_multicast(frame, ip->dst);
        nic_send(net, frame, n);
        return;
    }
    switch (guest_neighbour_resolve(net, ip->dst, &mac)) {
    case RDL_OK:
        memcpy(frame, mac, MAC_BYTES);
        nic_send(net, frame, n);
        break;
    case RDL_ERR_BUSY:
        neighbour_keep(net, ip->dst, frame, n);
        break;
    default:
        stack_drop_tx(net, frame, n, DROP_UNRESOLVED);
        break;
    }
}

void guest_net_timer(struct guest_net *net, uint64_t arg)
{
    if (arg >> 32 == GUEST_TIMER_NEIGHBOUR)
        neighbour_timer(net, (uint32_t)arg);
    else if (arg >> 32 == GUEST_TIMER_PING)
        ping_timer(net, (uint32_t)arg);
    else
        group_timer(net, (uint32_t)arg);
}

/* SPDX-License-Identifier: MIT */
/* ICMP echo: requests and replies, sent and received.  [RFC 792, RFC 4443] */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/guest/ip/stack.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/ip.h"

#define PING_ID 0x7264u /* the identifier of all pings of a guest */
#define HOPS    64u

static uint64_t now(const struct guest_net *net)
{
    return net->config.trace->now_ns;
}

static struct guest_ping *slot_of(struct guest_net *net, uint16_t seq)
{
    return &net->pings[seq % GUEST_PINGS_MAX];
}

const struct guest_ping *guest_ping_of(const struct guest_net *net, uint16_t seq)
{
    const struct guest_ping *p = &net->pings[seq % GUEST_PINGS_MAX];

    return p->state != PING_NONE && p->seq == seq ? p : NULL;
}

/* Byte @i of the data of every ping. */
static uint8_t pattern(uint32_t i)
{
    return (uint8_t)i;
}

static struct ip ip_to(const struct guest_net *net, const uint8_t dst[GID_BYTES],
                       const uint8_t *src, uint32_t data_bytes)
{
    const bool ipv4 = gid_is_ipv4(dst);
    struct ip ip = {
        .version = ipv4 ? 4 : 6,
        .ttl = HOPS,
        .protocol = ipv4 ? IP_PROTOCOL_ICMP : IP_PROTOCOL_ICMPV6,
        .payload_bytes = (uint16_t)(ICMP_ECHO_BYTES + data_bytes),
    };

    memcpy(ip.src, src ? src : stack_source(net, dst), GID_BYTES);
    memcpy(ip.dst, dst, GID_BYTES);
    return ip;
}

/* Builds an echo message from @src (NULL: stack_source()) to @dst in net->out, and sends it. */
static void send_echo(struct guest_net *net, const struct icmp_echo *e,
                      const uint8_t dst[GID_BYTES], const uint8_t *src)
{
    const struct ip ip = ip_to(net, dst, src, e->data_bytes);
    struct wr_cur out = stack_begin(net, &ip, net->out, net->frame_bytes);

    icmp_echo_build(e, &ip, &out);
    stack_end(net, &ip, net->out, &out);
}

/* Checks whether @dst can be pinged with @bytes of data.  Errors as guest_ping(). */
static enum rdl_status check(const struct guest_net *net, const uint8_t dst[GID_BYTES],
                             uint32_t bytes)
{
    const size_t header = ip_header_bytes(gid_is_ipv4(dst) ? 4 : 6);

    if (!net->up)
        return RDL_ERR_UNSUPPORTED;
    if (net->broken)
        return RDL_ERR_BROKEN;
    if (!stack_is_unicast(dst) || !stack_source(net, dst) || bytes > net->mtu ||
        header + ICMP_ECHO_BYTES + bytes > net->mtu)
        return RDL_ERR_INVAL;
    if (!guest_neighbour_mac(net, dst) && !nic_link_is_up(net))
        return RDL_ERR_NO_ROUTE;
    return RDL_OK;
}

enum rdl_status guest_ping(struct guest_net *net, const uint8_t dst[GID_BYTES], uint32_t bytes,
                           uint64_t timeout_ns, uint16_t *ret_seq)
{
    const uint16_t seq = (uint16_t)(net->last_seq + 1u);
    struct guest_ping *p = slot_of(net, seq);
    const enum rdl_status st = check(net, dst, bytes);
    uint8_t *data = net->in; /* free: no frame is being received now */
    const struct icmp_echo e = {.id = PING_ID, .seq = seq, .data = data, .data_bytes = bytes};
    ev_id id, before;

    if (st != RDL_OK)
        return st;
    if (p->state == PING_UNDER_WAY)
        return RDL_ERR_LIMIT;
    for (uint32_t i = 0; i < bytes; i++)
        data[i] = pattern(i);
    *p = (struct guest_ping){
        .state = PING_UNDER_WAY, .seq = seq, .bytes = bytes, .sent_ns = now(net)};
    memcpy(p->dst, dst, GID_BYTES);
    net->last_seq = seq;
    TRACE_ID(net->config.trace, id, ping_sent, .host = net->config.host, .addr = stack_ev_addr(dst),
             .seq = seq, .bytes = bytes);
    before = trace_because(net->config.trace, id);
    p->timer = sim_schedule(net->config.sim, now(net) + timeout_ns, SIM_GUEST_TIMER,
                            net->config.host, guest_timer_arg(GUEST_TIMER_PING, seq));
    send_echo(net, &e, dst, NULL);
    trace_because(net->config.trace, before);
    *ret_seq = seq;
    return RDL_OK;
}

/* Returns true if @e is the unchanged reply to @p. */
static bool answers(const struct guest_ping *p, const struct ip *ip, const struct icmp_echo *e)
{
    if (p->state != PING_UNDER_WAY || p->seq != e->seq || e->id != PING_ID ||
        memcmp(p->dst, ip->src, GID_BYTES) != 0 || e->data_bytes != p->bytes)
        return false;
    for (uint32_t i = 0; i < e->data_bytes; i++) {
        if (e->data[i] != pattern(i))
            return false;
    }
    return true;
}

static enum drop_reason receive_reply(struct guest_net *net, const struct ip *ip,
                                      const struct icmp_echo *e)
{
    struct guest_ping *p = slot_of(net, e->seq);

    if (!answers(p, ip, e))
        return DROP_GHOST_REPLY;
    sim_cancel(net->config.sim, p->timer);
    p->state = PING_ANSWERED;
    p->rtt_ns = now(net) - p->sent_ns;
    TRACE(net->config.trace, ping_reply, .host = net->config.host, .addr = stack_ev_addr(p->dst),
          .seq = p->seq, .bytes = p->bytes, .rtt = p->rtt_ns);
    return DROP_NONE;
}

enum drop_reason ping_receive(struct guest_net *net, const struct ip *ip, const struct icmp *h,
                              struct rd_cur *in)
{
    struct icmp_echo e;
    const enum drop_reason why = icmp_echo_parse(&e, h, in);

    if (why != DROP_NONE)
        return why;
    if (!stack_is_unicast(ip->src))
        return DROP_BAD_ICMP;
    if (e.reply)
        return receive_reply(net, ip, &e);
    if (ip_header_bytes(ip->version) + ip->payload_bytes > net->mtu)
        return DROP_TOO_LONG; /* the request fits, but the reply would not */
    e.reply = true;
    send_echo(net, &e, ip->src, stack_is_own(net, ip->dst) ? ip->dst : NULL);
    return DROP_NONE;
}

static void give_up(struct guest_net *net, struct guest_ping *p, enum drop_reason reason)
{
    sim_cancel(net->config.sim, p->timer);
    p->state = PING_LOST;
    p->reason = reason;
    TRACE(net->config.trace, ping_lost, .host = net->config.host, .addr = stack_ev_addr(p->dst),
          .seq = p->seq, .reason = (uint32_t)reason);
}

void ping_timer(struct guest_net *net, uint32_t seq)
{
    struct guest_ping *p = slot_of(net, (uint16_t)seq);

    RDL_ASSERT(p->state == PING_UNDER_WAY && p->seq == seq);
    p->timer = 0;
    give_up(net, p, DROP_NONE);
}

void ping_unreachable(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < GUEST_PINGS_MAX; i++) {
        struct guest_ping *p = &net->pings[i];

        if (p->state == PING_UNDER_WAY && memcmp(p->dst, gid, GID_BYTES) == 0)
            give_up(net, p, DROP_UNRESOLVED);
    }
}

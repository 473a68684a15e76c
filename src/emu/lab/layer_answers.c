/* SPDX-License-Identifier: MIT */
#include "emu/lab/layer_answers.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/arp.h"
#include "emu/wire/eth.h"
#include "emu/wire/nd.h"
#include "emu/wire/parse.h"

#define ANSWER_BYTES (ETH_BYTES + IPV6_BYTES + ND_BYTES) /* room for either kind */

/* --- Bytes ------------------------------------------------------------------------------------ */

static void begin(struct wr_cur *out, const uint8_t dst[MAC_BYTES], const uint8_t src[MAC_BYTES],
                  uint32_t ethertype)
{
    struct eth eth = {.ethertype = (uint16_t)ethertype};

    memcpy(eth.dst, dst, MAC_BYTES);
    memcpy(eth.src, src, MAC_BYTES);
    eth_build(&eth, out);
}

/* Writes the reply to the ARP request in @in, if it asks for an address of @f. */
static void answer_arp(const struct vrnic_function *f, struct rd_cur *in, struct wr_cur *out)
{
    struct arp ask, reply = {.reply = true};

    if (arp_parse(&ask, in) != DROP_NONE || ask.reply ||
        wire_place_in(f->wire[0], ask.target) == GUEST_GIDS)
        return;
    memcpy(reply.sender_mac, f->port->mac, MAC_BYTES);
    memcpy(reply.sender, ask.target, GID_BYTES);
    memcpy(reply.target_mac, ask.sender_mac, MAC_BYTES);
    memcpy(reply.target, ask.sender, GID_BYTES);
    begin(out, ask.sender_mac, f->port->mac, ETHERTYPE_ARP);
    arp_build(&reply, out);
}

/* Reads a neighbour solicitation.  Returns false if @in has another message, or a damaged one. */
static bool take_solicitation(struct rd_cur *in, struct ip *ret_ip, struct nd *ret)
{
    struct icmp h;

    return ip_parse(ret_ip, in) == DROP_NONE && ret_ip->version == 6 &&
           ret_ip->protocol == IP_PROTOCOL_ICMPV6 && icmp_parse(&h, ret_ip, in) == DROP_NONE &&
           h.kind == FRAME_ND_SOLICIT && nd_parse(ret, &h, ret_ip, in) == DROP_NONE;
}

/* Writes the advertisement for the solicitation in @in from @asker, if it asks for an address of
 * @f.  One without a source address is duplicate address detection: the answer goes to all nodes.
 */
static void answer_nd(const struct vrnic_function *f, const uint8_t asker[MAC_BYTES],
                      struct rd_cur *in, struct wr_cur *out)
{
    static const uint8_t nobody[GID_BYTES];
    struct ip ask, ip = {.version = 6,
                         .ttl = ND_HOP_LIMIT,
                         .protocol = IP_PROTOCOL_ICMPV6,
                         .payload_bytes = ND_BYTES};
    struct nd nd, advert = {.advert = true, .override = true, .has_mac = true};
    uint8_t mac[MAC_BYTES];

    if (!take_solicitation(in, &ask, &nd) || wire_place_in(f->wire[0], nd.target) == GUEST_GIDS)
        return;
    advert.solicited = memcmp(ask.src, nobody, GID_BYTES) != 0;
    memcpy(advert.target, nd.target, GID_BYTES);
    memcpy(advert.mac, f->port->mac, MAC_BYTES);
    memcpy(ip.src, nd.target, GID_BYTES);
    memcpy(ip.dst, ask.src, GID_BYTES);
    memcpy(mac, nd.has_mac ? nd.mac : asker, MAC_BYTES);
    if (!advert.solicited) {
        ipv6_all_nodes(ip.dst);
        mac_from_multicast(mac, ip.dst);
    }
    begin(out, mac, f->port->mac, ETHERTYPE_IPV6);
    ip_build(&ip, out);
    nd_build(&advert, &ip, out);
}

/* Writes the answer to @frame.  Returns its length; 0: it needs none. */
static size_t answer(const struct vrnic_function *f, const struct frame *frame,
                     uint8_t ret[ANSWER_BYTES])
{
    struct rd_cur in = rd_cur(frame->bytes, frame->len);
    struct wr_cur out = wr_cur(ret, ANSWER_BYTES);
    struct eth eth;

    if (eth_parse(&eth, &in) != DROP_NONE)
        return 0;
    if (eth.ethertype == ETHERTYPE_ARP)
        answer_arp(f, &in, &out);
    else if (eth.ethertype == ETHERTYPE_IPV6)
        answer_nd(f, eth.src, &in, &out);
    RDL_ASSERT(!out.bad);
    return (size_t)(out.p - ret);
}

/* --- The port --------------------------------------------------------------------------------- */

static bool has_frame(const void *ctx)
{
    const struct layer_answers *a = ctx;

    return a->n > 0;
}

static struct frame *take_frame(void *ctx)
{
    struct layer_answers *a = ctx;
    struct trace *t = &a->w->trace;
    struct layer_answer next;
    struct glance g;
    ev_id before;

    if (a->n == 0)
        return NULL;
    next = a->queue[a->first];
    a->first = (a->first + 1) % LAYER_ANSWERS_MAX;
    a->n--;
    g = glance(next.frame->bytes, next.frame->len);
    before = trace_because(t, next.asked);
    next.frame->tx = lab_announce(a->w, a->function->port->host, &g,
                                  next.frame->len + eth_port_tag_bytes(a->function->port));
    trace_because(t, before);
    return next.frame;
}

/* Queues the @n bytes at @bytes, the answer to @f. */
static void send(struct layer_answers *a, const struct frame *f, const uint8_t *bytes, size_t n)
{
    struct eth_port *p = a->function->port;
    struct glance g;
    struct frame *own = lab_frame(a->w, p->host, bytes, n, &g);
    ev_id id;

    if (!own) {
        eth_port_drop(p, f, DROP_NO_BUFFER);
        return;
    }
    g = glance(f->bytes, f->len);
    p->taken_frames++;
    TRACE_ID(&a->w->trace, id, eth_rx, .host = p->host, .opcode = g.opcode, .addr = lab_addr_of(&g),
             .wire_bytes = f->len, .tx = f->tx);
    a->queue[(a->first + a->n++) % LAYER_ANSWERS_MAX] = (struct layer_answer){own, id};
    eth_port_wait(p, a->port_user);
    eth_port_pump(p);
}

static void deliver(void *ctx, const struct frame *f)
{
    struct layer_answers *a = ctx;
    uint8_t bytes[ANSWER_BYTES];
    const size_t n = answer(a->function, f, bytes);

    if (n == 0)
        eth_port_drop(a->function->port, f, DROP_NO_LISTENER);
    else if (a->n == LAYER_ANSWERS_MAX)
        eth_port_drop(a->function->port, f, DROP_QUEUE_FULL);
    else
        send(a, f, bytes, n);
}

static const struct eth_user_ops user_ops = {
    .has_frame = has_frame,
    .take_frame = take_frame,
    .deliver = deliver,
};

void layer_answers_init(struct layer_answers *a, struct lab_state *w,
                        const struct vrnic_function *f)
{
    *a = (struct layer_answers){.w = w, .function = f};
    a->port_user = eth_port_use(f->port, &user_ops, a);
}

void layer_answers_forget(struct layer_answers *a)
{
    for (; a->n > 0; a->n--) {
        frame_unref(a->w->arena, a->queue[a->first].frame);
        a->first = (a->first + 1) % LAYER_ANSWERS_MAX;
    }
}

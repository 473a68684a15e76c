/* SPDX-License-Identifier: MIT */
/* A learning switch: remembers where each source MAC was seen, floods what it does not know. */
#include "emu/base/cursor.h"
#include "emu/net/internal.h"
#include "emu/wire/eth.h"

/* 2^64 divided by the golden ratio: multiplying spreads close numbers over the upper bits. */
#define HASH_RATIO 0x9e3779b97f4a7c15u

/* The place of a station in the table; one that collides displaces the older one, which is then
 * flooded to until it speaks again.
 */
static struct net_mac_entry *entry_of(struct net_switch *s, uint64_t mac)
{
    return &s->macs[mac * HASH_RATIO >> (64 - NET_MAC_BITS)];
}

static void learn(struct net_switch *s, uint64_t mac, uint32_t port)
{
    *entry_of(s, mac) = (struct net_mac_entry){.mac = mac, .used = true, .port = (uint8_t)port};
}

static void drop(struct net *n, struct net_switch *s, struct frame *f, enum drop_reason reason)
{
    s->drops[reason]++;
    net_drop(n, f, EV_HOST_NONE, reason);
}

static void out(struct net *n, struct net_switch *s, uint32_t port, struct frame *f)
{
    static const struct net_fate untouched = {.lost_by = FLT_NONE};

    if (!net_has_room(n, s->link_end[port])) {
        drop(n, s, f, DROP_NO_BUFFER);
        return;
    }
    s->sent_frames++;
    net_transmit(n, s->link_end[port], f, &untouched);
}

/* To every port but the one that it came from.  The frame itself is the first of the copies. */
static void flood(struct net *n, uint32_t index, uint32_t in_port, struct frame *f)
{
    struct net_switch *s = n->switches[index];
    const uint32_t n_out = s->n_ports - 1;

    TRACE(n->trace, flooded, .number = index, .name = s->name, .copies = n_out, .tx = f->tx);
    if (n_out == 0) {
        drop(n, s, f, DROP_NO_ROUTE);
        return;
    }
    n->counts.copied += n_out - 1;
    n->counts.in_flight += n_out - 1;
    for (uint32_t p = 0; p < s->n_ports; p++) {
        if (p != in_port)
            out(n, s, p, frame_ref(f));
    }
    frame_unref(n->arena, f);
}

void net_switch_forward(struct net *n, uint32_t index, uint32_t in_port, struct frame *f)
{
    struct net_switch *s = n->switches[index];
    const struct net_mac_entry *to;
    uint64_t dst;

    s->rcvd_frames++;
    if (f->len < ETH_BYTES) {
        drop(n, s, f, DROP_SHORT);
        return;
    }
    dst = ld_be(f->bytes, MAC_BYTES);
    learn(s, ld_be(f->bytes + MAC_BYTES, MAC_BYTES), in_port);
    to = entry_of(s, dst);
    if ((f->bytes[0] & MAC_GROUP_BIT) || !to->used || to->mac != dst) {
        flood(n, index, in_port, f);
    } else if (to->port == in_port) {
        drop(n, s, f, DROP_NO_ROUTE);
    } else {
        TRACE(n->trace, forwarded, .number = index, .name = s->name, .port = to->port, .tx = f->tx);
        out(n, s, to->port, f);
    }
}

/* SPDX-License-Identifier: MIT */
/* A learning switch: remembers the port of each source MAC, and floods frames to unknown MACs.
 *
 * It learns each VLAN on its own: one MAC may be at different ports in two VLANs.  [IEEE 802.1Q]
 * SIMPLIFIED: every port is a member of every VLAN, and tags stay as they are.  Hosts filter.
 */
#include "emu/base/cursor.h"
#include "emu/net/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/eth.h"
#include "emu/wire/vlan.h"

/* 2^64 divided by the golden ratio: multiplying spreads close numbers over the upper bits. */
#define HASH_RATIO 0x9e3779b97f4a7c15u

#define STATIONS_CAP_FIRST 16u

/* Returns the key of the MAC at @mac in the VLAN of @f. */
static uint64_t key_of(const struct frame *f, const uint8_t *mac)
{
    return ld_be(mac, MAC_BYTES) | (uint64_t)vlan_vid(f->bytes, f->len) << 8 * MAC_BYTES;
}

/* Returns the entry of @key, or the free entry where it belongs.  The table must not be empty. */
static struct net_station *place(const struct net_switch *s, uint64_t key)
{
    const uint32_t last = s->stations_cap - 1;
    uint32_t i = (uint32_t)(key * HASH_RATIO >> 32) & last;

    while (s->stations[i].port && s->stations[i].key != key)
        i = (i + 1) & last;
    return &s->stations[i];
}

/* Doubles the table.  Returns false if it has its maximum size, or the arena is full. */
static bool grow(struct arena *a, struct net_switch *s)
{
    struct net_switch more = *s;

    if (s->stations_cap == 2 * NET_STATIONS_MAX)
        return false;
    more.stations_cap = s->stations_cap ? 2 * s->stations_cap : STATIONS_CAP_FIRST;
    more.stations = arena_alloc(a, more.stations_cap * sizeof(*more.stations));
    if (!more.stations)
        return false;
    for (uint32_t i = 0; i < s->stations_cap; i++) {
        if (s->stations[i].port)
            *place(&more, s->stations[i].key) = s->stations[i];
    }
    arena_release(a, s->stations, s->stations_cap * sizeof(*s->stations));
    *s = more;
    return true;
}

/* Learns the port of @key.  When the table is full, a new MAC is not learnt: frames to it are
 * flooded.
 */
static void learn(struct net *n, struct net_switch *s, uint64_t key, uint32_t port)
{
    struct net_station *at;

    if (s->n_stations == s->stations_cap / 2 && !grow(n->arena, s) && s->stations_cap == 0)
        return;
    at = place(s, key);
    if (!at->port && s->n_stations == s->stations_cap / 2)
        return;
    s->n_stations += !at->port;
    *at = (struct net_station){key, port + 1};
}

/* Returns the entry of @key, or NULL if it is unknown. */
static const struct net_station *station(const struct net_switch *s, uint64_t key)
{
    const struct net_station *at = s->stations_cap ? place(s, key) : NULL;

    return at && at->port ? at : NULL;
}

static void drop(struct net *n, struct net_switch *s, struct frame *f, enum drop_reason reason)
{
    s->drops[reason]++;
    net_drop(n, f, EV_HOST_NONE, reason);
}

static void out(struct net *n, struct net_switch *s, uint32_t port, struct frame *f)
{
    if (!net_is_up(n, s->link_end[port])) {
        drop(n, s, f, DROP_NO_ROUTE);
        return;
    }
    if (!net_has_room(n, s->link_end[port])) {
        drop(n, s, f, DROP_NO_BUFFER);
        return;
    }
    s->sent_frames++;
    net_transmit(n, s->link_end[port], f, &net_untouched);
}

/* Sends the frame to every port except the one that it came from.  The frame itself is the first
 * copy.
 */
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
    const struct net_station *to;

    s->rcvd_frames++;
    if (f->len < ETH_BYTES) {
        drop(n, s, f, DROP_SHORT);
        return;
    }
    learn(n, s, key_of(f, f->bytes + MAC_BYTES), in_port);
    to = station(s, key_of(f, f->bytes));
    if ((f->bytes[0] & MAC_GROUP_BIT) || !to) {
        flood(n, index, in_port, f);
    } else if (to->port == in_port + 1) {
        drop(n, s, f, DROP_NO_ROUTE);
    } else {
        TRACE(n->trace, forwarded, .number = index, .name = s->name, .port = to->port - 1,
              .tx = f->tx);
        out(n, s, to->port - 1, f);
    }
}

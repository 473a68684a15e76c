/* SPDX-License-Identifier: MIT */
#include "emu/rnic/eth_port.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/roce.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/eth.h"
#include "emu/wire/glance.h"
#include "emu/xport/whole.h"

void eth_port_init(struct eth_port *p, struct net *net, struct progress *progress, uint32_t host,
                   const uint8_t mac[MAC_BYTES], uint32_t mtu)
{
    RDL_ASSERT(mtu >= ETHERNET_MTU_MIN && mtu <= ETHERNET_MTU_MAX);
    *p = (struct eth_port){.host = host,
                           .mtu = mtu,
                           .net = net,
                           .trace = net->trace,
                           .progress = progress,
                           .link_end = NET_NO_LINK};
    memcpy(p->mac, mac, MAC_BYTES);
}

bool eth_port_is_up(const struct eth_port *p)
{
    return p->sw ? eswitch_is_up(p->sw, p->vport) : net_is_up(p->net, p->link_end);
}

uint32_t eth_port_use(struct eth_port *p, const struct eth_user_ops *ops, void *ctx)
{
    RDL_ASSERT(p->n_users < ETH_PORT_USERS_MAX);
    p->users[p->n_users] = (struct eth_user){ops, ctx};
    return p->n_users++;
}

static uint64_t now(const struct eth_port *p)
{
    return sim_now(p->net->sim);
}

static uint64_t free_at(const struct eth_port *p)
{
    const uint64_t loop = p->loop_free_at_ns;
    const uint64_t line = p->link_end == NET_NO_LINK ? 0 : net_port_free_at(p->net, p->link_end);

    return line > loop ? line : loop;
}

/* Returns true if a waiting user has a frame.  Clears the waiting bits of those that have none.
 */
bool eth_port_has_frame(struct eth_port *p)
{
    for (uint32_t i = 0; i < p->n_users; i++) {
        const struct eth_user *u = &p->users[i];

        if ((p->waiting & 1u << i) == 0)
            continue;
        if (u->ops->has_frame(u->ctx))
            return true;
        p->waiting &= ~(1u << i);
    }
    return false;
}

/* Takes a frame from the user whose turn it is, or from the next one that has one.  Returns
 * NULL if none has.
 */
static struct frame *take_frame(struct eth_port *p)
{
    for (uint32_t i = 0; i < p->n_users; i++) {
        const uint32_t who = (p->turn + i) % p->n_users;
        const struct eth_user *u = &p->users[who];
        struct frame *f = p->waiting & 1u << who ? u->ops->take_frame(u->ctx) : NULL;

        if (f) {
            p->turn = (who + 1) % p->n_users;
            return f;
        }
    }
    return NULL;
}

/* Returns true for RoCEv2, with a tag or without, to a multicast group at the MAC of the group. */
static bool is_to_group(const struct frame *f, uint8_t ret_dst[GID_BYTES])
{
    uint8_t mac[MAC_BYTES];
    size_t tag;

    if (!(f->bytes[0] & MAC_GROUP_BIT))
        return false;
    tag = vlan_bytes(f->bytes, f->len);
    if (!glance_is_roce(f->bytes + tag, f->len - tag, ret_dst) || !gid_is_group(ret_dst))
        return false;
    mac_from_multicast(mac, ret_dst);
    return memcmp(f->bytes, mac, MAC_BYTES) == 0;
}

static bool is_member(const struct eth_user *u, const uint8_t group[GID_BYTES])
{
    return u->ops->is_member && u->ops->is_member(u->ctx, group);
}

bool eth_port_is_own_group(const struct eth_port *p, const struct frame *f)
{
    uint8_t group[GID_BYTES];

    if (!is_to_group(f, group))
        return false;
    for (uint32_t i = 0; i < p->n_users; i++) {
        if (is_member(&p->users[i], group))
            return true;
    }
    return false;
}

bool eth_port_owns(const struct eth_port *p, const uint8_t addr[GID_BYTES])
{
    for (uint32_t i = 0; i < p->n_addresses; i++) {
        if (memcmp(p->addresses[i], addr, GID_BYTES) == 0)
            return true;
    }
    for (uint32_t i = 0; i < p->n_users; i++) {
        const struct eth_user *u = &p->users[i];

        if (u->ops->owns && u->ops->owns(u->ctx, addr))
            return true;
    }
    return false;
}

/* Pushes the tag of the port's VLAN, if it has one.  Takes the reference.  Returns NULL when the
 * arena is full.
 */
static struct frame *with_tag(struct eth_port *p, struct frame *f)
{
    return p->vid ? frame_tag(p->net->arena, f, vlan_tci(p->vid, p->pcp)) : f;
}

static void count_sent(struct eth_port *p, const struct frame *f)
{
    p->sent_frames++;
    p->sent_bytes += f->len;
    p->progress->packets++;
    p->looped_frames += memcmp(f->bytes, p->mac, MAC_BYTES) == 0;
}

struct frame *eth_port_take(struct eth_port *p)
{
    struct frame *f = take_frame(p);

    if (f && f->cargo) {
        p->progress->packets++;
        p->whole_sent_frames += whole_of(f)->n_pkts;
        p->whole_sent_bytes += eswitch_whole_bytes(p, f);
        return f;
    }
    if (f)
        f = with_tag(p, f);
    if (f)
        count_sent(p, f);
    return f;
}

static void send(struct eth_port *p, struct frame *f)
{
    const bool to_self = memcmp(f->bytes, p->mac, MAC_BYTES) == 0;
    const bool to_own_group = !to_self && eth_port_is_own_group(p, f);

    f = with_tag(p, f);
    if (!f)
        return; /* the arena is full: the lab stops */
    count_sent(p, f);
    if (to_self) {
        p->loop_free_at_ns = now(p) + NET_LOOPBACK_NS;
        net_loop_back(p->net, p->host, f);
    } else {
        if (to_own_group)
            net_loop_copy(p->net, p->host, f);
        if (!net_send(p->net, p->link_end, f))
            p->tx_drops[DROP_NO_ROUTE]++;
    }
}

void eth_port_pump(struct eth_port *p)
{
    if (p->egress_due || p->waiting == 0)
        return;
    if (p->sw) {
        eswitch_pump(p->sw, p->vport);
        return;
    }
    if (free_at(p) <= now(p)) {
        struct frame *f = take_frame(p);

        if (f)
            send(p, f);
    }
    if (eth_port_has_frame(p)) {
        const uint64_t at = free_at(p);

        p->egress_due = true;
        sim_enqueue(p->net->sim, at > now(p) ? at : now(p), SIM_EGRESS, p->host, 0);
    }
}

void eth_port_egress(struct eth_port *p)
{
    p->egress_due = false;
    eth_port_pump(p);
}

const char *eth_port_invariant(const struct eth_port *p)
{
    for (uint32_t i = 0; i < p->n_users; i++) {
        const struct eth_user *u = &p->users[i];

        if (u->ops->has_frame(u->ctx) && (p->waiting & 1u << i) == 0)
            return "a function that has a frame waits for the port";
    }
    return NULL;
}

void eth_port_refuse(struct eth_port *p, const struct frame *f, uint32_t reason,
                     const struct compared *values)
{
    TRACE(p->trace, drop, .host = p->host, .qpn = f->note.dest_qpn, .opcode = f->note.opcode,
          .psn = f->note.psn, .reason = (uint32_t)reason, .wire_bytes = f->len + f->tag_bytes,
          .tx = f->tx, .least = values->least, .most = values->most, .found = values->found,
          .cm = f->note.cm);
    p->drops[reason]++;
    p->copied_dropped += f->cargo != NULL;
}

void eth_port_drop(struct eth_port *p, const struct frame *f, uint32_t reason)
{
    eth_port_refuse(p, f, reason, &(struct compared){0});
}

static const struct eth_user *network_device(const struct eth_port *p)
{
    uint32_t i = 0;

    while (i < p->n_users && p->users[i].ops->owns)
        i++;
    RDL_ASSERT(i < p->n_users);
    return &p->users[i];
}

/* The RNIC that has the GID @dst; NULL: none has it. */
static const struct eth_user *owner_of(const struct eth_port *p, const uint8_t dst[GID_BYTES])
{
    for (uint32_t i = 0; i < p->n_users; i++) {
        const struct eth_user *u = &p->users[i];

        if (u->ops->owns && u->ops->owns(u->ctx, dst))
            return u;
    }
    return NULL;
}

bool eth_port_has_gid(const struct eth_port *p, const uint8_t gid[GID_BYTES])
{
    return owner_of(p, gid) != NULL;
}

/* The user that gets a frame to the own MAC. */
static const struct eth_user *user_of(const struct eth_port *p, const struct frame *f)
{
    uint8_t dst[GID_BYTES];
    const struct eth_user *owner = glance_is_roce(f->bytes, f->len, dst) ? owner_of(p, dst) : NULL;

    return owner ? owner : network_device(p);
}

static void pass(const struct eth_user *u, const struct frame *f)
{
    u->ops->deliver(u->ctx, f);
}

/* Passes a multicast frame to the RNICs in its group, or to the network device. */
static void deliver_to_group(struct eth_port *p, const struct frame *f)
{
    uint8_t group[GID_BYTES];
    const bool to_group = is_to_group(f, group);
    uint32_t n = 0;

    for (uint32_t i = 0; to_group && i < p->n_users; i++) {
        if (!is_member(&p->users[i], group))
            continue;
        p->group_copies += n++ > 0;
        pass(&p->users[i], f);
    }
    if (n == 0)
        pass(network_device(p), f);
}

static bool is_to_own_mac(const struct eth_port *p, const struct frame *f)
{
    return memcmp(f->bytes, p->mac, MAC_BYTES) == 0;
}

/* Passes a frame without a tag to users, or drops it. */
static void deliver_plain(struct eth_port *p, const struct frame *f)
{
    if (is_to_own_mac(p, f))
        pass(user_of(p, f), f);
    else if (f->bytes[0] & MAC_GROUP_BIT)
        deliver_to_group(p, f);
    else
        eth_port_drop(p, f, DROP_NOT_FOR_US);
}

/* Receives a frame that has a tag, or should have one.  A frame to another MAC is dropped for that
 * reason, because a switch may flood it to every station.
 */
static void deliver_tagged(struct eth_port *p, const struct frame *f)
{
    struct frame *plain;

    if (!is_to_own_mac(p, f) && !(f->bytes[0] & MAC_GROUP_BIT)) {
        eth_port_drop(p, f, DROP_NOT_FOR_US);
        return;
    }
    if (!vlan_is_tagged(f->bytes, f->len) || vlan_vid(f->bytes, f->len) != p->vid) {
        eth_port_drop(p, f, DROP_OTHER_VLAN);
        return;
    }
    plain = frame_untag(p->net->arena, f);
    if (plain)
        deliver_plain(p, plain);
    frame_unref(p->net->arena, plain);
}

/* Passes a message that travels whole to the RNIC that it is for. */
static void deliver_whole(struct eth_port *p, const struct frame *f)
{
    const struct eth_user *owner = owner_of(p, whole_of(f)->p.ip.dst);

    p->whole_rcvd_frames += whole_of(f)->n_pkts;
    p->whole_rcvd_bytes += eswitch_whole_bytes(p, f);
    if (owner)
        pass(owner, f);
    else
        eth_port_drop(p, f, DROP_NO_SUCH_GID);
}

void eth_port_deliver(struct eth_port *p, const struct frame *f)
{
    if (f->cargo) {
        deliver_whole(p, f);
        return;
    }
    p->rcvd_frames++;
    p->rcvd_bytes += f->len;
    if (f->len < ETH_BYTES)
        eth_port_drop(p, f, DROP_SHORT);
    else if (p->vid || vlan_is_tagged(f->bytes, f->len))
        deliver_tagged(p, f);
    else
        deliver_plain(p, f);
}

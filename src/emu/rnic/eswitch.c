/* SPDX-License-Identifier: MIT */
#include "emu/rnic/eswitch.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/rnic/cm_mux.h"
#include "emu/rnic/eth_port.h"
#include "emu/rnic/turns.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/eth.h"
#include "emu/wire/glance.h"
#include "emu/wire/vlan.h"
#include "emu/xport/whole.h"

#define MAC_BROADCAST UINT64_C(0xffffffffffff)

static uint64_t now(const struct eswitch *s)
{
    return sim_now(s->net->sim);
}

bool eswitch_init(struct eswitch *s, struct arena *a, struct net *net, uint32_t host,
                  uint32_t n_ports,
                  void (*pass)(void *world, struct eth_port *p, const struct frame *f), void *world)
{
    *s = (struct eswitch){.host = host,
                          .net = net,
                          .link_end = NET_NO_LINK,
                          .n_ports = n_ports,
                          .n_enabled = n_ports - 1,
                          .ports = arena_alloc(a, n_ports * sizeof(*s->ports)),
                          .queue = arena_alloc(a, n_ports * sizeof(*s->queue)),
                          .pass = pass,
                          .world = world};
    for (uint32_t i = 1; s->ports && i < n_ports; i++)
        s->ports[i].set.spoofchk = true;
    return s->ports && s->queue;
}

/* --- MAC addresses of ports ------------------------------------------------------------------- */

static bool is_set(const uint8_t mac[MAC_BYTES])
{
    return ld_be(mac, MAC_BYTES) != 0;
}

const uint8_t *eswitch_mac(const struct eswitch *s, uint32_t number)
{
    const struct vport *v = &s->ports[number];

    if (is_set(v->set.mac) && !(v->set.trust && v->port))
        return v->set.mac;
    return v->port ? v->port->mac : NULL;
}

static uint32_t hash(const uint8_t mac[MAC_BYTES])
{
    return (mac[MAC_BYTES - 1] + 7u * mac[MAC_BYTES - 2]) % ESWITCH_LISTS;
}

/* Adds port @number, which has a host, to the list of its MAC.  A list has its ports in order. */
static void list_port(struct eswitch *s, uint32_t number)
{
    uint32_t *at = &s->lists[hash(eswitch_mac(s, number))];

    while (*at && *at < number + 1)
        at = &s->ports[*at - 1].next_in_list;
    s->ports[number].next_in_list = *at;
    *at = number + 1;
}

/* Takes port @number, which has a host, from the list of its MAC.  Call it before the MAC changes.
 */
static void unlist_port(struct eswitch *s, uint32_t number)
{
    uint32_t *at = &s->lists[hash(eswitch_mac(s, number))];

    while (*at != number + 1)
        at = &s->ports[*at - 1].next_in_list;
    *at = s->ports[number].next_in_list;
}

/* Returns the port that takes frames to @mac in VLAN @vid, or TURNS_NOBODY.  Of two with one MAC it
 * is the first.  @ret_other_vlan is true if @mac is that of a port in another VLAN.
 */
static uint32_t port_at(const struct eswitch *s, const uint8_t mac[MAC_BYTES], uint32_t vid,
                        bool *ret_other_vlan)
{
    *ret_other_vlan = false;
    for (uint32_t i = s->lists[hash(mac)]; i; i = s->ports[i - 1].next_in_list) {
        if (memcmp(eswitch_mac(s, i - 1), mac, MAC_BYTES) != 0)
            continue;
        if (s->ports[i - 1].port->vid == vid)
            return i - 1;
        *ret_other_vlan = true;
    }
    return TURNS_NOBODY;
}

/* As port_at(), for @f. */
static uint32_t port_of(const struct eswitch *s, const struct frame *f, bool *ret_other_vlan)
{
    return port_at(s, f->bytes, vlan_vid(f->bytes, f->len), ret_other_vlan);
}

/* The VLAN that is set for a function takes the place of its guest's. */
static void set_vlan(struct vport *v)
{
    for (struct eth_port *p = v->port; p; p = p->next_tenant) {
        p->vid = v->set.vlan ? v->set.vlan : v->port->own_vid;
        p->pcp = v->set.vlan ? v->set.qos : v->port->own_pcp;
    }
}

/* The place of the pointer to @p in the list of tenants, or that of its end if @p is NULL. */
static struct eth_port **tenant_place(struct vport *v, const struct eth_port *p)
{
    struct eth_port **at = &v->port;

    while (*at && *at != p)
        at = &(*at)->next_tenant;
    return at;
}

void eswitch_join(struct eswitch *s, uint32_t number, struct eth_port *p)
{
    struct vport *v = &s->ports[number];
    const bool is_first = !v->port;

    RDL_ASSERT(number < s->n_ports && !p->sw);
    RDL_ASSERT(!v->port || memcmp(v->port->mac, p->mac, MAC_BYTES) == 0);
    *tenant_place(v, NULL) = p;
    p->next_tenant = NULL;
    p->rcvd_before = p->rcvd_frames;
    p->own_vid = p->vid;
    p->own_pcp = p->pcp;
    p->sw = s;
    p->vport = number;
    v->turn = v->turn ? v->turn : p;
    set_vlan(v);
    if (is_first)
        list_port(s, number);
}

/* The tenant after @p, in turn. */
static struct eth_port *after(const struct vport *v, const struct eth_port *p)
{
    return p->next_tenant ? p->next_tenant : v->port;
}

/* Returns true if messages of connection managers go through a multiplexer at port @number. */
static bool has_mux(const struct eswitch *s, uint32_t number)
{
    return s->mux && number == ESWITCH_PF;
}

void eswitch_leave(struct eth_port *p)
{
    struct eswitch *s = p->sw;
    struct vport *v = &s->ports[p->vport];

    if (has_mux(s, p->vport))
        cm_mux_leave(s->mux, p->host);
    if (v->port == p && !p->next_tenant)
        unlist_port(s, p->vport);
    v->left += p->rcvd_frames - p->rcvd_before;
    if (v->turn == p)
        v->turn = after(v, p);
    *tenant_place(v, p) = p->next_tenant;
    p->next_tenant = NULL;
    p->sw = NULL;
    p->vid = p->own_vid;
    p->pcp = p->own_pcp;
    if (!v->port) {
        turns_leave(s, p->vport);
        *v = (struct vport){.set = v->set, .counts = v->counts};
    }
    set_vlan(v);
}

void eswitch_set(struct eswitch *s, uint32_t number, const struct rdl_vf_settings *to)
{
    struct vport *v = &s->ports[number];

    if (v->port)
        unlist_port(s, number);
    s->n_guaranteed -= v->set.min_tx_bps > 0;
    v->set = *to;
    if (v->port)
        list_port(s, number);
    set_vlan(v);
    s->n_guaranteed += v->set.min_tx_bps > 0;
    v->next_ns = 0; /* the past does not count under new rates */
    v->paid_ns = now(s);
    if (v->is_waiting)
        eswitch_pump(s, number);
}

bool eswitch_is_up(const struct eswitch *s, uint32_t number)
{
    if (number > s->n_enabled)
        return false;
    switch (s->ports[number].set.state) {
    case VF_enable:
        return true;
    case VF_disable:
        return false;
    default:
        return net_is_up(s->net, s->link_end);
    }
}

/* --- Transmit --------------------------------------------------------------------------------- */

static bool is_shared(const struct vport *v)
{
    return v->port && v->port->next_tenant;
}

static bool is_unspecified(const uint8_t addr[GID_BYTES])
{
    static const uint8_t none[GID_BYTES];
    uint8_t none_ipv4[GID_BYTES];

    gid_from_ipv4(none_ipv4, none);
    return memcmp(addr, none, GID_BYTES) == 0 || memcmp(addr, none_ipv4, GID_BYTES) == 0;
}

/* Returns true if @f, from a tenant @p of a shared port, has the source address of somebody else.
 * The machine itself is believed, as its kernel shares the port out.
 */
static bool is_foreign(const struct eth_port *p, const struct frame *f)
{
    uint8_t src[GID_BYTES], dst[GID_BYTES];

    return p->host != p->sw->host && glance_addresses(f->bytes, f->len, src, dst) &&
           !is_unspecified(src) && !eth_port_owns(p, src);
}

/* The reason why tenant @p may not send from @mac in VLAN @vid, or DROP_NONE. */
static enum drop_reason judge(const struct eth_port *p, const uint8_t mac[MAC_BYTES], uint32_t vid)
{
    const struct vport *v = &p->sw->ports[p->vport];

    if (v->set.spoofchk && memcmp(mac, eswitch_mac(p->sw, p->vport), MAC_BYTES) != 0)
        return DROP_SPOOFED;
    if (v->set.vlan && vid != v->set.vlan)
        return DROP_OTHER_VLAN;
    return DROP_NONE;
}

/* The reason why tenant @p may not send @f, or DROP_NONE.  A frame to its own port needs no link.
 */
static enum drop_reason judge_frame(const struct eth_port *p, const struct frame *f)
{
    const struct vport *v = &p->sw->ports[p->vport];
    enum drop_reason why;
    bool other_vlan;

    if (f->len < ETH_BYTES)
        return DROP_SHORT;
    if (!eswitch_is_up(p->sw, p->vport) && port_of(p->sw, f, &other_vlan) != p->vport)
        return DROP_NO_ROUTE;
    why = judge(p, f->bytes + MAC_BYTES, vlan_vid(f->bytes, f->len));
    if (why == DROP_NONE && is_shared(v) && (v->set.spoofchk || p->vport == ESWITCH_PF) &&
        is_foreign(p, f))
        return DROP_FOREIGN_SOURCE;
    return why;
}

/* The tenant with the GID @gid at the port with the MAC @mac in VLAN @vid; NULL: there is none. */
static struct eth_port *tenant_owning(const struct eswitch *s, const uint8_t mac[MAC_BYTES],
                                      uint32_t vid, const uint8_t gid[GID_BYTES])
{
    bool other_vlan;
    const uint32_t at = port_at(s, mac, vid, &other_vlan);
    struct eth_port *p = at == TURNS_NOBODY ? NULL : s->ports[at].port;

    while (p && !eth_port_has_gid(p, gid))
        p = p->next_tenant;
    return p;
}

bool eswitch_reaches(const struct eth_port *p, const uint8_t mac[MAC_BYTES],
                     const uint8_t gid[GID_BYTES])
{
    const struct eswitch *s = p->sw;
    const struct eth_port *to = tenant_owning(s, mac, p->vid, gid);

    return to && to != p && eswitch_is_up(s, p->vport) && eswitch_is_up(s, to->vport) &&
           judge(p, p->mac, p->vid) == DROP_NONE;
}

uint64_t eswitch_whole_bytes(const struct eth_port *p, const struct frame *f)
{
    const struct whole *w = whole_of(f);

    return w->wire_bytes + (uint64_t)w->n_pkts * eth_port_tag_bytes(p);
}

/* Sends a message that travels whole: eswitch_reaches() has allowed it just now. */
static void carry(struct eswitch *s, struct vport *v, struct frame *f)
{
    v->counts.copied++;
    v->counts.copied_bytes += whole_of(f)->p.payload_bytes;
    v->counts.whole_frames += whole_of(f)->n_pkts;
    s->local_free_at_ns = now(s) + NET_LOOPBACK_NS;
    net_carry(s->net, s->host, f);
}

static void send_local(struct eswitch *s, struct vport *v, struct frame *f)
{
    v->counts.local_frames++;
    s->local_free_at_ns = now(s) + NET_LOOPBACK_NS;
    net_loop_back(s->net, s->host, f);
}

/* Returns true if tenant @p takes a frame to a group.  The sender gets its own frame only if one of
 * its RNICs is in the group.
 */
static bool takes_group(const struct eth_port *p, const struct frame *f)
{
    return eswitch_is_up(p->sw, p->vport) && p->vid == vlan_vid(f->bytes, f->len) &&
           (p->host != f->note.host || eth_port_is_own_group(p, f));
}

static bool any_takes_group(const struct eswitch *s, const struct frame *f)
{
    for (uint32_t i = 0; i < s->n_ports; i++) {
        for (const struct eth_port *p = s->ports[i].port; p; p = p->next_tenant) {
            if (takes_group(p, f))
                return true;
        }
    }
    return false;
}

static void send_out(struct eth_port *p, struct frame *f)
{
    struct eswitch *s = p->sw;
    const uint32_t bytes = f->len; /* net_send() takes the frame */

    if ((f->bytes[0] & MAC_GROUP_BIT) && any_takes_group(s, f))
        net_loop_copy(s->net, s->host, f);
    if (net_send(s->net, s->link_end, f)) {
        s->sent_frames++;
        s->sent_bytes += bytes;
    } else {
        p->tx_drops[DROP_NO_ROUTE]++;
        s->ports[p->vport].counts.tx_dropped++;
    }
}

void eswitch_send(struct eth_port *p, struct frame *f)
{
    struct eswitch *s = p->sw;
    struct vport *v = &s->ports[p->vport];
    const enum drop_reason reason = judge_frame(p, f);
    struct mux_message message;
    bool other_vlan;

    if (reason == DROP_NONE && has_mux(s, p->vport) && cm_mux_read(f->bytes, f->len, &message))
        cm_mux_sent(s->mux, p->host, &message, now(s));
    if (reason != DROP_NONE) {
        p->tx_drops[reason]++;
        v->counts.tx_dropped++;
        net_refuse(s->net, f, p->host, reason);
    } else if (!(f->bytes[0] & MAC_GROUP_BIT) && port_of(s, f, &other_vlan) != TURNS_NOBODY) {
        send_local(s, v, f);
    } else {
        send_out(p, f);
    }
}

/* Takes a frame of @v from the tenant whose turn it is, or from the next one that has one, which
 * *@ret_from is then.  Returns NULL if none has.
 */
static struct frame *take_frame(struct vport *v, struct eth_port **ret_from)
{
    struct eth_port *p = v->turn;
    struct frame *f;

    do {
        f = eth_port_has_frame(p) ? eth_port_take(p) : NULL;
        *ret_from = p;
        p = after(v, p);
    } while (!f && p != v->turn);
    v->turn = p;
    return f;
}

static void serve(struct eswitch *s)
{
    struct eth_port *from;
    uint32_t number;
    struct frame *f;

    if (s->egress_due && s->egress_ns <= now(s))
        return;
    number = turns_free_at(s) <= now(s) ? turns_choose(s) : TURNS_NOBODY;
    f = number == TURNS_NOBODY ? NULL : take_frame(&s->ports[number], &from);
    if (f && f->cargo) {
        turns_charge(s, &s->ports[number], eswitch_whole_bytes(from, f), whole_of(f)->n_pkts);
        carry(s, &s->ports[number], f);
    } else if (f) {
        turns_charge(s, &s->ports[number], f->len, 1);
        eswitch_send(from, f);
    }
    turns_schedule(s);
}

void eswitch_pump(struct eswitch *s, uint32_t number)
{
    turns_join(s, number);
    serve(s);
}

void eswitch_egress(struct eswitch *s)
{
    s->egress_due = false;
    serve(s);
}

/* --- Receive ---------------------------------------------------------------------------------- */

static void drop(struct eswitch *s, const struct frame *f, enum drop_reason reason)
{
    TRACE(s->net->trace, drop, .host = s->host, .qpn = f->note.dest_qpn, .opcode = f->note.opcode,
          .psn = f->note.psn, .reason = (uint32_t)reason, .wire_bytes = f->len, .tx = f->tx,
          .cm = f->note.cm);
    s->drops[reason]++;
}

static void pass(struct eswitch *s, struct eth_port *p, const struct frame *f)
{
    s->passed++;
    s->ports[p->vport].passed++;
    s->pass(s->world, p, f);
}

/* Passes @f to the tenants of port @number that take it.  Returns their number. */
static uint32_t deliver_to_tenants(struct eswitch *s, uint32_t number, const struct frame *f)
{
    uint32_t n = 0;

    for (struct eth_port *p = s->ports[number].port; p; p = p->next_tenant) {
        if (!takes_group(p, f))
            continue;
        n++;
        pass(s, p, f);
    }
    return n;
}

static void deliver_to_group(struct eswitch *s, const struct frame *f)
{
    const bool broadcast = ld_be(f->bytes, MAC_BYTES) == MAC_BROADCAST;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_ports; i++) {
        struct vport_counts *c = &s->ports[i].counts;
        const uint32_t takers = deliver_to_tenants(s, i, f);

        *(broadcast ? &c->rcvd_broadcast : &c->rcvd_multicast) += takers > 0;
        n += takers;
    }
    s->copies += n > 0 ? n - 1 : 0;
    if (n == 0)
        drop(s, f, DROP_NOT_FOR_US);
}

/* The tenant of @v, which has one, that a frame to its MAC is for. */
static struct eth_port *tenant_of(const struct vport *v, const struct frame *f)
{
    uint8_t src[GID_BYTES], dst[GID_BYTES];

    if (!is_shared(v) || !glance_addresses(f->bytes, f->len, src, dst))
        return v->port;
    for (struct eth_port *p = v->port; p; p = p->next_tenant) {
        if (eth_port_owns(p, dst))
            return p;
    }
    return v->port;
}

/* The tenant of @v whose host is @host, or NULL. */
static struct eth_port *tenant_with(const struct vport *v, uint32_t host)
{
    struct eth_port *p = v->port;

    while (p && p->host != host)
        p = p->next_tenant;
    return p;
}

/* Passes @f to the tenant of port @number that it is for. */
static void deliver_to_port(struct eswitch *s, uint32_t number, const struct frame *f)
{
    struct mux_message message;
    enum drop_reason reason;
    uint32_t host;

    if (!has_mux(s, number) || !cm_mux_read(f->bytes, f->len, &message)) {
        pass(s, tenant_of(&s->ports[number], f), f);
        return;
    }
    reason = cm_mux_route(s->mux, &message, now(s), &host);
    if (reason == DROP_NONE)
        pass(s, tenant_with(&s->ports[number], host), f);
    else
        drop(s, f, reason);
}

/* Passes a message that travels whole to its port, which may have gone meanwhile. */
static void deliver_whole(struct eswitch *s, const struct frame *f)
{
    const struct packet *m = &whole_of(f)->p;
    struct eth_port *to = tenant_owning(s, m->eth.dst, m->tci, m->ip.dst);

    if (to && eswitch_is_up(s, to->vport)) {
        s->pass(s->world, to, f);
        return;
    }
    s->lost++;
    drop(s, f, to ? DROP_NO_ROUTE : DROP_NOT_FOR_US);
}

void eswitch_deliver(struct eswitch *s, const struct frame *f)
{
    bool other_vlan;
    uint32_t to;

    if (f->cargo) {
        deliver_whole(s, f);
        return;
    }
    s->arrived++;
    if (f->len < ETH_BYTES) {
        drop(s, f, DROP_SHORT);
        return;
    }
    if (f->bytes[0] & MAC_GROUP_BIT) {
        deliver_to_group(s, f);
        return;
    }
    to = port_of(s, f, &other_vlan);
    if (to == TURNS_NOBODY)
        drop(s, f, other_vlan ? DROP_OTHER_VLAN : DROP_NOT_FOR_US);
    else if (!eswitch_is_up(s, to) && !tenant_with(&s->ports[to], f->note.host))
        drop(s, f, DROP_NO_ROUTE);
    else
        deliver_to_port(s, to, f);
}

/* Checks the tenants of port @number, and adds the frames that they have received to *@rcvd. */
static const char *tenants_invariant(const struct eswitch *s, uint32_t number, uint64_t *rcvd)
{
    const struct vport *v = &s->ports[number];
    bool has_turn = !v->port;

    for (struct eth_port *p = v->port; p; p = p->next_tenant) {
        *rcvd += p->rcvd_frames - p->rcvd_before;
        has_turn = has_turn || p == v->turn;
        if (p->sw != s || p->vport != number)
            return "a tenant knows the port of the embedded switch that it is at";
        if (memcmp(p->mac, v->port->mac, MAC_BYTES) != 0 || p->vid != v->port->vid)
            return "tenants of a port have one MAC and one VLAN";
    }
    return has_turn ? NULL : "it is the turn of a tenant of the port";
}

const char *eswitch_invariant(const struct eswitch *s, uint32_t number)
{
    const struct vport *v = &s->ports[number];
    uint64_t rcvd = v->left;
    const char *broken = s->mux ? cm_mux_invariant(s->mux) : NULL;

    if (!broken)
        broken = tenants_invariant(s, number, &rcvd);
    if (broken)
        return broken;
    if (turns_has_frame(v) && !v->is_waiting)
        return "a port of an embedded switch that has a frame waits for its turn";
    if (rcvd != v->passed)
        return "frames that an embedded switch passes to ports are received there";
    if (s->arrived + s->copies + s->lost != s->passed + net_drops_sum(s->drops))
        return "frames that reach an embedded switch are passed to ports or dropped";
    return NULL;
}

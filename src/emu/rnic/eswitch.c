/* SPDX-License-Identifier: MIT */
#include "emu/rnic/eswitch.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/rnic/eth_port.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/eth.h"
#include "emu/wire/vlan.h"

#define NOBODY        UINT32_MAX
#define MAC_BROADCAST UINT64_C(0xffffffffffff)

static uint64_t now(const struct eswitch *s)
{
    return sim_now(s->net->sim);
}

bool eswitch_init(struct eswitch *s, struct arena *a, struct net *net, uint32_t host,
                  uint32_t n_ports, void (*pass)(void *world, uint32_t host, const struct frame *f),
                  void *world)
{
    *s = (struct eswitch){.host = host,
                          .net = net,
                          .link_end = NET_NO_LINK,
                          .n_ports = n_ports,
                          .ports = arena_alloc(a, n_ports * sizeof(*s->ports)),
                          .queue = arena_alloc(a, n_ports * sizeof(*s->queue)),
                          .pass = pass,
                          .world = world};
    for (uint32_t i = 1; s->ports && i < n_ports; i++)
        s->ports[i].set.spoofchk = true;
    return s->ports && s->queue;
}

static uint32_t *place(struct eswitch *s, uint32_t i)
{
    const uint32_t at = s->first + i;

    return &s->queue[at < s->n_ports ? at : at - s->n_ports];
}

static void put_last(struct eswitch *s, uint32_t number)
{
    s->len++;
    *place(s, s->len - 1) = number;
}

/* Removes place @i of the queue.  The others keep their order. */
static uint32_t take(struct eswitch *s, uint32_t i)
{
    const uint32_t number = *place(s, i);

    for (; i > 0; i--)
        *place(s, i) = *place(s, i - 1);
    s->first = s->first + 1 == s->n_ports ? 0 : s->first + 1;
    s->len--;
    return number;
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

static uint32_t *list_of(struct eswitch *s, const uint8_t mac[MAC_BYTES])
{
    return &s->lists[(mac[MAC_BYTES - 1] + 7u * mac[MAC_BYTES - 2]) % ESWITCH_LISTS];
}

static void sort_again(struct eswitch *s)
{
    memset(s->lists, 0, sizeof(s->lists));
    for (uint32_t i = s->n_ports; i-- > 0;) {
        const uint8_t *mac = s->ports[i].port ? eswitch_mac(s, i) : NULL;

        if (!mac)
            continue;
        s->ports[i].next_in_list = *list_of(s, mac);
        *list_of(s, mac) = i + 1;
    }
}

/* Returns the port that takes @f, or NOBODY.  Of two with one MAC it is the first.  @ret_other_vlan
 * is true if the destination is the MAC of a port in another VLAN.
 */
static uint32_t port_of(struct eswitch *s, const struct frame *f, bool *ret_other_vlan)
{
    const uint32_t vid = vlan_vid(f->bytes, f->len);
    const uint8_t *mac = f->bytes;

    *ret_other_vlan = false;
    for (uint32_t i = *list_of(s, mac); i; i = s->ports[i - 1].next_in_list) {
        if (memcmp(eswitch_mac(s, i - 1), mac, MAC_BYTES) != 0)
            continue;
        if (s->ports[i - 1].port->vid == vid)
            return i - 1;
        *ret_other_vlan = true;
    }
    return NOBODY;
}

/* The VLAN that is set for a function takes the place of its guest's. */
static void set_vlan(struct vport *v)
{
    if (!v->port)
        return;
    v->port->vid = v->set.vlan ? v->set.vlan : v->own_vid;
    v->port->pcp = v->set.vlan ? v->set.qos : v->own_pcp;
}

void eswitch_join(struct eswitch *s, uint32_t number, struct eth_port *p)
{
    RDL_ASSERT(number < s->n_ports && !s->ports[number].port && !p->sw);
    s->ports[number].port = p;
    s->ports[number].rcvd_before = p->rcvd_frames;
    s->ports[number].own_vid = p->vid;
    s->ports[number].own_pcp = p->pcp;
    set_vlan(&s->ports[number]);
    p->sw = s;
    p->vport = number;
    sort_again(s);
}

void eswitch_leave(struct eswitch *s, uint32_t number)
{
    struct vport *v = &s->ports[number];

    for (uint32_t i = 0; v->is_waiting && i < s->len; i++) {
        if (*place(s, i) == number) {
            (void)take(s, i);
            break;
        }
    }
    s->left += v->port->rcvd_frames - v->rcvd_before;
    v->port->sw = NULL;
    v->port->vid = v->own_vid;
    v->port->pcp = v->own_pcp;
    *v = (struct vport){.set = v->set, .counts = v->counts};
    sort_again(s);
}

void eswitch_set(struct eswitch *s, uint32_t number, const struct rdl_vf_settings *to)
{
    struct vport *v = &s->ports[number];

    s->n_guaranteed -= v->set.min_tx_bps > 0;
    v->set = *to;
    set_vlan(v);
    s->n_guaranteed += v->set.min_tx_bps > 0;
    v->next_ns = 0; /* the past does not count under new rates */
    v->paid_ns = now(s);
    sort_again(s);
    if (v->is_waiting)
        eswitch_pump(s, number);
}

bool eswitch_is_up(const struct eswitch *s, uint32_t number)
{
    switch (s->ports[number].set.state) {
    case VF_enable:
        return true;
    case VF_disable:
        return false;
    default:
        return net_is_up(s->net, s->link_end);
    }
}

/* --- Turns of ports --------------------------------------------------------------------------- */

static uint64_t free_at(const struct eswitch *s)
{
    const uint64_t line = s->link_end == NET_NO_LINK ? 0 : net_port_free_at(s->net, s->link_end);

    return line > s->local_free_at_ns ? line : s->local_free_at_ns;
}

/* Returns true if @v has a frame and its maximum lets it send. */
static bool may_send(const struct eswitch *s, const struct vport *v)
{
    return v->next_ns <= now(s) && eth_port_has_frame(v->port);
}

/* Returns true if @v has not got its guarantee yet. */
static bool goes_first(const struct eswitch *s, const struct vport *v)
{
    return v->set.min_tx_bps > 0 && v->paid_ns <= now(s) && may_send(s, v);
}

static bool is_any_first(struct eswitch *s)
{
    for (uint32_t i = 0; s->n_guaranteed > 0 && i < s->len; i++) {
        if (goes_first(s, &s->ports[*place(s, i)]))
            return true;
    }
    return false;
}

/* Returns the port that sends next, and moves it to the end of the queue: others keep their places,
 * also those that wait for their maximum.  Removes ports before it that have no frame.  Returns
 * NOBODY if none may send now.
 */
static uint32_t choose(struct eswitch *s)
{
    const bool first = is_any_first(s);
    uint32_t i = 0;

    while (i < s->len) {
        const uint32_t number = *place(s, i);
        struct vport *v = &s->ports[number];

        if (!eth_port_has_frame(v->port)) {
            v->is_waiting = false;
            (void)take(s, i);
        } else if (first ? goes_first(s, v) : may_send(s, v)) {
            put_last(s, take(s, i));
            return number;
        } else {
            i++;
        }
    }
    return NOBODY;
}

/* The time from which on a port may send, or UINT64_MAX if none has a frame. */
static uint64_t next_turn(struct eswitch *s)
{
    uint64_t at = UINT64_MAX;

    for (uint32_t i = 0; i < s->len; i++) {
        const struct vport *v = &s->ports[*place(s, i)];

        if (v->next_ns < at && eth_port_has_frame(v->port))
            at = v->next_ns;
        if (at <= now(s))
            break;
    }
    return at;
}

/* Duration of @bytes and the gap at @bps, in ns, rounded up. */
static uint64_t duration(uint32_t bytes, uint64_t bps)
{
    return ((uint64_t)(bytes + NET_GAP_BYTES) * 8 * 1000000000u + bps - 1) / bps;
}

/* Counts a frame of @v.  More than the guarantee, on a line that was free, is no debt. */
static void charge(const struct eswitch *s, struct vport *v, uint32_t bytes)
{
    if (v->set.max_tx_bps)
        v->next_ns = now(s) + duration(bytes, v->set.max_tx_bps);
    if (v->set.min_tx_bps) {
        const uint64_t from = v->paid_ns < now(s) ? v->paid_ns : now(s);

        v->paid_ns = from + duration(bytes, v->set.min_tx_bps);
    }
}

/* --- Transmit --------------------------------------------------------------------------------- */

/* The reason why @v may not send @f, or DROP_NONE. */
static enum drop_reason judge(const struct eswitch *s, uint32_t number, const struct frame *f)
{
    const struct vport *v = &s->ports[number];

    if (f->len < ETH_BYTES)
        return DROP_SHORT;
    if (!eswitch_is_up(s, number))
        return DROP_NO_ROUTE;
    if (v->set.spoofchk && memcmp(f->bytes + MAC_BYTES, eswitch_mac(s, number), MAC_BYTES) != 0)
        return DROP_SPOOFED;
    if (v->set.vlan && vlan_vid(f->bytes, f->len) != v->set.vlan)
        return DROP_OTHER_VLAN;
    return DROP_NONE;
}

static void send_local(struct eswitch *s, struct vport *v, struct frame *f)
{
    v->counts.local_frames++;
    s->local_free_at_ns = now(s) + NET_LOOPBACK_NS;
    net_loop_back(s->net, s->host, f);
}

/* Returns true if port @number takes a frame to a group.  The sender gets its own frame only if one
 * of its RNICs is in the group.
 */
static bool takes_group(const struct eswitch *s, uint32_t number, const struct frame *f)
{
    const struct eth_port *p = s->ports[number].port;

    return p && eswitch_is_up(s, number) && p->vid == vlan_vid(f->bytes, f->len) &&
           (p->host != f->note.host || eth_port_is_own_group(p, f));
}

static bool any_takes_group(const struct eswitch *s, const struct frame *f)
{
    for (uint32_t i = 0; i < s->n_ports; i++) {
        if (takes_group(s, i, f))
            return true;
    }
    return false;
}

static void send_out(struct eswitch *s, uint32_t number, struct frame *f)
{
    struct eth_port *p = s->ports[number].port;
    const uint32_t bytes = f->len; /* net_send() takes the frame */

    if ((f->bytes[0] & MAC_GROUP_BIT) && any_takes_group(s, f))
        net_loop_copy(s->net, s->host, f);
    if (net_send(s->net, s->link_end, f)) {
        s->sent_frames++;
        s->sent_bytes += bytes;
    } else {
        p->tx_drops[DROP_NO_ROUTE]++;
        s->ports[number].counts.tx_dropped++;
    }
}

void eswitch_send(struct eswitch *s, uint32_t number, struct frame *f)
{
    struct vport *v = &s->ports[number];
    const enum drop_reason reason = judge(s, number, f);
    bool other_vlan;

    if (reason != DROP_NONE) {
        v->port->tx_drops[reason]++;
        v->counts.tx_dropped++;
        net_refuse(s->net, f, v->port->host, reason);
    } else if (!(f->bytes[0] & MAC_GROUP_BIT) && port_of(s, f, &other_vlan) != NOBODY) {
        send_local(s, v, f);
    } else {
        send_out(s, number, f);
    }
}

/* No port has a frame: all are idle from now on. */
static void forget_waiting(struct eswitch *s)
{
    while (s->len > 0)
        s->ports[take(s, 0)].is_waiting = false;
}

/* Schedules SIM_EGRESS for the time of the next turn, unless it is scheduled early enough. */
static void wait_for_turn(struct eswitch *s)
{
    const uint64_t turn = next_turn(s), line = free_at(s);
    uint64_t at = turn > line ? turn : line;

    if (turn == UINT64_MAX) {
        forget_waiting(s);
        return;
    }
    if (at < now(s))
        at = now(s);
    if (s->egress_due) {
        if (s->egress_ns <= at)
            return;
        (void)sim_cancel(s->net->sim, s->egress);
    }
    s->egress_due = true;
    s->egress_ns = at;
    s->egress = sim_schedule(s->net->sim, at, SIM_EGRESS, s->host, 0);
}

static void serve(struct eswitch *s)
{
    uint32_t number;
    struct frame *f;

    if (s->egress_due && s->egress_ns <= now(s))
        return;
    number = free_at(s) <= now(s) ? choose(s) : NOBODY;
    f = number == NOBODY ? NULL : eth_port_take(s->ports[number].port);
    if (f) {
        charge(s, &s->ports[number], f->len);
        eswitch_send(s, number, f);
    }
    wait_for_turn(s);
}

void eswitch_pump(struct eswitch *s, uint32_t number)
{
    struct vport *v = &s->ports[number];

    if (!v->is_waiting) {
        v->is_waiting = true;
        if (v->paid_ns < now(s))
            v->paid_ns = now(s); /* a guarantee that was not used is lost */
        put_last(s, number);
    }
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

static void pass(struct eswitch *s, uint32_t number, const struct frame *f)
{
    s->passed++;
    s->pass(s->world, s->ports[number].port->host, f);
}

static void deliver_to_group(struct eswitch *s, const struct frame *f)
{
    const bool broadcast = ld_be(f->bytes, MAC_BYTES) == MAC_BROADCAST;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_ports; i++) {
        struct vport_counts *c = &s->ports[i].counts;

        if (!takes_group(s, i, f))
            continue;
        *(broadcast ? &c->rcvd_broadcast : &c->rcvd_multicast) += 1;
        s->copies += n++ > 0;
        pass(s, i, f);
    }
    if (n == 0)
        drop(s, f, DROP_NOT_FOR_US);
}

void eswitch_deliver(struct eswitch *s, const struct frame *f)
{
    bool other_vlan;
    uint32_t to;

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
    if (to == NOBODY)
        drop(s, f, other_vlan ? DROP_OTHER_VLAN : DROP_NOT_FOR_US);
    else if (!eswitch_is_up(s, to))
        drop(s, f, DROP_NO_ROUTE);
    else
        pass(s, to, f);
}

const char *eswitch_invariant(const struct eswitch *s)
{
    uint64_t rcvd = 0;

    for (uint32_t i = 0; i < s->n_ports; i++) {
        const struct vport *v = &s->ports[i];

        if (!v->port)
            continue;
        rcvd += v->port->rcvd_frames - v->rcvd_before;
        if (eth_port_has_frame(v->port) && !v->is_waiting)
            return "a port of an embedded switch that has a frame waits for its turn";
    }
    if (rcvd + s->left != s->passed)
        return "frames that an embedded switch passes to ports are received there";
    if (s->arrived + s->copies != s->passed + net_drops_sum(s->drops))
        return "frames that reach an embedded switch are passed to ports or dropped";
    return NULL;
}

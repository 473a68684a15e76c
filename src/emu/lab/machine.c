/* SPDX-License-Identifier: MIT */
/* Machines: the adapter that several guests share, and its virtual functions. */
#include "rdmalab/machine.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/min.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/enum_table.h"
#include "emu/lab/layer.h"
#include "emu/lab/machine.h"
#include "emu/pci/sriov.h"
#include "emu/pci/vf.h"
#include "emu/rnic/cm_mux.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/wire/vlan.h"

void host_link_changed(struct host *h, bool up)
{
    if (h->net)
        vnet_link_changed(h->net, up);
    if (h->rnic)
        rnic_link_changed(h->rnic, up);
}

/* Tells all hosts at port @number of @s that its link has come up or gone down.  A further port of
 * a virtual RNIC has no link state.
 */
static void tell_tenants(struct lab_state *w, const struct eswitch *s, uint32_t number, bool up)
{
    for (const struct eth_port *p = s->ports[number].port; p; p = p->next_tenant) {
        if (p == &w->hosts[p->host]->port)
            host_link_changed(w->hosts[p->host], up);
    }
}

void machine_link_changed(struct lab_state *w, const struct host *m, bool up)
{
    const struct eswitch *s = m->port.sw;

    for (uint32_t i = 0; i < s->n_ports; i++) {
        if (i <= s->n_enabled && s->ports[i].set.state == VF_auto)
            tell_tenants(w, s, i, up);
    }
}

static void pass(void *world, struct eth_port *p, const struct frame *f)
{
    struct lab_state *w = world;

    w->hosts[p->host]->n_ticks++;
    eth_port_deliver(p, f);
}

uint32_t machine_enabled_vfs(const struct host *m)
{
    const struct sriov *s = m->device.fn->sriov;

    return s ? sriov_count(s) : eswitch_vfs(m->port.sw);
}

/* The port of virtual function @vf of @m, or NULL if @m is no machine or has no such function. */
static struct vport *function_of(const struct host *m, uint32_t vf)
{
    if (!m || !host_is_machine(m) || vf >= eswitch_vfs(m->port.sw))
        return NULL;
    return &m->port.sw->ports[eswitch_port_of_vf(vf)];
}

enum rdl_status machine_check(const struct lab_state *w, const struct rdl_host_config *c)
{
    const struct host *m;
    const struct vport *v;

    if (c->idle_vfs > c->vfs || (c->shortcut && c->vfs == 0) || c->pool > c->vfs ||
        (c->on && c->vfs > 0) || (!c->on && (c->vf > 0 || c->vrnic || c->shared)) ||
        c->group > RDL_GROUPS_MAX || (c->vfs == 0 && c->mux != MUX_none) ||
        !enum_by_value(&enum_mux_profile, c->mux) ||
        (c->shared && (c->vf > 0 || c->vrnic || c->vlan > 0)) ||
        (c->vrnic && (c->external || c->device == DEVICE_none || c->vf > 0)) ||
        c->vrnic_vfs > (c->vrnic ? RDL_VRNIC_VFS_MAX : 0) || (c->vrnic_with && !c->vrnic) ||
        !enum_by_value(&enum_pool_full, c->when_full) || c->pool_wait_ns > RDL_POOL_WAIT_MAX_NS ||
        (c->vfs == 0 && (c->when_full != POOL_fail || c->pool_wait_ns > 0)) ||
        (c->router && (!c->on || c->external || c->device == DEVICE_none)))
        return RDL_ERR_INVAL;
    if (c->vfs > 0 && c->device != DEVICE_virtio)
        return RDL_ERR_UNSUPPORTED;
    if (!c->on)
        return RDL_OK;
    m = lab_host_named(w, c->on);
    v = function_of(m, c->vf);
    if (!v)
        return RDL_ERR_NOT_FOUND;
    if (c->shared)
        return memcmp(c->mac, m->port.mac, MAC_BYTES) == 0 ? RDL_OK : RDL_ERR_ADDRESS;
    if (c->vrnic)
        return layer_check(w, m, c) ? RDL_OK : RDL_ERR_NOT_FOUND;
    if (v->port)
        return RDL_ERR_BUSY;
    return c->vf < machine_enabled_vfs(m) ? RDL_OK : RDL_ERR_NO_DEVICE;
}

const uint8_t *machine_mac(const struct lab_state *w, const struct rdl_host_config *c)
{
    const struct host *m = c->on && !c->vrnic ? lab_host_named(w, c->on) : NULL;

    if (c->shared)
        return function_of(m, 0) ? m->port.mac : NULL;
    return function_of(m, c->vf) ? eswitch_mac(m->port.sw, eswitch_port_of_vf(c->vf)) : NULL;
}

bool machine_join(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    struct eswitch *s;

    if (c->vrnic)
        return layer_join(w, h, c);
    h->port.addresses = (const uint8_t(*)[GID_BYTES])h->guest.config.gid;
    h->port.n_addresses = GUEST_GIDS;
    if (c->on) {
        eswitch_join(lab_host_named(w, c->on)->port.sw,
                     c->shared ? ESWITCH_PF : eswitch_port_of_vf(c->vf), &h->port);
        return true;
    }
    if (c->vfs == 0)
        return true;
    s = arena_alloc(w->arena, sizeof(*s));
    if (!s || !eswitch_init(s, w->arena, &w->net, h->index, c->vfs + 1, pass, w))
        return false;
    eswitch_join(s, ESWITCH_PF, &h->port);
    s->shortcut = c->shortcut;
    if (c->mux != MUX_none) {
        s->mux = arena_alloc(w->arena, sizeof(*s->mux));
        if (!s->mux || !cm_mux_init(s->mux, w->arena, &w->trace, c->mux, h->index))
            return false;
    }
    h->pool = (struct vf_pool){.size = c->pool ? c->pool : c->vfs - c->idle_vfs,
                               .when_full = c->when_full,
                               .wait_ns = c->pool_wait_ns ? c->pool_wait_ns : RDL_POOL_WAIT_NS};
    return true;
}

/* So many functions of @m exist from now on.  Tells the tenants of those whose link goes up or
 * down.
 */
static void count_functions(struct lab_state *w, const struct host *m)
{
    struct eswitch *s = m->port.sw;
    const uint32_t was = s->n_enabled, is = machine_enabled_vfs(m);

    s->n_enabled = was > is ? was : is;
    for (uint32_t vf = min_u32(was, is); vf < s->n_enabled; vf++) {
        if (eswitch_is_up(s, eswitch_port_of_vf(vf)))
            tell_tenants(w, s, eswitch_port_of_vf(vf), is > was);
    }
    s->n_enabled = is;
}

/* Functions of machine @host were reset, or their number has changed: see struct sriov. */
static void vfs_changed(void *world, uint32_t host, uint32_t first, uint32_t n)
{
    struct lab_state *w = world;
    struct host *m = w->hosts[host];

    layer_lose(w, m, first, n);
    count_functions(w, m);
    layer_serve(w, m);
}

static void introduce_guest(struct lab_state *w, const struct host *h)
{
    const struct host *m = w->hosts[h->port.sw->host];
    const uint32_t vf = h->port.vport - 1;

    if (h->port.vport == ESWITCH_PF) {
        TRACE(&w->trace, port_shared, .host = m->index, .name = ev_str(h->name));
        return;
    }
    TRACE(&w->trace, vf_given, .host = m->index, .vf = vf, .name = ev_str(h->name));
    if (m->device.fn->sriov)
        vf_attach(m->device.fn, vf, h->device.fn);
}

bool machine_router(struct lab_state *w, const struct rdl_host_config *c,
                    struct router_process **ret)
{
    struct host *m;

    *ret = NULL;
    if (!c->router)
        return true;
    m = lab_host_named(w, c->on);
    if (!m->router) {
        m->router = arena_alloc(w->arena, sizeof(*m->router));
        if (!m->router)
            return false;
        *m->router = (struct router_process){.host = m->index};
    }
    *ret = m->router;
    return true;
}

void machine_introduce(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    const struct eswitch *s = h->port.sw;
    enum rdl_status st;

    if (host_is_machine(h)) {
        TRACE(&w->trace, machine_up, .host = h->index, .name = ev_str(h->name),
              .vfs = eswitch_vfs(s));
        if (h->device.fn->sriov) {
            h->device.fn->sriov->changed = vfs_changed;
            h->device.fn->sriov->ctx = w;
        }
        st = guest_iov_set(&h->guest, c->vfs - c->idle_vfs, false);
        /* Without feature SR_IOV, or without room for their BARs, there are none. */
        RDL_ASSERT(st == RDL_OK || st == RDL_ERR_UNSUPPORTED || st == RDL_ERR_NOMEM);
        count_functions(w, h);
    } else if (host_is_guest(h)) {
        introduce_guest(w, h);
        if (eth_port_is_up(&h->port))
            host_link_changed(h, true);
    }
}

void machine_leave(struct host *h)
{
    if (host_is_guest(h))
        eswitch_leave(&h->port);
}

bool machine_has_guests(const struct host *m)
{
    const struct eswitch *s = m->port.sw;
    bool any = false;

    for (uint32_t i = 1; s && i < s->n_ports; i++)
        any = any || s->ports[i].port;
    return any;
}

/* Finds virtual function @vf of @machine. */
static enum rdl_status find(const struct rdl_lab *lab, rdl_host machine, uint32_t vf,
                            struct host **ret)
{
    *ret = lab_host(lab->state, machine.raw);
    if (!*ret)
        return RDL_ERR_STALE;
    return function_of(*ret, vf) ? RDL_OK : RDL_ERR_NOT_FOUND;
}

enum rdl_status rdl_vf_get(const struct rdl_lab *lab, rdl_host machine, uint32_t vf,
                           struct rdl_vf_settings *ret)
{
    struct host *m;
    const enum rdl_status st = find(lab, machine, vf, &m);

    if (st == RDL_OK)
        *ret = function_of(m, vf)->set;
    return st;
}

static bool is_sound(const struct rdl_vf_settings *to)
{
    return !(to->mac[0] & MAC_GROUP_BIT) && enum_by_value(&enum_vf_state, to->state) &&
           to->vlan <= VLAN_VID_MAX && to->qos <= VLAN_PCP_MAX && (to->vlan > 0 || to->qos == 0) &&
           (to->max_tx_bps == 0 || to->max_tx_bps >= to->min_tx_bps);
}

/* Returns true if port @number of @s, which is to have the guarantee @min_tx_bps, would get more
 * than the cable leaves to it: the guarantees of all functions, with guests or without, must fit. A
 * machine without a cable has nothing to compare with.
 */
static bool is_too_much(const struct eswitch *s, uint32_t number, uint64_t min_tx_bps)
{
    uint64_t left;

    if (s->link_end == NET_NO_LINK || min_tx_bps <= s->ports[number].set.min_tx_bps)
        return false;
    left = s->net->links[s->link_end >> 1].dir[s->link_end & 1].way.rate_bps;
    for (uint32_t i = 0; i < s->n_ports; i++) {
        const uint64_t other = i == number ? min_tx_bps : s->ports[i].set.min_tx_bps;

        if (other > left)
            return true;
        left -= other;
    }
    return false;
}

enum rdl_status rdl_vf_set(struct rdl_lab *lab, rdl_host machine, uint32_t vf,
                           const struct rdl_vf_settings *to)
{
    struct lab_state *w = lab->state;
    struct host *m;
    enum rdl_status st = find(lab, machine, vf, &m);
    struct eswitch *s;
    uint32_t port;
    bool was_up;

    if (st == RDL_OK && !is_sound(to))
        st = RDL_ERR_INVAL;
    if (st != RDL_OK)
        return st;
    s = m->port.sw;
    port = eswitch_port_of_vf(vf);
    if (is_too_much(s, port, to->min_tx_bps))
        return RDL_ERR_LIMIT;
    was_up = eswitch_is_up(s, port);
    lab_act(w);
    TRACE(&w->trace, vf_set, .host = m->index, .vf = vf, .mac = ld_be(to->mac, MAC_BYTES),
          .vlan = to->vlan, .qos = to->qos, .state = to->state, .spoofchk = to->spoofchk,
          .trust = to->trust, .max_tx = to->max_tx_bps, .min_tx = to->min_tx_bps);
    eswitch_set(s, port, to);
    if (eswitch_is_up(s, port) != was_up)
        tell_tenants(w, s, port, !was_up);
    lab_done(w);
    return RDL_OK;
}

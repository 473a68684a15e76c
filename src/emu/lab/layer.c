/* SPDX-License-Identifier: MIT */
/* The virtual layer: maps virtual RNICs to functions of a pool, and replaces addresses. */
#include "emu/lab/layer.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/device/virtio_net.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/qp.h"
#include "emu/lab/machine.h"
#include "emu/pci/vf.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/wire/addr.h"

/* --- The pool --------------------------------------------------------------------------------- */

_Static_assert(RDL_HOSTS_MAX < 56u << 8, "10.200.0.0 to 10.255.255.255 have room for each machine");

/* Sets the addresses that VF @vf of @m has on the wire: 10.200.M.V and fd00::M:V, or 10.201.M.V and
 * so on for machines with a number M above 255.
 */
static void wire_addresses(const struct host *m, uint32_t vf, uint8_t ret[GUEST_GIDS][GID_BYTES])
{
    const uint8_t high = (uint8_t)((m->index + 1) >> 8), low = (uint8_t)(m->index + 1),
                  function = (uint8_t)(vf + 1);

    gid_from_ipv4(ret[0], (uint8_t[]){10, 200 + high, low, function});
    memset(ret[1], 0, GID_BYTES);
    ret[1][0] = 0xfd;
    ret[1][GID_BYTES - 4] = high;
    ret[1][GID_BYTES - 3] = low;
    ret[1][GID_BYTES - 1] = function;
}

/* Returns the place of @gid in @list; GUEST_GIDS: it is not there. */
static uint32_t place_in(uint8_t (*list)[GID_BYTES], const uint8_t gid[GID_BYTES])
{
    uint32_t i = 0;

    while (i < GUEST_GIDS && memcmp(list[i], gid, GID_BYTES) != 0)
        i++;
    return i;
}

/* Returns true if VF @vf of @m has no guest, and no host was given one of its addresses. */
static bool is_free(const struct lab_state *w, const struct host *m, uint32_t vf)
{
    uint8_t wire[GUEST_GIDS][GID_BYTES];
    bool is_given = false;

    wire_addresses(m, vf, wire);
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const uint32_t host = lab_peer_of(w, wire[i]);

        is_given = is_given || (host != EV_HOST_NONE &&
                                place_in(w->hosts[host]->guest.config.gid, wire[i]) < GUEST_GIDS);
    }
    return !is_given && !m->port.sw->ports[eswitch_port_of_vf(vf)].port;
}

/* Finds a free function in the pool of @m, which grows by one function if there is none.  Returns
 * false if no function of the machine is left.
 */
static bool take_function(struct lab_state *w, struct host *m, uint32_t *ret)
{
    struct vf_pool *p = &m->pool;
    const uint32_t most = machine_enabled_vfs(m);

    for (uint32_t vf = 0; vf < most; vf++) {
        if (!is_free(w, m, vf))
            continue;
        if (vf >= p->size) {
            p->size = vf + 1;
            TRACE(&w->trace, pool_grown, .host = m->index, .vfs = p->size);
        }
        *ret = vf;
        return true;
    }
    p->exhausted++;
    return false;
}

/* --- Mapping ---------------------------------------------------------------------------------- */

/* Sets the GID table of the device of @r to @gids: no queue pair uses it. */
static void set_gids(struct vrnic *r, uint8_t gids[GUEST_GIDS][GID_BYTES])
{
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const enum refusal_reason reason = hca_gid_set(&r->host->rnic->hca, i, gids[i]);

        RDL_ASSERT(reason == REF_NONE);
    }
}

static void tell_interface(struct host *h, bool up)
{
    if (h->net)
        vnet_link_changed(h->net, up);
}

/* Hosts outside the layer know the addresses on the wire, as they know those of other hosts. */
static void introduce(struct vrnic *r)
{
    struct lab_state *w = r->world;
    const struct host *h = r->host;

    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        directory_add(&w->addresses, r->wire[i], h->port.mac, h->index);
        if (h->guest.config.directory)
            directory_add(&w->directory, r->wire[i], h->port.mac, h->index);
    }
    for (uint32_t k = 0; w->directory.asked && h->guest.config.directory && k < w->n_hosts; k++) {
        for (uint32_t i = 0; i < GUEST_GIDS; i++)
            guest_neighbour_told(&w->hosts[k]->guest.net, r->wire[i]);
    }
}

static void map(struct vrnic *r, uint32_t vf)
{
    struct lab_state *w = r->world;
    struct host *h = r->host, *m = r->machine;
    char text[ADDR_TEXT_MAX];

    r->vf = vf;
    r->n_maps++;
    wire_addresses(m, vf, r->wire);
    TRACE(&w->trace, vrnic_map, .host = h->index, .vf = vf, .name = ev_str(m->name),
          .addr = ev_str(addr_text(r->wire[0], text)));
    eswitch_join(m->port.sw, eswitch_port_of_vf(vf), &h->port);
    if (m->device.fn->sriov)
        vf_attach(m->device.fn, vf, h->device.fn);
    set_gids(r, r->wire);
    introduce(r);
    h->guest.net.config.wire_gid = r->wire[0];
    tell_interface(h, eth_port_is_up(&h->port));
    if (r->has_moved)
        guest_net_announce(&h->guest.net, r->wire[0]);
    r->has_moved = false;
}

static void unmap(struct vrnic *r)
{
    struct host *h = r->host, *m = r->machine;

    TRACE(&r->world->trace, vrnic_unmap, .host = h->index, .vf = r->vf, .name = ev_str(m->name));
    tell_interface(h, false);
    h->guest.net.config.wire_gid = NULL;
    set_gids(r, h->guest.config.gid);
    if (m->device.fn->sriov)
        vf_attach(m->device.fn, r->vf, NULL);
    eswitch_leave(&h->port);
    r->vf = VRNIC_UNMAPPED;
}

static enum rdl_status create(void *ctx)
{
    struct vrnic *r = ctx;
    uint32_t vf;

    if (r->vf != VRNIC_UNMAPPED)
        return RDL_OK;
    if (!directory_reserve(&r->world->addresses, GUEST_GIDS) ||
        !directory_reserve(&r->world->directory, GUEST_GIDS))
        return RDL_ERR_NOMEM;
    if (!take_function(r->world, r->machine, &vf))
        return RDL_ERR_NO_FUNCTION;
    map(r, vf);
    return RDL_OK;
}

static void gone(void *ctx, uint32_t n)
{
    struct vrnic *r = ctx;

    if (n == 0 && r->vf != VRNIC_UNMAPPED)
        unmap(r);
}

/* --- Addresses and rules ---------------------------------------------------------------------- */

/* The virtual RNIC that has @gid, virtual or on the wire; NULL: none. */
static struct vrnic *owner_of(const struct lab_state *w, const uint8_t gid[GID_BYTES])
{
    const uint32_t host = lab_peer_of(w, gid);

    return host == EV_HOST_NONE ? NULL : w->hosts[host]->vrnic;
}

static bool may_connect(const struct lab_state *w, uint32_t a, uint32_t b)
{
    return a == b || (w->centre.allowed[a] >> (b - 1) & 1);
}

static enum rdl_status find(void *ctx, const uint8_t gid[GID_BYTES], uint8_t ret_mac[MAC_BYTES])
{
    struct vrnic *r = ctx;
    const struct vrnic *peer = owner_of(r->world, gid);
    char asked[ADDR_TEXT_MAX], wire[ADDR_TEXT_MAX] = "";
    uint8_t on_wire[GID_BYTES];
    bool allowed;

    if (!peer)
        return RDL_ERR_NOT_FOUND;
    r->n_lookups++;
    allowed = may_connect(r->world, r->group, peer->group);
    r->n_forbidden += !allowed;
    memcpy(on_wire, gid, GID_BYTES);
    layer_ops.wire(r, on_wire);
    if (allowed && peer->vf != VRNIC_UNMAPPED)
        addr_text(on_wire, wire);
    TRACE(&r->world->trace, centre_lookup, .host = r->host->index, .peer = peer->host->index,
          .addr = ev_str(addr_text(gid, asked)), .wire = ev_str(wire), .group = r->group,
          .other = peer->group, .forbidden = !allowed);
    if (!allowed)
        return RDL_ERR_FORBIDDEN;
    if (peer->vf == VRNIC_UNMAPPED)
        return RDL_ERR_NO_ROUTE;
    memcpy(ret_mac, peer->host->port.mac, MAC_BYTES);
    return RDL_OK;
}

/* Replaces @gid, the virtual address of a virtual RNIC with a function, by that on the wire; or the
 * other way.
 */
static void replace(const struct vrnic *r, uint8_t gid[GID_BYTES], bool by_wire)
{
    struct vrnic *peer = owner_of(r->world, gid);
    uint8_t(*virtual)[GID_BYTES], (*wire)[GID_BYTES];
    uint32_t i;

    if (!peer || peer->vf == VRNIC_UNMAPPED)
        return;
    virtual = peer->host->guest.config.gid;
    wire = peer->wire;
    i = place_in(by_wire ? virtual : wire, gid);
    if (i < GUEST_GIDS)
        memcpy(gid, by_wire ? wire[i] : virtual[i], GID_BYTES);
}

static void wire(const void *ctx, uint8_t gid[GID_BYTES])
{
    replace(ctx, gid, true);
}

static void unwire(const void *ctx, uint8_t gid[GID_BYTES])
{
    replace(ctx, gid, false);
}

const struct verbs_layer layer_ops = {create, gone, find, wire, unwire};

bool layer_join(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    h->vrnic = arena_alloc(w->arena, sizeof(*h->vrnic));
    if (!h->vrnic)
        return false;
    *h->vrnic = (struct vrnic){.world = w,
                               .host = h,
                               .machine = lab_host_named(w, c->on),
                               .vf = VRNIC_UNMAPPED,
                               .group = c->group};
    return true;
}

/* Moves the queue pairs of @r whose peers it may not reach any more to ERR. */
static void cut(struct vrnic *r)
{
    struct rnic *nic = r->host->rnic;

    for (uint32_t qpn = 1; qpn <= nic->config->max_qp; qpn++) {
        struct qp *qp = hca_qp(&nic->hca, qpn);
        const struct vrnic *peer = qp ? owner_of(r->world, qp->attr.av.dgid) : NULL;

        if (peer && !may_connect(r->world, r->group, peer->group))
            rnic_qp_lost_queue(nic, qp);
    }
}

enum rdl_status rdl_centre_rule(struct rdl_lab *lab, uint32_t a, uint32_t b, bool allow)
{
    struct lab_state *w = lab->state;
    struct centre *centre = &w->centre;

    if (a < 1 || a > RDL_GROUPS_MAX || b < 1 || b > RDL_GROUPS_MAX || a == b)
        return RDL_ERR_INVAL;
    lab_act(w);
    TRACE(&w->trace, centre_rule, .group = a, .other = b, .forbidden = !allow);
    if (allow) {
        centre->allowed[a] |= UINT64_C(1) << (b - 1);
        centre->allowed[b] |= UINT64_C(1) << (a - 1);
    } else {
        centre->allowed[a] &= ~(UINT64_C(1) << (b - 1));
        centre->allowed[b] &= ~(UINT64_C(1) << (a - 1));
    }
    for (uint32_t i = 0; !allow && i < w->n_hosts; i++) {
        if (w->hosts[i]->vrnic && w->hosts[i]->vrnic->vf != VRNIC_UNMAPPED)
            cut(w->hosts[i]->vrnic);
    }
    lab_done(w);
    return RDL_OK;
}

bool rdl_centre_allows(const struct rdl_lab *lab, uint32_t a, uint32_t b)
{
    return a >= 1 && a <= RDL_GROUPS_MAX && b >= 1 && b <= RDL_GROUPS_MAX &&
           may_connect(lab->state, a, b);
}

enum rdl_status rdl_vrnic_move(struct rdl_lab *lab, rdl_host guest, rdl_host machine)
{
    struct lab_state *w = lab->state;
    const struct host *h = lab_host(w, guest.raw);
    struct host *m = lab_host(w, machine.raw);
    struct vrnic *r = h ? h->vrnic : NULL;

    if (!h || !m)
        return RDL_ERR_STALE;
    if (!r)
        return RDL_ERR_INVAL;
    if (!host_is_machine(m))
        return RDL_ERR_NOT_FOUND;
    if (h->guest.verbs.n_of_device > 0)
        return RDL_ERR_BUSY;
    if (r->machine == m)
        return RDL_OK;
    lab_act(w);
    TRACE(&w->trace, vrnic_move, .host = h->index, .from = ev_str(r->machine->name),
          .to = ev_str(m->name));
    r->machine = m;
    r->has_moved = true;
    r->n_moves++;
    lab_done(w);
    return RDL_OK;
}

enum rdl_status rdl_wire_address(const struct rdl_lab *lab, rdl_host host, uint32_t index,
                                 uint8_t ret_gid[16], uint8_t ret_mac[6])
{
    const enum rdl_status status = rdl_host_address(lab, host, index, ret_gid, ret_mac);
    const struct vrnic *r = status == RDL_OK ? lab_host(lab->state, host.raw)->vrnic : NULL;

    if (!r)
        return status;
    if (r->vf == VRNIC_UNMAPPED)
        return RDL_ERR_STATE;
    memcpy(ret_gid, r->wire[index], GID_BYTES);
    return RDL_OK;
}

enum rdl_status rdl_peer_address(const struct rdl_lab *lab, rdl_host from, rdl_host to,
                                 uint32_t index, uint8_t ret_gid[16], uint8_t ret_mac[6])
{
    const struct host *h = lab_host(lab->state, from.raw);

    if (!h)
        return RDL_ERR_STALE;
    return h->vrnic ? rdl_host_address(lab, to, index, ret_gid, ret_mac)
                    : rdl_wire_address(lab, to, index, ret_gid, ret_mac);
}

/* SPDX-License-Identifier: MIT */
/* The virtual layer: maps virtual RNICs to functions of a pool.
 *
 * A virtual RNIC may have several functions.  A connected queue pair is on one of them from its
 * creation to its end: that with the fewest queue pairs, so that they are spread evenly.  It sends
 * and receives by the port of its function, with the addresses of that function, and does not exist
 * at the other ones.  Queue pairs of datagrams are on the first function.
 */
#include "emu/lab/layer.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/guest/verbs/driver.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/qp.h"
#include "emu/lab/layer_answers.h"
#include "emu/lab/machine.h"
#include "emu/pci/function.h"
#include "emu/pci/vf.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/lab.h"

/* A further function of a virtual RNIC. */
struct further {
    struct eth_port port;
    struct rnic_way way;
    struct hca_gid gids[HCA_GIDS];
    struct layer_answers answers;
};

/* --- Mapping ---------------------------------------------------------------------------------- */

/* Ends the connected queue pairs of the device of @r.  The verbs have none: a driver has made them
 * without the layer.
 */
static void end_strangers(struct vrnic *r)
{
    struct rnic *nic = r->host->rnic;

    for (uint32_t qpn = QPN_GSI + 1; qpn <= nic->config->max_qp; qpn++) {
        struct qp *qp = hca_qp(&nic->hca, qpn);

        if (qp)
            rnic_qp_lost_queue(nic, qp);
    }
}

/* Sets the GID table of the device of @r to @gids: no queue pair uses it. */
static void set_gids(struct vrnic *r, uint8_t gids[GUEST_GIDS][GID_BYTES])
{
    if (hca_n_qps(&r->host->rnic->hca) > 0)
        end_strangers(r);
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

/* Says in the directories that the host of @r has @gids at @mac. */
static void list_addresses(struct vrnic *r, const uint8_t (*gids)[GID_BYTES],
                           const uint8_t mac[MAC_BYTES])
{
    struct lab_state *w = r->world;
    const struct host *h = r->host;

    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        directory_add(&w->addresses, gids[i], mac, h->index);
        if (h->guest.config.directory)
            directory_add(&w->directory, gids[i], mac, h->index);
    }
}

/* Hosts outside the layer know the addresses on the wire, as they know those of other hosts. */
static void introduce(struct vrnic *r, const struct vrnic_function *f)
{
    struct lab_state *w = r->world;
    const struct host *h = r->host;

    list_addresses(r, (const uint8_t(*)[GID_BYTES])f->wire, f->port->mac);
    for (uint32_t k = 0; w->directory.asked && h->guest.config.directory && k < w->n_hosts; k++) {
        for (uint32_t i = 0; i < GUEST_GIDS; i++)
            guest_neighbour_told(&w->hosts[k]->guest.net, f->wire[i]);
    }
}

/* Shows the registers of @f, which belong to the first of those who share the function, in the
 * configuration space of the machine.
 */
static void attach(const struct vrnic *r, const struct vrnic_function *f)
{
    const struct host *m = r->machine;
    const struct eth_port *first = m->port.sw->ports[eswitch_port_of_vf(f->vf)].port;

    if (m->device.fn->sriov)
        vf_attach(m->device.fn, f->vf, first ? r->world->hosts[first->host]->device.fn : NULL);
}

/* Gives @vf to @f of @r. */
static void take(struct vrnic *r, struct vrnic_function *f, uint32_t vf)
{
    struct lab_state *w = r->world;
    const struct host *h = r->host, *m = r->machine;
    char text[ADDR_TEXT_MAX];

    f->vf = vf;
    r->n_maps++;
    pool_addresses(m, vf, f->wire);
    TRACE(&w->trace, vrnic_map, .host = h->index, .vf = vf, .name = ev_str(m->name),
          .addr = ev_str(addr_text(f->wire[0], text)));
    eswitch_join(m->port.sw, eswitch_port_of_vf(vf), f->port);
    attach(r, f);
}

static void give_back(struct vrnic *r, struct vrnic_function *f)
{
    eswitch_leave(f->port);
    attach(r, f);
    f->vf = VRNIC_UNMAPPED;
}

/* Returns true if another virtual RNIC has the MAC of @r now. */
static bool mac_is_in_use(struct vrnic *r)
{
    bool any = false;

    for (uint32_t i = 0; r->mac_is_lent && i < r->world->n_hosts; i++) {
        const struct vrnic *other = r->world->hosts[i]->vrnic;

        any = any || (other && other != r && vrnic_is_mapped(other) &&
                      memcmp(other->host->port.mac, r->own_mac, MAC_BYTES) == 0);
    }
    r->mac_is_lent = any;
    return any;
}

/* Sets the MAC of a function that it has without a guest.  The bit of a local address, and bit 2
 * that no other MAC of a lab has, are set in the first byte.
 */
static void function_mac(const struct host *m, uint32_t vf, uint8_t ret[MAC_BYTES])
{
    const uint32_t k = m->index + 1;

    memcpy(ret, (uint8_t[]){6, 0, (uint8_t)(k >> 8), (uint8_t)k, 0, (uint8_t)(vf + 1)}, MAC_BYTES);
}

/* Gives the host of @r, which has no function, the MAC @mac.  Between functions it has its own. */
static void set_host_mac(struct vrnic *r, const uint8_t mac[MAC_BYTES])
{
    struct host *h = r->host;

    if (memcmp(h->port.mac, mac, MAC_BYTES) == 0)
        return;
    memcpy(h->port.mac, mac, MAC_BYTES);
    memcpy(h->rnic->xport.mac, mac, MAC_BYTES);
    memcpy(h->guest.net.config.mac, mac, MAC_BYTES);
    list_addresses(r, (const uint8_t(*)[GID_BYTES])h->guest.config.gid, mac);
}

/* Returns the MAC that the administrator has set for @vf of @m, if guests must use it; or NULL. */
static const uint8_t *required_mac(const struct host *m, uint32_t vf)
{
    const struct rdl_vf_settings *set = &m->port.sw->ports[eswitch_port_of_vf(vf)].set;

    return ld_be(set->mac, MAC_BYTES) != 0 && !set->trust ? set->mac : NULL;
}

/* Chooses the MAC of @r at @vf, which has no guest: that which the administrator requires; or its
 * own, unless others still have that.
 */
static void choose_mac(struct vrnic *r, uint32_t vf)
{
    const uint8_t *required = required_mac(r->machine, vf);
    uint8_t mac[MAC_BYTES];

    memcpy(mac, required ? required : r->own_mac, MAC_BYTES);
    if (!required && mac_is_in_use(r))
        function_mac(r->machine, vf, mac);
    set_host_mac(r, mac);
}

/* Completes the mapping of the first function of @r. */
static void mapped(struct vrnic *r)
{
    struct vrnic_function *f = &r->functions[0];
    struct host *h = r->host;

    r->lack = LACK_NONE;
    set_gids(r, f->wire);
    introduce(r, f);
    h->guest.net.config.wire_gid = f->wire[0];
    tell_interface(h, eth_port_is_up(&h->port));
    if (r->has_moved)
        guest_net_announce(&h->guest.net, f->wire[0]);
    r->has_moved = false;
}

static void map(struct vrnic *r, uint32_t vf)
{
    choose_mac(r, vf);
    take(r, &r->functions[0], vf);
    mapped(r);
}

/* Lets @r share @vf with those who have it.  It has the MAC of the function then, which is that of
 * one of them.  Returns false if its addresses belong to another host.
 */
static bool share(struct vrnic *r, uint32_t vf)
{
    struct vrnic_function *f = &r->functions[0];
    const struct eth_port *first = r->machine->port.sw->ports[eswitch_port_of_vf(vf)].port;
    struct lab_state *w = r->world;
    char text[ADDR_TEXT_MAX];

    if (!pool_share_addresses(w, r->host, f->wire))
        return false;
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        struct vrnic *other = w->hosts[i]->vrnic;

        if (other && memcmp(other->own_mac, first->mac, MAC_BYTES) == 0)
            other->mac_is_lent = true;
    }
    set_host_mac(r, first->mac);
    f->vf = vf;
    r->n_shares++;
    TRACE(&w->trace, vrnic_share, .host = r->host->index, .vf = vf,
          .name = ev_str(r->machine->name), .addr = ev_str(addr_text(f->wire[0], text)));
    eswitch_join(r->machine->port.sw, eswitch_port_of_vf(vf), f->port);
    mapped(r);
    return true;
}

/* The request of @r, which waited for a function, goes on in a tick of its own. */
static void go_on(struct vrnic *r)
{
    struct lab_state *w = r->world;

    if (r->has_request)
        sim_enqueue(&w->sim, w->trace.now_ns, SIM_VRNIC, r->host->index, true);
}

void layer_serve(struct lab_state *w, struct host *m)
{
    struct vrnic *r;
    uint32_t vf;

    while ((r = pool_next(w, m, &vf)) != NULL) {
        map(r, vf);
        go_on(r);
        while ((r = pool_next_partner(m, &vf)) != NULL) {
            const bool shared = share(r, vf);

            RDL_ASSERT(shared);
            go_on(r);
        }
    }
}

/* Takes the first function of @r away. */
static void leave_first(struct vrnic *r)
{
    struct host *h = r->host;

    tell_interface(h, false);
    h->guest.net.config.wire_gid = NULL;
    set_gids(r, h->guest.config.gid);
    give_back(r, &r->functions[0]);
    set_host_mac(r, r->own_mac);
}

static void unmap(struct vrnic *r)
{
    const struct vrnic_function *f = &r->functions[0];
    struct trace *t = &r->world->trace;
    const struct host *h = r->host;
    ev_id id, before;

    if (r->machine->port.sw->ports[eswitch_port_of_vf(f->vf)].port->next_tenant)
        TRACE_ID(t, id, vrnic_unshare, .host = h->index, .vf = f->vf,
                 .name = ev_str(r->machine->name));
    else
        TRACE_ID(t, id, vrnic_unmap, .host = h->index, .vf = f->vf,
                 .name = ev_str(r->machine->name));
    before = trace_because(t, id);
    leave_first(r);
    layer_serve(r->world, r->machine);
    trace_because(t, before);
}

static bool reserve(struct lab_state *w)
{
    return directory_reserve(&w->addresses, GUEST_GIDS) &&
           directory_reserve(&w->directory, GUEST_GIDS);
}

static enum rdl_status create(void *ctx, bool can_wait)
{
    struct vrnic *r = ctx;
    struct vf_pool *p = &r->machine->pool;
    uint32_t vf;

    if (vrnic_is_mapped(r))
        return RDL_OK;
    if (!reserve(r->world))
        return RDL_ERR_NOMEM;
    if (pool_partner(r, &vf) && share(r, vf))
        return RDL_OK;
    if (pool_find(r->world, r->machine, &vf)) {
        map(r, vf);
        return RDL_OK;
    }
    if (p->when_full == POOL_share && pool_share(r, &vf) && share(r, vf))
        return RDL_OK;
    p->exhausted++;
    r->lack = pool_lack(r->world, r->machine);
    if (p->when_full == POOL_wait)
        return pool_wait(r, can_wait);
    TRACE(&r->world->trace, vrnic_refused, .host = r->host->index, .name = ev_str(r->machine->name),
          .lack = r->lack);
    return RDL_ERR_NO_FUNCTION;
}

static void gone(void *ctx, uint32_t n)
{
    struct vrnic *r = ctx;

    if (n > 0)
        return;
    pool_leave(r);
    if (vrnic_is_mapped(r))
        unmap(r);
}

/* --- Several functions ------------------------------------------------------------------------ */

/* Sets the MAC of a further function: that which the administrator requires, or its own. */
static void set_mac(struct vrnic *r, struct vrnic_function *f, uint32_t vf)
{
    const uint8_t *required = required_mac(r->machine, vf);

    function_mac(r->machine, vf, f->port->mac);
    if (required)
        memcpy(f->port->mac, required, MAC_BYTES);
}

/* Gives a function to @f, a further one.  Returns false if there is none. */
static bool map_further(struct vrnic *r, struct vrnic_function *f)
{
    uint32_t vf;

    if (!reserve(r->world) || !pool_find(r->world, r->machine, &vf))
        return false;
    set_mac(r, f, vf);
    take(r, f, vf);
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        memcpy(f->way->gids[i].raw, f->wire[i], GID_BYTES);
        f->way->gids[i].valid = true;
    }
    introduce(r, f);
    return true;
}

/* Further function @f loses its virtual function, and what its port would still send. */
static void leave_further(struct vrnic *r, struct vrnic_function *f)
{
    rnic_way_leave(f->way);
    layer_answers_forget(f->answers);
    give_back(r, f);
}

static void unmap_further(struct vrnic *r, struct vrnic_function *f)
{
    struct trace *t = &r->world->trace;
    ev_id id, before;

    TRACE_ID(t, id, vrnic_shrink, .host = r->host->index, .vf = f->vf,
             .name = ev_str(r->machine->name));
    before = trace_because(t, id);
    leave_further(r, f);
    layer_serve(r->world, r->machine);
    trace_because(t, before);
}

/* Returns the function with the fewest queue pairs, the first of several.  Of those that have no
 * virtual function only the first counts if @may_grow, none otherwise.
 */
static uint32_t emptiest(const struct vrnic *r, bool may_grow)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < r->n_functions; i++) {
        const struct vrnic_function *f = &r->functions[i];

        if ((f->vf != VRNIC_UNMAPPED || may_grow) && f->n_qps < r->functions[best].n_qps)
            best = i;
    }
    return best;
}

static uint32_t place(void *ctx, bool connected)
{
    struct vrnic *r = ctx;
    uint32_t i = connected ? emptiest(r, true) : 0;

    if (r->functions[i].vf == VRNIC_UNMAPPED && !map_further(r, &r->functions[i]))
        i = emptiest(r, false);
    r->functions[i].n_qps++;
    return i;
}

static void placed(void *ctx, uint32_t function, uint32_t qpn)
{
    struct vrnic *r = ctx;
    struct vrnic_function *f = &r->functions[function];

    if (r->n_functions == 1)
        return;
    TRACE(&r->world->trace, vrnic_place, .host = r->host->index, .qpn = qpn, .vf = f->vf);
    if (f->way)
        rnic_way_use(f->way, hca_qp(&r->host->rnic->hca, qpn));
}

static void left(void *ctx, uint32_t function)
{
    struct vrnic *r = ctx;
    struct vrnic_function *f = &r->functions[function];

    f->n_qps--;
    if (function > 0 && f->n_qps == 0 && f->vf != VRNIC_UNMAPPED)
        unmap_further(r, f);
}

const struct vrnic_function *vrnic_function_of(const struct vrnic *r, uint32_t qpn)
{
    const struct guest_qp *qp = qpn > QPN_GSI ? verbs_qp(&r->host->guest.verbs, qpn) : NULL;

    return &r->functions[qp ? qp->function : 0];
}

/* --- Lost functions --------------------------------------------------------------------------- */

/* @r loses its functions, because its function @f was reset.  The other ones are parts of the same
 * device.  The guests of a machine that share @f have devices of their own, which only this resets.
 */
static void lose(struct vrnic *r, const struct vrnic_function *f)
{
    struct trace *t = &r->world->trace;
    struct host *h = r->host;
    ev_id id, before;

    TRACE_ID(t, id, vrnic_lost, .host = h->index, .vf = f->vf, .name = ev_str(r->machine->name));
    before = trace_because(t, id);
    if (r->machine->device.fn->sriov->vfs[f->vf].device != h->device.fn)
        fn_reset(h->device.fn);
    for (uint32_t i = 1; i < r->n_functions; i++) {
        if (r->functions[i].vf != VRNIC_UNMAPPED)
            leave_further(r, &r->functions[i]);
    }
    leave_first(r);
    verbs_broken(&h->guest.verbs);
    trace_because(t, before);
}

void layer_lose(struct lab_state *w, struct host *m, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        struct vrnic *r = w->hosts[i]->vrnic;

        if (!r || r->machine != m)
            continue;
        for (uint32_t k = 0; k < r->n_functions; k++) {
            const struct vrnic_function *f = &r->functions[k];

            if (f->vf != VRNIC_UNMAPPED && f->vf >= first && f->vf - first < n) {
                lose(r, f);
                break;
            }
        }
    }
}

const struct verbs_layer layer_ops = {.create = create,
                                      .gone = gone,
                                      .place = place,
                                      .placed = placed,
                                      .left = left,
                                      .find = centre_find,
                                      .wire = centre_wire,
                                      .unwire = centre_unwire};

/* --- Construction, and moves ------------------------------------------------------------------ */

/* Initializes @f as a further function of @h, without one yet. */
static bool further_init(struct lab_state *w, struct host *h, struct vrnic_function *f)
{
    struct further *more = arena_alloc(w->arena, sizeof(*more));

    if (!more)
        return false;
    eth_port_init(&more->port, &w->net, &w->progress, h->index, h->port.mac, h->port.mtu);
    more->port.vid = h->port.vid;
    more->port.pcp = h->port.pcp;
    *f = (struct vrnic_function){
        .vf = VRNIC_UNMAPPED, .port = &more->port, .way = &more->way, .answers = &more->answers};
    layer_answers_init(&more->answers, w, f);
    return rnic_way_add(h->rnic, &more->way, &more->port, more->gids);
}

bool layer_check(const struct lab_state *w, const struct host *m, const struct rdl_host_config *c)
{
    const struct host *with = c->vrnic_with ? lab_host_named(w, c->vrnic_with) : NULL;

    return !c->vrnic_with || (with && with->vrnic && with->vrnic->machine == m);
}

bool layer_join(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    const uint32_t n = c->vrnic_vfs ? c->vrnic_vfs : 1;

    h->vrnic = arena_alloc(w->arena, sizeof(*h->vrnic));
    if (!h->vrnic)
        return false;
    *h->vrnic =
        (struct vrnic){.world = w,
                       .host = h,
                       .machine = lab_host_named(w, c->on),
                       .functions = arena_alloc(w->arena, n * sizeof(struct vrnic_function)),
                       .n_functions = n,
                       .group = c->group};
    if (!h->vrnic->functions)
        return false;
    h->vrnic->instance =
        c->vrnic_with ? lab_host_named(w, c->vrnic_with)->vrnic->instance : h->vrnic;
    memcpy(h->vrnic->own_mac, c->mac, MAC_BYTES);
    h->port.addresses = (const uint8_t(*)[GID_BYTES])h->guest.config.gid;
    h->port.n_addresses = GUEST_GIDS;
    h->vrnic->functions[0] = (struct vrnic_function){.vf = VRNIC_UNMAPPED, .port = &h->port};
    return true;
}

bool layer_complete(struct host *h)
{
    struct vrnic *r = h->vrnic;
    bool good = true;

    for (uint32_t i = 1; i < r->n_functions && good; i++)
        good = further_init(r->world, h, &r->functions[i]);
    return good;
}

bool layer_has_mac(const struct host *h, uint64_t mac)
{
    const struct vrnic *r = h->vrnic;
    bool any = false;

    for (uint32_t i = 1; r && i < r->n_functions; i++)
        any = any || (r->functions[i].vf != VRNIC_UNMAPPED &&
                      ld_be(r->functions[i].port->mac, MAC_BYTES) == mac);
    return any;
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

/* SPDX-License-Identifier: MIT */
/* The pool: functions of a machine that its virtual RNICs share. */
#include <string.h>

#include "emu/facts/virtio/feature.h"
#include "emu/lab/layer.h"
#include "emu/lab/machine.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/lab.h"
#include "emu/virtio/pci.h"

_Static_assert(RDL_HOSTS_MAX < 56u << 8, "10.200.0.0 to 10.255.255.255 have room for each machine");

/* They are 10.200.M.V and fd00::M:V for function V - 1 of host M, or 10.201.M.V and so on for
 * machines with a number M above 255.
 */
void pool_addresses(const struct host *m, uint32_t vf, uint8_t ret[GUEST_GIDS][GID_BYTES])
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

uint32_t wire_place_in(const uint8_t *gids, const uint8_t gid[GID_BYTES])
{
    uint32_t i = 0;

    while (i < GUEST_GIDS && memcmp(gids + (size_t)i * GID_BYTES, gid, GID_BYTES) != 0)
        i++;
    return i;
}

/* Returns true if a host was given one of the addresses @wire. */
static bool is_given(const struct lab_state *w, uint8_t wire[GUEST_GIDS][GID_BYTES])
{
    bool any = false;

    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const uint32_t host = lab_peer_of(w, wire[i]);

        any = any || (host != EV_HOST_NONE &&
                      wire_place_in(w->hosts[host]->guest.config.gid[0], wire[i]) < GUEST_GIDS);
    }
    return any;
}

/* Returns true if VF @vf of @m has no guest, and no host was given one of its addresses. */
static bool is_free(const struct lab_state *w, const struct host *m, uint32_t vf)
{
    uint8_t wire[GUEST_GIDS][GID_BYTES];

    if (m->port.sw->ports[eswitch_port_of_vf(vf)].port)
        return false; /* as most functions of a large pool: no address is looked up */
    pool_addresses(m, vf, wire);
    return !is_given(w, wire);
}

bool pool_find(struct lab_state *w, struct host *m, uint32_t *ret)
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
    return false;
}

/* Returns true if a guest without a virtual RNIC has function @vf of @m. */
static bool is_plain(const struct lab_state *w, const struct host *m, uint32_t vf)
{
    const struct eth_port *p = m->port.sw->ports[eswitch_port_of_vf(vf)].port;

    return p && !w->hosts[p->host]->vrnic;
}

/* Returns why no function of @m exists. */
static enum pool_lack lack_of_all(const struct host *m)
{
    const uint64_t offered = host_virtio(m, FN_RDMA)->offered;

    return offered & VIRTIO_FEATURE(VF_SR_IOV) ? LACK_NOT_ENABLED : LACK_NO_SR_IOV;
}

enum pool_lack pool_lack(const struct lab_state *w, const struct host *m)
{
    const uint32_t most = machine_enabled_vfs(m);
    enum pool_lack lack = most > 0 ? LACK_PLAIN_GUESTS : lack_of_all(m);

    for (uint32_t vf = 0; vf < most; vf++) {
        if (!m->port.sw->ports[eswitch_port_of_vf(vf)].port)
            return LACK_ADDRESS;
        if (!is_plain(w, m, vf))
            lack = LACK_VRNICS;
    }
    return lack;
}

uint32_t pool_functions(const struct lab_state *w, const struct host *m)
{
    const uint32_t most = machine_enabled_vfs(m);
    uint32_t n = 0;

    for (uint32_t vf = 0; vf < most && vf < m->pool.size; vf++)
        n += !is_plain(w, m, vf);
    return n;
}

/* --- Sharing ---------------------------------------------------------------------------------- */

/* They are 100.64.H.L and fd00::1:0:HL for the guest with the number HL: the range of shared
 * addresses [RFC 6598].  The addresses of the function itself belong to the guest that had it
 * first.
 */
bool pool_share_addresses(const struct lab_state *w, const struct host *h,
                          uint8_t ret[GUEST_GIDS][GID_BYTES])
{
    const uint8_t high = (uint8_t)((h->index + 1) >> 8), low = (uint8_t)(h->index + 1);

    gid_from_ipv4(ret[0], (uint8_t[]){100, 64, high, low});
    memset(ret[1], 0, GID_BYTES);
    ret[1][0] = 0xfd;
    ret[1][GID_BYTES - 5] = 1;
    ret[1][GID_BYTES - 2] = high;
    ret[1][GID_BYTES - 1] = low;
    return !is_given(w, ret);
}

/* Returns the number of virtual RNICs that have VF @vf of the machine of @r as their first
 * function; 0: @r cannot share it.  Those who share a port are in one VLAN.
 */
static uint32_t sharers(const struct vrnic *r, uint32_t vf)
{
    const struct vport *v = &r->machine->port.sw->ports[eswitch_port_of_vf(vf)];
    const struct eth_port *own = &r->host->port;
    uint32_t n = 0;

    if (v->port && !v->set.vlan && (v->port->own_vid != own->vid || v->port->own_pcp != own->pcp))
        return 0;
    for (const struct eth_port *p = v->port; p; p = p->next_tenant) {
        const struct host *h = r->world->hosts[p->host];

        if (!h->vrnic || p != &h->port)
            return 0;
        n++;
    }
    return n;
}

bool pool_partner(const struct vrnic *r, uint32_t *ret)
{
    for (uint32_t i = 0; i < r->world->n_hosts; i++) {
        const struct vrnic *other = r->world->hosts[i]->vrnic;

        if (other && other != r && other->instance == r->instance && vrnic_is_mapped(other) &&
            other->machine == r->machine && sharers(r, other->functions[0].vf) > 0) {
            *ret = other->functions[0].vf;
            return true;
        }
    }
    return false;
}

bool pool_share(const struct vrnic *r, uint32_t *ret)
{
    const uint32_t most = machine_enabled_vfs(r->machine);
    uint32_t fewest = UINT32_MAX;

    for (uint32_t vf = 0; vf < most; vf++) {
        const uint32_t n = sharers(r, vf);

        if (n > 0 && n < fewest) {
            fewest = n;
            *ret = vf;
        }
    }
    return fewest < UINT32_MAX;
}

/* --- Waiting ---------------------------------------------------------------------------------- */

enum rdl_status pool_wait(struct vrnic *r, bool request)
{
    struct lab_state *w = r->world;
    struct vf_pool *p = &r->machine->pool;

    if (!r->is_queued) {
        if (p->last_waiting)
            p->last_waiting->next_waiting = r;
        else
            p->first_waiting = r;
        p->last_waiting = r;
        r->is_queued = true;
    }
    if (!request)
        return RDL_OK;
    r->n_waits++;
    r->has_request = true;
    r->due_ns = w->trace.now_ns + p->wait_ns;
    TRACE(&w->trace, vrnic_wait, .host = r->host->index, .name = ev_str(r->machine->name),
          .due = r->due_ns);
    r->timer = sim_schedule(&w->sim, r->due_ns, SIM_VRNIC, r->host->index, false);
    return RDL_ERR_BUSY;
}

void pool_leave(struct vrnic *r)
{
    struct vf_pool *p = &r->machine->pool;
    struct vrnic **at = &p->first_waiting, *before = NULL;

    if (!r->is_queued)
        return;
    while (*at != r) {
        before = *at;
        at = &before->next_waiting;
    }
    *at = r->next_waiting;
    if (p->last_waiting == r)
        p->last_waiting = before;
    r->next_waiting = NULL;
    r->is_queued = false;
}

/* Takes @r from the queue, because it gets a function.  Its request cannot be late any more. */
static struct vrnic *serve(struct vrnic *r)
{
    pool_leave(r);
    if (r->has_request && r->timer)
        (void)sim_cancel(&r->world->sim, r->timer);
    r->timer = 0;
    return r;
}

struct vrnic *pool_next(struct lab_state *w, struct host *m, uint32_t *ret_vf)
{
    struct vrnic *r = m->pool.first_waiting;

    return r && pool_find(w, m, ret_vf) ? serve(r) : NULL;
}

struct vrnic *pool_next_partner(struct host *m, uint32_t *ret_vf)
{
    struct vrnic *r = m->pool.first_waiting;
    uint8_t wire[GUEST_GIDS][GID_BYTES];

    while (r && !(pool_partner(r, ret_vf) && pool_share_addresses(r->world, r->host, wire)))
        r = r->next_waiting;
    return r ? serve(r) : NULL;
}

void pool_wait_ends(struct vrnic *r, bool has_function)
{
    r->timer = 0;
    r->has_request = false;
    if (!has_function) {
        r->n_given_up++;
        TRACE(&r->world->trace, vrnic_given_up, .host = r->host->index,
              .name = ev_str(r->machine->name));
    }
    verbs_function(&r->host->guest.verbs, has_function);
}

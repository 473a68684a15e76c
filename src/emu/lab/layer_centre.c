/* SPDX-License-Identifier: MIT */
/* The control centre: which address on the wire a virtual address has, and who may connect. */
#include <string.h>

#include "emu/hca/qp.h"
#include "emu/lab/layer.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/lab.h"
#include "emu/wire/addr.h"

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

/* Counts a question of @r about @gid, which @peer has, and tells the answer: @wire, an address as
 * text, or that a rule forbids it.
 */
static void looked_up(struct vrnic *r, const struct vrnic *peer, const uint8_t gid[GID_BYTES],
                      const char *wire, bool allowed)
{
    char asked[ADDR_TEXT_MAX];

    r->n_lookups++;
    r->n_forbidden += !allowed;
    TRACE(&r->world->trace, centre_lookup, .host = r->host->index, .peer = peer->host->index,
          .addr = ev_str(addr_text(gid, asked)), .wire = ev_str(wire), .group = r->group,
          .other = peer->group, .forbidden = !allowed);
}

enum rdl_status centre_find(void *ctx, const uint8_t gid[GID_BYTES], uint32_t qpn,
                            uint8_t ret_mac[MAC_BYTES])
{
    struct vrnic *r = ctx;
    const struct vrnic *peer = owner_of(r->world, gid);
    char wire[ADDR_TEXT_MAX] = "";
    uint8_t on_wire[GID_BYTES];
    bool allowed;

    if (!peer)
        return RDL_ERR_NOT_FOUND;
    allowed = may_connect(r->world, r->group, peer->group);
    memcpy(on_wire, gid, GID_BYTES);
    centre_wire(r, on_wire, qpn);
    if (allowed && vrnic_is_mapped(peer))
        addr_text(on_wire, wire);
    looked_up(r, peer, gid, wire, allowed);
    if (!allowed)
        return RDL_ERR_FORBIDDEN;
    if (!vrnic_is_mapped(peer))
        return RDL_ERR_NO_ROUTE;
    memcpy(ret_mac, vrnic_function_of(peer, qpn)->port->mac, MAC_BYTES);
    return RDL_OK;
}

bool centre_permits(struct lab_state *w, uint32_t host, const uint8_t gid[GID_BYTES])
{
    struct vrnic *r = w->hosts[host]->vrnic;
    const struct vrnic *peer = r ? owner_of(w, gid) : NULL;
    const bool allowed = !peer || may_connect(w, r->group, peer->group);

    if (!allowed)
        looked_up(r, peer, gid, "", false);
    return allowed;
}

void centre_wire(const void *ctx, uint8_t gid[GID_BYTES], uint32_t qpn)
{
    const struct vrnic *r = ctx, *peer = owner_of(r->world, gid);
    uint32_t i;

    if (!peer || !vrnic_is_mapped(peer))
        return;
    i = wire_place_in(peer->host->guest.config.gid[0], gid);
    if (i < GUEST_GIDS)
        memcpy(gid, vrnic_function_of(peer, qpn)->wire[i], GID_BYTES);
}

void centre_unwire(const void *ctx, uint8_t gid[GID_BYTES])
{
    const struct vrnic *r = ctx, *peer = owner_of(r->world, gid);

    for (uint32_t k = 0; peer && k < peer->n_functions; k++) {
        const struct vrnic_function *f = &peer->functions[k];
        const uint32_t i = f->vf == VRNIC_UNMAPPED ? GUEST_GIDS : wire_place_in(f->wire[0], gid);

        if (i < GUEST_GIDS) {
            memcpy(gid, peer->host->guest.config.gid[i], GID_BYTES);
            return;
        }
    }
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
    ev_id id, before;

    if (a < 1 || a > RDL_GROUPS_MAX || b < 1 || b > RDL_GROUPS_MAX || a == b)
        return RDL_ERR_INVAL;
    lab_act(w);
    TRACE_ID(&w->trace, id, centre_rule, .group = a, .other = b, .forbidden = !allow);
    before = trace_because(&w->trace, id);
    if (allow) {
        centre->allowed[a] |= UINT64_C(1) << (b - 1);
        centre->allowed[b] |= UINT64_C(1) << (a - 1);
    } else {
        centre->allowed[a] &= ~(UINT64_C(1) << (b - 1));
        centre->allowed[b] &= ~(UINT64_C(1) << (a - 1));
    }
    for (uint32_t i = 0; !allow && i < w->n_hosts; i++) {
        if (w->hosts[i]->vrnic && vrnic_is_mapped(w->hosts[i]->vrnic))
            cut(w->hosts[i]->vrnic);
    }
    trace_because(&w->trace, before);
    lab_done(w);
    return RDL_OK;
}

bool rdl_centre_allows(const struct rdl_lab *lab, uint32_t a, uint32_t b)
{
    return a >= 1 && a <= RDL_GROUPS_MAX && b >= 1 && b <= RDL_GROUPS_MAX &&
           may_connect(lab->state, a, b);
}

enum rdl_status rdl_wire_address(const struct rdl_lab *lab, rdl_host host, uint32_t qpn,
                                 uint32_t index, uint8_t ret_gid[16], uint8_t ret_mac[6])
{
    const enum rdl_status status = rdl_host_address(lab, host, index, ret_gid, ret_mac);
    const struct vrnic *r = status == RDL_OK ? lab_host(lab->state, host.raw)->vrnic : NULL;
    const struct vrnic_function *f;

    if (!r)
        return status;
    if (!vrnic_is_mapped(r))
        return RDL_ERR_STATE;
    f = vrnic_function_of(r, qpn);
    memcpy(ret_gid, f->wire[index], GID_BYTES);
    memcpy(ret_mac, f->port->mac, MAC_BYTES);
    return RDL_OK;
}

enum rdl_status rdl_peer_address(const struct rdl_lab *lab, rdl_host from, rdl_host to,
                                 uint32_t qpn, uint32_t index, uint8_t ret_gid[16],
                                 uint8_t ret_mac[6])
{
    const struct host *h = lab_host(lab->state, from.raw);

    if (!h)
        return RDL_ERR_STALE;
    return h->vrnic ? rdl_host_address(lab, to, index, ret_gid, ret_mac)
                    : rdl_wire_address(lab, to, qpn, index, ret_gid, ret_mac);
}

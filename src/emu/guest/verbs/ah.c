/* SPDX-License-Identifier: MIT */
/* Address vectors and address handles: checks, and address resolution.
 *
 * An address handle consists of an address vector only.  It has no counterpart in the device,
 * because the vector is sent along with every datagram.  Creating one is complete as soon as the
 * MAC is known.
 */
#include <string.h>

#include "emu/guest/verbs/internal.h"

#define SL_MAX 7u /* in RoCE, the VLAN priority of three bits */

bool ah_is_sound(const struct verbs *v, const struct rdl_ah_attr *ah)
{
    static const uint8_t none[GID_BYTES];

    return ah->sgid_index < GUEST_GIDS && ah->sl <= SL_MAX && ah->flow_label <= FLOW_LABEL_MAX &&
           memcmp(ah->dgid, none, GID_BYTES) != 0 &&
           gid_is_ipv4(ah->dgid) == gid_is_ipv4(v->config.gid[ah->sgid_index]);
}

enum rdl_status ah_resolve(const struct verbs *v, struct rdl_ah_attr *ah, uint32_t qpn)
{
    static const uint8_t none[MAC_BYTES];
    const uint8_t *mac;
    enum rdl_status st;

    if (v->config.layer && !gid_is_group(ah->dgid)) {
        st = v->config.layer->find(v->config.layer_ctx, ah->dgid, qpn, ah->dmac);
        if (st != RDL_ERR_NOT_FOUND)
            return st;
    }
    if (memcmp(ah->dmac, none, MAC_BYTES) != 0)
        return RDL_OK;
    if (gid_is_group(ah->dgid)) {
        mac_from_multicast(ah->dmac, ah->dgid);
        return RDL_OK;
    }
    st = v->config.resolve(v->config.ctx, ah->dgid, &mac);
    if (st == RDL_OK)
        memcpy(ah->dmac, mac, MAC_BYTES);
    return st;
}

const uint8_t *verbs_waits_for(const struct verbs *v)
{
    const struct verbs_request *r = &v->request;

    if (!r->resolving)
        return NULL;
    return r->kind == VERBS_MODIFY_QP ? r->attr.ah.dgid
                                      : ((const struct guest_ah *)r->object)->attr.dgid;
}

/* Address handles have no number in the device; they are numbered by their slot in the table. */
static void live(struct guest_ah *ah)
{
    verbs_created(&ah->o, slots_index(verbs_name_of(ah->o.handle)) + 1);
}

/* The neighbour did not answer: ends the request, and frees the address handle if it was to create
 * one.
 */
static void give_up(struct verbs *v)
{
    struct verbs_request *r = &v->request;

    r->n--;
    r->no_route = true;
    if (r->kind == VERBS_CREATE) {
        object_use_parts(r->object, false);
        object_drop(r->object);
        r->object = NULL;
    }
    request_is_over(v);
}

void verbs_resolved(struct verbs *v, const uint8_t gid[GID_BYTES], const uint8_t *mac)
{
    struct verbs_request *r = &v->request;
    const uint8_t *waits_for = verbs_waits_for(v);

    if (!waits_for || memcmp(waits_for, gid, GID_BYTES) != 0)
        return;
    r->resolving = false;
    if (!mac) {
        give_up(v);
        return;
    }
    if (r->kind == VERBS_CREATE) {
        struct guest_ah *ah = (struct guest_ah *)r->object;

        memcpy(ah->attr.dmac, mac, MAC_BYTES);
        live(ah);
        return;
    }
    memcpy(r->attr.ah.dmac, mac, MAC_BYTES);
    if (modify_send((struct guest_qp *)r->object) != RDL_OK)
        verbs_broken(v); /* the control queue was working and empty before */
}

enum rdl_status verbs_create_ah(struct guest_pd *pd, const struct rdl_ah_attr *attr,
                                const char *name, uint64_t *ret)
{
    struct verbs *v = pd->o.verbs;
    struct rdl_ah_attr a = *attr;
    enum rdl_status st = request_ready(v), found;
    struct guest_object *o;
    struct guest_ah *ah;

    if (st == RDL_OK)
        st = object_usable(&pd->o);
    if (st == RDL_OK && (!ah_is_sound(v, &a) || a.port < 1 || a.port > v->limits.n_ports))
        st = RDL_ERR_INVAL;
    if (st == RDL_OK && v->limits.max_ah > 0 && v->objects[OBJ_AH].used >= v->limits.max_ah)
        st = RDL_ERR_LIMIT; /* the device cannot check this limit */
    if (st != RDL_OK)
        return st;
    found = ah_resolve(v, &a, 0);
    if (found == RDL_ERR_NO_ROUTE || found == RDL_ERR_FORBIDDEN)
        return found;
    st = object_new(v, OBJ_AH, name, &o);
    if (st != RDL_OK)
        return st;
    ah = (struct guest_ah *)o;
    ah->pd = pd;
    ah->attr = a;
    memcpy(ah->asked, a.dgid, GID_BYTES);
    verbs_wire(v, ah->attr.dgid, 0);
    object_use_parts(o, true);
    *ret = o->handle;
    request_begin(v, VERBS_CREATE, o);
    v->request.resolving = found == RDL_ERR_BUSY;
    if (!v->request.resolving)
        live(ah);
    return RDL_OK;
}

enum rdl_status verbs_destroy_ah(struct guest_ah *ah)
{
    struct verbs *v = ah->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&ah->o);
    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_DESTROY, &ah->o);
    verbs_destroyed(&ah->o);
    return RDL_OK;
}

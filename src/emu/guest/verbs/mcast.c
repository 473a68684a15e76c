/* SPDX-License-Identifier: MIT */
/* Verbs for multicast: attach queue pairs to groups and detach them.
 *
 * After the device has accepted the request, the guest's IP stack is notified and reports the
 * membership to the link.  As in libibverbs, a queue pair that is in a group cannot be destroyed.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/guest/verbs/internal.h"

/* The link in the list of @qp that points to its membership in @gid, or the final NULL link. */
static struct guest_membership **place_of(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    struct guest_membership **at = &qp->groups;

    while (*at && memcmp((*at)->gid, gid, GID_BYTES) != 0)
        at = &(*at)->next;
    return at;
}

static enum rdl_status check(const struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    const struct verbs *v = qp->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st != RDL_OK)
        return st;
    if (qp->type != QPT_UD || !gid_is_group(gid))
        return RDL_ERR_INVAL;
    return v->limits.has_mcast ? RDL_OK : RDL_ERR_UNSUPPORTED;
}

enum rdl_status verbs_attach_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    struct verbs *v = qp->o.verbs;
    enum rdl_status st = check(qp, gid);
    struct guest_membership *m;

    if (st != RDL_OK)
        return st;
    if (*place_of(qp, gid)) { /* already attached: no request is sent */
        request_begin(v, VERBS_ATTACH_MCAST, &qp->o);
        v->request.membership = NULL;
        verbs_attached(qp);
        return RDL_OK;
    }
    m = arena_alloc(v->arena, sizeof(*m));
    if (!m)
        return RDL_ERR_NOMEM;
    memcpy(m->gid, gid, GID_BYTES);
    request_begin(v, VERBS_ATTACH_MCAST, &qp->o);
    v->request.membership = m;
    st = request_sent(v, v->ops->attach_mcast(qp, gid));
    if (st != RDL_OK)
        arena_release(v->arena, m, sizeof(*m));
    return st;
}

enum rdl_status verbs_detach_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    struct verbs *v = qp->o.verbs;
    enum rdl_status st = check(qp, gid);
    struct guest_membership *m;

    if (st != RDL_OK)
        return st;
    m = *place_of(qp, gid);
    if (!m)
        return RDL_ERR_INVAL;
    request_begin(v, VERBS_DETACH_MCAST, &qp->o);
    v->request.membership = m;
    return request_sent(v, v->ops->detach_mcast(qp, gid));
}

static void report_membership(const struct verbs *v, const uint8_t gid[GID_BYTES], bool joins)
{
    if (v->config.member)
        v->config.member(v->config.ctx, gid, joins);
}

void mcast_attached(struct guest_qp *qp)
{
    struct guest_membership *m = qp->o.verbs->request.membership;

    if (!m)
        return;
    *place_of(qp, m->gid) = m;
    qp->o.n_users++;
    report_membership(qp->o.verbs, m->gid, true);
}

void mcast_detached(struct guest_qp *qp)
{
    struct verbs *v = qp->o.verbs;
    struct guest_membership *m = v->request.membership;
    struct guest_membership **at = place_of(qp, m->gid);

    RDL_ASSERT(*at == m);
    *at = m->next;
    qp->o.n_users--;
    report_membership(v, m->gid, false);
    arena_release(v->arena, m, sizeof(*m));
}

void mcast_refused(struct verbs *v)
{
    arena_release(v->arena, v->request.membership, sizeof(*v->request.membership));
}

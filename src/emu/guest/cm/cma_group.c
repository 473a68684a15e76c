/* SPDX-License-Identifier: MIT */
/* Multicast groups.  RoCE has no subnet administrator: the group's GID is its IP address, and the
 * kernel knows all that there is to know at once.  [Linux, cma_iboe_join_multicast()]
 *
 * SIMPLIFIED: the guest reports its membership (IGMP) when a queue pair is attached, and not when
 * the group is joined.
 */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/cma_calls.h"
#include "emu/guest/cm/cma_internal.h"

#define GROUP_QPN 0xffffffu /* [IBTA, 10.5: the destination of multicast] */

static int join_event(struct cma_id *id, struct cma_group *g)
{
    struct cma_event *e = cma_event_new(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);

    if (!e)
        return ENOMEM;
    e->group = g;
    e->param.qpn = GROUP_QPN;
    e->param.qkey = CMA_DATAGRAM_QKEY;
    cma_put_way(id, g->gid, &e->ah);
    cma_post(e);
    return 0;
}

int cma_join(struct cma_id *id, const struct rdl_cm_addr *to, bool sends_only,
             struct cma_group **ret)
{
    struct arena *arena = id->cma->config.arena;
    struct cma_group *g;
    int error;

    if (!cma_is_datagram(id) || !cma_has_device(id) ||
        !cma_call_is_permitted(CMA_CALL_JOIN, id->state) || cma_is_any(to))
        return EINVAL;
    if (to->version != 4)
        return RDL_CM_ENOTSUPP;
    g = arena_alloc(arena, sizeof(*g));
    if (!g)
        return ENOMEM;
    *g = (struct cma_group){
        .next = id->groups, .number = id->cma->n_groups_created + 1, .sends_only = sends_only};
    memcpy(g->gid, to->gid, GID_BYTES);
    error = join_event(id, g);
    if (error) {
        arena_release(arena, g, sizeof(*g));
        return error;
    }
    id->cma->n_groups_created++;
    id->groups = g;
    *ret = g;
    return 0;
}

void cma_leave(struct cma_id *id, struct cma_group *g)
{
    struct cma_group **at = &id->groups;

    while (*at && *at != g)
        at = &(*at)->next;
    RDL_ASSERT(*at);
    *at = g->next;
    g->is_left = true;
    cma_forget_lost(id);
    arena_release(id->cma->config.arena, g, sizeof(*g));
}

struct cma_group *cma_group_of(const struct cma_id *id, uint32_t number)
{
    struct cma_group *g = id->groups;

    while (g && g->number != number)
        g = g->next;
    return g;
}

/* SPDX-License-Identifier: MIT */
#include "emu/hca/mcast.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/qp.h"

struct mcast_group {
    struct hash_node node; /* first: an entry of mcast.groups */
    uint8_t gid[MCAST_GID_BYTES];
    uint32_t *qpns;
    uint32_t n, cap;
};

void mcast_init(struct mcast *m, struct arena *a)
{
    *m = (struct mcast){.n_attached = 0};
    hash_lists_init(&m->groups, a);
}

void mcast_done(struct mcast *m)
{
    RDL_ASSERT(m->groups.n == 0 && m->n_attached == 0);
    hash_lists_done(&m->groups);
}

static uint32_t hash_of(const uint8_t gid[MCAST_GID_BYTES])
{
    return fnv1a(gid, MCAST_GID_BYTES);
}

static struct mcast_group *find(const struct hca *h, const uint8_t gid[MCAST_GID_BYTES])
{
    struct hash_node *at = hash_lists_first(&h->mcast.groups, hash_of(gid));

    while (at && memcmp(((struct mcast_group *)at)->gid, gid, MCAST_GID_BYTES) != 0)
        at = at->next;
    return (struct mcast_group *)at;
}

/* Index of @qpn in @g; g->n if it is not there. */
static uint32_t place_of(const struct mcast_group *g, uint32_t qpn)
{
    uint32_t i = 0;

    while (i < g->n && g->qpns[i] != qpn)
        i++;
    return i;
}

/* Creates an empty group.  Returns NULL if the arena is full. */
static struct mcast_group *group_new(struct hca *h, const uint8_t gid[MCAST_GID_BYTES])
{
    struct mcast_group *g = arena_alloc(h->arena, sizeof(*g));

    if (!g)
        return NULL;
    memcpy(g->gid, gid, MCAST_GID_BYTES);
    if (hash_lists_add(&h->mcast.groups, &g->node, hash_of(gid)))
        return g;
    arena_release(h->arena, g, sizeof(*g));
    return NULL;
}

static void group_free(struct hca *h, struct mcast_group *g)
{
    hash_lists_remove(&h->mcast.groups, &g->node);
    arena_release(h->arena, g->qpns, g->cap * sizeof(*g->qpns));
    arena_release(h->arena, g, sizeof(*g));
}

/* Checks the limits for one more queue pair in @g, or in a new group if @g is NULL.  Returns
 * REF_NONE or RFK_NO_ROOM.
 */
static enum refusal_reason check_limits(struct hca *h, const struct mcast_group *g)
{
    const struct hca_limits *l = &h->limits;
    const uint32_t n = g ? g->n : 0;

    if (!g && h->mcast.groups.n >= l->max_mcast_grp)
        return hca_refuse(h, REF_GROUP_LIMIT,
                          compared_at_most(l->max_mcast_grp, h->mcast.groups.n + 1));
    if (n >= l->max_mcast_qp_attach)
        return hca_refuse(h, REF_GROUP_QPS, compared_at_most(l->max_mcast_qp_attach, n + 1));
    if (h->mcast.n_attached >= l->max_total_mcast_qp_attach)
        return hca_refuse(h, REF_GROUP_TOTAL,
                          compared_at_most(l->max_total_mcast_qp_attach, h->mcast.n_attached + 1));
    return REF_NONE;
}

/* Makes room for one more QPN in @g.  Returns false if the arena is full. */
static bool make_room(struct hca *h, struct mcast_group *g)
{
    uint32_t *qpns = arena_extend(h->arena, g->qpns, &g->cap, g->n, g->n + 1, sizeof(*qpns));

    if (qpns)
        g->qpns = qpns;
    return qpns != NULL;
}

enum refusal_reason mcast_attach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES])
{
    struct mcast_group *g = find(h, gid);
    enum refusal_reason why;

    if (qp->config.type != QPT_UD)
        return hca_refuse(h, REF_GROUP_QP_TYPE, compared_one(QPT_UD, qp->config.type));
    if (g && place_of(g, qp->qpn) < g->n)
        return REF_NONE;
    why = check_limits(h, g);
    if (why != REF_NONE)
        return why;
    if (!g)
        g = group_new(h, gid);
    if (!g)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    if (!make_room(h, g)) {
        if (g->n == 0)
            group_free(h, g);
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    }
    g->qpns[g->n++] = qp->qpn;
    h->mcast.n_attached++;
    qp->n_groups++;
    return REF_NONE;
}

/* Detaches @qp from @g; the order of the others stays. */
static void leave(struct hca *h, struct mcast_group *g, struct qp *qp)
{
    const uint32_t i = place_of(g, qp->qpn);

    RDL_ASSERT(i < g->n && qp->n_groups > 0);
    memmove(g->qpns + i, g->qpns + i + 1, (g->n - i - 1) * sizeof(*g->qpns));
    g->n--;
    h->mcast.n_attached--;
    qp->n_groups--;
    if (g->n == 0)
        group_free(h, g);
}

enum refusal_reason mcast_detach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES])
{
    struct mcast_group *g = find(h, gid);

    if (!g || place_of(g, qp->qpn) == g->n)
        return hca_refuse(h, REF_GROUP_MEMBER, compared_nothing());
    leave(h, g, qp);
    return REF_NONE;
}

void mcast_forget(struct hca *h, struct qp *qp)
{
    const struct hash_lists *l = &h->mcast.groups;

    for (uint32_t i = 0; i < l->n_lists && qp->n_groups > 0; i++) {
        for (struct hash_node *at = l->lists[i], *next; at; at = next) {
            struct mcast_group *g = (struct mcast_group *)at;

            next = at->next;
            if (place_of(g, qp->qpn) < g->n)
                leave(h, g, qp);
        }
    }
    RDL_ASSERT(qp->n_groups == 0);
}

uint32_t mcast_find(const struct hca *h, const uint8_t gid[MCAST_GID_BYTES],
                    const uint32_t **ret_qpns)
{
    const struct mcast_group *g = find(h, gid);

    if (!g)
        return 0;
    *ret_qpns = g->qpns;
    return g->n;
}

bool mcast_wants(const struct qp *qp, const uint8_t src_gid[MCAST_GID_BYTES], uint32_t src_qpn)
{
    return !((qp->config.create_flags & CREATE_BLOCK_SELF_MCAST_LB) && src_qpn == qp->qpn &&
             hca_gid_is_own(qp->hca, src_gid));
}

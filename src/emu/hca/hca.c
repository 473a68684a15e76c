/* SPDX-License-Identifier: MIT */
#include "emu/hca/hca.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/roce.h"
#include "emu/hca/cq.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/mr.h"
#include "emu/hca/mw.h"
#include "emu/hca/srq.h"

#define QP_WR_MAX 32768u /* most work requests in a work queue of any device */

static void check_limits(const struct hca_limits *l, uint32_t first_qpn)
{
    RDL_ASSERT(l->max_pd > 0 && l->max_pd < SLOTS_MAX);
    RDL_ASSERT(l->max_mr > 0 && l->max_mr < SLOTS_MAX && l->max_mw < SLOTS_MAX - l->max_mr);
    RDL_ASSERT(l->max_cq > 0 && l->max_cq < SLOTS_MAX);
    RDL_ASSERT(l->max_srq < SLOTS_MAX);
    RDL_ASSERT(l->max_qp >= HCA_QPN_USER && l->max_qp < SLOTS_MAX);
    RDL_ASSERT(l->max_qp_wr > 0 && l->max_qp_wr <= QP_WR_MAX);
    RDL_ASSERT(first_qpn >= HCA_QPN_USER && first_qpn <= l->max_qp);
    RDL_ASSERT(mtu_bytes(l->max_mtu) > 0);
    RDL_ASSERT(l->page_sizes & RAM_PAGE_BYTES);
    RDL_ASSERT(l->max_sge_rd <= l->max_send_sge);
}

void hca_init(struct hca *h, const struct hca_env *env, const struct hca_limits *limits)
{
    check_limits(limits, env->first_qpn);
    RDL_ASSERT(env->pkeys.n <= HCA_PKEYS_MAX);
    *h = (struct hca){
        .arena = env->arena,
        .trace = env->sim->trace,
        .sim = env->sim,
        .ram = env->ram,
        .host = env->host,
        .profile = env->profile,
        .limits = *limits,
        .first_qpn = env->first_qpn,
        .keys = env->keys,
        .pkeys = env->pkeys.n > 0 ? env->pkeys : (struct hca_pkeys){{HCA_PKEY}, 1},
    };
    slots_init(&h->pds, h->arena, limits->max_pd);
    slots_init(&h->mkeys, h->arena, limits->max_mr + limits->max_mw);
    slots_init(&h->cqs, h->arena, limits->max_cq);
    slots_init(&h->srqs, h->arena, limits->max_srq > 0 ? limits->max_srq : 1);
    slots_init_oldest_first(&h->qps, h->arena, limits->max_qp - HCA_QPN_USER + 1);
    mcast_init(&h->mcast, h->arena);
}

static void must(enum refusal_reason why)
{
    RDL_ASSERT(why == REF_NONE);
}

/* Windows first: a bound window has a reference to its region. */
static void destroy_keys(struct hca *h)
{
    for (uint32_t i = 0; i < h->mkeys.len; i++) {
        const struct mkey *k = slots_at(&h->mkeys, i);

        if (k && key_is_window(k))
            must(hca_mw_destroy(h, i + 1));
    }
    for (uint32_t i = 0; i < h->mkeys.len; i++) {
        if (slots_at(&h->mkeys, i))
            must(hca_mr_destroy(h, i + 1));
    }
}

void hca_done(struct hca *h)
{
    RDL_ASSERT(h->qps.used == 0 && !h->gsi);
    for (uint32_t i = 0; i < HCA_GIDS; i++)
        RDL_ASSERT(h->gids[i].users == 0);
    destroy_keys(h);
    for (uint32_t i = 0; i < h->cqs.len; i++) {
        const struct cq *cq = slots_at(&h->cqs, i);

        if (cq)
            must(hca_cq_destroy(h, cq->cqn));
    }
    for (uint32_t i = 0; i < h->srqs.len; i++) {
        if (slots_at(&h->srqs, i))
            must(hca_srq_destroy(h, i + 1));
    }
    for (uint32_t i = 0; i < h->pds.len; i++) {
        const struct pd *pd = slots_at(&h->pds, i);

        if (pd)
            must(hca_pd_destroy(h, pd->pdn));
    }
    slots_done(&h->pds);
    slots_done(&h->mkeys);
    slots_done(&h->cqs);
    slots_done(&h->srqs);
    slots_done(&h->qps);
    mcast_done(&h->mcast);
}

enum refusal_reason hca_refuse_full(struct hca *h, const struct slots *table, uint32_t max,
                                    enum refusal_reason why)
{
    return table->used < max ? hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing())
                             : hca_refuse(h, why, compared_at_most(max, (uint64_t)max + 1));
}

enum refusal_reason hca_pd_create(struct hca *h, struct pd **ret)
{
    struct pd *pd;
    uint64_t name;

    if (h->pds.used >= h->limits.max_pd) /* the limit may have been reduced */
        return hca_refuse(h, REF_PD_LIMIT,
                          compared_at_most(h->limits.max_pd, (uint64_t)h->pds.used + 1));
    pd = arena_alloc(h->arena, sizeof(*pd));
    if (!pd)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    name = slots_add(&h->pds, pd);
    if (name == 0) {
        arena_release(h->arena, pd, sizeof(*pd));
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    }
    pd->pdn = slots_index(name) + 1;
    *ret = pd;
    return REF_NONE;
}

enum refusal_reason hca_pd_destroy(struct hca *h, uint32_t pdn)
{
    struct pd *pd = hca_pd(h, pdn);

    if (!pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(pdn));
    if (pd->users > 0)
        return hca_refuse(h, REF_PD_IN_USE, compared_at_most(0, pd->users));
    slots_remove(&h->pds, slots_name(&h->pds, pdn - 1));
    arena_release(h->arena, pd, sizeof(*pd));
    return REF_NONE;
}

enum refusal_reason hca_gid_set(struct hca *h, uint32_t index, const uint8_t gid[HCA_GID_BYTES])
{
    struct hca_gid *g;

    if (index >= HCA_GIDS)
        return hca_refuse(h, REF_GID_INDEX, compared_at_most(HCA_GIDS - 1, index));
    g = &h->gids[index];
    if (g->users > 0 && memcmp(g->raw, gid, HCA_GID_BYTES) != 0)
        return hca_refuse(h, REF_GID_IN_USE, compared_at_most(0, g->users));
    memcpy(g->raw, gid, HCA_GID_BYTES);
    g->valid = true;
    return REF_NONE;
}

enum refusal_reason hca_gid_clear(struct hca *h, uint32_t index)
{
    if (index >= HCA_GIDS)
        return hca_refuse(h, REF_GID_INDEX, compared_at_most(HCA_GIDS - 1, index));
    if (h->gids[index].users > 0)
        return hca_refuse(h, REF_GID_IN_USE, compared_at_most(0, h->gids[index].users));
    h->gids[index] = (struct hca_gid){.valid = false};
    return REF_NONE;
}

bool hca_gid_is_in(const struct hca_gid *gids, const uint8_t gid[HCA_GID_BYTES])
{
    for (uint32_t i = 0; i < HCA_GIDS; i++) {
        if (gids[i].valid && memcmp(gids[i].raw, gid, HCA_GID_BYTES) == 0)
            return true;
    }
    return false;
}

bool hca_gid_is_own(const struct hca *h, const uint8_t gid[HCA_GID_BYTES])
{
    return hca_gid_is_in(h->gids, gid);
}

enum refusal_reason hca_pkey(const struct hca *h, uint32_t index, uint16_t *ret)
{
    if (index >= h->pkeys.n)
        return REF_PKEY_INDEX;
    *ret = h->pkeys.v[index];
    return REF_NONE;
}

bool hca_pkey_match(uint16_t a, uint16_t b)
{
    return ((a ^ b) & ~PKEY_FULL_MEMBER & 0xffffu) == 0 && ((a | b) & PKEY_FULL_MEMBER) != 0;
}

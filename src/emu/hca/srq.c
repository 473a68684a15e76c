/* SPDX-License-Identifier: MIT */
#include "emu/hca/srq.h"

static bool config_fits(const struct hca_limits *l, const struct srq_config *c)
{
    return c->max_wr > 0 && c->max_wr <= l->max_qp_wr && c->max_sge <= l->max_recv_sge;
}

enum ctrl_rsp hca_srq_create(struct hca *h, const struct srq_config *config, struct srq **ret)
{
    struct pd *pd = hca_pd(h, config->pdn);
    struct srq *srq;
    uint64_t name;

    if (!pd)
        return RSP_BAD_HANDLE;
    if (!config_fits(&h->limits, config))
        return RSP_INVALID_ARG;
    if (h->limits.max_srq == 0)
        return RSP_NO_RESOURCES;
    srq = arena_alloc(h->arena, sizeof(*srq));
    if (!srq)
        return RSP_NO_RESOURCES;
    name = slots_add(&h->srqs, srq);
    if (name == 0) {
        arena_release(h->arena, srq, sizeof(*srq));
        return RSP_NO_RESOURCES;
    }
    *srq = (struct srq){.pd = pd,
                        .srqn = slots_index(name) + 1,
                        .max_wr = config->max_wr,
                        .max_sge = config->max_sge};
    pd->users++;
    *ret = srq;
    return RSP_OK;
}

enum ctrl_rsp hca_srq_destroy(struct hca *h, uint32_t srqn)
{
    struct srq *srq = hca_srq(h, srqn);

    if (!srq)
        return RSP_BAD_HANDLE;
    if (srq->users > 0)
        return RSP_BUSY;
    srq->pd->users--;
    slots_remove(&h->srqs, slots_name(&h->srqs, srqn - 1));
    arena_release(h->arena, srq, sizeof(*srq));
    return RSP_OK;
}

enum ctrl_rsp srq_set_limit(struct srq *srq, uint32_t limit)
{
    if (limit > srq->max_wr)
        return RSP_INVALID_ARG;
    srq->limit = limit;
    return RSP_OK;
}

bool srq_take(struct srq *srq, uint32_t left)
{
    const bool reached = left < srq->limit;

    srq->taken++;
    if (reached)
        srq->limit = 0;
    return reached;
}

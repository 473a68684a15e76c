/* SPDX-License-Identifier: MIT */
#include "emu/hca/srq.h"

#include "emu/hca/ctrl.h"

enum refusal_reason hca_srq_create(struct hca *h, const struct srq_config *config, struct srq **ret)
{
    struct pd *pd = hca_pd(h, config->pdn);
    struct srq *srq;
    uint64_t name;

    if (!pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(config->pdn));
    if (config->max_wr == 0 || config->max_wr > h->limits.max_qp_wr)
        return hca_refuse(h, REF_SRQ_WR, compared_range(1, h->limits.max_qp_wr, config->max_wr));
    if (config->max_sge > h->limits.max_recv_sge)
        return hca_refuse(h, REF_SRQ_SGE,
                          compared_at_most(h->limits.max_recv_sge, config->max_sge));
    if (h->limits.max_srq == 0)
        return hca_refuse(h, REF_SRQ_LIMIT, compared_at_most(0, 1));
    srq = arena_alloc(h->arena, sizeof(*srq));
    if (!srq)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    name = slots_add(&h->srqs, srq);
    if (name == 0) {
        arena_release(h->arena, srq, sizeof(*srq));
        return hca_refuse_full(h, &h->srqs, h->limits.max_srq, REF_SRQ_LIMIT);
    }
    *srq = (struct srq){.pd = pd,
                        .srqn = slots_index(name) + 1,
                        .max_wr = config->max_wr,
                        .max_sge = config->max_sge};
    pd->users++;
    *ret = srq;
    return REF_NONE;
}

enum refusal_reason hca_srq_destroy(struct hca *h, uint32_t srqn)
{
    struct srq *srq = hca_srq(h, srqn);

    if (!srq)
        return hca_refuse(h, REF_SRQ_HANDLE, compared_found(srqn));
    if (srq->users > 0)
        return hca_refuse(h, REF_SRQ_IN_USE, compared_at_most(0, srq->users));
    srq->pd->users--;
    slots_remove(&h->srqs, slots_name(&h->srqs, srqn - 1));
    arena_release(h->arena, srq, sizeof(*srq));
    return REF_NONE;
}

enum refusal_reason srq_set_limit(struct hca *h, struct srq *srq, uint32_t limit)
{
    if (limit > srq->max_wr)
        return hca_refuse(h, REF_SRQ_ARMED_LIMIT, compared_at_most(srq->max_wr, limit));
    srq->limit = limit;
    return REF_NONE;
}

bool srq_take(struct srq *srq, uint32_t left)
{
    const bool reached = left < srq->limit;

    srq->taken++;
    if (reached)
        srq->limit = 0;
    return reached;
}

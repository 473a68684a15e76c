/* SPDX-License-Identifier: MIT */
#include "emu/hca/cq.h"

#include "emu/base/assert.h"

#define LOG_FIRST 16u

enum ctrl_rsp hca_cq_create(struct hca *h, uint32_t cqe, struct cq **ret)
{
    struct cq *cq;
    uint64_t name;

    if (cqe == 0 || cqe > h->limits.max_cqe)
        return RSP_INVALID_ARG;
    cq = arena_alloc(h->arena, sizeof(*cq));
    if (!cq)
        return RSP_NO_RESOURCES;
    name = slots_add(&h->cqs, cq);
    if (name == 0) {
        arena_release(h->arena, cq, sizeof(*cq));
        return RSP_NO_RESOURCES;
    }
    cq->cqn = slots_index(name) + 1;
    cq->cqe = cqe;
    *ret = cq;
    return RSP_OK;
}

enum ctrl_rsp hca_cq_destroy(struct hca *h, uint32_t cqn)
{
    struct cq *cq = hca_cq(h, cqn);

    if (!cq)
        return RSP_BAD_HANDLE;
    if (cq->users > 0)
        return RSP_BUSY;
    slots_remove(&h->cqs, slots_name(&h->cqs, cqn - 1));
    arena_release(h->arena, cq->log, cq->log_cap * sizeof(*cq->log));
    arena_release(h->arena, cq, sizeof(*cq));
    return RSP_OK;
}

enum ctrl_rsp hca_cq_resize(struct hca *h, uint32_t cqn, uint32_t cqe)
{
    struct cq *cq = hca_cq(h, cqn);

    if (!cq)
        return RSP_BAD_HANDLE;
    if (cqe == 0 || cqe > h->limits.max_cqe || cq->error)
        return RSP_INVALID_ARG;
    cq->cqe = cqe;
    return RSP_OK;
}

void cq_arm(struct cq *cq, bool solicited_only)
{
    if (!solicited_only)
        cq->arm = CQ_ARMED_ANY;
    else if (cq->arm == CQ_IDLE)
        cq->arm = CQ_ARMED_SOLICITED;
}

/* The log is full and may grow: every entry keeps its number, and so gets a new place. */
static void grow_log(struct hca *h, struct cq *cq)
{
    const uint32_t cap = cq->log_cap ? 2 * cq->log_cap : LOG_FIRST;
    struct completion *log = arena_alloc_raw(h->arena, cap * sizeof(*log));

    if (!log) {
        RDL_ASSERT(arena_is_short(h->arena)); /* the lab ends with this tick */
        return;
    }
    for (uint64_t n = cq->n_completed - cq->log_cap; n < cq->n_completed; n++)
        log[n & (cap - 1)] = cq->log[n & (cq->log_cap - 1)];
    arena_release(h->arena, cq->log, cq->log_cap * sizeof(*log));
    cq->log = log;
    cq->log_cap = cap;
}

bool cq_completed(struct hca *h, struct cq *cq, const struct completion *wc)
{
    const bool solicited = wc->solicited || wc->status != WCS_SUCCESS;
    const bool wakes = cq->arm == CQ_ARMED_ANY || (cq->arm == CQ_ARMED_SOLICITED && solicited);

    if (cq->n_completed == cq->log_cap && cq->log_cap < CQ_LOG_MAX)
        grow_log(h, cq);
    if (cq->log)
        cq->log[cq->n_completed & (cq->log_cap - 1)] = *wc;
    cq->n_completed++;
    if (wakes)
        cq->arm = CQ_IDLE;
    return wakes;
}

const struct completion *cq_log_at(const struct cq *cq, uint64_t n)
{
    if (n >= cq->n_completed || cq->n_completed - n > cq->log_cap)
        return NULL;
    return &cq->log[n & (cq->log_cap - 1)];
}

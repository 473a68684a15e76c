/* SPDX-License-Identifier: MIT */
#include "emu/hca/cq.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/profile.h"
#include "emu/hca/ctrl.h"

_Static_assert(CQ_LOG_FIRST << (CQ_LOG_BLOCKS - 1) == CQ_LOG_MAX, "the blocks of a log");
_Static_assert(sizeof(struct completion) <= 64, "a line of the cache");

/* Place of a completion in the log.  The log grows by blocks, so that no entry is ever copied. */
struct log_place {
    uint32_t block, at;
};

static struct log_place place_of(uint64_t n)
{
    const uint32_t i = (uint32_t)(n % CQ_LOG_MAX);
    const uint32_t block = i < CQ_LOG_FIRST ? 0 : ilog2(i / CQ_LOG_FIRST) + 1;

    return (struct log_place){block, block == 0 ? i : i - (CQ_LOG_FIRST << (block - 1))};
}

static size_t block_bytes(uint32_t block)
{
    const size_t n = block == 0 ? CQ_LOG_FIRST : (size_t)CQ_LOG_FIRST << (block - 1);

    return n * sizeof(struct completion);
}

static enum refusal_reason refuse_entries(struct hca *h, uint32_t cqe)
{
    return hca_refuse(h, REF_CQ_ENTRIES, compared_range(1, h->limits.max_cqe, cqe));
}

enum refusal_reason hca_cq_create(struct hca *h, uint32_t cqe, struct cq **ret)
{
    struct cq *cq;
    uint64_t name;

    if (cqe == 0 || cqe > h->limits.max_cqe)
        return refuse_entries(h, cqe);
    cq = arena_alloc(h->arena, sizeof(*cq));
    if (!cq)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    name = slots_add(&h->cqs, cq);
    if (name == 0) {
        arena_release(h->arena, cq, sizeof(*cq));
        return hca_refuse_full(h, &h->cqs, h->limits.max_cq, REF_CQ_LIMIT);
    }
    cq->cqn = slots_index(name) + 1;
    cq->cqe = cqe;
    *ret = cq;
    return REF_NONE;
}

enum refusal_reason hca_cq_destroy(struct hca *h, uint32_t cqn)
{
    struct cq *cq = hca_cq(h, cqn);

    if (!cq)
        return hca_refuse(h, REF_CQ_HANDLE, compared_found(cqn));
    if (cq->users > 0)
        return hca_refuse(h, REF_CQ_IN_USE, compared_at_most(0, cq->users));
    slots_remove(&h->cqs, slots_name(&h->cqs, cqn - 1));
    for (uint32_t i = 0; i < CQ_LOG_BLOCKS; i++)
        arena_release(h->arena, cq->log[i], block_bytes(i));
    arena_release(h->arena, cq, sizeof(*cq));
    return REF_NONE;
}

enum refusal_reason hca_cq_resize(struct hca *h, uint32_t cqn, uint32_t cqe)
{
    struct cq *cq = hca_cq(h, cqn);

    if (!cq)
        return hca_refuse(h, REF_CQ_HANDLE, compared_found(cqn));
    if (cqe == 0 || cqe > h->limits.max_cqe)
        return refuse_entries(h, cqe);
    if (cq->error)
        return hca_refuse(h, REF_CQ_OVERFLOWED, compared_nothing());
    cq->cqe = cqe;
    return REF_NONE;
}

void cq_arm(struct cq *cq, bool solicited_only)
{
    if (!solicited_only)
        cq->arm = CQ_ARMED_ANY;
    else if (cq->arm == CQ_IDLE)
        cq->arm = CQ_ARMED_SOLICITED;
}

void cq_disarm(struct cq *cq)
{
    cq->arm = CQ_IDLE;
}

bool cq_completed(struct hca *h, struct cq *cq, const struct completion *wc)
{
    const bool failed =
        wc->status != WCS_SUCCESS && profile_has(h->profile, TRAIT_ERRORS_ARE_SOLICITED);
    const bool solicited = wc->solicited || failed;
    const struct log_place p = place_of(cq->n_completed);
    const bool wakes = cq->arm == CQ_ARMED_ANY || (cq->arm == CQ_ARMED_SOLICITED && solicited);

    if (!cq->log[p.block])
        cq->log[p.block] = arena_alloc_raw(h->arena, block_bytes(p.block));
    if (cq->log[p.block])
        cq->log[p.block][p.at] = *wc;
    else
        RDL_ASSERT(arena_is_short(h->arena)); /* the lab ends with this tick */
    cq->n_completed++;
    if (wakes)
        cq->arm = CQ_IDLE;
    return wakes;
}

const struct completion *cq_log_at(const struct cq *cq, uint64_t n)
{
    const struct log_place p = place_of(n);

    if (n >= cq->n_completed || cq->n_completed - n > CQ_LOG_MAX || !cq->log[p.block])
        return NULL;
    return &cq->log[p.block][p.at];
}

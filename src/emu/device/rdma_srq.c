/* SPDX-License-Identifier: MIT */
/* Shared receive queues: their rings and their control requests.
 *
 * The ring of a shared receive queue is virtqueue number queue_of_srq().  The driver need not kick
 * it, because the device takes receives when a message needs one.  Several queue pairs take from
 * it, so receives complete in any order.  [decision 0024]
 */
#include "emu/device/ctrl.h"
#include "emu/facts/enum/object.h"
#include "emu/hca/srq.h"

struct srq *rdma_srq_of(const struct rdma *d, uint32_t queue)
{
    return hca_srq(&d->nic.hca, queue_srqn(d->config.nic.max_cq, d->config.nic.max_qp, queue));
}

bool rdma_is_srq_queue(const struct rdma *d, uint32_t queue)
{
    const uint32_t srqn = queue_srqn(d->config.nic.max_cq, d->config.nic.max_qp, queue);

    return srqn >= 1 && srqn <= d->config.nic.max_srq;
}

enum refusal_reason ctrl_create_srq(struct call *c)
{
    enum refusal_reason why;
    struct srq *srq;

    REQUEST(c, create_srq, r);
    why = hca_srq_create(&c->d->nic.hca, &(struct srq_config){r.pdn, r.max_wr, r.max_sge}, &srq);
    if (why != REF_NONE)
        return why;
    c->number = srq->srqn;
    RESPOND(c, srq_handle, .srqn = srq->srqn);
    return REF_NONE;
}

enum refusal_reason ctrl_modify_srq(struct call *c)
{
    struct srq *srq;

    REQUEST(c, modify_srq, r);
    c->number = r.srqn;
    srq = hca_srq(&c->d->nic.hca, r.srqn);
    if (!srq)
        return ctrl_refuse(c, REF_SRQ_HANDLE, compared_found(r.srqn));
    if (r.attr_mask & SRQ_MAX_WR)
        return ctrl_refuse(c, REF_SRQ_ATTR_OFFERED, compared_found(r.attr_mask));
    if (r.attr_mask & ~SRQ_LIMIT)
        return ctrl_refuse(c, REF_SRQ_ATTR_MASK, compared_found(r.attr_mask));
    return r.attr_mask & SRQ_LIMIT ? srq_set_limit(&c->d->nic.hca, srq, r.limit) : REF_NONE;
}

enum refusal_reason ctrl_query_srq(struct call *c)
{
    const struct srq *srq;

    REQUEST(c, srq_handle, r);
    c->number = r.srqn;
    srq = hca_srq(&c->d->nic.hca, r.srqn);
    if (!srq)
        return ctrl_refuse(c, REF_SRQ_HANDLE, compared_found(r.srqn));
    RESPOND(c, srq_attr, .max_wr = srq->max_wr, .max_sge = srq->max_sge, .limit = srq->limit);
    return REF_NONE;
}

enum refusal_reason ctrl_destroy_srq(struct call *c)
{
    enum refusal_reason why;

    REQUEST(c, srq_handle, r);
    c->number = r.srqn;
    why = hca_srq_destroy(&c->d->nic.hca, r.srqn);
    if (why == REF_NONE) {
        ctrl_forget_ring(c->d, rdma_srq(c->d, r.srqn));
        rnic_events_forget(&c->d->nic, OBJ_SRQ, r.srqn);
    }
    return why;
}

/* SPDX-License-Identifier: MIT */
/* Checks before posting, by facts/post.h. */
#include "emu/facts/post.h"
#include "emu/facts/rules.h"
#include "emu/guest/verbs/internal.h"

struct objection post_decide_send(const struct guest_qp *qp, const struct rdl_send_wr *wr)
{
    const struct post_limits limits = {.type = qp->type,
                                       .max_sge = qp->sq.max_sge,
                                       .max_sge_rd = qp->o.verbs->limits.max_sge_rd,
                                       .max_inline_data = qp->max_inline_data};
    const struct post_send send = {.opcode = wr->opcode,
                                   .flags = wr->flags,
                                   .n_sge = wr->n_sge,
                                   .inline_bytes = wr->inline_bytes};

    return post_check_send(&limits, &send);
}

struct objection post_decide_recv(const struct guest_qp *qp, const struct rdl_recv_wr *wr)
{
    if (qp->srq)
        return (struct objection){RULE_POST_SRQ, {0}};
    return post_check_recv(qp->rq.max_sge, wr->n_sge);
}

struct objection post_decide_shared(const struct guest_srq *srq, const struct rdl_recv_wr *wr)
{
    return post_check_recv(srq->rq.max_sge, wr->n_sge);
}

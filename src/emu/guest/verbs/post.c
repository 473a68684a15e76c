/* SPDX-License-Identifier: MIT */
/* Checks before posting: those that libibverbs leaves to its providers and that need no device.
 *
 * The device checks keys and message lengths when it carries the request out, and reports errors in
 * the completion.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rules.h"
#include "emu/facts/wr.h"
#include "emu/guest/verbs/internal.h"

#define SEND_FLAGS_ALL (unsigned)(SF_FENCE | SF_SIGNALED | SF_SOLICITED | SF_INLINE)

static bool has_opcode(const struct guest_qp *qp, const struct rdl_send_wr *wr,
                       struct compared *ret)
{
    (void)ret;
    return wr_is_of_type(qp->type, wr->opcode);
}

static bool has_flags(const struct guest_qp *qp, const struct rdl_send_wr *wr, struct compared *ret)
{
    (void)ret;
    if (wr->flags & ~SEND_FLAGS_ALL)
        return false;
    return qp->type == QPT_RC || !(wr->flags & SF_FENCE);
}

static bool has_inline_opcode(const struct guest_qp *qp, const struct rdl_send_wr *wr,
                              struct compared *ret)
{
    (void)qp;
    (void)ret;
    return !(wr->flags & SF_INLINE) || wr_info(wr->opcode)->data == WR_DATA_TAKES;
}

static bool has_inline_length(const struct guest_qp *qp, const struct rdl_send_wr *wr,
                              struct compared *ret)
{
    if (!(wr->flags & SF_INLINE))
        return true;
    *ret = compared_at_most(qp->max_inline_data, wr->inline_bytes);
    return wr->n_sge == 0 && wr->inline_bytes <= qp->max_inline_data;
}

static bool has_sge_count(const struct guest_qp *qp, const struct rdl_send_wr *wr,
                          struct compared *ret)
{
    const uint32_t sge_rd = qp->o.verbs->limits.max_sge_rd;
    uint32_t most = wr_info(wr->opcode)->data == WR_DATA_NONE ? 0 : qp->sq.max_sge;

    if ((wr->opcode == WR_RDMA_READ || wr->opcode == WR_RDMA_READ_WITH_INV) && most > sge_rd)
        most = sge_rd;
    *ret = compared_at_most(most, wr->n_sge);
    return wr->n_sge <= most;
}

/* Evaluated in this order; checks after the first may rely on a valid opcode.  When a check fails,
 * *@ret holds the values that it compared, if any.
 */
#define CHECKS(X)                                                                                  \
    X(RULE_POST_OPCODE, has_opcode)                                                                \
    X(RULE_POST_FLAGS, has_flags)                                                                  \
    X(RULE_POST_INLINE_OPCODE, has_inline_opcode)                                                  \
    X(RULE_POST_INLINE_LENGTH, has_inline_length)                                                  \
    X(RULE_POST_SGE_COUNT, has_sge_count)

#define ASK(name, has)                                                                             \
    by = (struct objection){(name), {0}};                                                          \
    if (!has(qp, wr, &by.values))                                                                  \
        return by;

struct objection post_decide_send(const struct guest_qp *qp, const struct rdl_send_wr *wr)
{
    struct objection by;

    CHECKS(ASK)
    return (struct objection){RULE_NONE, {0}};
}

static struct objection decide_recv(const struct guest_wq *rq, const struct rdl_recv_wr *wr)
{
    if (wr->n_sge <= rq->max_sge)
        return (struct objection){RULE_NONE, {0}};
    return (struct objection){RULE_POST_SGE_COUNT, compared_at_most(rq->max_sge, wr->n_sge)};
}

struct objection post_decide_recv(const struct guest_qp *qp, const struct rdl_recv_wr *wr)
{
    return qp->srq ? (struct objection){RULE_POST_SRQ, {0}} : decide_recv(&qp->rq, wr);
}

struct objection post_decide_shared(const struct guest_srq *srq, const struct rdl_recv_wr *wr)
{
    return decide_recv(&srq->rq, wr);
}

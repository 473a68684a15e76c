/* SPDX-License-Identifier: MIT */
/* The data path of the verbs: post, kick and poll. */
#include "emu/facts/wr.h"
#include "emu/guest/verbs/internal.h"

#define SEND_FLAGS_ALL (unsigned)(SF_FENCE | SF_SIGNALED | SF_SOLICITED | SF_INLINE)

/* Bytes of a message, for events: at most what a field holds. */
static uint32_t message_bytes(const struct rdl_sge *sge, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += sge[i].length;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static void kick_because(struct guest_qp *qp, bool send, ev_id post)
{
    struct verbs *v = qp->o.verbs;
    const ev_id old = trace_because(v->config.trace, post);

    v->ops->kick(qp, send);
    trace_because(v->config.trace, old);
}

/* May the queue pair be posted to at all? */
static enum rdl_status postable(const struct guest_qp *qp)
{
    if (qp->o.verbs->broken)
        return RDL_ERR_BROKEN;
    return object_usable(&qp->o);
}

/* In ERR and SQE requests are taken, to be flushed; in SQD they wait.  [IBTA1 10.3.1 (unverified)]
 */
static bool state_takes_sends(uint32_t state)
{
    return state == QPS_RTS || state == QPS_SQD || state == QPS_SQE || state == QPS_ERR;
}

static enum rdl_status check_send(const struct guest_qp *qp, const struct rdl_send_wr *wr)
{
    const enum rdl_status st = postable(qp);

    if (st != RDL_OK)
        return st;
    if (!state_takes_sends(qp->attr.state))
        return RDL_ERR_STATE;
    if (!wr_is_carried(qp->type, wr->opcode))
        return RDL_ERR_UNSUPPORTED;
    if (wr->flags & ~SEND_FLAGS_ALL)
        return RDL_ERR_INVAL;
    if (wr->flags & SF_INLINE)
        return wr->n_sge == 0 && wr->inline_bytes <= qp->max_inline_data ? RDL_OK : RDL_ERR_INVAL;
    return wr->n_sge <= qp->sq.max_sge ? RDL_OK : RDL_ERR_INVAL;
}

enum rdl_status verbs_post_send(struct guest_qp *qp, const struct rdl_send_wr *wr, bool nokick)
{
    const struct verbs *v = qp->o.verbs;
    enum rdl_status st = check_send(qp, wr);
    uint32_t entry;
    ev_id id;

    if (st == RDL_OK)
        st = v->ops->post_send(qp, wr, &entry);
    if (st != RDL_OK)
        return st;
    TRACE_ID(v->config.trace, id, post_send, .host = v->config.host, .qpn = qp->qpn,
             .queue = qp->sq.queue, .desc = entry, .wr_id = wr->wr_id, .op = wr->opcode,
             .bytes = wr->flags & SF_INLINE ? (uint32_t)wr->inline_bytes
                                            : message_bytes(wr->sge, wr->n_sge),
             .flags = wr->flags);
    if (!nokick)
        kick_because(qp, true, id);
    return RDL_OK;
}

enum rdl_status verbs_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr, bool nokick)
{
    const struct verbs *v = qp->o.verbs;
    enum rdl_status st = postable(qp);
    uint32_t entry;
    ev_id id;

    if (st == RDL_OK && qp->attr.state == QPS_RESET)
        st = RDL_ERR_STATE;
    if (st == RDL_OK && wr->n_sge > qp->rq.max_sge)
        st = RDL_ERR_INVAL;
    if (st == RDL_OK)
        st = v->ops->post_recv(qp, wr, &entry);
    if (st != RDL_OK)
        return st;
    TRACE_ID(v->config.trace, id, post_recv, .host = v->config.host, .qpn = qp->qpn,
             .queue = qp->rq.queue, .desc = entry, .wr_id = wr->wr_id,
             .bytes = message_bytes(wr->sge, wr->n_sge));
    if (!nokick)
        kick_because(qp, false, id);
    return RDL_OK;
}

enum rdl_status verbs_kick(struct guest_qp *qp, bool send)
{
    const enum rdl_status st = postable(qp);

    if (st == RDL_OK)
        qp->o.verbs->ops->kick(qp, send);
    return st;
}

/* A completion with an error tells the driver that the queue pair is in ERR.  One of an earlier
 * life of the queue pair, or with a number that no queue pair has, tells nothing.
 */
static void learn_from_error(const struct guest_cq *cq, uint32_t qpn)
{
    const struct verbs *v = cq->o.verbs;
    struct guest_qp *qp = qpn <= v->limits.max_qp ? v->qp_of[qpn] : NULL;

    if (!qp || qp->attr.state < QPS_INIT)
        return;
    if ((qp->send_cq == cq && cq->polled >= qp->send_cq_from) ||
        (qp->recv_cq == cq && cq->polled >= qp->recv_cq_from))
        qp->attr.state = QPS_ERR;
}

void verbs_polled(struct guest_cq *cq, const struct rdl_wc *wc)
{
    const struct verbs *v = cq->o.verbs;

    if (wc->status != WCS_SUCCESS)
        learn_from_error(cq, wc->qp_num);
    cq->polled++;
    TRACE(v->config.trace, poll, .host = v->config.host, .cqn = cq->cqn, .qpn = wc->qp_num,
          .wr_id = wc->wr_id, .status = wc->status, .op = wc->opcode, .bytes = wc->byte_len);
}

enum rdl_status verbs_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n)
{
    const enum rdl_status st = object_usable(&cq->o);

    return st == RDL_OK ? cq->o.verbs->ops->poll_cq(cq, max, ret, ret_n) : st;
}

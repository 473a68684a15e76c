/* SPDX-License-Identifier: MIT */
/* End of a queue pair.  On an error everything that is posted completes with WR_FLUSH_ERR, in
 * order.  On a reset it is returned without completions.  [IBTA1 10.3.1]
 *
 * A well-behaved guest posts nothing while this runs, so the loops end with the rings.  For a guest
 * that makes the rings look refilled, the device ends the loops (vq_turn_is_over()) and the rest is
 * flushed at the next look.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/profile.h"
#include "emu/xport/internal.h"

static void give_back(struct xport_qp *xqp, enum wq wq, uint32_t desc)
{
    xqp->x->ops->complete(xqp->x->ctx, &xqp->qp, wq, desc, NULL);
}

static void end_send(struct xport_qp *xqp, const struct send_wqe *w, struct objection by)
{
    if (xqp->qp.state == QPS_ERR || xqp->qp.state == QPS_SQE)
        req_complete(xqp, w, 0, WCS_WR_FLUSH_ERR, by);
    else
        give_back(xqp, WQ_SEND, w->desc);
}

static void end_recv(struct xport_qp *xqp)
{
    const struct completion wc = {
        .wr_id = xqp->resp.wqe.wr_id,
        .status = WCS_WR_FLUSH_ERR,
        .opcode = WC_RECV,
        .qpn = xqp->qp.qpn,
        .rule = RULE_FLUSH,
        .solicited = profile_has(xqp->qp.hca->profile, TRAIT_FLUSHED_RECV_IS_SOLICITED),
    };

    if (xqp->qp.state != QPS_ERR)
        resp_complete(xqp, NULL);
    else if (xqp->resp.closing && xqp->resp.fatal.status != WCS_SUCCESS)
        xqp->resp.untold = !resp_complete(xqp, &xqp->resp.fatal);
    else
        resp_complete(xqp, &wc);
}

/* The rule in the completion of the flushed request @q: without TRAIT_LOCAL_ERROR_IS_TOLD that of
 * the local error, which its status does not tell.
 */
static struct objection flushed_by(const struct xport_qp *xqp, const struct req_wqe *q)
{
    const bool untold =
        q->status != WCS_SUCCESS && !profile_has(xqp->qp.hca->profile, TRAIT_LOCAL_ERROR_IS_TOLD);

    return untold ? q->by : by_rule(RULE_FLUSH);
}

/* Flushes the fetched requests, then those in the ring.  An entry of r->ring serves as scratch
 * memory.
 */
static void end_send_queue(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    struct req_wqe *q;

    while (r->oldest != r->fetched) {
        q = req_wqe_at(r, r->oldest++);
        end_send(xqp, &q->w, flushed_by(xqp, q));
    }
    r->next = r->fetched;
    r->sent_psns = 0;
    r->acked_psns = 0;
    r->una = req_high(r);
    r->out_psns = 0;
    r->again_psns = 0;
    r->asked_psns = 0;
    r->out_rds = 0;
    r->sink = (struct sge_cur){0, 0};
    r->implied_nak = false;
    r->acked_pkts = r->sent_pkts;
    for (;;) {
        q = req_fetch_place(xqp);
        if (!q || xqp->x->ops->fetch_send(xqp->x->ctx, &xqp->qp, &q->w) != FETCH_OK)
            break;
        end_send(xqp, &q->w, by_rule(RULE_FLUSH));
    }
}

static void end_recv_queue(struct xport_qp *xqp)
{
    struct responder *r = &xqp->resp;

    if (r->has_wqe)
        end_recv(xqp);
    r->closing = false;
    r->open = NULL;
    resp_forget_rds(xqp);
    while (!xqp->qp.srq) { /* shared receives stay for the other queue pairs */
        if (xqp->x->ops->fetch_recv(xqp->x->ctx, &xqp->qp, &r->wqe) != FETCH_OK)
            break;
        r->has_wqe = true;
        end_recv(xqp);
    }
}

static void stop_timers(struct xport_qp *xqp)
{
    retry_timer_stop(xqp, TMR_ACK);
    retry_timer_stop(xqp, TMR_RNR);
    xqp->req.rnr_wait = false;
}

void xport_flush(struct xport_qp *xqp, enum wq wq)
{
    if (wq == WQ_SEND)
        end_send_queue(xqp);
    else
        end_recv_queue(xqp);
}

/* Raises QP_LAST_WQE_REACHED, at most once between two resets.  It tells the program that the queue
 * pair is in ERR and no shared receive will complete on it any more.  [libibverbs,
 * ibv_get_async_event(3)]
 */
static void report_last_receive(struct xport_qp *xqp)
{
    if (!xqp->qp.srq || xqp->resp.told_last)
        return;
    xqp->resp.told_last = true;
    xport_event(xqp, ASE_QP_LAST_WQE_REACHED);
}

void xport_fail(struct xport_qp *xqp)
{
    if (xqp->qp.state != QPS_ERR)
        qp_set_state(&xqp->qp, QPS_ERR);
    stop_timers(xqp);
    if (xqp->qp.attr.credits) /* it would announce zero receives */
        resp_absorb_ack(xqp);
    end_send_queue(xqp);
    end_recv_queue(xqp);
    report_last_receive(xqp);
}

void xport_fail_sends(struct xport_qp *xqp)
{
    if (!profile_has(xqp->qp.hca->profile, TRAIT_SEND_ERROR_IS_SQE)) {
        xport_fail(xqp);
        return;
    }
    RDL_ASSERT(xqp->qp.state != QPS_ERR); /* no send is in progress in ERR */
    qp_set_state(&xqp->qp, QPS_SQE);
    end_send_queue(xqp);
}

void xport_reset(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    struct responder *s = &xqp->resp;

    stop_timers(xqp);
    end_send_queue(xqp);
    end_recv_queue(xqp);
    arena_release(xqp->x->hca->arena, r->sends, REQ_SENDS_BYTES);
    *r = (struct requester){
        .ring = r->ring, .bodies = r->bodies, .body_bytes = r->body_bytes, .size = r->size};
    *s = (struct responder){.wqe = {.sge = s->wqe.sge},
                            .rds = {.ring = s->rds.ring, .size = s->rds.size}};
}

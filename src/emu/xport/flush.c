/* SPDX-License-Identifier: MIT */
/* How a queue pair ends: everything that is posted completes with WR_FLUSH_ERR, in order, or is
 * given back without a word when it is reset.  [IBTA1 10.3.1]
 *
 * Nobody posts while this runs, so the loops end with the rings.
 */
#include "emu/xport/internal.h"

static void give_back(struct rc_qp *rc, enum wq wq, uint32_t desc)
{
    rc->x->ops->complete(rc->x->ctx, &rc->qp, wq, desc, NULL);
}

static void end_send(struct rc_qp *rc, const struct send_wqe *w)
{
    if (rc->qp.state == QPS_ERR || rc->qp.state == QPS_SQE)
        req_complete(rc, w, 0, WCS_WR_FLUSH_ERR, by_rule(RULE_FLUSH));
    else
        give_back(rc, WQ_SEND, w->desc);
}

static void end_recv(struct rc_qp *rc)
{
    const struct completion wc = {
        .wr_id = rc->resp.wqe.wr_id,
        .status = WCS_WR_FLUSH_ERR,
        .opcode = WC_RECV,
        .qpn = rc->qp.qpn,
        .rule = RULE_FLUSH,
    };

    if (rc->qp.state != QPS_ERR)
        resp_complete(rc, NULL);
    else if (rc->resp.closing && rc->resp.fatal.status != WCS_SUCCESS)
        rc->resp.untold = !resp_complete(rc, &rc->resp.fatal);
    else
        resp_complete(rc, &wc);
}

/* Those that were fetched, then those in the ring.  A place of our ring serves as scratch. */
static void end_send_queue(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    struct rc_wqe *q;

    while (r->oldest != r->fetched)
        end_send(rc, &rc_wqe_at(r, r->oldest++)->w);
    r->next = r->fetched;
    r->sent_psns = 0;
    r->acked_psns = 0;
    r->una = rc_high(r);
    r->out_psns = 0;
    r->again_psns = 0;
    r->asked_psns = 0;
    r->out_rds = 0;
    r->sink = (struct sge_cur){0, 0};
    r->implied_nak = false;
    r->acked_pkts = r->sent_pkts;
    for (;;) {
        q = req_fetch_place(rc);
        if (rc->x->ops->fetch_send(rc->x->ctx, &rc->qp, &q->w) != FETCH_OK)
            break;
        end_send(rc, &q->w);
    }
}

static void end_recv_queue(struct rc_qp *rc)
{
    struct rc_resp *r = &rc->resp;

    if (r->has_wqe)
        end_recv(rc);
    r->closing = false;
    r->open = NULL;
    resp_forget_rds(rc);
    while (!rc->qp.srq) { /* what is shared is left to others */
        if (rc->x->ops->fetch_recv(rc->x->ctx, &rc->qp, &r->wqe) != FETCH_OK)
            break;
        r->has_wqe = true;
        end_recv(rc);
    }
}

static void stop_timers(struct rc_qp *rc)
{
    retry_timer_stop(rc, TMR_ACK);
    retry_timer_stop(rc, TMR_RNR);
    rc->req.rnr_wait = false;
}

void rc_flush(struct rc_qp *rc, enum wq wq)
{
    if (wq == WQ_SEND)
        end_send_queue(rc);
    else
        end_recv_queue(rc);
}

/* A queue pair with a shared receive queue is in ERR and holds no receive any more: its program
 * learns that none will complete any more, once in each life of it.  [libibverbs,
 * ibv_get_async_event(3)]
 */
static void tell_of_last_receive(struct rc_qp *rc)
{
    if (!rc->qp.srq || rc->resp.told_last)
        return;
    rc->resp.told_last = true;
    rc->x->ops->event(rc->x->ctx, ASE_QP_LAST_WQE_REACHED, OBJ_QP, rc->qp.qpn);
}

void rc_fail(struct rc_qp *rc)
{
    if (rc->qp.state != QPS_ERR)
        qp_set_state(&rc->qp, QPS_ERR);
    stop_timers(rc);
    end_send_queue(rc);
    end_recv_queue(rc);
    tell_of_last_receive(rc);
}

void rc_fail_sends(struct rc_qp *rc)
{
    if (rc->qp.state != QPS_ERR)
        qp_set_state(&rc->qp, QPS_SQE);
    end_send_queue(rc);
}

void rc_reset(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    struct rc_resp *s = &rc->resp;

    stop_timers(rc);
    end_send_queue(rc);
    end_recv_queue(rc);
    arena_release(rc->x->hca->arena, r->sends, RC_SENDS_BYTES);
    *r = (struct rc_req){
        .ring = r->ring, .bodies = r->bodies, .body_bytes = r->body_bytes, .size = r->size};
    *s = (struct rc_resp){.wqe = {.sge = s->wqe.sge},
                          .rds = {.ring = s->rds.ring, .size = s->rds.size}};
}

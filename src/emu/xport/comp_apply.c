/* SPDX-License-Identifier: MIT */
/* Completer of RC: applies the verdicts of comp.c. */
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/comp.h"
#include "emu/xport/credit.h"
#include "emu/xport/internal.h"
#include "emu/xport/retry.h"
#include "emu/xport/wqe.h"

/* The first outstanding READ or atomic, which must exist, and the number of PSNs before it. */
static const struct req_wqe *first_rd(const struct requester *r, uint32_t *ret_before)
{
    uint32_t before = 0;
    uint32_t n = r->oldest;

    while (!req_is_rd(req_wqe_at(r, n)))
        before += req_wqe_at(r, n++)->n_psns;
    *ret_before = n == r->oldest ? 0 : before - r->acked_psns;
    return req_wqe_at(r, n);
}

/* Fills the fields of @v on @rd, of which @answered PSNs were answered. */
static void view_rd(struct comp_view *v, const struct req_wqe *rd, uint32_t answered,
                    uint32_t brought)
{
    v->rd = rd->info->form == WR_FORM_ATOMIC ? OPK_ATOMIC : OPK_READ;
    v->rd_psns = rd->n_psns - answered;
    v->rd_bytes = rd->bytes - answered * v->mtu;
    if (!profile_has(v->profile, TRAIT_READ_LENGTH_CHECKED))
        v->rd_bytes = rd->bytes - brought;
    v->rd_is_new = answered == 0;
}

static struct comp_view view_of(const struct xport_qp *xqp, const struct req_wqe **ret_rd)
{
    const struct requester *r = &xqp->req;
    struct comp_view v = {
        .una = r->una,
        .out_psns = r->out_psns,
        .before_rd = r->out_psns,
        .implied_nak = r->implied_nak,
        .mtu = xqp->mtu,
        .rnr_wait = r->rnr_wait,
        .credits = xqp->qp.attr.credits,
        .profile = xqp->qp.hca->profile,
        .retries = r->retries,
        .retry_cnt = xqp->qp.attr.retry_cnt,
        .rnr_naks = r->rnr_naks,
        .rnr_retry = xqp->qp.attr.rnr_retry,
    };

    *ret_rd = NULL;
    if (r->out_rds > 0) {
        *ret_rd = first_rd(r, &v.before_rd);
        if (*ret_rd == req_wqe_at(r, r->oldest))
            view_rd(&v, *ret_rd, r->acked_psns, sge_bytes_before((*ret_rd)->w.sge, r->sink));
        else
            view_rd(&v, *ret_rd, 0, 0);
    }
    return v;
}

/* *@ret_rd is the READ or atomic that @p may answer, or NULL. */
static void decide(const struct xport_qp *xqp, const struct packet *p,
                   const struct req_wqe **ret_rd, struct comp_verdict *ret)
{
    const struct comp_view v = view_of(xqp, ret_rd);
    struct sink_view sink = {.hca = xqp->qp.hca};

    comp_decide(&v, p, ret);
    if (!ret->takes_data)
        return;
    RDL_ASSERT(*ret_rd); /* only READs and atomics are answered by data */
    sink.list = (struct sg_list){(*ret_rd)->w.sge, key_user_of(&xqp->qp), ACC_LOCAL_WRITE};
    if (v.before_rd == 0)
        sink.at = xqp->req.sink;
    comp_decide_sink(&sink, p, ret);
}

static ev_id trace_rx(const struct xport_qp *xqp, const struct packet *p,
                      const struct rx_info *info, const struct comp_verdict *d)
{
    const bool has_aeth = (p->op->headers & H_AETH) != 0;
    ev_id id;

    TRACE_ID(xport_trace(xqp), id, rx, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v,
             .syndrome = has_aeth ? (uint32_t)aeth_unpack(p->aeth.syndrome).kind : SYN_NONE,
             .msn = p->aeth.msn, .bytes = p->payload_bytes, .act = (uint32_t)d->act,
             .rule = (uint32_t)d->rule, .tx = info->tx, .least = d->values.least,
             .most = d->values.most, .found = d->values.found,
             .copied = p->whole ? p->whole->n_pkts : 0);
    return id;
}

RDL_COLD static void go_back(struct xport_qp *xqp, const struct comp_verdict *d)
{
    struct requester *r = &xqp->req;
    ev_id id;

    r->implied_nak = d->rule == RULE_COMP_IMPLIED_NAK;
    r->retries++;
    XPORT_COUNT(xqp, retries);
    TRACE_ID(xport_trace(xqp), id, retry, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .psn = r->una.v, .retry = r->retries,
             .limit = retry_limit(xqp->qp.attr.retry_cnt, xqp->qp.hca->profile));
    req_go_back(xqp, id);
}

RDL_COLD static void wait_rnr(struct xport_qp *xqp, const struct packet *p, ev_id rx)
{
    struct requester *r = &xqp->req;

    if (r->rnr_wait)
        return; /* a duplicate */
    r->rnr_naks++;
    r->retries = 0; /* an RNR NAK is an answer; retries count missing answers */
    r->rnr_wait = true;
    req_go_back(xqp, rx);
    retry_timer_arm(xqp, TMR_RNR, rnr_timer_ns(aeth_unpack(p->aeth.syndrome).value));
}

/* Updates the counters for packets other than plain acknowledges. */
RDL_COLD static void count_other(struct xport_qp *xqp, const struct packet *p,
                                 const struct comp_verdict *d)
{
    const enum syndrome kind =
        p->op->headers & H_AETH ? aeth_unpack(p->aeth.syndrome).kind : SYN_NONE;

    if (d->drop == DROP_GHOST_ACK)
        XPORT_COUNT(xqp, ghost_acks);
    else if (kind == SYN_RNR_NAK)
        XPORT_COUNT(xqp, rcvd_rnr);
    else if (kind == SYN_NAK_PSN_SEQUENCE)
        XPORT_COUNT(xqp, rcvd_seq_err);
    if (d->rule == RULE_RNR_LIMIT)
        XPORT_COUNT(xqp, rnr_retry_exceeded);
    else if (d->rule == RULE_RETRY_LIMIT)
        XPORT_COUNT(xqp, retry_exceeded);
}

/* Applies the rest of the verdict, after the acknowledged PSNs were processed. */
static void apply(struct xport_qp *xqp, const struct packet *p, const struct comp_verdict *d,
                  ev_id rx)
{
    if (d->act == ACT_GO_BACK)
        go_back(xqp, d);
    else if (d->act == ACT_WAIT_RNR)
        wait_rnr(xqp, p, rx);
    else if (d->act == ACT_FAIL)
        req_fail(xqp, d->status, (struct objection){d->rule, d->values});
}

/* Copies the data of @p into guest memory for the oldest request.  This is the only copy on the
 * receive path of the requester.
 */
static void take_data(struct xport_qp *xqp, const struct packet *p)
{
    struct requester *r = &xqp->req;
    const struct send_wqe *w = &req_wqe_at(r, r->oldest)->w;
    uint8_t found[ATOMIC_WORD_BYTES];

    if (p->op->kind == OPK_ATOMIC_ACK) {
        st_le64(found, p->atomic_ack); /* guest memory is little-endian */
        sge_copy_in(&xqp->qp, w->wr_id, w->sge, &r->sink, found, sizeof(found));
    } else {
        whole_copy_in(&xqp->qp, w->wr_id, w->sge, &r->sink, p);
    }
}

/* Processes the PSNs that @d acknowledges; the last of them may carry data for @rd.  If an earlier
 * request was refused after it was sent, the queue pair ends there and the data is discarded.
 */
static void acknowledge(struct xport_qp *xqp, const struct packet *p, const struct comp_verdict *d,
                        const struct req_wqe *rd)
{
    if (d->n_acked == 0 && !d->takes_data)
        return;
    req_acked(xqp, d->n_acked - d->n_data);
    if (d->takes_data && rd == req_wqe_at(&xqp->req, xqp->req.oldest)) {
        take_data(xqp, p);
        if (d->n_unused > 0)
            req_shorten_oldest(xqp, d->n_unused);
        req_acked(xqp, d->n_data);
    }
    retry_progress(xqp);
    req_settle(xqp);
}

enum drop_reason comp_receive(struct xport_qp *xqp, const struct packet *p,
                              const struct rx_info *info)
{
    const struct req_wqe *rd;
    struct comp_verdict d;
    ev_id rx, before;

    decide(xqp, p, &rd, &d);
    rx = trace_rx(xqp, p, info, &d);
    before = trace_because(xport_trace(xqp), rx);
    XPORT_ADD(xqp, rcvd_pkts, whole_psns(p));
    if (d.act != ACT_ACKS)
        count_other(xqp, p, &d);
    if (d.act == ACT_DROP)
        xport_drop(xqp->x, p, info, d.drop, &d.values);
    if (d.bad.bytes > 0)
        xport_trace_key(xqp, &d.bad, d.rule, ACC_LOCAL_WRITE);
    if ((d.act == ACT_ACKS || d.act == ACT_CREDITS) && (p->op->headers & H_AETH))
        credit_learn(xqp, p->aeth.msn, aeth_unpack(p->aeth.syndrome).value);
    if (d.act != ACT_DROP && d.act != ACT_ACKS && d.act != ACT_CREDITS)
        retry_timer_stop(xqp, TMR_ACK); /* the expected answer has arrived */
    acknowledge(xqp, p, &d, rd);
    if (xqp->qp.state != QPS_ERR)
        apply(xqp, p, &d, rx);
    xport_wake(xqp);
    trace_because(xport_trace(xqp), before);
    return d.drop;
}

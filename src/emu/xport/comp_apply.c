/* SPDX-License-Identifier: MIT */
/* Completer, RC: does what comp.c decided. */
#include "emu/facts/aeth.h"
#include "emu/xport/comp.h"
#include "emu/xport/internal.h"
#include "emu/xport/retry.h"

static struct comp_view view_of(const struct rc_qp *rc)
{
    return (struct comp_view){
        .una = rc->req.una,
        .out_psns = rc->req.out_psns,
        .rnr_wait = rc->req.rnr_wait,
        .profile = rc->qp.hca->profile,
        .retries = rc->req.retries,
        .retry_cnt = rc->qp.attr.retry_cnt,
        .rnr_naks = rc->req.rnr_naks,
        .rnr_retry = rc->qp.attr.rnr_retry,
    };
}

static ev_id trace_rx(const struct rc_qp *rc, const struct packet *p, const struct rx_info *info,
                      const struct comp_verdict *d)
{
    const bool has_aeth = (p->op->headers & H_AETH) != 0;
    ev_id id;

    TRACE_ID(rc_trace(rc), id, rx, .host = rc->qp.hca->host, .qpn = rc->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v,
             .syndrome = has_aeth ? (uint32_t)aeth_unpack(p->aeth.syndrome).kind : SYN_NONE,
             .msn = p->aeth.msn, .bytes = p->payload_bytes, .act = (uint32_t)d->act,
             .rule = (uint32_t)d->rule, .tx = info->tx, .least = d->values.least,
             .most = d->values.most, .found = d->values.found);
    return id;
}

static void go_back(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    ev_id id;

    r->retries++;
    RC_COUNT(rc, retries);
    TRACE_ID(rc_trace(rc), id, retry, .host = rc->qp.hca->host, .qpn = rc->qp.qpn, .psn = r->una.v,
             .retry = r->retries, .limit = retry_limit(rc->qp.attr.retry_cnt, rc->qp.hca->profile));
    req_go_back(rc, id);
}

static void wait_rnr(struct rc_qp *rc, const struct packet *p, ev_id rx)
{
    struct rc_req *r = &rc->req;

    if (r->rnr_wait)
        return; /* a copy */
    r->rnr_naks++;
    r->retries = 0; /* the path works: transport retries count what gets no answer */
    r->rnr_wait = true;
    req_go_back(rc, rx);
    retry_timer_arm(rc, TMR_RNR, rnr_timer_ns(aeth_unpack(p->aeth.syndrome).value));
}

static void count(struct rc_qp *rc, const struct packet *p, const struct comp_verdict *d)
{
    const enum syndrome kind = aeth_unpack(p->aeth.syndrome).kind;

    RC_COUNT(rc, rcvd_pkts);
    if (d->act == ACT_DROP)
        RC_COUNT(rc, ghost_acks);
    else if (kind == SYN_RNR_NAK)
        RC_COUNT(rc, rcvd_rnr);
    else if (kind == SYN_NAK_PSN_SEQUENCE)
        RC_COUNT(rc, rcvd_seq_err);
    if (d->rule == RULE_RNR_LIMIT)
        RC_COUNT(rc, rnr_retry_exceeded);
    else if (d->rule == RULE_RETRY_LIMIT)
        RC_COUNT(rc, retry_exceeded);
}

/* What is left to do after the packets that were acknowledged are. */
static void apply(struct rc_qp *rc, const struct packet *p, const struct comp_verdict *d, ev_id rx)
{
    if (d->act == ACT_GO_BACK)
        go_back(rc);
    else if (d->act == ACT_WAIT_RNR)
        wait_rnr(rc, p, rx);
    else if (d->act == ACT_FAIL)
        req_fail(rc, d->status, (struct objection){d->rule, d->values});
}

enum drop_reason comp_receive(struct rc_qp *rc, const struct packet *p, const struct rx_info *info)
{
    const struct comp_view v = view_of(rc);
    const struct comp_verdict d = comp_decide(&v, p);
    const ev_id rx = trace_rx(rc, p, info, &d);
    const ev_id before = trace_because(rc_trace(rc), rx);

    count(rc, p, &d);
    if (d.act == ACT_DROP)
        xport_drop(rc->x, p, info, DROP_GHOST_ACK, &d.values);
    if (d.act != ACT_DROP && d.act != ACT_ACKS)
        retry_timer_stop(rc, TMR_ACK); /* the answer that was waited for is here */
    if (d.n_acked > 0) {
        req_acked(rc, d.n_acked);
        retry_progress(rc);
        req_settle(rc);
    }
    if (rc->qp.state != QPS_ERR)
        apply(rc, p, &d, rx);
    rc_wake(rc);
    trace_because(rc_trace(rc), before);
    return d.act == ACT_DROP ? DROP_GHOST_ACK : DROP_NONE;
}

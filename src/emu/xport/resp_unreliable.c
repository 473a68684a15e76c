/* SPDX-License-Identifier: MIT */
/* Responder, UC and UD: nothing is answered.
 *
 * The rules are those of RC (resp.c), but what they refuse is thrown away, and with it the message
 * that it belongs to: the next packet that starts one begins anew, in the receive that is held if
 * there is one.  On UC so does a packet that starts a message behind a gap.  Only what is wrong at
 * this side, a receive that the device cannot use, ends the queue pair.  [IBTA1 9.8]
 */
#include "emu/base/assert.h"
#include "emu/xport/internal.h"

/* @d as it is where no NAK can say it. */
static struct resp_verdict without_nak(struct resp_verdict d)
{
    const bool is_ours = d.status == WCS_LOC_PROT_ERR || d.status == WCS_LOC_QP_OP_ERR;

    if (d.act == ACT_ACCEPT || d.act == ACT_DROP)
        return d;
    d.drop = d.act == ACT_RNR ? DROP_NO_RECEIVE : DROP_REFUSED;
    d.act = ACT_DROP;
    if (is_ours) {
        d.drop = DROP_NONE;
        d.act = ACT_FAIL;
    }
    return d;
}

static struct resp_verdict decide(struct rc_qp *rc, const struct packet *p)
{
    struct resp_view v = resp_view_of(rc);
    const struct psn expected = v.expected;

    if (rc->service->connected && !op_starts(p->op) && p->bth.psn.v != expected.v)
        return (struct resp_verdict){.act = ACT_DROP,
                                     .rule = RULE_RESP_PSN,
                                     .drop = DROP_OUT_OF_SEQUENCE,
                                     .values = compared_one(expected.v, p->bth.psn.v)};
    v.expected = p->bth.psn;
    if (op_starts(p->op))
        v.open = NULL; /* whatever was open lacks its end */
    return without_nak(resp_judge(rc, p, &v));
}

/* The message is given up; its receive, if it has one, is for the next. */
static void give_up_message(struct rc_qp *rc, const struct packet *p)
{
    rc->resp.open = NULL;
    rc->resp.expected = psn_add(p->bth.psn, 1);
}

static void fail(struct rc_qp *rc, const struct packet *p, const struct resp_verdict *d)
{
    const struct completion wc = resp_error(rc, d);
    const bool has_wqe = rc->resp.has_wqe;
    bool told;

    resp_trace_refused_key(rc, p, d);
    told = has_wqe && resp_complete(rc, &wc);
    rc_fail(rc);
    if (!told)
        rc_event_refused(rc, d->act);
}

enum drop_reason resp_receive_unreliable(struct rc_qp *rc, const struct packet *p,
                                         const struct rx_info *info)
{
    const struct resp_verdict d = decide(rc, p);
    const ev_id rx = resp_trace_rx(rc, p, info, &d), before = trace_because(rc_trace(rc), rx);

    RC_COUNT(rc, rcvd_pkts);
    if (d.act == ACT_ACCEPT) {
        resp_trace_key(rc, p);
        if (!resp_deliver(rc, p)) {
            rc_fail(rc);
            rc_event(rc, ASE_QP_FATAL); /* nobody will learn that the message is there */
        }
    } else if (d.act == ACT_FAIL) {
        fail(rc, p, &d);
    } else {
        if (d.drop == DROP_OUT_OF_SEQUENCE)
            RC_COUNT(rc, out_of_sequence);
        resp_trace_refused_key(rc, p, &d);
        xport_drop(rc->x, p, info, d.drop, &d.values);
        give_up_message(rc, p);
    }
    rc_wake(rc);
    trace_because(rc_trace(rc), before);
    return d.drop;
}

/* SPDX-License-Identifier: MIT */
/* Responder of UC and UD, which sends no answers.
 *
 * The rules are those of RC (resp.c).  A packet that they refuse is dropped together with its
 * message.  The next packet that starts a message is accepted again, and uses the held receive if
 * there is one.  On UC this also applies to a packet that starts a message after a gap.  Only a
 * receive that the device cannot use, a fault of this side, ends the queue pair.  [IBTA1 9.8]
 */
#include "emu/base/assert.h"
#include "emu/xport/internal.h"

/* Converts the RC verdict @d for a service without NAKs. */
static struct resp_verdict without_nak(struct resp_verdict d)
{
    const bool is_ours = d.status == WCS_LOC_PROT_ERR || d.status == WCS_LOC_QP_OP_ERR;

    RDL_ASSERT(d.act != ACT_DROP); /* decide() has dropped packets out of sequence */
    if (d.act == ACT_ACCEPT)
        return d;
    d.drop = d.act == ACT_RNR ? DROP_NO_RECEIVE : DROP_REFUSED;
    d.act = ACT_DROP;
    if (is_ours) {
        d.drop = DROP_NONE;
        d.act = ACT_FAIL;
    }
    return d;
}

static struct resp_verdict decide(struct xport_qp *xqp, const struct packet *p)
{
    struct resp_view v = resp_view_of(xqp);
    const struct psn expected = v.expected;
    struct resp_verdict d;

    if (xqp->service->connected && !op_starts(p->op) && p->bth.psn.v != expected.v)
        return (struct resp_verdict){.act = ACT_DROP,
                                     .rule = RULE_RESP_PSN,
                                     .drop = DROP_OUT_OF_SEQUENCE,
                                     .values = compared_one(expected.v, p->bth.psn.v)};
    v.expected = p->bth.psn;
    if (op_starts(p->op))
        v.open = NULL; /* the end of the open message was lost */
    resp_judge(xqp, p, &v, &d);
    return without_nak(d);
}

/* Gives up the message of @p.  A held receive is kept for the next message. */
static void give_up_message(struct xport_qp *xqp, const struct packet *p)
{
    xqp->resp.open = NULL;
    xqp->resp.expected = psn_add(p->bth.psn, whole_psns(p));
}

static void fail(struct xport_qp *xqp, const struct packet *p, const struct resp_verdict *d)
{
    const struct completion wc = resp_error(xqp, d);
    const bool has_wqe = xqp->resp.has_wqe;
    bool told;

    resp_trace_refused_key(xqp, p, d);
    told = has_wqe && resp_complete(xqp, &wc);
    xport_fail(xqp);
    if (!told)
        xport_event_refused(xqp, &(struct refusal){d->act, d->rule});
}

enum drop_reason resp_receive_unreliable(struct xport_qp *xqp, const struct packet *p,
                                         const struct rx_info *info)
{
    const struct resp_verdict d = decide(xqp, p);
    const ev_id rx = resp_trace_rx(xqp, p, info, &d), before = trace_because(xport_trace(xqp), rx);

    XPORT_ADD(xqp, rcvd_pkts, whole_psns(p));
    if (d.act == ACT_ACCEPT) {
        resp_trace_key(xqp, p);
        if (!resp_deliver(xqp, p)) {
            xport_fail(xqp);
            xport_event(xqp, ASE_QP_FATAL); /* the completion of the message was lost */
        }
    } else if (d.act == ACT_FAIL) {
        fail(xqp, p, &d);
    } else {
        if (d.drop == DROP_OUT_OF_SEQUENCE)
            XPORT_COUNT(xqp, out_of_sequence);
        resp_trace_refused_key(xqp, p, &d);
        xport_drop(xqp->x, p, info, d.drop, &d.values);
        give_up_message(xqp, p);
    }
    xport_wake(xqp);
    trace_because(xport_trace(xqp), before);
    return d.drop;
}

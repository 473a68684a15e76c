/* SPDX-License-Identifier: MIT */
#include "emu/xport/credit.h"

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/internal.h"

/* @a - @b in 24-bit serial number arithmetic. */
static int32_t ahead(uint32_t a, uint32_t b)
{
    return psn_diff((struct psn){a & PSN_MASK}, (struct psn){b & PSN_MASK});
}

uint8_t credit_code(struct xport_qp *xqp)
{
    uint32_t n;

    if (!xqp->qp.attr.credits || xqp->qp.srq) /* shared receives cannot be promised */
        return AETH_NO_CREDITS;
    n = xqp->x->ops->receives(xqp->x->ctx, &xqp->qp);
    return aeth_credit_code(n + xqp->resp.has_wqe); /* the MSN does not count it yet */
}

bool credit_allows(const struct xport_qp *xqp, const struct req_wqe *q, uint32_t sent)
{
    const struct requester *r = &xqp->req;
    const uint32_t ssn = sent > 0 ? q->ssn : r->ssn + 1;

    if (!xqp->qp.attr.credits || r->uncredited || !wr_takes_receive(q->info->opcode) ||
        ahead(ssn, r->credit_ssn) <= 0)
        return true;
    /* A probe.  For a WRITE it is the whole message, because only the last packet can be refused.
     */
    return (sent == 0 || q->info->form == WR_FORM_RDMA) && ahead(ssn, r->credit_ssn) == 1;
}

bool credit_would_end(const struct xport_qp *xqp, const struct req_wqe *q)
{
    const struct requester *r = &xqp->req;
    const uint32_t ssn = r->again_psns > 0 ? q->ssn : r->ssn + 1;

    return xqp->qp.attr.credits && !r->uncredited && wr_takes_receive(q->info->opcode) &&
           ahead(ssn, r->credit_ssn) > 0;
}

void credit_begin(struct xport_qp *xqp, struct req_wqe *q)
{
    const bool is_probe = credit_would_end(xqp, q);

    xqp->req.ssn = (xqp->req.ssn + 1) & RESP_MSN_MASK;
    q->ssn = xqp->req.ssn;
    if (is_probe)
        TRACE(xport_trace(xqp), probe, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn, .ssn = q->ssn,
              .limit = xqp->req.credit_ssn);
}

void credit_learn(struct xport_qp *xqp, uint32_t msn, uint8_t code)
{
    struct requester *r = &xqp->req;
    uint32_t limit;

    if (!xqp->qp.attr.credits)
        return;
    r->uncredited = code == AETH_NO_CREDITS;
    if (r->uncredited)
        return;
    limit = (msn + aeth_credits(code)) & RESP_MSN_MASK;
    /* Credit codes round down, so a later code can be smaller without being a change. */
    if (ahead(limit, r->credit_ssn) <= 0)
        return;
    r->credit_ssn = limit;
    TRACE(xport_trace(xqp), credits, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn, .limit = limit);
}

void credit_posted(struct xport_qp *xqp)
{
    if (!xqp->qp.attr.credits || xqp->resp.closing)
        return;
    RDL_ASSERT(xqp->qp.state >= QPS_RTR && xqp->qp.state <= QPS_SQD); /* credits imply one */
    resp_acknowledge(xqp, 0);
}

/* SPDX-License-Identifier: MIT */
#include "emu/xport/credit.h"

#include "emu/facts/aeth.h"
#include "emu/xport/internal.h"

/* How far @a is ahead of @b, both of 24 bits. */
static int32_t ahead(uint32_t a, uint32_t b)
{
    return psn_diff((struct psn){a & PSN_MASK}, (struct psn){b & PSN_MASK});
}

uint8_t credit_code(struct rc_qp *rc)
{
    uint32_t n;

    if (!rc->qp.attr.credits || rc->qp.srq) /* what is shared cannot be promised */
        return AETH_NO_CREDITS;
    n = rc->x->ops->receives(rc->x->ctx, &rc->qp);
    return aeth_credit_code(n + rc->resp.has_wqe); /* its message does not count as completed */
}

/* Does @q take a receive at the far side? */
static bool needs_receive(const struct rc_wqe *q)
{
    return !q->info->local && (q->info->form == WR_FORM_NONE || q->info->imm);
}

bool credit_allows(const struct rc_qp *rc, const struct rc_wqe *q, uint32_t sent)
{
    const struct rc_req *r = &rc->req;
    const uint32_t ssn = sent > 0 ? q->ssn : r->ssn + 1;

    if (!rc->qp.attr.credits || r->uncredited || !needs_receive(q) ||
        ahead(ssn, r->credit_ssn) <= 0)
        return true;
    return sent == 0 && ahead(ssn, r->credit_ssn) == 1; /* a probe */
}

bool credit_would_end(const struct rc_qp *rc, const struct rc_wqe *q)
{
    const struct rc_req *r = &rc->req;

    return rc->qp.attr.credits && !r->uncredited && needs_receive(q) &&
           ahead(r->ssn + 1, r->credit_ssn) > 0;
}

void credit_begin(struct rc_qp *rc, struct rc_wqe *q)
{
    rc->req.ssn = (rc->req.ssn + 1) & RC_MSN_MASK;
    q->ssn = rc->req.ssn;
}

void credit_learn(struct rc_qp *rc, uint32_t msn, uint8_t code)
{
    struct rc_req *r = &rc->req;

    if (!rc->qp.attr.credits)
        return;
    r->uncredited = code == AETH_NO_CREDITS;
    if (!r->uncredited)
        r->credit_ssn = (msn + aeth_credits(code)) & RC_MSN_MASK;
}

void credit_posted(struct rc_qp *rc)
{
    const bool receives = rc->qp.state >= QPS_RTR && rc->qp.state <= QPS_SQD;

    if (rc->qp.attr.credits && receives && !rc->resp.closing)
        resp_acknowledge(rc, 0);
}

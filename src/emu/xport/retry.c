/* SPDX-License-Identifier: MIT */
/* Requester, RC: the two timers, and what happens when they run out.
 *
 * The ACK timer runs while a packet is unanswered that asked for an answer: responders need not
 * acknowledge others.  It is armed when such a packet leaves; every progress starts it anew.  When
 * it runs out, everything from the oldest unacknowledged packet on is sent again (go-back-N), as
 * often without progress as retry_cnt and the profile allow.  The RNR timer is set by an RNR NAK;
 * while it runs nothing is sent.
 *
 * The arming is the cause of the timeout, so the ambient cause is the `timer` event while the item
 * is scheduled.
 */
#include "emu/xport/retry.h"

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/xport/internal.h"

void retry_timer_arm(struct rc_qp *rc, enum timer_kind kind, uint64_t delay_ns)
{
    struct rc_req *r = &rc->req;
    const struct hca *h = rc->qp.hca;
    const uint64_t due = sim_now(h->sim) + delay_ns;
    ev_id id, before;

    RDL_ASSERT(r->timer[kind] == 0);
    TRACE_ID(h->trace, id, timer, .host = h->host, .qpn = rc->qp.qpn, .timer = (uint32_t)kind,
             .due = due);
    before = trace_because(h->trace, id);
    r->due_ns[kind] = due;
    r->timer[kind] = sim_schedule(h->sim, due, SIM_QP_TIMER, h->host,
                                  (uint64_t)rc->qp.qpn << 8 | (uint64_t)kind);
    trace_because(h->trace, before);
}

/* Takes the timer back without a word: it is armed anew at once, or says itself that it is off. */
static bool cancel(struct rc_qp *rc, enum timer_kind kind)
{
    struct rc_req *r = &rc->req;
    bool was_due;

    if (r->timer[kind] == 0)
        return false;
    was_due = sim_cancel(rc->qp.hca->sim, r->timer[kind]);
    RDL_ASSERT(was_due);
    r->timer[kind] = 0;
    return true;
}

void retry_timer_stop(struct rc_qp *rc, enum timer_kind kind)
{
    if (cancel(rc, kind))
        TRACE(rc_trace(rc), timer_off, .host = rc->qp.hca->host, .qpn = rc->qp.qpn,
              .timer = (uint32_t)kind);
}

static void arm_ack_timer(struct rc_qp *rc)
{
    const uint64_t delay = ack_timeout_ns((uint8_t)rc->qp.attr.timeout);

    if (delay != UINT64_MAX)
        retry_timer_arm(rc, TMR_ACK, delay);
}

void retry_timeout_set(struct rc_qp *rc)
{
    if (rc->req.asked_psns == 0)
        return;
    retry_timer_stop(rc, TMR_ACK);
    arm_ack_timer(rc);
}

void retry_sent(struct rc_qp *rc, ev_id tx)
{
    ev_id before;

    if (rc->req.asked_psns == 0 || rc->req.timer[TMR_ACK] != 0)
        return;
    before = trace_because(rc_trace(rc), tx);
    arm_ack_timer(rc);
    trace_because(rc_trace(rc), before);
}

void retry_progress(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;

    r->retries = 0;
    r->rnr_naks = 0;
    r->implied_nak = false;
    if (r->rnr_wait) {
        r->rnr_wait = false;
        retry_timer_stop(rc, TMR_RNR);
    }
    if (r->timer[TMR_ACK] == 0)
        return;
    if (r->asked_psns == 0) {
        retry_timer_stop(rc, TMR_ACK);
        return;
    }
    cancel(rc, TMR_ACK);
    arm_ack_timer(rc);
}

static ev_id trace_timeout(const struct rc_qp *rc, enum timer_kind kind, uint32_t retry,
                           uint32_t limit)
{
    ev_id id;

    TRACE_ID(rc_trace(rc), id, timeout, .host = rc->qp.hca->host, .qpn = rc->qp.qpn,
             .timer = (uint32_t)kind, .psn = rc->req.una.v, .retry = retry, .limit = limit);
    return id;
}

static void ack_timeout(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    const enum profile profile = rc->qp.hca->profile;
    const uint32_t retry_cnt = rc->qp.attr.retry_cnt;
    const bool again = retry_allowed(r->retries, retry_cnt, profile);
    const ev_id id =
        trace_timeout(rc, TMR_ACK, again ? r->retries + 1 : 0, retry_limit(retry_cnt, profile));

    RC_COUNT(rc, timeouts);
    trace_because(rc_trace(rc), id);
    if (!again) {
        RC_COUNT(rc, retry_exceeded);
        req_fail(rc, WCS_RETRY_EXC_ERR, by_rule(RULE_RETRY_LIMIT));
        return;
    }
    r->retries++;
    RC_COUNT(rc, retries);
    req_go_back(rc, id);
}

static void rnr_timeout(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    const ev_id id = trace_timeout(rc, TMR_RNR, r->rnr_naks, rnr_limit(rc->qp.attr.rnr_retry));

    trace_because(rc_trace(rc), id);
    r->rnr_wait = false;
    req_go_back(rc, id);
}

void retry_timeout(struct rc_qp *rc, enum timer_kind kind)
{
    rc->req.timer[kind] = 0;
    if (kind == TMR_ACK)
        ack_timeout(rc);
    else
        rnr_timeout(rc);
    rc_wake(rc);
}

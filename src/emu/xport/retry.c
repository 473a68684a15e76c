/* SPDX-License-Identifier: MIT */
/* Requester of RC: the ACK timer, the RNR timer, and their expiry.
 *
 * The ACK timer runs while a packet that requested an acknowledge is unacknowledged; responders
 * need not acknowledge others.  It is armed when such a packet is sent and restarted by every
 * progress.  When it expires, everything from the oldest unacknowledged packet on is retransmitted
 * (go-back-N), as often without progress as retry_cnt and the profile allow.  The RNR timer is
 * armed by an RNR NAK; while it runs nothing is sent.
 *
 * A timer can only be late in a lab that follows a real clock, where the process may have slept or
 * been overloaded.  The answer may have arrived in the meantime, and wait to be read or behind
 * other frames that the lab has read.  So a late ACK timer is extended by LATE_MORE_NS, and again
 * while it is still late, for LATE_MOST_NS in all.
 *
 * The arming is the cause of the timeout: the ambient cause is the `timer` event while the item is
 * scheduled.
 */
#include "emu/xport/retry.h"

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/internal.h"

/* Timer value: the timer has expired, and its effect waits for retry_go_on(). */
#define TIMER_HELD UINT64_MAX

/* Extension of a late timer.  Frames from outside are read every millisecond. */
#define LATE_MORE_NS 5000000u
#define LATE_MOST_NS 1000000000u

void retry_timer_arm(struct xport_qp *xqp, enum timer_kind kind, uint64_t delay_ns)
{
    struct requester *r = &xqp->req;
    const struct hca *h = xqp->qp.hca;
    const uint64_t due = sim_now(h->sim) + delay_ns;
    ev_id id, before;

    RDL_ASSERT(r->timer[kind] == 0);
    TRACE_ID(h->trace, id, timer, .host = h->host, .qpn = xqp->qp.qpn, .timer = (uint32_t)kind,
             .due = due);
    before = trace_because(h->trace, id);
    r->due_ns[kind] = due;
    if (kind == TMR_ACK)
        r->late_until_ns = 0;
    r->timer[kind] = sim_schedule(h->sim, due, SIM_QP_TIMER, h->host,
                                  (uint64_t)xqp->qp.qpn << 8 | (uint64_t)kind);
    trace_because(h->trace, before);
}

/* Cancels a timer without an event.  The caller re-arms it at once, or emits timer_off.  Returns
 * false if it was not running.
 */
static bool cancel(struct xport_qp *xqp, enum timer_kind kind)
{
    struct requester *r = &xqp->req;
    bool was_due;

    if (r->timer[kind] == 0)
        return false;
    if (r->timer[kind] == TIMER_HELD) {
        r->timer[kind] = 0;
        return true;
    }
    was_due = sim_cancel(xqp->qp.hca->sim, r->timer[kind]);
    RDL_ASSERT(was_due);
    r->timer[kind] = 0;
    return true;
}

void retry_timer_stop(struct xport_qp *xqp, enum timer_kind kind)
{
    if (cancel(xqp, kind))
        TRACE(xport_trace(xqp), timer_off, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
              .timer = (uint32_t)kind);
}

static void arm_ack_timer(struct xport_qp *xqp)
{
    const uint64_t delay = ack_timeout_ns((uint8_t)xqp->qp.attr.timeout);

    if (delay != UINT64_MAX)
        retry_timer_arm(xqp, TMR_ACK, delay);
}

void retry_sent(struct xport_qp *xqp, ev_id tx)
{
    ev_id before;

    if (xqp->req.asked_psns == 0 || xqp->req.timer[TMR_ACK] != 0)
        return;
    before = trace_because(xport_trace(xqp), tx);
    arm_ack_timer(xqp);
    trace_because(xport_trace(xqp), before);
}

void retry_progress(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;

    r->retries = 0;
    r->rnr_naks = 0;
    r->implied_nak = false;
    if (r->rnr_wait) {
        r->rnr_wait = false;
        retry_timer_stop(xqp, TMR_RNR);
    }
    if (r->timer[TMR_ACK] == 0)
        return;
    if (r->asked_psns == 0) {
        retry_timer_stop(xqp, TMR_ACK);
        return;
    }
    cancel(xqp, TMR_ACK);
    arm_ack_timer(xqp);
}

static ev_id trace_timeout(const struct xport_qp *xqp, enum timer_kind kind, uint32_t retry,
                           uint32_t limit)
{
    ev_id id;

    TRACE_ID(xport_trace(xqp), id, timeout, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .timer = (uint32_t)kind, .psn = xqp->req.una.v, .retry = retry, .limit = limit);
    return id;
}

static void ack_timeout(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    const enum profile profile = xqp->qp.hca->profile;
    const uint32_t retry_cnt = xqp->qp.attr.retry_cnt;
    const bool again = retry_allowed(r->retries, retry_cnt, profile);
    const ev_id id =
        trace_timeout(xqp, TMR_ACK, again ? r->retries + 1 : 0, retry_limit(retry_cnt, profile));

    XPORT_COUNT(xqp, timeouts);
    trace_because(xport_trace(xqp), id);
    if (!again) {
        XPORT_COUNT(xqp, retry_exceeded);
        req_fail(xqp, WCS_RETRY_EXC_ERR, by_rule(RULE_RETRY_LIMIT));
        return;
    }
    r->retries++;
    XPORT_COUNT(xqp, retries);
    req_go_back(xqp, id);
}

static void rnr_timeout(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    const ev_id id = trace_timeout(xqp, TMR_RNR, r->rnr_naks, rnr_limit(xqp->qp.attr.rnr_retry));

    trace_because(xport_trace(xqp), id);
    r->rnr_wait = false;
    req_go_back(xqp, id);
}

/* Extends the ACK timer and returns true if it is late, and has not been so for LATE_MOST_NS. */
static bool runs_on(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    const uint64_t now = sim_now(xqp->qp.hca->sim);
    const uint64_t until = r->late_until_ns ? r->late_until_ns : now + LATE_MOST_NS;

    if (now <= r->due_ns[TMR_ACK] || now >= until)
        return false;
    retry_timer_arm(xqp, TMR_ACK, LATE_MORE_NS);
    r->late_until_ns = until;
    return true;
}

void retry_hold(struct xport_qp *xqp, enum timer_kind kind)
{
    xqp->req.timer[kind] = TIMER_HELD;
}

void retry_go_on(struct xport_qp *xqp)
{
    for (unsigned kind = 0; kind < ARRAY_LEN(xqp->req.timer); kind++) {
        if (xqp->req.timer[kind] == TIMER_HELD)
            retry_timeout(xqp, (enum timer_kind)kind);
    }
}

void retry_timeout(struct xport_qp *xqp, enum timer_kind kind)
{
    xqp->req.timer[kind] = 0;
    if (kind == TMR_ACK && runs_on(xqp))
        return;
    if (kind == TMR_ACK)
        ack_timeout(xqp);
    else
        rnr_timeout(xqp);
    xport_wake(xqp);
}

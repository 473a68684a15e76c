/* SPDX-License-Identifier: MIT */
/* Invariants of a queue pair between two calls.  They are cheap enough to check after every tick.
 */
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/roce.h"
#include "emu/xport/internal.h"
#include "emu/xport/retry.h"

static bool ring_is_in_order(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    return is_pow2(r->size) && r->fetched - r->oldest <= r->size &&
           r->next - r->oldest <= r->fetched - r->oldest;
}

static bool cursor_is_in_its_request(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    if (r->next == r->fetched)
        return r->sent_psns == 0;
    return r->sent_psns == 0 || r->sent_psns < req_wqe_at(r, r->next)->n_psns;
}

static bool what_is_done_is_completed(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    return r->oldest == r->fetched || !req_wqe_at(r, r->oldest)->carried_out;
}

static bool window_is_bounded(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    return req_out_pkts(r) <= REQ_WINDOW_PKTS && r->out_psns <= REQ_WINDOW_PSNS &&
           r->again_psns <= r->out_psns;
}

static bool counters_are_within_limits(const struct xport_qp *xqp)
{
    const struct qp_attr *a = &xqp->qp.attr;

    return (xqp->req.retries <= a->retry_cnt ||
            retry_is_endless(a->retry_cnt, xqp->qp.hca->profile)) &&
           (a->rnr_retry == RETRY_FOREVER || xqp->req.rnr_naks <= a->rnr_retry);
}

/* The ACK timer runs exactly while an answer was requested, unless timeout is 0. */
static bool somebody_will_wake_up(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    if (r->asked_psns == 0 || xqp->qp.attr.timeout == 0)
        return r->timer[TMR_ACK] == 0;
    return r->timer[TMR_ACK] != 0;
}

/* The last packet of a message requests an acknowledge, so that every message gets one. */
static bool what_was_sent_was_asked_for(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;
    const bool ends_here = r->sent_psns == 0 && r->again_psns == 0;

    if (!xqp->service->reliable)
        return r->out_psns == 0;
    return r->asked_psns <= r->out_psns - r->again_psns &&
           (!ends_here || r->asked_psns == r->out_psns);
}

static bool one_timer_runs(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    return r->rnr_wait == (r->timer[TMR_RNR] != 0) && !(r->rnr_wait && r->timer[TMR_ACK] != 0);
}

static bool work_is_announced(const struct xport_qp *xqp)
{
    return xqp->is_ready || !xport_has_tx(&xqp->qp);
}

static bool one_sequence_nak(const struct xport_qp *xqp)
{
    return xqp->resp.seq_naks <= 1;
}

static bool acks_do_not_go_back(const struct xport_qp *xqp)
{
    return xqp->resp.n_acked <= xqp->resp.n_psns;
}

static bool receive_matches_message(const struct xport_qp *xqp)
{
    const struct op_info *open = xqp->resp.open;

    return xqp->resp.closing || !xqp->service->reliable ||
           xqp->resp.has_wqe == (open && open->kind == OPK_SEND);
}

static bool rds_are_within_limits(const struct xport_qp *xqp)
{
    const struct resp_rds *d = &xqp->resp.rds;

    return d->next - d->first <= d->size && d->answered - d->first <= d->next - d->first &&
           d->done - d->first <= d->answered - d->first &&
           xqp->req.out_rds <= xqp->qp.hca->limits.max_rd_atomic;
}

static bool error_state_is_empty(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    if (xqp->qp.state != QPS_ERR && xqp->qp.state != QPS_RESET)
        return true;
    return r->oldest == r->fetched && r->timer[TMR_ACK] == 0 && r->timer[TMR_RNR] == 0 &&
           !xqp->resp.has_wqe;
}

static const struct {
    const char *what;
    bool (*holds)(const struct xport_qp *);
} invariants[] = {
    {"the cursors of the send queue are in order and inside the ring", ring_is_in_order},
    {"the send cursor is inside its work request", cursor_is_in_its_request},
    {"a request without packets that is done and the oldest completes", what_is_done_is_completed},
    {"the PSNs outstanding are within the window", window_is_bounded},
    {"retries are within their limits", counters_are_within_limits},
    {"the end of each message asks for an answer", what_was_sent_was_asked_for},
    {"the ACK timer and the RNR timer do not run together", one_timer_runs},
    {"the device knows of every queue pair with something to send", work_is_announced},
    {"at most one sequence NAK is out", one_sequence_nak},
    {"acknowledges do not go back", acks_do_not_go_back},
    {"a receive is held exactly while a SEND is open", receive_matches_message},
    {"READs and atomics are within their limits", rds_are_within_limits},
    {"a queue pair in ERR or RESET holds no work and no timer", error_state_is_empty},
    {"the ACK timer runs while an answer is to come", somebody_will_wake_up},
};

const char *xport_invariant(const struct qp *qp)
{
    const struct xport_qp *xqp = xport_of_const(qp);

    for (size_t i = 0; i < ARRAY_LEN(invariants); i++) {
        if (!invariants[i].holds(xqp))
            return invariants[i].what;
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Requester: the ring of work requests and its cursors.
 *
 * See the picture in xport_qp.h.  A work request that a rule refuses stays in the ring and stops
 * the queue: nothing behind it is fetched.  Requests before it are still sent and acknowledged.
 * When it is the oldest, it completes with its error and the queue pair goes to ERR.  So
 * completions keep the order of posting.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/credit.h"
#include "emu/xport/internal.h"
#include "emu/xport/wqe.h"

static bool window_is_open(const struct requester *r)
{
    return req_out_pkts(r) < REQ_WINDOW_PKTS && r->out_psns < REQ_WINDOW_PSNS;
}

/* Returns true if the first packet of @q can be sent.  A fence waits for all earlier READs and
 * atomics.  [IBTA1 10.8.3.3]
 */
static bool may_start(const struct xport_qp *xqp, const struct req_wqe *q)
{
    const struct requester *r = &xqp->req;

    if (xqp->qp.state != QPS_RTS || ((q->w.flags & SF_FENCE) && r->out_rds > 0))
        return false;
    if (!credit_allows(xqp, q, 0))
        return false;
    if (q->info->opcode == WR_LOCAL_INV && r->next != r->oldest)
        return false; /* earlier requests may need the key */
    return !req_is_rd(q) ||
           (r->out_rds < xqp->qp.attr.max_rd_atomic && q->n_psns <= REQ_WINDOW_PSNS - r->out_psns);
}

bool req_may_start(const struct xport_qp *xqp)
{
    const struct req_wqe *q = req_wqe_at(&xqp->req, xqp->req.next);

    return q->status == WCS_SUCCESS && may_start(xqp, q);
}

bool req_may_send(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;
    const struct req_wqe *q;

    if ((xqp->qp.state != QPS_RTS && xqp->qp.state != QPS_SQD) || r->rnr_wait)
        return false;
    if (r->again_psns > 0)
        return req_wqe_at(r, r->next)->status == WCS_SUCCESS;
    if (!window_is_open(r))
        return false;
    if (r->next == r->fetched)
        return xqp->qp.state == QPS_RTS && r->kicked && r->fetched - r->oldest < r->size;
    q = req_wqe_at(r, r->next);
    if (q->status != WCS_SUCCESS)
        return false;
    if (r->sent_psns == 0)
        return may_start(xqp, q);
    return !xqp->qp.attr.credits || credit_allows(xqp, q, r->sent_psns);
}

/* Allocates the ring, at the first request: most queue pairs of a large device never send.  Returns
 * false if the arena is full.
 */
RDL_COLD static bool make_ring(struct xport_qp *xqp)
{
    struct arena *a = xqp->qp.hca->arena;
    struct requester *r = &xqp->req;

    if (!r->ring)
        r->ring = arena_alloc(a, r->size * sizeof(*r->ring));
    if (!r->bodies)
        r->bodies = arena_alloc_raw(a, r->size * r->body_bytes);
    RDL_ASSERT((r->ring && r->bodies) || arena_is_short(a)); /* the lab ends with this tick */
    return r->ring && r->bodies;
}

struct req_wqe *req_fetch_place(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    struct req_wqe *q;
    uint8_t *body;

    if (!(r->ring && r->bodies) && !make_ring(xqp))
        return NULL;
    q = req_wqe_at(r, r->fetched);
    body = r->bodies + (size_t)(r->fetched & (r->size - 1)) * r->body_bytes;
    *q = (struct req_wqe){.w = {.sge = (struct sge *)(void *)body, .inline_data = body}};
    return q;
}

/* Checks the keys of all elements and emits `key` for each.  Inline data has no keys. */
static enum rule check_keys(const struct xport_qp *xqp, const struct send_wqe *w)
{
    const struct hca *h = xqp->qp.hca;
    const struct key_user who = key_user_of(&xqp->qp);

    if (wr_info(w->opcode)->data != WR_DATA_TAKES)
        return RULE_NONE; /* checked when the response data arrives */
    for (uint32_t i = 0; i < w->n_sge.said; i++) {
        const struct sge *s = &w->sge[i];
        enum rule rule;

        if (s->bytes == 0)
            continue;
        rule = key_check(h, s->lkey, &who, s->addr, s->bytes, 0);
        xport_trace_key(xqp, s, rule, 0);
        if (rule != RULE_NONE)
            return rule;
    }
    return RULE_NONE;
}

/* Checks form and length of work request @q.  Refuses it and returns false if a rule objects. */
static bool judge_form(struct xport_qp *xqp, const struct req_wqe *q)
{
    const struct wqe_view v = {.hca = xqp->qp.hca,
                               .config = &xqp->qp.config,
                               .max_rd_atomic = xqp->qp.attr.max_rd_atomic,
                               .profile = xqp->qp.hca->profile};
    const struct wqe_verdict d = wqe_decide(&v, &q->w);

    if (d.rule != RULE_NONE)
        req_refuse(xqp, d.status, (struct objection){d.rule, d.values});
    return d.rule == RULE_NONE;
}

void req_judge_waiting(struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;
    const struct req_wqe *q;

    RDL_ASSERT(r->sent_psns == 0); /* SQD is left only after draining */
    if (r->next == r->fetched)
        return;
    q = req_wqe_at(r, r->next);
    if (q->status == WCS_SUCCESS && !judge_form(xqp, q))
        req_settle(xqp);
}

/* Checks work request @q, which was just fetched, and fills in the derived fields. */
static void judge(struct xport_qp *xqp, struct req_wqe *q)
{
    ev_id before;
    enum rule rule;

    if (!judge_form(xqp, q))
        return;
    q->info = wr_info(q->w.opcode);
    q->bytes = wqe_bytes(&q->w);
    q->n_psns = q->info->local ? 0 : wqe_pkts(q->bytes, xqp->mtu);
    before = trace_because(xport_trace(xqp), q->w.fetched);
    rule = check_keys(xqp, &q->w);
    trace_because(xport_trace(xqp), before);
    if (rule != RULE_NONE)
        req_refuse(xqp, wqe_key_status(rule, xqp->qp.hca->profile), by_rule(rule));
}

/* Skips requests without packets that were executed: they are never executed again. */
static void pass_carried_out(struct requester *r)
{
    while (r->next != r->fetched && req_wqe_at(r, r->next)->carried_out)
        r->next++;
}

static void next_request(struct requester *r)
{
    r->next++;
    pass_carried_out(r);
    r->sent_psns = 0;
    r->next_sge = (struct sge_cur){0, 0};
}

void req_complete(struct xport_qp *xqp, const struct send_wqe *w, uint32_t filled,
                  enum wc_status status, struct objection by)
{
    const struct completion wc = {
        .wr_id = w->wr_id,
        .status = status,
        .opcode = wr_completes_as(w->opcode),
        .bytes = filled,
        .qpn = xqp->qp.qpn,
        .rule = by.rule,
        .values = by.values,
    };
    const bool signaled = xqp->qp.config.sig_all || (w->flags & SF_SIGNALED);

    if (status == WCS_SUCCESS)
        XPORT_COUNT(xqp, rdma_sends);
    xqp->x->ops->complete(xqp->x->ctx, &xqp->qp, WQ_SEND, w->desc,
                          signaled || status != WCS_SUCCESS ? &wc : NULL);
}

/* Removes the oldest request from the ring and completes it with @status. */
static void complete_oldest(struct xport_qp *xqp, enum wc_status status, struct objection by)
{
    struct requester *r = &xqp->req;
    const struct req_wqe *q = req_wqe_at(r, r->oldest);

    r->oldest++;
    r->acked_psns = 0;
    r->sink = (struct sge_cur){0, 0};
    req_complete(xqp, &q->w, status == WCS_SUCCESS && req_is_rd(q) ? q->bytes : 0, status, by);
}

/* A datagram that does not fit into a packet completes without being sent.  [IBTA1 C10-93.1.1] */
static bool is_too_long(const struct xport_qp *xqp, const struct req_wqe *q)
{
    return q->status == WCS_SUCCESS && !xqp->service->connected && q->bytes > xqp->mtu;
}

RDL_COLD static void leave_unsent(struct xport_qp *xqp, const struct req_wqe *q)
{
    const struct compared c = compared_at_most(xqp->mtu, q->bytes);
    ev_id unsent, before;

    TRACE_ID(xport_trace(xqp), unsent, not_sent, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .wr_id = q->w.wr_id, .rule = RULE_SQ_DATAGRAM_LENGTH, .least = c.least, .most = c.most,
             .found = c.found);
    before = trace_because(xport_trace(xqp), unsent);
    next_request(&xqp->req);
    complete_oldest(xqp, WCS_SUCCESS, by_rule(RULE_NONE));
    trace_because(xport_trace(xqp), before);
}

bool req_fetch(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    struct req_wqe *q = req_fetch_place(xqp);

    RDL_ASSERT(r->next == r->fetched && r->fetched - r->oldest < r->size);
    if (!q || xqp->x->ops->fetch_send(xqp->x->ctx, &xqp->qp, &q->w) != FETCH_OK) {
        r->kicked = false;
        return false;
    }
    r->fetched++;
    r->sent_psns = 0;
    r->next_sge = (struct sge_cur){0, 0};
    judge(xqp, q);
    if (is_too_long(xqp, q)) {
        leave_unsent(xqp, q);
    }
    return true;
}

/* Packet number of the packet at nxt. */
static uint32_t pkt_number(const struct requester *r)
{
    const struct req_wqe *q = req_wqe_at(r, r->next);

    if (r->again_psns == 0)
        return r->sent_pkts;
    return req_is_one_packet(q) ? q->first_pkt : q->first_pkt + r->sent_psns;
}

uint32_t req_attempt(const struct requester *r)
{
    return r->again_psns > 0 && r->sends ? r->sends[pkt_number(r) % REQ_WINDOW_PKTS] + 1u : 1;
}

void req_sent(struct xport_qp *xqp, uint32_t n_psns, bool asks, struct sge_cur next_sge)
{
    struct requester *r = &xqp->req;
    struct req_wqe *q = req_wqe_at(r, r->next);
    const uint32_t attempt = req_attempt(r);

    if (r->sends)
        r->sends[pkt_number(r) % REQ_WINDOW_PKTS] = attempt;
    if (r->again_psns > 0) {
        RDL_ASSERT(n_psns <= r->again_psns);
        r->again_psns -= n_psns;
    } else {
        if (r->sent_psns == 0) {
            q->first_pkt = r->sent_pkts;
            credit_begin(xqp, q);
        }
        r->sent_pkts++;
        r->out_psns += n_psns;
        r->out_rds += req_is_rd(q);
    }
    if (asks)
        r->asked_psns = r->out_psns - r->again_psns;
    r->next_sge = next_sge;
    r->sent_psns += n_psns;
    if (r->sent_psns == q->n_psns)
        next_request(r);
}

/* Moves the cursor to una, which is PSN acked_psns of the oldest request. */
RDL_COLD static void rewind_cursor(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;
    const struct req_wqe *q = req_wqe_at(r, r->oldest);
    uint64_t skip = (uint64_t)r->acked_psns * xqp->mtu;

    r->again_psns = r->out_psns;
    r->next = r->oldest;
    r->sent_psns = r->acked_psns;
    r->next_sge = (struct sge_cur){0, 0};
    pass_carried_out(r);
    if (req_is_rd(q) || (q->w.flags & SF_INLINE))
        return;
    while (skip > 0)
        skip -= sge_take(q->w.sge, &r->next_sge, (uint32_t)skip).bytes;
}

/* Starts counting transmissions, at the first retransmission: before it every packet was sent once.
 * A full arena ends the lab, so it is ignored here.
 */
static void count_sends(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;

    if (r->sends)
        return;
    r->sends = arena_alloc(xqp->x->hca->arena, REQ_SENDS_BYTES);
    if (!r->sends)
        return;
    for (uint32_t n = r->acked_pkts; n != r->sent_pkts; n++)
        r->sends[n % REQ_WINDOW_PKTS] = 1;
}

void req_go_back(struct xport_qp *xqp, ev_id cause)
{
    RDL_ASSERT(xqp->req.out_psns > 0);
    count_sends(xqp);
    rewind_cursor(xqp);
    xqp->req.asked_psns = 0; /* answers to earlier packets may still arrive */
    xqp->req.resend = cause;
}

/* Completes the oldest request, whose PSNs are all acknowledged.  Returns false if it fails because
 * its key cannot be invalidated.
 */
static bool finish_oldest(struct xport_qp *xqp)
{
    struct req_wqe *q = req_wqe_at(&xqp->req, xqp->req.oldest);

    if (req_is_rd(q) && q->info->invalidates && !req_invalidate(xqp, q))
        return false;
    complete_oldest(xqp, WCS_SUCCESS, by_rule(RULE_NONE));
    return true;
}

/* Completes the oldest requests as long as they are executed and have no packets. */
static void complete_carried_out(struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    while (r->oldest != r->fetched && req_wqe_at(r, r->oldest)->carried_out)
        complete_oldest(xqp, WCS_SUCCESS, by_rule(RULE_NONE));
}

void req_carried_out(struct xport_qp *xqp)
{
    struct requester *r = &xqp->req;

    req_wqe_at(r, r->next)->carried_out = true;
    next_request(r);
    complete_carried_out(xqp);
}

void req_shorten_oldest(struct xport_qp *xqp, uint32_t n)
{
    struct requester *r = &xqp->req;
    struct req_wqe *q = req_wqe_at(r, r->oldest);

    RDL_ASSERT(req_is_rd(q) && r->acked_psns + n < q->n_psns && n < r->out_psns);
    q->n_psns -= n;
    r->out_psns -= n;
    if (r->next == r->oldest) /* it was to be sent again: req_acked() moves the cursor on */
        r->again_psns -= n;
    r->asked_psns -= n < r->asked_psns ? n : r->asked_psns;
}

void req_acked(struct xport_qp *xqp, uint32_t n)
{
    struct requester *r = &xqp->req;
    const bool is_ahead = n > r->out_psns - r->again_psns; /* beyond nxt */

    RDL_ASSERT(n <= r->out_psns);
    r->una = psn_add(r->una, n);
    r->out_psns -= n;
    r->asked_psns -= n < r->asked_psns ? n : r->asked_psns;
    while (n > 0) {
        const struct req_wqe *q = req_wqe_at(r, r->oldest);
        const uint32_t left = q->n_psns - r->acked_psns;
        const uint32_t take = n < left ? n : left;

        if (q->status != WCS_SUCCESS)
            return; /* req_settle() completes it, and flushes all requests behind it */
        n -= take;
        r->acked_psns += take;
        if (!req_is_one_packet(q))
            r->acked_pkts += take;
        else
            r->acked_pkts += take == left;
        r->out_rds -= req_is_rd(q) && take == left;
        if (take == left && !finish_oldest(xqp))
            return;
    }
    complete_carried_out(xqp);
    if (is_ahead)
        rewind_cursor(xqp);
}

void req_refuse(struct xport_qp *xqp, enum wc_status status, struct objection by)
{
    struct req_wqe *q = req_wqe_at(&xqp->req, xqp->req.next);

    q->status = status;
    q->by = by;
    XPORT_COUNT(xqp, send_err);
}

void req_fail(struct xport_qp *xqp, enum wc_status status, struct objection by)
{
    RDL_ASSERT(xqp->req.oldest != xqp->req.fetched);
    complete_oldest(xqp, status, by);
    xqp->service->send_failed(xqp);
}

/* Returns true if the request at the cursor was refused and nothing tells its status: all requests
 * are flushed, those before it that are not acknowledged, too.
 */
static bool ends_untold(const struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;

    return r->next != r->fetched && req_wqe_at(r, r->next)->status != WCS_SUCCESS &&
           !profile_has(xqp->qp.hca->profile, TRAIT_LOCAL_ERROR_IS_TOLD);
}

void req_settle(struct xport_qp *xqp)
{
    const struct requester *r = &xqp->req;
    const struct req_wqe *q;

    if (r->oldest == r->fetched)
        return;
    if (ends_untold(xqp)) {
        xqp->service->send_failed(xqp);
        return;
    }
    q = req_wqe_at(r, r->oldest);
    if (q->status != WCS_SUCCESS)
        req_fail(xqp, q->status, q->by);
}

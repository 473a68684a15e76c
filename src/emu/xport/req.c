/* SPDX-License-Identifier: MIT */
/* Requester, RC: the ring of work requests and the cursors in it.
 *
 * rc.h has the picture.  A work request that a rule refuses stays in the ring as a stop: nothing
 * behind it is fetched, what is before it is still sent and acknowledged, and when it is the oldest
 * it completes with its error and takes the queue pair to ERR.  So completions keep the order of
 * the posts.
 */
#include "emu/base/assert.h"
#include "emu/xport/credit.h"
#include "emu/xport/internal.h"
#include "emu/xport/wqe.h"

static bool window_is_open(const struct rc_req *r)
{
    return rc_out_pkts(r) < RC_WINDOW_PKTS && r->out_psns < RC_WINDOW_PSNS;
}

/* May the first packet of @q be sent?  A fence waits for all earlier READs and atomics.
 * [IBTA1 10.8.3.3]
 */
static bool may_start(const struct rc_qp *rc, const struct rc_wqe *q)
{
    const struct rc_req *r = &rc->req;

    if (rc->qp.state != QPS_RTS || ((q->w.flags & SF_FENCE) && r->out_rds > 0))
        return false;
    if (!credit_allows(rc, q, 0))
        return false;
    if (q->info->opcode == WR_LOCAL_INV && r->next != r->oldest)
        return false; /* what is before it may need the key that it ends */
    return !rc_is_rd(q) ||
           (r->out_rds < rc->qp.attr.max_rd_atomic && q->n_psns <= RC_WINDOW_PSNS - r->out_psns);
}

bool req_may_send(const struct rc_qp *rc)
{
    const struct rc_req *r = &rc->req;
    const struct rc_wqe *q;

    if ((rc->qp.state != QPS_RTS && rc->qp.state != QPS_SQD) || r->rnr_wait)
        return false;
    if (r->again_psns > 0)
        return rc_wqe_at(r, r->next)->status == WCS_SUCCESS;
    if (!window_is_open(r))
        return false;
    if (r->next == r->fetched)
        return rc->qp.state == QPS_RTS && r->kicked && r->fetched - r->oldest < r->size;
    q = rc_wqe_at(r, r->next);
    if (q->status != WCS_SUCCESS)
        return false;
    return r->sent_psns > 0 ? credit_allows(rc, q, r->sent_psns) : may_start(rc, q);
}

struct rc_wqe *req_fetch_place(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    struct rc_wqe *q = rc_wqe_at(r, r->fetched);
    uint8_t *body = r->bodies + (size_t)(r->fetched & (r->size - 1)) * r->body_bytes;

    *q = (struct rc_wqe){.w = {.sge = (struct sge *)(void *)body, .inline_data = body}};
    return q;
}

/* Checks the keys of all elements, which inline data has none of; each check is an event. */
static enum rule check_keys(const struct rc_qp *rc, const struct send_wqe *w)
{
    const struct hca *h = rc->qp.hca;
    const struct key_user who = key_user_of(&rc->qp);

    if (wr_info(w->opcode)->data != WR_DATA_TAKES)
        return RULE_NONE; /* what is filled is looked at when there is something to fill it with */
    for (uint32_t i = 0; i < w->n_sge; i++) {
        const struct sge *s = &w->sge[i];
        enum rule rule;

        if (s->bytes == 0)
            continue;
        rule = key_check(h, s->lkey, &who, s->addr, s->bytes, 0);
        rc_trace_key(rc, s, rule, 0);
        if (rule != RULE_NONE)
            return rule;
    }
    return RULE_NONE;
}

/* Work request @next, which was just fetched. */
static void judge(struct rc_qp *rc, struct rc_wqe *q)
{
    const struct wqe_view v = {
        .hca = rc->qp.hca, .config = &rc->qp.config, .max_rd_atomic = rc->qp.attr.max_rd_atomic};
    const struct wqe_verdict d = wqe_decide(&v, &q->w);
    ev_id before;
    enum rule rule;

    if (d.rule != RULE_NONE) {
        req_refuse(rc, d.status, (struct objection){d.rule, d.values});
        return;
    }
    q->info = wr_info(q->w.opcode);
    q->bytes = wqe_bytes(&q->w);
    q->n_psns = q->info->local ? 0 : wqe_pkts(q->bytes, rc->mtu);
    before = trace_because(rc_trace(rc), q->w.fetched);
    rule = check_keys(rc, &q->w);
    trace_because(rc_trace(rc), before);
    if (rule != RULE_NONE)
        req_refuse(rc, wqe_key_status(rule, rc->qp.hca->profile), by_rule(rule));
}

/* What was carried out is never carried out again. */
static void pass_carried_out(struct rc_req *r)
{
    while (r->next != r->fetched && rc_wqe_at(r, r->next)->carried_out)
        r->next++;
}

static void next_request(struct rc_req *r)
{
    r->next++;
    pass_carried_out(r);
    r->sent_psns = 0;
    r->next_sge = (struct sge_cur){0, 0};
}

void req_complete(struct rc_qp *rc, const struct send_wqe *w, uint32_t filled,
                  enum wc_status status, struct objection by)
{
    const struct completion wc = {
        .wr_id = w->wr_id,
        .status = status,
        .opcode = wr_completes_as(w->opcode),
        .bytes = filled,
        .qpn = rc->qp.qpn,
        .rule = by.rule,
        .values = by.values,
    };
    const bool signaled = rc->qp.config.sig_all || (w->flags & SF_SIGNALED);

    if (status == WCS_SUCCESS)
        RC_COUNT(rc, rdma_sends);
    rc->x->ops->complete(rc->x->ctx, &rc->qp, WQ_SEND, w->desc,
                         signaled || status != WCS_SUCCESS ? &wc : NULL);
}

/* The oldest request is done, one way or the other. */
static void complete_oldest(struct rc_qp *rc, enum wc_status status, struct objection by)
{
    struct rc_req *r = &rc->req;
    const struct rc_wqe *q = rc_wqe_at(r, r->oldest);

    r->oldest++;
    r->acked_psns = 0;
    r->sink = (struct sge_cur){0, 0};
    req_complete(rc, &q->w, status == WCS_SUCCESS && rc_is_rd(q) ? q->bytes : 0, status, by);
}

/* A datagram that does not fit into a packet completes, and nothing is sent.  [IBTA1 C10-93.1.1] */
static bool is_too_long(const struct rc_qp *rc, const struct rc_wqe *q)
{
    return q->status == WCS_SUCCESS && rc->service->type == QPT_UD && q->bytes > rc->mtu;
}

bool req_fetch(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    struct rc_wqe *q = req_fetch_place(rc);

    RDL_ASSERT(r->next == r->fetched && r->fetched - r->oldest < r->size);
    if (rc->x->ops->fetch_send(rc->x->ctx, &rc->qp, &q->w) != FETCH_OK) {
        r->kicked = false;
        return false;
    }
    r->fetched++;
    r->sent_psns = 0;
    r->next_sge = (struct sge_cur){0, 0};
    judge(rc, q);
    if (is_too_long(rc, q)) {
        next_request(r);
        complete_oldest(rc, WCS_SUCCESS, by_rule(RULE_NONE));
    }
    return true;
}

/* The number of the packet at nxt. */
static uint32_t pkt_number(const struct rc_req *r)
{
    const struct rc_wqe *q = rc_wqe_at(r, r->next);

    if (r->again_psns == 0)
        return r->sent_pkts;
    return rc_is_rd(q) ? q->first_pkt : q->first_pkt + r->sent_psns;
}

uint32_t req_attempt(const struct rc_req *r)
{
    return r->again_psns > 0 && r->sends ? r->sends[pkt_number(r) % RC_WINDOW_PKTS] + 1u : 1;
}

void req_sent(struct rc_qp *rc, uint32_t n_psns, bool asks, struct sge_cur next_sge)
{
    struct rc_req *r = &rc->req;
    struct rc_wqe *q = rc_wqe_at(r, r->next);
    const uint32_t attempt = req_attempt(r);

    if (r->sends)
        r->sends[pkt_number(r) % RC_WINDOW_PKTS] = attempt;
    if (r->again_psns > 0) {
        RDL_ASSERT(n_psns <= r->again_psns);
        r->again_psns -= n_psns;
    } else {
        if (r->sent_psns == 0) {
            q->first_pkt = r->sent_pkts;
            credit_begin(rc, q);
        }
        r->sent_pkts++;
        r->out_psns += n_psns;
        r->out_rds += rc_is_rd(q);
    }
    if (asks)
        r->asked_psns = r->out_psns - r->again_psns;
    r->next_sge = next_sge;
    r->sent_psns += n_psns;
    if (r->sent_psns == q->n_psns)
        next_request(r);
}

/* Puts the cursor to una: PSN acked_psns of the oldest request. */
static void rewind_cursor(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;
    const struct rc_wqe *q = rc_wqe_at(r, r->oldest);
    uint64_t skip = (uint64_t)r->acked_psns * rc->mtu;

    r->again_psns = r->out_psns;
    r->next = r->oldest;
    r->sent_psns = r->acked_psns;
    r->next_sge = (struct sge_cur){0, 0};
    pass_carried_out(r);
    if (rc_is_rd(q) || (q->w.flags & SF_INLINE))
        return;
    while (skip > 0)
        skip -= sge_take(q->w.sge, &r->next_sge, (uint32_t)skip).bytes;
}

/* Until something is sent again, every packet was sent once and nothing needs to be counted.
 * Nothing is counted either when the arena is full: that ends the lab.
 */
static void count_sends(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;

    if (r->sends)
        return;
    r->sends = arena_alloc(rc->x->hca->arena, RC_SENDS_BYTES);
    if (!r->sends)
        return;
    for (uint32_t n = r->acked_pkts; n != r->sent_pkts; n++)
        r->sends[n % RC_WINDOW_PKTS] = 1;
}

void req_go_back(struct rc_qp *rc, ev_id cause)
{
    RDL_ASSERT(rc->req.out_psns > 0);
    count_sends(rc);
    rewind_cursor(rc);
    rc->req.asked_psns = 0; /* whoever answers what was sent before, answers more */
    rc->req.resend = cause;
}

/* Every PSN of the oldest request is acknowledged.  False: it fails all the same. */
static bool finish_oldest(struct rc_qp *rc)
{
    struct rc_wqe *q = rc_wqe_at(&rc->req, rc->req.oldest);

    if (rc_is_rd(q) && q->info->invalidates && !req_invalidate(rc, q))
        return false;
    complete_oldest(rc, WCS_SUCCESS, by_rule(RULE_NONE));
    return true;
}

/* Those that need nothing more to come. */
static void complete_carried_out(struct rc_qp *rc)
{
    const struct rc_req *r = &rc->req;

    while (r->oldest != r->fetched && rc_wqe_at(r, r->oldest)->carried_out)
        complete_oldest(rc, WCS_SUCCESS, by_rule(RULE_NONE));
}

void req_carried_out(struct rc_qp *rc)
{
    struct rc_req *r = &rc->req;

    rc_wqe_at(r, r->next)->carried_out = true;
    next_request(r);
    complete_carried_out(rc);
}

void req_acked(struct rc_qp *rc, uint32_t n)
{
    struct rc_req *r = &rc->req;
    const bool is_ahead = n > r->out_psns - r->again_psns; /* of nxt */

    RDL_ASSERT(n <= r->out_psns);
    r->una = psn_add(r->una, n);
    r->out_psns -= n;
    r->asked_psns -= n < r->asked_psns ? n : r->asked_psns;
    while (n > 0) {
        const struct rc_wqe *q = rc_wqe_at(r, r->oldest);
        const uint32_t left = q->n_psns - r->acked_psns;
        const uint32_t take = n < left ? n : left;

        if (q->status != WCS_SUCCESS)
            return; /* req_settle() ends it; what is behind it is flushed, acknowledged or not */
        n -= take;
        r->acked_psns += take;
        if (!rc_is_rd(q)) {
            r->acked_pkts += take;
        } else if (take == left) {
            r->acked_pkts++;
            r->out_rds--;
        }
        if (take == left && !finish_oldest(rc))
            return;
    }
    complete_carried_out(rc);
    if (is_ahead)
        rewind_cursor(rc);
}

void req_refuse(struct rc_qp *rc, enum wc_status status, struct objection by)
{
    struct rc_wqe *q = rc_wqe_at(&rc->req, rc->req.next);

    q->status = status;
    q->by = by;
    RC_COUNT(rc, send_err);
}

void req_fail(struct rc_qp *rc, enum wc_status status, struct objection by)
{
    RDL_ASSERT(rc->req.oldest != rc->req.fetched);
    complete_oldest(rc, status, by);
    rc->service->send_failed(rc);
}

void req_settle(struct rc_qp *rc)
{
    const struct rc_req *r = &rc->req;
    const struct rc_wqe *q = rc_wqe_at(r, r->oldest);

    if (r->oldest != r->fetched && q->status != WCS_SUCCESS)
        req_fail(rc, q->status, q->by);
}

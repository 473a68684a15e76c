/* SPDX-License-Identifier: MIT */
/* Requester: requests without packets, and invalidation of the key of a READ with invalidate.
 *
 *	BIND_MW    binds a window to a part of a region
 *	REG_MR     registers the mapped pages of a fast region, or those that it lists
 *	LOCAL_INV  invalidates a window or a fast region
 *
 * They take no PSNs.  A bind and a registration are executed when the send cursor reaches them:
 * after everything before was sent, whether or not it was acknowledged.  LOCAL_INV waits until it
 * is the oldest, because earlier packets may have to be retransmitted with the key.  An executed
 * request completes when it is the oldest, and go-back-N skips it.  [IBTA1 10.6.5.1]
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/profile.h"
#include "emu/hca/mr.h"
#include "emu/hca/mw.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/internal.h"

/* The result of a request without packets. */
struct local_outcome {
    struct objection by;
    ev_id id; /* its event */
};

static struct local_outcome bind_window(struct xport_qp *xqp, const struct send_wqe *w)
{
    struct hca *h = xqp->qp.hca;
    const struct key_user who = key_user_of(&xqp->qp);
    const struct bind_request *req = &w->bind;
    struct local_outcome out = {key_check_bind(h, &who, req), 0};
    const uint32_t key = out.by.rule == RULE_NONE ? key_bind(h, &who, req) : 0;
    const struct compared *c = &out.by.values;

    TRACE_ID(xport_trace(xqp), out.id, bind, .host = h->host, .qpn = xqp->qp.qpn,
             .key = req->mw_key, .new_key = key, .region = req->mr_key, .addr = req->addr,
             .bytes = req->bytes, .rule = (uint32_t)out.by.rule, .least = c->least, .most = c->most,
             .found = c->found);
    return out;
}

static struct local_outcome register_region(struct xport_qp *xqp, const struct send_wqe *w)
{
    struct hca *h = xqp->qp.hca;
    const struct key_user who = key_user_of(&xqp->qp);
    const struct reg_request *req = &w->reg;
    struct local_outcome out = {key_check_reg(h, &who, req), 0};
    const struct compared *c = &out.by.values;
    struct mkey shown = {0};

    if (out.by.rule == RULE_NONE && req->has_list)
        out.by = key_map_list(h, req);
    if (out.by.rule == RULE_NONE) {
        key_reg(h, req);
        shown = *key_find(h, req->key);
    }
    TRACE_ID(xport_trace(xqp), out.id, reg_mr, .host = h->host, .qpn = xqp->qp.qpn, .key = req->key,
             .addr = shown.addr, .bytes = shown.bytes, .rule = (uint32_t)out.by.rule,
             .least = c->least, .most = c->most, .found = c->found);
    return out;
}

static struct local_outcome invalidate(struct xport_qp *xqp, const struct send_wqe *w)
{
    struct local_outcome out;

    out.by = xport_invalidate(xqp, w->invalidate_rkey, &out.id);
    return out;
}

struct objection xport_invalidate(struct xport_qp *xqp, uint32_t key, ev_id *ret_id)
{
    struct hca *h = xqp->qp.hca;
    const struct key_user who = key_user_of(&xqp->qp);
    const struct objection o = key_check_inv(h, key, &who);
    const struct mkey *k = key_find(h, key); /* NULL: no valid key */
    const uint64_t addr = k ? k->addr : 0, bytes = k ? k->bytes : 0;

    if (o.rule == RULE_NONE)
        key_inv(h, key);
    TRACE_ID(xport_trace(xqp), *ret_id, invalidate, .host = h->host, .qpn = xqp->qp.qpn, .key = key,
             .addr = addr, .bytes = bytes, .rule = (uint32_t)o.rule, .least = o.values.least,
             .most = o.values.most, .found = o.values.found);
    return o;
}

static const struct {
    enum wr_opcode opcode;
    struct local_outcome (*carry_out)(struct xport_qp *, const struct send_wqe *);
} requests[] = {
    {WR_BIND_MW, bind_window},
    {WR_REG_MR, register_region},
    {WR_LOCAL_INV, invalidate},
};

/* Returns the completion status of @opcode if its work on keys is refused.  [IBTA1 11.6.2] */
static enum wc_status refused_status(const struct xport_qp *xqp, enum wr_opcode opcode)
{
    return opcode == WR_BIND_MW || profile_has(xqp->qp.hca->profile, TRAIT_KEY_WORK_IS_BIND_ERR)
               ? WCS_MW_BIND_ERR
               : WCS_LOC_QP_OP_ERR;
}

void req_local_run(struct xport_qp *xqp)
{
    const struct req_wqe *q = req_wqe_at(&xqp->req, xqp->req.next);
    const ev_id before = trace_because(xport_trace(xqp), q->w.fetched);
    struct local_outcome out;
    size_t i = 0;

    while (requests[i].opcode != q->info->opcode) {
        i++;
        RDL_ASSERT(i < ARRAY_LEN(requests)); /* every local operation of facts/wr.c is listed */
    }
    out = requests[i].carry_out(xqp, &q->w);
    trace_because(xport_trace(xqp), out.id);
    if (out.by.rule == RULE_NONE)
        req_carried_out(xqp);
    else
        req_refuse(xqp, refused_status(xqp, requests[i].opcode), out.by);
    req_settle(xqp);
    trace_because(xport_trace(xqp), before);
}

bool req_invalidate(struct xport_qp *xqp, struct req_wqe *q)
{
    ev_id id;

    q->by = xport_invalidate(xqp, q->w.invalidate_rkey, &id);
    if (q->by.rule == RULE_NONE)
        return true;
    q->status = refused_status(xqp, q->info->opcode);
    XPORT_COUNT(xqp, send_err);
    return false;
}

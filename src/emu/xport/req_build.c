/* SPDX-License-Identifier: MIT */
/* Requester: builds one packet of a work request. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/xport/credit.h"
#include "emu/xport/internal.h"
#include "emu/xport/wqe.h"

/* The part of the message that the packet at nxt carries. */
struct cut {
    enum op_position pos;
    uint32_t n_psns;
    uint32_t offset, left;  /* position of its first byte in the message; bytes from there on */
    uint32_t payload_bytes; /* payload of the packet */
    bool whole;             /* the packet travels whole (whole.h) */
};

/* Returns true if the packet at nxt can be all of @q, which then travels whole.  A message of which
 * only a part was sent goes on in frames.
 */
static bool goes_whole(const struct xport_qp *xqp, const struct req_wqe *q)
{
    const struct requester *r = &xqp->req;

    return xqp->x->shortcut && xqp->service->connected && r->sent_psns == 0 &&
           (r->again_psns == 0 || r->again_psns >= q->n_psns);
}

static struct cut cut_next(const struct xport_qp *xqp, const struct req_wqe *q)
{
    const uint32_t at = xqp->req.sent_psns, offset = at * xqp->mtu, left = q->bytes - offset;
    const bool whole = goes_whole(xqp, q);

    if (req_is_rd(q))
        return (struct cut){OPP_ONLY, q->n_psns - at, offset, left, 0, whole};
    if (whole)
        return (struct cut){OPP_ONLY, q->n_psns, 0, q->bytes, q->bytes, true};
    return (struct cut){wqe_position(at, q->n_psns),       1,    offset, left,
                        left < xqp->mtu ? left : xqp->mtu, false};
}

/* Copies the payload out of guest memory and adds the ICRC.  This is the only copy on the send
 * path.  Keys are checked again, because the region may have been deregistered since the fetch.
 * Returns the length of the frame.
 */
static enum rule gather(struct xport_qp *xqp, const struct req_wqe *q, const struct cut *c,
                        struct sge_cur *at, uint8_t *frame, size_t *ret_bytes)
{
    const struct sg_list l = {q->w.sge, key_user_of(&xqp->qp), 0};
    const struct packet_room room = packet_build_along(&xqp->path, &xqp->out, frame);
    struct sge bad;
    enum rule rule;

    *ret_bytes = room.frame_bytes;
    xqp->out.payload = room.payload;
    if (q->w.flags & SF_INLINE) {
        memcpy(room.payload, q->w.inline_data + c->offset, c->payload_bytes);
        packet_finish(frame, room.frame_bytes);
        return RULE_NONE;
    }
    rule = xport_fill(xqp, frame, &room, &l, at, &bad);
    if (rule != RULE_NONE)
        xport_trace_key(xqp, &bad, rule, 0);
    return rule;
}

/* As gather(), for a message that travels whole. */
static enum rule name_whole(struct xport_qp *xqp, const struct req_wqe *q, struct sge_cur *at,
                            size_t *ret_bytes)
{
    const struct sg_list l = {q->w.sge, key_user_of(&xqp->qp), 0};
    const uint32_t n_pkts = req_is_rd(q) ? 1 : q->n_psns;
    enum rule rule = RULE_NONE;
    struct sge bad;

    if (q->w.flags & SF_INLINE)
        whole_from_bytes(xqp, n_pkts, q->w.inline_data);
    else
        rule = whole_from_list(xqp, n_pkts, &l, at, &bad);
    if (rule != RULE_NONE)
        xport_trace_key(xqp, &bad, rule, 0);
    else if (xqp->x->whole)
        *ret_bytes = xqp->x->whole->wire_bytes;
    return rule;
}

/* An acknowledge is requested at the end of a message, and every REQ_ACKREQ_PKTS packets. */
static bool wants_ack(const struct requester *r, const struct cut *c)
{
    return c->pos == OPP_LAST || c->pos == OPP_ONLY ||
           r->pkts_without_ackreq + 1 >= REQ_ACKREQ_PKTS;
}

static struct atomic_eth atomic_of(const struct send_wqe *w)
{
    if (w->opcode == WR_ATOMIC_CMP_AND_SWP)
        return (struct atomic_eth){w->remote_addr, w->rkey, w->swap, w->compare_add};
    return (struct atomic_eth){w->remote_addr, w->rkey, w->compare_add, 0};
}

/* Sets the path and DETH of a datagram.  A Q_Key with the highest bit set stands for the Q_Key of
 * the queue pair.  [IBTA1 10.2.5]
 */
static void set_datagram(struct xport_qp *xqp, const struct datagram_to *to)
{
    struct packet *p = &xqp->out;

    xport_set_path(xqp, &to->av, to->qpn);
    p->deth = (struct deth){to->qkey & QKEY_OWN ? xqp->qp.attr.qkey : to->qkey, xqp->qp.qpn};
}

/* Returns true if this packet is a probe.  It must request an acknowledge, because only that lets
 * the requester continue.
 */
static bool is_probe(const struct xport_qp *xqp, const struct req_wqe *q)
{
    return xqp->req.sent_psns == 0 && credit_would_end(xqp, q);
}

static void set_headers(struct xport_qp *xqp, const struct req_wqe *q, const struct cut *c)
{
    const bool ends = c->pos == OPP_LAST || c->pos == OPP_ONLY;
    const struct send_wqe *w = &q->w;
    struct packet *p = &xqp->out;

    if (!xqp->service->connected)
        set_datagram(xqp, &w->to);
    p->bth.opcode = q->info->code[xqp->service->type][c->pos];
    p->bth.psn = req_nxt(&xqp->req);
    p->bth.ack_req = xqp->service->reliable && (wants_ack(&xqp->req, c) || is_probe(xqp, q));
    p->bth.solicited = ends && (q->w.flags & SF_SOLICITED);
    memcpy(p->imm_data, q->w.imm, sizeof(p->imm_data));
    p->payload_bytes = c->payload_bytes;
    if (q->info->form == WR_FORM_RDMA)
        p->reth = (struct reth){w->remote_addr + c->offset, w->rkey, c->left};
    else if (q->info->form == WR_FORM_ATOMIC)
        p->atomic = atomic_of(w);
    else if (q->info->invalidates)
        p->ieth_rkey = w->invalidate_rkey;
}

/* The peer's memory that the headers of @p name. */
static struct reth target_of(const struct packet *p)
{
    const unsigned headers = op_info(p->bth.opcode)->headers;

    if (headers & H_RETH)
        return p->reth;
    if (headers & H_ATOMIC)
        return (struct reth){p->atomic.va, p->atomic.rkey, ATOMIC_WORD_BYTES};
    return (struct reth){.rkey = headers & H_IETH ? p->ieth_rkey : 0};
}

/* The field `attempt` of tx events: 0 for the first transmission. */
static uint32_t told_attempt(const struct requester *r)
{
    const uint32_t attempt = req_attempt(r);

    return attempt > 1 ? attempt : 0;
}

/* The calls inside TRACE_ID are evaluated only if a sink is attached. */
static ev_id trace_tx(const struct xport_qp *xqp, const struct req_wqe *q, size_t frame_bytes)
{
    const struct packet *p = &xqp->out;
    const struct bth *h = &p->bth;
    ev_id id;

    TRACE_ID(xport_trace(xqp), id, tx, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .opcode = h->opcode, .psn = h->psn.v, .ackreq = h->ack_req, .dest_qpn = h->dest_qpn,
             .bytes = p->payload_bytes, .wire_bytes = xport_built_bytes(xqp, frame_bytes),
             .vlan = xqp->x->vlan, .copied = xqp->x->whole ? xqp->x->whole->n_pkts : 0,
             .wr_id = q->w.wr_id, .attempt = told_attempt(&xqp->req), .peer = xqp->peer,
             .va = target_of(p).va, .rkey = target_of(p).rkey, .length = target_of(p).dma_bytes,
             .cm = packet_message(p));
    return id;
}

size_t req_build(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx)
{
    struct requester *r = &xqp->req;
    struct req_wqe *q = req_wqe_at(r, r->next);
    const struct cut c = cut_next(xqp, q);
    const ev_id before =
        trace_because(xport_trace(xqp), r->again_psns == 0 ? q->w.fetched : r->resend);
    struct sge_cur at = r->next_sge;
    size_t frame_bytes = 0;
    enum rule rule;

    set_headers(xqp, q, &c);
    rule = c.whole ? name_whole(xqp, q, &at, &frame_bytes)
                   : gather(xqp, q, &c, &at, frame, &frame_bytes);
    if (rule != RULE_NONE) {
        req_refuse(xqp, wqe_key_status(rule, xqp->qp.hca->profile), by_rule(rule));
        frame_bytes = 0;
        goto out;
    }
    if (r->again_psns == 0)
        q->whole = c.whole;
    r->pkts_without_ackreq = xqp->out.bth.ack_req ? 0 : r->pkts_without_ackreq + 1;
    *ret_tx = trace_tx(xqp, q, frame_bytes);
    XPORT_ADD(xqp, sent_pkts, xport_built_pkts(xqp));
    req_sent(xqp, c.n_psns, xqp->out.bth.ack_req, at);
    if (xqp->service->reliable)
        retry_sent(xqp, *ret_tx);
    else
        req_acked(xqp, c.n_psns); /* no acknowledge will arrive */
out:
    trace_because(xport_trace(xqp), before);
    return frame_bytes;
}

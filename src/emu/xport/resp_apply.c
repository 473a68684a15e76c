/* SPDX-License-Identifier: MIT */
/* Responder of RC: applies the verdicts of resp.c. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/wire/grh.h"
#include "emu/xport/admit.h"
#include "emu/xport/internal.h"
#include "emu/xport/resp.h"
#include "emu/xport/wqe.h"

bool resp_complete(struct xport_qp *xqp, const struct completion *wc)
{
    RDL_ASSERT(xqp->resp.has_wqe);
    xqp->resp.has_wqe = false;
    return xqp->x->ops->complete(xqp->x->ctx, &xqp->qp, WQ_RECV, xqp->resp.wqe.desc, wc);
}

/* Completes the receive of the message that ends with @p.  Invalidates the key of a SEND with
 * invalidate before the program sees the completion.  Returns false if the completion was lost.
 */
static bool finish_message(struct xport_qp *xqp, const struct packet *p)
{
    struct responder *r = &xqp->resp;
    struct completion wc = {
        .wr_id = r->wqe.wr_id,
        .status = WCS_SUCCESS,
        .opcode = p->op->kind == OPK_WRITE ? WC_RECV_RDMA_WITH_IMM : WC_RECV,
        .bytes = r->received,
        .qpn = xqp->qp.qpn,
        .solicited = p->bth.solicited,
    };

    if (!xqp->service->connected) {
        wc.src_qpn = p->deth.src_qpn;
        wc.ip = p->ip.version & 7u;
    }
    if (xqp->qp.qpn == QPN_GSI) /* the index of another queue pair is one of its attributes */
        (void)admit_partition(&xqp->qp, p->bth.pkey, &wc.pkey_index);
    if (!xqp->service->connected && profile_has(xqp->qp.hca->profile, TRAIT_SL_SAYS_IP_VERSION))
        wc.sl = p->ip.version == 4 ? CQE_SL_IPV4 : CQE_SL_IPV6;
    if (!xqp->service->connected || !profile_has(xqp->qp.hca->profile, TRAIT_GRH_OF_DATAGRAMS_ONLY))
        wc.flags = WCF_GRH;
    if (p->op->headers & H_IMM) {
        wc.flags |= WCF_WITH_IMM;
        memcpy(wc.imm, p->imm_data, sizeof(wc.imm));
    } else if (p->op->headers & H_IETH) {
        resp_invalidate(xqp, p);
        wc.flags |= WCF_WITH_INV;
        wc.invalidated_rkey = p->ieth_rkey;
    }
    if (!resp_complete(xqp, &wc))
        return false;
    XPORT_COUNT(xqp, rdma_recvs);
    return true;
}

/* Ends the queue pair after a lost completion.  The message is not acknowledged, so the peer runs
 * out of retries.  A queued NAK is dropped, because it would report a missing packet.  The
 * acknowledge that it had replaced is sent.  docs/decisions/0021-lost-completions.md
 */
RDL_COLD static void give_up(struct xport_qp *xqp)
{
    struct resp_answer *a = &xqp->resp.answer;

    if (a->pending && !aeth_is_ack(a->syndrome)) {
        a->pending = false;
        if (a->owes_ack)
            resp_answer(xqp, aeth_pack(SYN_ACK, AETH_NO_CREDITS), psn_add(a->psn, PSN_MASK),
                        a->cause);
    }
    xport_fail(xqp);
    xport_event(xqp, ASE_QP_FATAL);
}

/* Writes the GRH with the sender's address to the start of the receive. */
static void write_grh(struct xport_qp *xqp, const struct packet *p)
{
    struct responder *r = &xqp->resp;
    uint8_t grh[GRH_BYTES];

    if (xqp->qp.hca->grh_is_global)
        grh_global_from_packet(grh, p);
    else
        grh_from_packet(grh, p);
    sge_copy_in(&xqp->qp, r->wqe.wr_id, r->wqe.sge, &r->sge, grh, sizeof(grh));
    r->received = sizeof(grh);
}

/* Writes the payload of an RDMA WRITE at the current position. */
static void write_remote(struct xport_qp *xqp, const struct packet *p)
{
    struct resp_write *w = &xqp->resp.write;
    const struct sge to = {w->addr, p->payload_bytes, w->rkey};
    struct sge_cur at = {0, 0};

    whole_copy_in(&xqp->qp, 0, &to, &at, p);
    w->addr += p->payload_bytes;
    w->left -= p->payload_bytes;
}

/* Copies the payload of a SEND or WRITE packet into guest memory. */
static void write_payload(struct xport_qp *xqp, const struct packet *p)
{
    struct responder *r = &xqp->resp;

    if (op_starts(p->op)) {
        r->sge = (struct sge_cur){0, 0};
        r->received = 0;
        r->write = (struct resp_write){p->reth.va, p->reth.rkey, p->reth.dma_bytes};
    }
    if (!xqp->service->connected)
        write_grh(xqp, p);
    r->received += p->payload_bytes;
    if (p->op->kind == OPK_SEND)
        whole_copy_in(&xqp->qp, r->wqe.wr_id, r->wqe.sge, &r->sge, p);
    else
        write_remote(xqp, p);
}

/* The PSNs of @p, the first of which is the expected one, were taken. */
static void take_psns(struct responder *r, const struct packet *p)
{
    resp_took(r, whole_psns(p));
    r->taken = psn_add(r->expected, PSN_MASK);
}

bool resp_deliver(struct xport_qp *xqp, const struct packet *p)
{
    struct responder *r = &xqp->resp;

    write_payload(xqp, p);
    r->expected = p->bth.psn; /* an unreliable service accepts a packet after a gap */
    take_psns(r, p);
    r->open = op_ends(p->op) ? NULL : p->op;
    if (!op_ends(p->op))
        return true;
    if (resp_ends_receive(p) && !finish_message(xqp, p))
        return false;
    resp_next_msn(r);
    return true;
}

void resp_trace_key(const struct xport_qp *xqp, const struct packet *p)
{
    const unsigned access = resp_access(p);
    struct sge target;

    if (!access || !op_starts(p->op))
        return;
    target = resp_target(p, &xqp->resp.write);
    if (target.bytes > 0)
        xport_trace_key(xqp, &target, RULE_NONE, access);
}

/* Executes the expected packet, which all checks have accepted. */
static void execute(struct xport_qp *xqp, const struct packet *p, ev_id rx)
{
    resp_trace_key(xqp, p);
    if (op_has_response(p->op)) {
        resp_next_msn(&xqp->resp);
        resp_take_rd(xqp, p, rx);
        if (p->op->kind != OPK_READ &&
            !profile_has(xqp->qp.hca->profile, TRAIT_REPEAT_ACKS_NO_ATOMIC))
            xqp->resp.taken = p->bth.psn;
    } else if (!resp_deliver(xqp, p)) {
        give_up(xqp);
        return;
    }
    resp_reconsider(xqp, rx);
    if (op_has_response(p->op))
        resp_absorb_ack(xqp);
    else if (p->bth.ack_req)
        resp_acknowledge(xqp, rx);
}

struct completion resp_error(const struct xport_qp *xqp, const struct resp_verdict *d)
{
    return (struct completion){
        .wr_id = xqp->resp.wqe.wr_id,
        .status = d->status,
        .opcode = WC_RECV,
        .qpn = xqp->qp.qpn,
        .rule = d->rule,
        .values = d->values,
    };
}

/* Marks the queue pair to end when the queued answer has been sent. */
RDL_COLD static void begin_to_close(struct xport_qp *xqp, const struct resp_verdict *d)
{
    struct responder *r = &xqp->resp;

    if (r->closing)
        return; /* the earlier refusal counts */
    r->closing = true;
    r->fatal = resp_error(xqp, d);
    if (!r->has_wqe)
        r->fatal.status = WCS_SUCCESS;
    r->refused = (struct refusal){d->act, d->rule};
    r->untold = r->fatal.status == WCS_SUCCESS;
}

void resp_refuse(struct xport_qp *xqp, const struct resp_verdict *d, struct psn psn, ev_id rx)
{
    resp_answer(xqp, aeth_pack(d->nak, 0), psn, rx);
    begin_to_close(xqp, d);
}

/* ACT_TAKE_AND_FAIL: the message is stored and acknowledged, but its receive fails because the key
 * cannot be invalidated.  The peer is not told.
 */
RDL_COLD static void take_and_close(struct xport_qp *xqp, const struct packet *p,
                                    const struct resp_verdict *d, ev_id rx)
{
    struct responder *r = &xqp->resp;

    write_payload(xqp, p);
    resp_invalidate(xqp, p);
    take_psns(r, p);
    r->open = NULL;
    resp_reconsider(xqp, rx);
    resp_acknowledge(xqp, rx);
    begin_to_close(xqp, d);
}

/* Fetches the receive for @p, unless one is held: by the open message, or (UC) left from a message
 * that was given up.
 */
static enum fetch fetch_recv(struct xport_qp *xqp, const struct packet *p)
{
    struct responder *r = &xqp->resp;
    enum fetch got = FETCH_OK;

    if (!r->has_wqe) {
        RDL_ASSERT(resp_needs_receive(p));
        got = xqp->x->ops->fetch_recv(xqp->x->ctx, &xqp->qp, &r->wqe);
        r->has_wqe = got == FETCH_OK;
        if (r->has_wqe &&
            r->wqe.n_sge.said <= xqp->qp.config.max_recv_sge) /* otherwise it is refused */
            r->wqe.holds_bytes = sge_total(r->wqe.sge, r->wqe.n_sge.said);
    }
    return got;
}

/* Returns false if @p stands for packets of which only the last one takes the receive: a WRITE with
 * immediate data that travels whole.  What is wrong with the first one then concerns no receive.
 */
static bool is_received_at_once(const struct packet *p)
{
    return p->op->kind == OPK_SEND || whole_psns(p) == 1;
}

/* Returns the status that the refusal @d gives to the receive that @p is related to.  SUCCESS: it
 * is related to none, and an event reports the refusal.  The receive is the one that the message
 * holds, or the one that a WRITE with immediate data takes with this packet.
 * [IBTA1 C9-222.1.1, 11.6.2]
 * docs/decisions/0044-a-refusal-is-told-by-the-receive-that-it-concerns.md
 */
RDL_COLD static enum wc_status related_status(struct xport_qp *xqp, const struct packet *p,
                                              const struct resp_verdict *d)
{
    if (d->status != WCS_SUCCESS)
        return d->status;
    if (d->act == ACT_NAK_ACCESS) {
        if (!resp_needs_receive(p) || !is_received_at_once(p) || fetch_recv(xqp, p) != FETCH_OK)
            return WCS_SUCCESS;
        return profile_has(xqp->qp.hca->profile, TRAIT_REFUSED_WRITE_IS_LOC_ACCESS)
                   ? WCS_LOC_ACCESS_ERR
                   : WCS_REM_ACCESS_ERR;
    }
    return xqp->resp.has_wqe ? WCS_REM_INV_REQ_ERR : WCS_SUCCESS;
}

/* Completes @v for the FLUSH @p.  One for a whole region does not say where the region is. */
static void aim_flush(const struct packet *p, struct target_view *v)
{
    const struct mkey *k = key_find(v->hca, p->reth.rkey);

    v->needs_key = true;
    if (p->feth.level == FETH_REGION && k)
        v->at.addr = k->addr;
}

/* Checks the key of @p. */
static void decide_memory(const struct xport_qp *xqp, const struct packet *p,
                          struct resp_verdict *ret)
{
    struct target_view v = {.hca = xqp->qp.hca,
                            .who = key_user_of(&xqp->qp),
                            .access = resp_access(p),
                            .at = resp_target(p, &xqp->resp.write)};

    if (p->op->kind == OPK_FLUSH)
        aim_flush(p, &v);
    resp_decide_memory(&v, ret);
    ret->bad = v.at;
}

/* Checks that the receive can take the first @bytes of the payload of @p. */
static void decide_delivery(struct xport_qp *xqp, const struct packet *p, uint32_t bytes,
                            struct resp_verdict *ret)
{
    struct responder *r = &xqp->resp;
    struct delivery_view v = {.hca = xqp->qp.hca,
                              .who = key_user_of_recv(&xqp->qp),
                              .max_recv_sge = xqp->qp.config.max_recv_sge,
                              .wqe = &r->wqe,
                              .bytes = bytes,
                              .lead = !xqp->service->connected ? GRH_BYTES : 0,
                              .profile = xqp->qp.hca->profile};

    v.got = fetch_recv(xqp, p);
    if (!op_starts(p->op)) {
        v.at = r->sge;
        v.received = r->received;
    }
    resp_decide_delivery(&v, p, ret);
}

/* The number of unanswered READs and atomics that the responder takes.
 *
 * SIMPLIFIED: rxe queues them without limit.  Here the ring has room for as many as a requester of
 * the lab can have outstanding.
 */
static uint32_t max_rds(const struct xport_qp *xqp)
{
    const uint32_t kept = xqp->qp.attr.max_dest_rd_atomic;

    return kept == 0 || profile_has(xqp->qp.hca->profile, TRAIT_RD_ROOM_CHECKED)
               ? kept
               : xqp->resp.rds.size;
}

struct resp_view resp_view_of(const struct xport_qp *xqp)
{
    const struct responder *r = &xqp->resp;

    return (struct resp_view){
        .expected = r->expected,
        .seq_nak_out = r->seq_nak_out,
        .rnr_nak_out = r->rnr_nak_out,
        .open = r->open,
        .left = r->write.left,
        .mtu = xqp->mtu,
        .access = xqp->qp.attr.access,
        .rds = r->rds.next - r->rds.answered,
        .max_rds = max_rds(xqp),
        .profile = xqp->qp.hca->profile,
    };
}

void resp_judge(struct xport_qp *xqp, const struct packet *p, const struct resp_view *v,
                struct resp_verdict *ret)
{
    const bool is_delivered = p->op->kind == OPK_SEND || resp_needs_receive(p);
    const bool is_delivered_first =
        is_delivered && is_received_at_once(p) && !profile_has(v->profile, TRAIT_RECEIVE_AFTER_KEY);

    resp_decide(v, p, ret);
    if (ret->act == ACT_DUPLICATE && op_has_response(p->op))
        *ret = resp_decide_again(xqp, p);
    if (ret->act == ACT_ACCEPT && is_delivered_first)
        decide_delivery(xqp, p, whole_first_bytes(p), ret);
    if (ret->act == ACT_ACCEPT)
        resp_decide_length(v, p, ret);
    if (ret->act == ACT_ACCEPT && p->op->kind != OPK_SEND)
        decide_memory(xqp, p, ret);
    if (ret->act == ACT_ACCEPT)
        resp_decide_form(v, p, ret);
    if (ret->act == ACT_ACCEPT && is_delivered && (!is_delivered_first || whole_psns(p) > 1))
        decide_delivery(xqp, p, p->payload_bytes, ret);
    if (ret->act == ACT_ACCEPT && (p->op->headers & H_IETH))
        *ret = resp_decide_inv(xqp, p);
}

void resp_trace_refused_key(const struct xport_qp *xqp, const struct packet *p,
                            const struct resp_verdict *d)
{
    const struct key_user who = key_user_of_recv(&xqp->qp);

    if (d->act == ACT_NAK_OPERATIONAL && d->bad.bytes > 0)
        xport_trace_key_of(xqp, &who, &d->bad, d->rule, ACC_LOCAL_WRITE);
    else if (d->nak == SYN_NAK_REMOTE_ACCESS)
        xport_trace_key(xqp, &d->bad, d->rule, resp_access(p));
}

/* Applies a verdict other than ACCEPT. */
RDL_COLD static void apply_other(struct xport_qp *xqp, const struct packet *p,
                                 const struct resp_verdict *d, ev_id rx)
{
    struct responder *r = &xqp->resp;
    struct resp_verdict refusal = *d;

    switch (d->act) {
    case ACT_TAKE_AND_FAIL:
        take_and_close(xqp, p, d, rx);
        break;
    case ACT_DUPLICATE:
        XPORT_COUNT(xqp, duplicate_request);
        resp_acknowledge(xqp, rx);
        break;
    case ACT_REPLAY:
        XPORT_COUNT(xqp, duplicate_request);
        resp_replay(xqp, p, rx);
        break;
    case ACT_NAK_SEQUENCE:
        XPORT_COUNT(xqp, out_of_sequence);
        resp_nak_sequence(xqp, rx);
        resp_note_thrown_away(xqp, p->bth.psn, rx);
        break;
    case ACT_RNR:
        r->rnr_nak_out = true;
        resp_answer(xqp, aeth_pack(d->nak, (uint8_t)xqp->qp.attr.min_rnr_timer), r->expected, rx);
        break;
    case ACT_DROP:
        if (d->drop == DROP_NOT_KEPT) {
            XPORT_COUNT(xqp, duplicate_request);
            break;
        }
        XPORT_COUNT(xqp, out_of_sequence);
        resp_note_thrown_away(xqp, p->bth.psn, rx);
        break;
    default:
        resp_trace_refused_key(xqp, p, d);
        refusal.status = related_status(xqp, p, d);
        resp_refuse(xqp, &refusal, p->bth.psn, rx);
        break;
    }
}

ev_id resp_trace_rx(const struct xport_qp *xqp, const struct packet *p, const struct rx_info *info,
                    const struct resp_verdict *d)
{
    ev_id rx;

    TRACE_ID(xport_trace(xqp), rx, rx, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v, .bytes = p->payload_bytes,
             .act = (uint32_t)d->act, .rule = (uint32_t)d->rule, .tx = info->tx,
             .least = d->values.least, .most = d->values.most, .found = d->values.found,
             .cm = packet_message(p), .copied = p->whole ? p->whole->n_pkts : 0);
    return rx;
}

enum drop_reason resp_receive(struct xport_qp *xqp, const struct packet *p,
                              const struct rx_info *info)
{
    struct responder *r = &xqp->resp;
    const struct resp_view v = resp_view_of(xqp);
    struct resp_verdict d;
    ev_id rx, before;

    resp_judge(xqp, p, &v, &d);
    rx = resp_trace_rx(xqp, p, info, &d);
    before = trace_because(xport_trace(xqp), rx);
    XPORT_ADD(xqp, rcvd_pkts, whole_psns(p));
    if (p->bth.psn.v == r->expected.v) {
        r->seq_nak_out = false;
        r->rnr_nak_out = false;
        r->seq_naks = 0;
    }
    if (d.act == ACT_DROP)
        xport_drop(xqp->x, p, info, d.drop, &d.values);
    if (d.act == ACT_ACCEPT)
        execute(xqp, p, rx);
    else
        apply_other(xqp, p, &d, rx);
    xport_wake(xqp);
    trace_because(xport_trace(xqp), before);
    return d.drop;
}

/* SPDX-License-Identifier: MIT */
/* Responder, RC: does what resp.c decided, and sends the answers.
 *
 * Answers are not sent at once: one waits per queue pair until its port is free, and a newer one
 * takes its place, which is how acknowledges are coalesced.  A NAK is not replaced by an
 * acknowledge: the far side would never learn of it.  Nor is an RNR NAK by the sequence NAK of what
 * followed the same packet, which would say less.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/xport/internal.h"
#include "emu/xport/resp.h"
#include "emu/xport/wqe.h"

#define MSN_MASK 0xffffffu

static bool is_ack(uint8_t syndrome)
{
    return aeth_unpack(syndrome).kind == SYN_ACK;
}

/* Does the answer that waits, @a, say more than @syndrome for @psn? */
static bool outweighs(const struct rc_answer *a, uint8_t syndrome, struct psn psn)
{
    enum syndrome waits, comes;

    if (!a->pending)
        return false;
    waits = aeth_unpack(a->syndrome).kind;
    comes = aeth_unpack(syndrome).kind;
    return (waits != SYN_ACK && comes == SYN_ACK) ||
           (waits == SYN_RNR_NAK && comes == SYN_NAK_PSN_SEQUENCE && a->psn.v == psn.v);
}

static void answer(struct rc_qp *rc, uint8_t syndrome, struct psn psn, ev_id rx)
{
    struct rc_answer *a = &rc->resp.answer;
    const bool owes_ack = a->pending && (is_ack(a->syndrome) || a->owes_ack);

    if (outweighs(a, syndrome, psn)) {
        a->owes_ack |= is_ack(syndrome);
        return;
    }
    *a = (struct rc_answer){
        .pending = true,
        .syndrome = syndrome,
        .psn = psn,
        .msn = rc->resp.msn,
        .cause = rx,
        .owes_ack = owes_ack && !is_ack(syndrome),
        .beyond = psn,
        .beyond_rx = rx,
    };
}

/* Acknowledges everything that was received in order. */
static void acknowledge(struct rc_qp *rc, ev_id rx)
{
    answer(rc, aeth_pack(SYN_ACK, AETH_NO_CREDITS), psn_add(rc->resp.expected, PSN_MASK), rx);
}

/* The packet @psn is ahead of the one that is expected, and thrown away: a NAK that waits knows. */
static void note_thrown_away(struct rc_qp *rc, struct psn psn, ev_id rx)
{
    struct rc_answer *a = &rc->resp.answer;

    if (a->pending && psn_diff(psn, a->beyond) > 0) {
        a->beyond = psn;
        a->beyond_rx = rx;
    }
}

static void nak_sequence(struct rc_qp *rc, ev_id rx)
{
    struct rc_resp *r = &rc->resp;

    r->seq_nak_out = true;
    r->seq_naks++;
    answer(rc, aeth_pack(SYN_NAK_PSN_SEQUENCE, 0), r->expected, rx);
}

/* The expected packet came and was taken.  A NAK that asked for it and did not leave yet is taken
 * back.  What was thrown away behind that packet must come again all the same: then the NAK asks
 * for that now.  Otherwise an acknowledge that it kept from leaving takes its place.
 */
static void reconsider(struct rc_qp *rc, ev_id rx)
{
    struct rc_answer *a = &rc->resp.answer;
    const struct rc_answer was = *a;

    if (!was.pending || is_ack(was.syndrome))
        return;
    a->pending = false;
    if (psn_diff(was.beyond, rc->resp.expected) >= 0) {
        nak_sequence(rc, was.beyond_rx);
        a->owes_ack = was.owes_ack;
        a->beyond = was.beyond;
        a->beyond_rx = was.beyond_rx;
    } else if (was.owes_ack) {
        acknowledge(rc, rx);
    }
}

static void trace_answer(const struct rc_qp *rc, size_t frame_bytes, ev_id *ret_tx)
{
    const struct packet *p = &rc->out;
    const struct aeth_word word = aeth_unpack(p->aeth.syndrome);

    TRACE_ID(rc_trace(rc), *ret_tx, tx, .host = rc->qp.hca->host, .qpn = rc->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v, .dest_qpn = p->bth.dest_qpn,
             .syndrome = (uint32_t)word.kind, .msn = p->aeth.msn,
             .rnr_timer = word.kind == SYN_RNR_NAK ? word.value : 0,
             .wire_bytes = (uint32_t)frame_bytes, .peer = rc->peer);
}

static void count_answer(struct rc_qp *rc, enum syndrome kind)
{
    RC_COUNT(rc, sent_pkts);
    if (kind == SYN_RNR_NAK)
        RC_COUNT(rc, sent_rnr);
    else if (kind != SYN_ACK)
        RC_COUNT(rc, sent_nak);
}

size_t resp_build(struct rc_qp *rc, uint8_t *frame, ev_id *ret_tx)
{
    struct rc_answer *a = &rc->resp.answer;
    struct packet *p = &rc->out;
    const ev_id before = trace_because(rc_trace(rc), a->cause);
    size_t frame_bytes;

    RDL_ASSERT(a->pending);
    p->bth.opcode = OP_RC_ACKNOWLEDGE;
    p->bth.psn = a->psn;
    p->bth.ack_req = false;
    p->bth.solicited = false;
    p->aeth = (struct aeth){a->syndrome, a->msn};
    p->payload_bytes = 0;
    packet_build(p, frame);
    frame_bytes = packet_frame_bytes(p);
    packet_finish(frame, frame_bytes);
    trace_answer(rc, frame_bytes, ret_tx);
    count_answer(rc, aeth_unpack(a->syndrome).kind);
    if (is_ack(a->syndrome)) {
        RDL_ASSERT(!rc->resp.answered || psn_diff(a->psn, rc->resp.acked) >= 0);
        rc->resp.acked = a->psn;
        rc->resp.answered = true;
    }
    a->pending = false;
    trace_because(rc_trace(rc), before);
    return frame_bytes;
}

bool resp_complete(struct rc_qp *rc, const struct completion *wc)
{
    RDL_ASSERT(rc->resp.has_wqe);
    rc->resp.has_wqe = false;
    return rc->x->ops->complete(rc->x->ctx, &rc->qp, WQ_RECV, rc->resp.wqe.desc, wc);
}

/* False: nobody will learn that the message is there, as its completion is lost. */
static bool finish_message(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    struct completion wc = {
        .wr_id = r->wqe.wr_id,
        .status = WCS_SUCCESS,
        .opcode = WC_RECV,
        .bytes = r->received,
        .qpn = rc->qp.qpn,
        .solicited = p->bth.solicited,
    };

    if (p->op->headers & H_IMM) {
        wc.flags = WCF_WITH_IMM;
        memcpy(wc.imm, p->imm_data, sizeof(wc.imm));
    }
    if (!resp_complete(rc, &wc))
        return false;
    r->msn = (r->msn + 1) & MSN_MASK;
    RC_COUNT(rc, rdma_recvs);
    return true;
}

/* The message is not acknowledged, and its queue pair takes no more: the far side runs out of
 * retries.  A NAK would say that something is missing; what it spoke for is said without it.
 * docs/decisions/0021-lost-completions.md
 */
static void give_up(struct rc_qp *rc)
{
    struct rc_answer *a = &rc->resp.answer;

    if (a->pending && !is_ack(a->syndrome)) {
        a->pending = false;
        if (a->owes_ack)
            answer(rc, aeth_pack(SYN_ACK, AETH_NO_CREDITS), psn_add(a->psn, PSN_MASK), a->cause);
    }
    rc_fail(rc);
}

static void deliver(struct rc_qp *rc, const struct packet *p, ev_id rx)
{
    struct rc_resp *r = &rc->resp;

    if (op_starts(p->op)) {
        r->sge = (struct sge_cur){0, 0};
        r->received = 0;
    }
    sge_copy_in(&rc->qp, r->wqe.wr_id, r->wqe.sge, &r->sge, p->payload, p->payload_bytes);
    r->received += p->payload_bytes;
    r->expected = psn_add(r->expected, 1);
    r->open = op_ends(p->op) ? NULL : p->op;
    if (op_ends(p->op) && !finish_message(rc, p)) {
        give_up(rc);
        return;
    }
    reconsider(rc, rx);
    if (p->bth.ack_req)
        acknowledge(rc, rx);
}

void resp_refuse(struct rc_qp *rc, const struct resp_verdict *d, ev_id rx)
{
    const struct completion wc = {
        .wr_id = rc->resp.wqe.wr_id,
        .status = d->status,
        .opcode = WC_RECV,
        .qpn = rc->qp.qpn,
        .rule = d->rule,
        .values = d->values,
    };

    answer(rc, aeth_pack(d->nak, 0), rc->resp.expected, rx);
    if (d->status != WCS_SUCCESS && rc->resp.has_wqe)
        resp_complete(rc, &wc);
    rc_fail(rc);
}

/* The receive for a message that starts; a message that goes on has its own. */
static enum fetch fetch_recv(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    enum fetch got = FETCH_OK;

    if (op_starts(p->op)) {
        RDL_ASSERT(!r->has_wqe);
        got = rc->x->ops->fetch_recv(rc->x->ctx, &rc->qp, &r->wqe);
        r->has_wqe = got == FETCH_OK;
    }
    return got;
}

static struct resp_verdict decide(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    const enum profile profile = rc->qp.hca->profile;
    const struct resp_view v = {
        .expected = r->expected,
        .seq_nak_out = r->seq_nak_out,
        .rnr_nak_out = r->rnr_nak_out,
        .open = r->open,
        .mtu = rc->mtu,
        .profile = profile,
    };
    struct delivery_view dv = {.hca = rc->qp.hca, .who = key_user_of(&rc->qp), .profile = profile};
    const struct resp_verdict d = resp_decide(&v, p);

    if (d.act != ACT_ACCEPT)
        return d;
    dv.got = fetch_recv(rc, p);
    dv.wqe = &r->wqe;
    dv.max_recv_sge = rc->qp.config.max_recv_sge;
    if (!op_starts(p->op)) {
        dv.at = r->sge;
        dv.received = r->received;
    }
    return resp_decide_delivery(&dv, p);
}

static void apply(struct rc_qp *rc, const struct packet *p, const struct resp_verdict *d, ev_id rx)
{
    struct rc_resp *r = &rc->resp;

    switch (d->act) {
    case ACT_ACCEPT:
        deliver(rc, p, rx);
        break;
    case ACT_DUPLICATE:
        RC_COUNT(rc, duplicate_request);
        acknowledge(rc, rx);
        break;
    case ACT_NAK_SEQUENCE:
        RC_COUNT(rc, out_of_sequence);
        nak_sequence(rc, rx);
        note_thrown_away(rc, p->bth.psn, rx);
        break;
    case ACT_RNR:
        r->rnr_nak_out = true;
        answer(rc, aeth_pack(d->nak, (uint8_t)rc->qp.attr.min_rnr_timer), r->expected, rx);
        break;
    case ACT_DROP:
        RC_COUNT(rc, out_of_sequence);
        note_thrown_away(rc, p->bth.psn, rx);
        break;
    default:
        if (d->status == WCS_LOC_PROT_ERR)
            rc_trace_key(rc, &d->bad, d->rule, ACC_LOCAL_WRITE);
        resp_refuse(rc, d, rx);
        break;
    }
}

enum drop_reason resp_receive(struct rc_qp *rc, const struct packet *p, const struct rx_info *info)
{
    struct rc_resp *r = &rc->resp;
    const struct resp_verdict d = decide(rc, p);
    ev_id rx, before;

    TRACE_ID(rc_trace(rc), rx, rx, .host = rc->qp.hca->host, .qpn = rc->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v, .bytes = p->payload_bytes,
             .act = (uint32_t)d.act, .rule = (uint32_t)d.rule, .tx = info->tx,
             .least = d.values.least, .most = d.values.most, .found = d.values.found);
    before = trace_because(rc_trace(rc), rx);
    RC_COUNT(rc, rcvd_pkts);
    if (p->bth.psn.v == r->expected.v) {
        r->seq_nak_out = false;
        r->rnr_nak_out = false;
        r->seq_naks = 0;
    }
    if (d.act == ACT_DROP)
        xport_drop(rc->x, p, info, d.drop, &d.values);
    apply(rc, p, &d, rx);
    rc_wake(rc);
    trace_because(rc_trace(rc), before);
    return d.drop;
}

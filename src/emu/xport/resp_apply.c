/* SPDX-License-Identifier: MIT */
/* Responder, RC: does what resp.c decided. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/facts/device.h"
#include "emu/wire/grh.h"
#include "emu/xport/internal.h"
#include "emu/xport/resp.h"
#include "emu/xport/wqe.h"

bool resp_complete(struct rc_qp *rc, const struct completion *wc)
{
    RDL_ASSERT(rc->resp.has_wqe);
    rc->resp.has_wqe = false;
    return rc->x->ops->complete(rc->x->ctx, &rc->qp, WQ_RECV, rc->resp.wqe.desc, wc);
}

/* False: nobody will learn that the message is there, as its completion is lost.  A key is invalid
 * before the program learns of the message that ended it.
 */
static bool finish_message(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    struct completion wc = {
        .wr_id = r->wqe.wr_id,
        .status = WCS_SUCCESS,
        .opcode = p->op->kind == OPK_WRITE ? WC_RECV_RDMA_WITH_IMM : WC_RECV,
        .bytes = r->received,
        .qpn = rc->qp.qpn,
        .solicited = p->bth.solicited,
    };

    if (rc->service->type == QPT_UD) {
        wc.flags = WCF_GRH;
        wc.src_qpn = p->deth.src_qpn;
    }
    if (p->op->headers & H_IMM) {
        wc.flags |= WCF_WITH_IMM;
        memcpy(wc.imm, p->imm_data, sizeof(wc.imm));
    } else if (p->op->headers & H_IETH) {
        resp_invalidate(rc, p);
        wc.flags |= WCF_WITH_INV;
        wc.invalidated_rkey = p->ieth_rkey;
    }
    if (!resp_complete(rc, &wc))
        return false;
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

    if (a->pending && aeth_unpack(a->syndrome).kind != SYN_ACK) {
        a->pending = false;
        if (a->owes_ack)
            resp_answer(rc, aeth_pack(SYN_ACK, AETH_NO_CREDITS), psn_add(a->psn, PSN_MASK),
                        a->cause);
    }
    rc_fail(rc);
    rc_event(rc, ASE_QP_FATAL);
}

/* Copies what a SEND or a WRITE carries into guest memory. */
static void write_payload(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    struct sge_cur at = {0, 0};
    uint8_t grh[GRH_BYTES];

    if (op_starts(p->op)) {
        r->sge = (struct sge_cur){0, 0};
        r->received = 0;
        r->write = (struct rc_write){p->reth.va, p->reth.rkey, p->reth.dma_bytes};
    }
    if (rc->service->type == QPT_UD) {
        grh_from_packet(grh, p);
        sge_copy_in(&rc->qp, r->wqe.wr_id, r->wqe.sge, &r->sge, grh, sizeof(grh));
        r->received = sizeof(grh);
    }
    r->received += p->payload_bytes;
    if (p->op->kind == OPK_SEND) {
        sge_copy_in(&rc->qp, r->wqe.wr_id, r->wqe.sge, &r->sge, p->payload, p->payload_bytes);
    } else {
        const struct sge to = {r->write.addr, p->payload_bytes, r->write.rkey};

        sge_copy_in(&rc->qp, 0, &to, &at, p->payload, p->payload_bytes);
        r->write.addr += p->payload_bytes;
        r->write.left -= p->payload_bytes;
    }
}

bool resp_deliver(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;

    write_payload(rc, p);
    r->expected = psn_add(p->bth.psn, 1);
    r->open = op_ends(p->op) ? NULL : p->op;
    if (!op_ends(p->op))
        return true;
    if (r->has_wqe && !finish_message(rc, p))
        return false;
    rc_next_msn(r);
    return true;
}

static bool is_rd(const struct packet *p)
{
    return p->op->kind == OPK_READ || p->op->kind == OPK_ATOMIC;
}

void resp_trace_key(const struct rc_qp *rc, const struct packet *p)
{
    const unsigned access = resp_access(p);
    const struct sge target = resp_target(p, &rc->resp.write);

    if (access && op_starts(p->op) && target.bytes > 0)
        rc_trace_key(rc, &target, RULE_NONE, access);
}

/* The next request, which may be executed. */
static void execute(struct rc_qp *rc, const struct packet *p, ev_id rx)
{
    resp_trace_key(rc, p);
    if (is_rd(p)) {
        rc_next_msn(&rc->resp);
        resp_take_rd(rc, p, rx);
    } else if (!resp_deliver(rc, p)) {
        give_up(rc);
        return;
    }
    resp_reconsider(rc, rx);
    if (is_rd(p))
        resp_absorb_ack(rc);
    else if (p->bth.ack_req)
        resp_acknowledge(rc, rx);
}

struct completion resp_error(const struct rc_qp *rc, const struct resp_verdict *d)
{
    return (struct completion){
        .wr_id = rc->resp.wqe.wr_id,
        .status = d->status,
        .opcode = WC_RECV,
        .qpn = rc->qp.qpn,
        .rule = d->rule,
        .values = d->values,
    };
}

/* The queue pair ends when the answer that waits has left. */
static void begin_to_close(struct rc_qp *rc, const struct resp_verdict *d)
{
    struct rc_resp *r = &rc->resp;

    if (r->closing)
        return; /* an earlier request fails, too */
    r->closing = true;
    r->fatal = resp_error(rc, d);
    if (!r->has_wqe)
        r->fatal.status = WCS_SUCCESS;
    r->refused = d->act;
    r->untold = r->fatal.status == WCS_SUCCESS;
}

void resp_refuse(struct rc_qp *rc, const struct resp_verdict *d, struct psn psn, ev_id rx)
{
    resp_answer(rc, aeth_pack(d->nak, 0), psn, rx);
    begin_to_close(rc, d);
}

/* The message is here and acknowledged, asked for or not; but its receive fails, as the key stays
 * valid.  The far side does not learn of it.
 */
static void take_and_close(struct rc_qp *rc, const struct packet *p, const struct resp_verdict *d,
                           ev_id rx)
{
    struct rc_resp *r = &rc->resp;

    write_payload(rc, p);
    resp_invalidate(rc, p);
    r->expected = psn_add(r->expected, 1);
    r->open = NULL;
    resp_reconsider(rc, rx);
    resp_acknowledge(rc, rx);
    begin_to_close(rc, d);
}

/* The receive for a message; one that goes on has its own, and so has one that takes the place of a
 * message that was given up.
 */
static enum fetch fetch_recv(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    enum fetch got = FETCH_OK;

    if (resp_needs_receive(p) && !r->has_wqe) {
        got = rc->x->ops->fetch_recv(rc->x->ctx, &rc->qp, &r->wqe);
        r->has_wqe = got == FETCH_OK;
    }
    return got;
}

/* Does the key of @p open what it names? */
static struct resp_verdict decide_memory(const struct rc_qp *rc, const struct packet *p)
{
    const struct target_view v = {.hca = rc->qp.hca,
                                  .who = key_user_of(&rc->qp),
                                  .access = resp_access(p),
                                  .at = resp_target(p, &rc->resp.write)};
    struct resp_verdict d = resp_decide_memory(&v);

    d.bad = v.at;
    return d;
}

static struct resp_verdict decide_delivery(struct rc_qp *rc, const struct packet *p)
{
    struct rc_resp *r = &rc->resp;
    struct delivery_view v = {.hca = rc->qp.hca,
                              .who = key_user_of_recv(&rc->qp),
                              .max_recv_sge = rc->qp.config.max_recv_sge,
                              .wqe = &r->wqe,
                              .lead = rc->service->type == QPT_UD ? GRH_BYTES : 0,
                              .profile = rc->qp.hca->profile};

    v.got = fetch_recv(rc, p);
    if (!op_starts(p->op)) {
        v.at = r->sge;
        v.received = r->received;
    }
    return resp_decide_delivery(&v, p);
}

struct resp_view resp_view_of(const struct rc_qp *rc)
{
    const struct rc_resp *r = &rc->resp;

    return (struct resp_view){
        .expected = r->expected,
        .seq_nak_out = r->seq_nak_out,
        .rnr_nak_out = r->rnr_nak_out,
        .open = r->open,
        .left = r->write.left,
        .mtu = rc->mtu,
        .access = rc->qp.attr.access,
        .rds = r->rds.next - r->rds.answered,
        .max_rds = rc->qp.attr.max_dest_rd_atomic,
        .profile = rc->qp.hca->profile,
    };
}

struct resp_verdict resp_judge(struct rc_qp *rc, const struct packet *p, const struct resp_view *v)
{
    struct resp_verdict d = resp_decide(v, p);

    if (d.act == ACT_DUPLICATE && is_rd(p))
        return resp_decide_again(rc, p);
    if (d.act == ACT_ACCEPT && resp_access(p))
        d = decide_memory(rc, p);
    if (d.act == ACT_ACCEPT && (p->op->kind == OPK_SEND || resp_needs_receive(p)))
        d = decide_delivery(rc, p);
    if (d.act == ACT_ACCEPT && (p->op->headers & H_IETH))
        d = resp_decide_inv(rc, p);
    return d;
}

void resp_trace_refused_key(const struct rc_qp *rc, const struct packet *p,
                            const struct resp_verdict *d)
{
    const struct key_user who = key_user_of_recv(&rc->qp);

    if (d->act == ACT_NAK_OPERATIONAL && d->bad.bytes > 0)
        rc_trace_key_of(rc, &who, &d->bad, d->rule, ACC_LOCAL_WRITE);
    else if (d->nak == SYN_NAK_REMOTE_ACCESS)
        rc_trace_key(rc, &d->bad, d->rule, resp_access(p));
}

static void apply(struct rc_qp *rc, const struct packet *p, const struct resp_verdict *d, ev_id rx)
{
    struct rc_resp *r = &rc->resp;

    switch (d->act) {
    case ACT_ACCEPT:
        execute(rc, p, rx);
        break;
    case ACT_TAKE_AND_FAIL:
        take_and_close(rc, p, d, rx);
        break;
    case ACT_DUPLICATE:
        RC_COUNT(rc, duplicate_request);
        resp_acknowledge(rc, rx);
        break;
    case ACT_REPLAY:
        RC_COUNT(rc, duplicate_request);
        resp_replay(rc, p, rx);
        break;
    case ACT_NAK_SEQUENCE:
        RC_COUNT(rc, out_of_sequence);
        resp_nak_sequence(rc, rx);
        resp_note_thrown_away(rc, p->bth.psn, rx);
        break;
    case ACT_RNR:
        r->rnr_nak_out = true;
        resp_answer(rc, aeth_pack(d->nak, (uint8_t)rc->qp.attr.min_rnr_timer), r->expected, rx);
        break;
    case ACT_DROP:
        if (d->drop == DROP_NOT_KEPT) {
            RC_COUNT(rc, duplicate_request);
            break;
        }
        RC_COUNT(rc, out_of_sequence);
        resp_note_thrown_away(rc, p->bth.psn, rx);
        break;
    default:
        resp_trace_refused_key(rc, p, d);
        resp_refuse(rc, d, p->bth.psn, rx);
        break;
    }
}

ev_id resp_trace_rx(const struct rc_qp *rc, const struct packet *p, const struct rx_info *info,
                    const struct resp_verdict *d)
{
    ev_id rx;

    TRACE_ID(rc_trace(rc), rx, rx, .host = rc->qp.hca->host, .qpn = rc->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v, .bytes = p->payload_bytes,
             .act = (uint32_t)d->act, .rule = (uint32_t)d->rule, .tx = info->tx,
             .least = d->values.least, .most = d->values.most, .found = d->values.found);
    return rx;
}

enum drop_reason resp_receive(struct rc_qp *rc, const struct packet *p, const struct rx_info *info)
{
    struct rc_resp *r = &rc->resp;
    const struct resp_view v = resp_view_of(rc);
    const struct resp_verdict d = resp_judge(rc, p, &v);
    const ev_id rx = resp_trace_rx(rc, p, info, &d), before = trace_because(rc_trace(rc), rx);

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

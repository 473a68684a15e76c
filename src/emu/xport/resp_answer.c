/* SPDX-License-Identifier: MIT */
/* Responder of RC: the queued answer, and sending.
 *
 * Answers are not sent at once.  One is queued per queue pair until the port is free, and a newer
 * one replaces it: this coalesces acknowledges.  An acknowledge does not replace a NAK, because the
 * peer would never receive the NAK.  A sequence NAK for packets behind a refused one does not
 * replace the RNR NAK for it, which carries more information.  Responses to READs and atomics
 * (resp_rd.c) are sent first; an acknowledge of PSNs before them is then no longer needed.
 */
#include "emu/base/assert.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"
#include "emu/xport/credit.h"
#include "emu/xport/internal.h"

/* Returns true if the queued answer @a must not be replaced by @syndrome for @psn. */
static bool outweighs(const struct resp_answer *a, uint8_t syndrome, struct psn psn)
{
    enum syndrome waits, comes;

    if (!a->pending)
        return false;
    waits = aeth_unpack(a->syndrome).kind;
    comes = aeth_unpack(syndrome).kind;
    return (waits != SYN_ACK && comes == SYN_ACK) ||
           (waits == SYN_RNR_NAK && comes == SYN_NAK_PSN_SEQUENCE && a->psn.v == psn.v);
}

void resp_answer(struct xport_qp *xqp, uint8_t syndrome, struct psn psn, ev_id rx)
{
    struct resp_answer *a = &xqp->resp.answer;
    const bool owes_ack = a->pending && (aeth_is_ack(a->syndrome) || a->owes_ack);

    if (outweighs(a, syndrome, psn)) {
        a->owes_ack |= aeth_is_ack(syndrome);
        return;
    }
    *a = (struct resp_answer){
        .pending = true,
        .syndrome = syndrome,
        .psn = psn,
        .msn = xqp->resp.msn,
        .cause = rx,
        .owes_ack = owes_ack && !aeth_is_ack(syndrome),
        .beyond = psn,
        .beyond_rx = rx,
    };
}

/* The acknowledge names the last SEND or WRITE packet, not a READ or atomic behind it.  Only their
 * own response answers those, and rxe's requester would take the acknowledge for the end of its
 * READ.  (A host like rxe names an atomic, too.)  With credits it names the last PSN taken, because
 * a requester accepts credits only with the last PSN that it knows to be acknowledged.
 */
void resp_acknowledge(struct xport_qp *xqp, ev_id rx)
{
    const struct responder *r = &xqp->resp;
    const struct psn psn = xqp->qp.attr.credits ? psn_add(r->expected, PSN_MASK) : r->taken;

    resp_answer(xqp, aeth_pack(SYN_ACK, AETH_NO_CREDITS), psn, rx);
}

void resp_note_thrown_away(struct xport_qp *xqp, struct psn psn, ev_id rx)
{
    struct resp_answer *a = &xqp->resp.answer;

    if (a->pending && psn_diff(psn, a->beyond) > 0) {
        a->beyond = psn;
        a->beyond_rx = rx;
    }
}

void resp_nak_sequence(struct xport_qp *xqp, ev_id rx)
{
    struct responder *r = &xqp->resp;

    r->seq_nak_out = true;
    r->seq_naks++;
    resp_answer(xqp, aeth_pack(SYN_NAK_PSN_SEQUENCE, 0), r->expected, rx);
}

/* Withdraws a queued NAK that asked for the packet which has now arrived.  If packets behind it
 * were dropped, they must be sent again, so a NAK for the now expected PSN is queued.  Otherwise an
 * acknowledge is queued if the NAK had replaced a requested one.
 */
static RDL_COLD void reconsider_nak(struct xport_qp *xqp, ev_id rx)
{
    struct resp_answer *a = &xqp->resp.answer;
    const struct resp_answer was = *a;

    a->pending = false;
    if (psn_diff(was.beyond, xqp->resp.expected) >= 0) {
        resp_nak_sequence(xqp, was.beyond_rx);
        a->owes_ack = was.owes_ack;
        a->beyond = was.beyond;
        a->beyond_rx = was.beyond_rx;
    } else if (was.owes_ack) {
        resp_acknowledge(xqp, rx);
    }
}

void resp_reconsider(struct xport_qp *xqp, ev_id rx)
{
    const struct resp_answer *a = &xqp->resp.answer;

    if (a->pending && !aeth_is_ack(a->syndrome))
        reconsider_nak(xqp, rx);
}

void resp_absorb_ack(struct xport_qp *xqp)
{
    struct resp_answer *a = &xqp->resp.answer;

    if (a->pending && aeth_is_ack(a->syndrome))
        a->pending = false;
}

static void trace_answer(const struct xport_qp *xqp, size_t frame_bytes, ev_id *ret_tx)
{
    const struct packet *p = &xqp->out;
    const bool has_aeth = (op_info(p->bth.opcode)->headers & H_AETH) != 0;
    const struct aeth_word word =
        has_aeth ? aeth_unpack(p->aeth.syndrome) : (struct aeth_word){SYN_NONE, 0};

    TRACE_ID(xport_trace(xqp), *ret_tx, tx, .host = xqp->qp.hca->host, .qpn = xqp->qp.qpn,
             .opcode = p->bth.opcode, .psn = p->bth.psn.v, .dest_qpn = p->bth.dest_qpn,
             .syndrome = (uint32_t)word.kind, .msn = has_aeth ? p->aeth.msn : 0,
             .rnr_timer = word.kind == SYN_RNR_NAK ? word.value : 0, .bytes = p->payload_bytes,
             .wire_bytes = xport_built_bytes(xqp, frame_bytes), .peer = xqp->peer,
             .vlan = xqp->x->vlan, .copied = xqp->x->whole ? xqp->x->whole->n_pkts : 0);
}

static void count_answer(struct xport_qp *xqp, enum syndrome kind)
{
    XPORT_ADD(xqp, sent_pkts, xport_built_pkts(xqp));
    if (kind == SYN_RNR_NAK)
        XPORT_COUNT(xqp, sent_rnr);
    else if (kind != SYN_ACK && kind != SYN_NONE)
        XPORT_COUNT(xqp, sent_nak);
}

void resp_headers(struct xport_qp *xqp, uint8_t opcode, struct psn psn, uint32_t payload_bytes)
{
    struct packet *p = &xqp->out;

    p->bth.opcode = opcode;
    p->bth.psn = psn;
    p->bth.ack_req = false;
    p->bth.solicited = false;
    p->payload_bytes = payload_bytes;
}

void resp_sent(struct xport_qp *xqp, size_t frame_bytes, ev_id *ret_tx)
{
    const struct packet *p = &xqp->out;

    trace_answer(xqp, frame_bytes, ret_tx);
    count_answer(xqp, op_info(p->bth.opcode)->headers & H_AETH ? aeth_unpack(p->aeth.syndrome).kind
                                                               : SYN_NONE);
}

/* Records that @psn was acknowledged.  It is counted back from the expected PSN, because READs
 * between two acknowledges may have taken more PSNs than can be compared.
 */
static void note_acknowledged(struct responder *r, struct psn psn)
{
    const uint64_t n = r->n_psns - ((r->expected.v - 1 - psn.v) & PSN_MASK);

    RDL_ASSERT(n >= r->n_acked);
    r->n_acked = n;
}

/* Makes the packet in xqp->out, which has no payload.  Returns the length of its frame. */
static size_t make(struct xport_qp *xqp, uint8_t *frame)
{
    size_t frame_bytes;

    if (xqp->x->shortcut) {
        whole_of_headers(xqp);
        return xqp->x->whole ? xqp->x->whole->wire_bytes : 0;
    }
    frame_bytes = packet_build_along(&xqp->path, &xqp->out, frame).frame_bytes;
    packet_finish(frame, frame_bytes);
    return frame_bytes;
}

/* Builds the queued answer.  Afterwards ends the queue pair if the responder is closing. */
static size_t build_answer(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx)
{
    struct resp_answer *a = &xqp->resp.answer;
    const ev_id before = trace_because(xport_trace(xqp), a->cause);
    size_t frame_bytes;

    RDL_ASSERT(a->pending);
    resp_headers(xqp, OP_RC_ACKNOWLEDGE, a->psn, 0);
    if (aeth_is_ack(a->syndrome)) /* the credits at the time of sending */
        a->syndrome = aeth_pack(SYN_ACK, credit_code(xqp));
    xqp->out.aeth = (struct aeth){a->syndrome, a->msn};
    frame_bytes = make(xqp, frame);
    resp_sent(xqp, frame_bytes, ret_tx);
    if (aeth_is_ack(a->syndrome))
        note_acknowledged(&xqp->resp, a->psn);
    a->pending = false;
    if (xqp->resp.closing) {
        xport_fail(xqp);
        if (xqp->resp.untold)
            xport_event_refused(xqp, &xqp->resp.refused);
    }
    trace_because(xport_trace(xqp), before);
    return frame_bytes;
}

size_t resp_build(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx)
{
    size_t frame_bytes = 0;

    if (xqp->resp.rds.done != xqp->resp.rds.next)
        frame_bytes = resp_build_rd(xqp, frame, ret_tx);
    if (frame_bytes == 0)
        frame_bytes = build_answer(xqp, frame, ret_tx);
    return frame_bytes;
}

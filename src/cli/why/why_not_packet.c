/* SPDX-License-Identifier: MIT */
/* `why not` for a packet that is not answered. */
#include "cli/why/why_not_answer.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"

static bool is_response(uint32_t opcode)
{
    return op_is_response(op_info((uint8_t)opcode));
}

static const char *id_text(char buf[64], ev_id id)
{
    struct text t = text_on(buf, 64);

    ev_add_id(&t, id);
    return buf;
}

/* Returns true if queue pair @qpn of @host was reset between events @a and @b.  After a reset its
 * PSNs belong to other packets.
 */
static bool reset_between(const struct why_not *w, uint32_t host, uint32_t qpn, ev_id a, ev_id b)
{
    for (size_t i = past_lower_bound(w->past, a); i < w->past->n; i++) {
        const struct ev *e = past_at(w->past, i);

        if (e->id > b)
            return false;
        if (e->kind == EV_qp_state && e->u.qp_state.host == host && e->u.qp_state.qpn == qpn &&
            e->u.qp_state.to == QPS_RESET)
            return true;
    }
    return false;
}

/* Returns the last transmission of the packet that @tx sent.  Returns NULL if it is not known, or
 * if its PSN has been reused by another packet.
 */
static const struct ev *last_of(const struct why_not *w, const struct ev *tx)
{
    const struct ev *last =
        past_last_tx(w->index, tx->u.tx.host, tx->u.tx.qpn, tx->u.tx.psn, WHY_NOT_END);

    return last && (last->id == tx->id || tx_attempt(last) > tx_attempt(tx)) &&
                   !reset_between(w, tx->u.tx.host, tx->u.tx.qpn, tx->id, WHY_NOT_END)
               ? last
               : NULL;
}

/* Says that the packet was retransmitted later. */
static void say_again(struct why_not *w, const struct ev *tx)
{
    const struct ev *last = last_of(w, tx);
    char id[64], buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!last || last->id == tx->id)
        return;
    fate_add(&t, w->index, last);
    why_not_say(w, "It was sent again; the last time was %s, which %s.", id_text(id, last->id),
                buf);
}

/* Returns the later answer that acknowledges request @rx, which was accepted and has no answer of
 * its own.
 */
static const struct ev *covering(const struct why_not *w, const struct ev *rx)
{
    const struct ev *e = past_covering(w->index, rx, 0);

    if (!e || reset_between(w, rx->u.rx.host, rx->u.rx.qpn, rx->id, e->id))
        return NULL;
    /* A NAK acknowledges only the packets before its PSN. */
    if (e->u.tx.syndrome != SYN_ACK && e->u.tx.syndrome != SYN_NONE && e->u.tx.psn == rx->u.rx.psn)
        return NULL;
    return e;
}

/* Explains why request @rx, which arrived, has no answer of its own. */
static void say_no_answer(struct why_not *w, const struct ev *rx)
{
    const struct op_info *op = op_info((uint8_t)rx->u.rx.opcode);
    const struct ev *ack = covering(w, rx);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (op->service != OPS_RC) {
        why_not_say(w, "It is not answered, as only RC answers: UC and UD need nothing.");
        w->never = true;
    } else if (rx->u.rx.act == ACT_DROP) {
        text_add(&t, "The receiver dropped it");
        if (rx->u.rx.rule)
            text_addf(&t, ", by %s", enum_name(&enum_rule, rx->u.rx.rule));
        ev_add_compared(&t, rx, true);
        why_not_say(w, "%s.", buf);
        if (rx->u.rx.rule)
            why_not_try(w, "explain %s", enum_name(&enum_rule, rx->u.rx.rule));
    } else if (ack) {
        fate_add_answer(&t, w->index, ack, 0);
        why_not_say(w, "It has no answer of its own; one of psn=%u acknowledges it, too: %s.",
                    ack->u.tx.psn, buf);
        w->never = fate_of(w->index, ack).kind == FATE_ARRIVED;
    } else if (why_not_forgot(w, rx->id)) {
        why_not_say(w, "No answer to it is recorded.");
        why_not_say_forgotten(w);
    } else {
        why_not_say(w, "No answer to it was sent so far.%s",
                    op_ends(op) ? ""
                                : " One packet in a message asks for an ACK, the last; that ACK "
                                  "covers those before it.");
    }
}

/* @first is the first response to a READ, and arrived.  Prints the first later response that did
 * not.
 */
static void say_responses(struct why_not *w, const struct ev *first)
{
    const struct ev *tx = first;
    char id[64], buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    while (tx && op_info((uint8_t)tx->u.tx.opcode)->kind == OPK_READ_RESPONSE &&
           !op_ends(op_info((uint8_t)tx->u.tx.opcode))) {
        const uint32_t psn = psn_add((struct psn){tx->u.tx.psn}, 1).v;

        tx = past_last_response(w->index, tx->u.tx.host, tx->u.tx.qpn, psn, WHY_NOT_END);
        if (!tx || tx->id < first->id) {
            w->never = false;
            why_not_say(w, "The response psn=%u behind it %s.", psn,
                        why_not_forgot(w, first->id) ? "is not recorded" : "was not sent so far");
            return;
        }
        if (fate_of(w->index, tx).kind == FATE_ARRIVED &&
            fate_of(w->index, tx).end->u.rx.act != ACT_DROP)
            continue;
        w->never = false;
        fate_add(&t, w->index, tx);
        why_not_say(w, "But of the responses behind it psn=%u, %s, %s.", psn, id_text(id, tx->id),
                    buf);
        return;
    }
}

/* Prints the fate of the answer @tx. */
static void say_answer(struct why_not *w, const struct ev *tx)
{
    const struct fate f = fate_of(w->index, tx);
    char id[64], end[64], buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    w->never = w->never || f.kind == FATE_ARRIVED;
    if (f.kind == FATE_ARRIVED) {
        why_not_say(w, "It is answered: %s arrived in %s.", id_text(id, tx->id),
                    id_text(end, f.end->id));
        say_responses(w, tx);
        return;
    }
    fate_add(&t, w->index, tx);
    why_not_say(w, "It was answered in %s, but the answer %s.", id_text(id, tx->id), buf);
}

/* If the queue pair still waits for the answer, prints when it will retransmit. */
static void say_timer(struct why_not *w, const struct ev *tx)
{
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct why_not_qp q;

    if (!w->lab || !last_of(w, tx))
        return;
    ev_names_object(w->past->names, &t, tx->u.tx.host, OBJ_QP, tx->u.tx.qpn);
    if (!tree_is(w->lab, path, NODE_qp) || !why_not_read_qp(w, path, &q) || q.qpn != tx->u.tx.qpn)
        return;
    if (tree_number(w->lab, path, LEAF_qp_outstanding_pkts) > 0 &&
        tree_number(w->lab, path, LEAF_qp_acked_psn) == tx->u.tx.psn)
        why_not_timer(w, &q);
}

static void say_tx(struct why_not *w, const struct ev *tx)
{
    const struct fate f = fate_of(w->index, tx);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (f.kind == FATE_ARRIVED) {
        if (is_response(tx->u.tx.opcode)) {
            why_not_say(w, "It is an answer itself, and arrived: nobody answers it.");
            w->never = true;
        } else if (f.answer) {
            say_answer(w, f.answer);
        } else {
            say_no_answer(w, f.end);
        }
    } else {
        fate_add(&t, w->index, tx);
        why_not_say(w, "It %s.", buf);
        if (f.kind == FATE_UNKNOWN && w->lab && rdl_next_ns(w->lab) != RDL_NEVER)
            why_not_try(w, "run");
    }
    if (is_response(tx->u.tx.opcode))
        return;
    say_again(w, tx);
    say_timer(w, tx);
}

static void say_rx(struct why_not *w, const struct ev *rx)
{
    const struct ev *answer = past_answer_to(w->index, rx);

    if (is_response(rx->u.rx.opcode)) {
        why_not_say(w, "It is an answer itself: nobody answers it.");
        w->never = true;
    } else if (answer) {
        say_answer(w, answer);
    } else {
        say_no_answer(w, rx);
    }
}

enum rdl_status why_not_packet(struct why_not *w, ev_id id)
{
    const struct ev *e = past_find(w->past, id);
    char buf[EV_TEXT_BYTES], name[64];
    struct text t = text_on(buf, sizeof(buf));

    if (!e)
        return RDL_ERR_NOT_FOUND;
    past_add_line(&t, w->past, e);
    show_hanging(w->out, 10, buf);
    w->indent += 2;
    if (e->kind == EV_tx) {
        say_tx(w, e);
    } else if (e->kind == EV_rx) {
        say_rx(w, e);
    } else {
        w->never = true;
        why_not_say(w, "That did happen.");
        why_not_try(w, "why %s", id_text(name, e->id));
    }
    w->indent -= 2;
    return RDL_OK;
}

/* SPDX-License-Identifier: MIT */
/* Packets in a chain of causes: requests, with the decision of the responder, and answers, with the
 * fate of the packets that they miss.
 */
#include "cli/why/why_walk.h"

#include <string.h>

#include "cli/why/causes.h"
#include "cli/why/failure.h"
#include "cli/why/fate_text.h"
#include "cli/why/work_text.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/rules.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "print/show_text.h"

#define UNHEARD_TOLD 4u /* ACKs that a later ACK replaced */

/* Appends "duplicate, acknowledged again, expected psn=7, found psn=1; explain RESP_PSN". */
static void add_verdict(struct text *t, const struct ev *e)
{
    const struct enum_row *act = enum_by_value(&enum_pkt_act, e->u.rx.act);

    text_add(t, act ? act->text : "?");
    ev_add_compared(t, e, true);
    if (e->u.rx.rule)
        text_addf(t, "; explain %s", enum_name(&enum_rule, e->u.rx.rule));
}

/* Appends the fate of the packet of a queue pair that its peer was missing at event @when:
 * "psn=101, #35.1, was lost in #36.1, by f1".  Appends nothing if that packet was the last one
 * reported.
 */
static void add_missed(struct why_walk *w, struct text *n, uint32_t host, uint32_t qpn,
                       uint32_t psn, ev_id when)
{
    const struct ev *missed = past_last_tx(w->index, host, qpn, psn, when);

    if (!missed || missed == w->missed)
        return;
    w->missed = missed;
    text_addf(n, "%spsn=%u, ", n->len ? "; " : "", psn);
    ev_add_id(n, missed->id);
    text_add(n, ", ");
    fate_add_at(n, w->index, missed, psn, when);
}

/* Appends the reason why answer @e, sent by @tx, makes the requester retransmit: the fate of the
 * packet that a sequence NAK asks for, or of the response that an implied NAK misses.
 */
static void add_reason(struct why_walk *w, struct text *n, const struct ev *e, const struct ev *tx)
{
    if (e->u.rx.rule == RULE_COMP_IMPLIED_NAK) {
        if (fate_add_missing(n, w->index, e))
            text_add(n, "; ");
        text_addf(n, "an implied NAK, explain %s", enum_name(&enum_rule, e->u.rx.rule));
        return;
    }
    add_missed(w, n, e->u.rx.host, e->u.rx.qpn, e->u.rx.psn, tx->id);
}

/* Prints the key that was refused when the responder tried to send a response and sent the NAK @tx
 * instead.  The key was valid when the request arrived.
 */
static void show_lost_key(const struct why_walk *w, const struct ev *tx)
{
    const struct ev *key = past_refused_key(w->index, tx->u.tx.host, tx->u.tx.qpn, tx->id, true);

    if (key && ev_tick(tx->cause) != ev_tick(tx->id))
        show_detail(w->out, w->p, key);
}

/* Appends the fate of earlier ACKs that had not arrived before @e, the arrival of the ACK @tx,
 * which covers their PSNs too.
 */
static void add_unheard(const struct why_walk *w, struct text *n, const struct ev *e,
                        const struct ev *tx)
{
    unsigned told = 0;

    for (uint32_t i = past_before(w->index, tx); i != PAST_NONE && told < UNHEARD_TOLD;
         i = w->index->before[i]) {
        const struct ev *ack = past_at(w->p, i);
        const struct fate f = fate_of(w->index, ack);

        if (ack->u.tx.syndrome != SYN_ACK ||
            psn_diff((struct psn){ack->u.tx.psn}, (struct psn){tx->u.tx.psn}) >= 0 ||
            (f.kind == FATE_ARRIVED && f.end->id < e->id))
            return;
        text_addf(n, "%spsn=%u, too: ", told++ ? "; " : "it covers ", ack->u.tx.psn);
        fate_add_answer(n, w->index, ack, e->id);
    }
}

/* Prints an answer: its sender, and for a NAK the fate of the missing packet. */
static void print_answer(struct why_walk *w, const struct ev *e, const struct ev *tx)
{
    const bool acknowledge = op_info((uint8_t)e->u.rx.opcode)->kind == OPK_ACK;
    char what[SHOW_LINE_BYTES], note[SHOW_LINE_BYTES];
    struct text t = text_on(what, sizeof(what)), n = text_on(note, sizeof(note));

    text_addf(&t, "%s psn=%u arrived at ",
              acknowledge ? enum_name(&enum_syndrome, e->u.rx.syndrome)
                          : enum_name(&enum_opcode, e->u.rx.opcode),
              e->u.rx.psn);
    why_add_qp(w, &t, e->u.rx.host, e->u.rx.qpn);
    if (tx) {
        text_add(&t, ", sent by ");
        why_add_qp(w, &t, tx->u.tx.host, tx->u.tx.qpn);
        text_add(&t, " in ");
        ev_add_id(&t, tx->id);
        fate_add_faults(&t, w->index, tx);
    }
    if (tx && e->u.rx.act == ACT_GO_BACK)
        add_reason(w, &n, e, tx);
    else if (e->u.rx.act == ACT_DROP)
        add_verdict(&n, e);
    else if (tx && e->u.rx.syndrome == SYN_ACK)
        add_unheard(w, &n, e, tx);
    why_say(w, e, what, note);
    if (tx && e->u.rx.syndrome == SYN_NAK_REMOTE_ACCESS)
        show_lost_key(w, tx);
}

/* Prints the old and new value of the atomic request @e, which was accepted. */
static void show_atomic(const struct why_walk *w, const struct ev *e)
{
    for (size_t i = past_lower_bound(w->p, e->id); i < w->p->n; i++) {
        const struct ev *at = past_at(w->p, i);

        if (ev_tick(at->id) != ev_tick(e->id))
            return;
        if (at->kind == EV_atomic && at->u.atomic.host == e->u.rx.host &&
            at->u.atomic.qpn == e->u.rx.qpn)
            show_detail(w->out, w->p, at);
    }
}

/* Prints the event that invalidated the key that @refused names: an invalidation by a work request
 * or a message, or a new bind of its window.
 */
static void show_end_of_key(const struct why_walk *w, const struct ev *refused)
{
    const struct ev_key *k = &refused->u.key;

    if (k->rule != RULE_KEY_FREE && k->rule != RULE_MR_KEY)
        return;
    for (size_t i = past_lower_bound(w->p, refused->id); i > 0; i--) {
        const struct ev *e = past_at(w->p, i - 1);

        if ((e->kind == EV_invalidate && e->u.invalidate.host == k->host &&
             e->u.invalidate.key == k->key && e->u.invalidate.rule == RULE_NONE) ||
            (e->kind == EV_bind && e->u.bind.host == k->host && e->u.bind.key == k->key &&
             e->u.bind.rule == RULE_NONE)) {
            show_detail(w->out, w->p, e);
            return;
        }
    }
}

/* Prints a request: the number of its transmission, and the decision of the responder. */
static void print_request(struct why_walk *w, const struct ev *e, const struct ev *tx)
{
    char what[SHOW_LINE_BYTES], note[SHOW_LINE_BYTES];
    struct text t = text_on(what, sizeof(what)), n = text_on(note, sizeof(note));
    const struct ev *key;

    if (tx && work_of_packet(w->index, tx)) {
        work_add_of_packet(&t, w->index, tx);
        text_addf(&t, " (psn=%u) arrived at ", e->u.rx.psn);
    } else {
        text_addf(&t, "psn=%u arrived at ", e->u.rx.psn);
    }
    why_add_qp(w, &t, e->u.rx.host, e->u.rx.qpn);
    if (tx) {
        text_add(&t, ", the ");
        text_add_ordinal(&t, tx_attempt(tx));
        text_add(&t, " transmission ");
        ev_add_id(&t, tx->id);
        fate_add_faults(&t, w->index, tx);
    }
    if (e->u.rx.act != ACT_ACCEPT)
        add_verdict(&n, e);
    if (tx && e->u.rx.act == ACT_NAK_SEQUENCE)
        add_missed(w, &n, tx->u.tx.host, tx->u.tx.qpn, (uint32_t)e->u.rx.least, e->id);
    why_say(w, e, what, note);
    key = past_refused_key(w->index, e->u.rx.host, e->u.rx.qpn, e->id, true);
    if (key) {
        show_detail(w->out, w->p, key);
        show_end_of_key(w, key);
        if (key->u.key.key == 0 && key->u.key.rule == RULE_MR_KEY)
            show_wrap(w->out, WHY_INDENT_NOTE,
                      "rkey 0: the region allows no remote access, see access= of reg_mr");
    }
    if (e->u.rx.rule == RULE_RESP_OPCODE && op_is_placement(op_info((uint8_t)e->u.rx.opcode)))
        show_wrap(
            w->out, WHY_INDENT_NOTE,
            "its device does not have FLUSH and ATOMIC WRITE, the memory placement extensions: "
            "explain PLACEMENT_OFFERED");
    if (e->u.rx.act == ACT_ACCEPT)
        show_atomic(w, e);
}

const struct ev *why_print_rx(struct why_walk *w, const struct ev *e)
{
    const struct ev *tx = past_tx_of(w->p, e);

    if (e->u.rx.syndrome != SYN_NONE || op_is_response(op_info((uint8_t)e->u.rx.opcode)))
        print_answer(w, e, tx);
    else
        print_request(w, e, tx);
    if (!tx) {
        if (e->u.rx.tx)
            why_print_unknown(w, "        it was sent in", e->u.rx.tx);
        else
            fprintf(w->out, "          it was not sent in this lab\n");
        return NULL;
    }
    return why_cause_of(w, tx);
}

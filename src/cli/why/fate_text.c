/* SPDX-License-Identifier: MIT */
#include "cli/why/fate_text.h"

#include "emu/base/quantity.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/roce.h"
#include "emu/facts/rules.h"
#include "emu/trace/event.h"
#include "process/must.h"

struct past_index *fate_index(const struct past *p)
{
    struct past_index *x;

    if (past_index_new(p, &x) != RDL_OK)
        must_fail();
    return x;
}

void fate_add_faults(struct text *t, const struct past_index *x, const struct ev *tx)
{
    for (uint32_t i = past_first_of_frame(x, tx->id); i != PAST_NONE; i = x->after[i]) {
        const struct ev *e = past_at(x->past, i);

        if (e->kind != EV_fault)
            continue;
        if (e->u.fault.by == FLT_DELAY) {
            text_add(t, ", delayed by ");
            quantity_add_time_short(t, e->u.fault.delay);
            text_addf(t, ", by %s", e->u.fault.name.s);
        } else {
            text_addf(t, ", %s by %s", fate_fault_done(e->u.fault.by), e->u.fault.name.s);
        }
    }
}

/* Appends the fate of frame @tx, which did not arrive. */
static void add_end(struct text *t, const struct past_index *x, const struct fate *f,
                    const struct ev *tx)
{
    const struct past *p = x->past;

    if (f->kind == FATE_LOST) {
        text_add(t, "was lost in ");
        ev_add_id(t, f->end->id);
        text_addf(t, ", by %s", f->end->u.lost.name.s);
    } else if (f->kind == FATE_DROPPED) {
        text_add(t, "was dropped ");
        if (f->end->u.drop.host != EV_HOST_NONE) {
            text_add(t, "by ");
            ev_names_host(p->names, t, f->end->u.drop.host);
            text_add(t, " ");
        }
        text_add(t, "in ");
        ev_add_id(t, f->end->id);
        text_addf(t, ": %s", enum_name(&enum_drop, f->end->u.drop.reason));
        ev_add_compared(t, f->end, true);
    } else if (f->kind == FATE_STRAYED) {
        text_add(t, "went astray in ");
        ev_add_id(t, f->end->id);
        text_add(t, ", to the network function of ");
        ev_names_host(p->names, t, f->end->u.eth_rx.host);
    } else if (p->gap_from && p->gap_to >= ev_tick(tx->id)) {
        text_add(t, "ended while nothing was recorded, or not yet");
    } else {
        text_add(t, "has not arrived yet");
    }
    fate_add_faults(t, x, tx);
}

/* Appends "arrived in #61.1, delayed by 90us, by f1".  Returns false if that was after event
 * @before (0: no limit): then the arrival cannot be a cause of @before.
 */
static bool add_arrival(struct text *t, const struct past_index *x, const struct fate *f,
                        const struct ev *tx, ev_id before)
{
    const bool in_time = !before || f->end->id < before;

    text_addf(t, "arrived %sin ", in_time ? "" : "too late, ");
    ev_add_id(t, f->end->id);
    fate_add_faults(t, x, tx);
    return in_time;
}

/* Appends "the ACK #50.4 " or "the response psn=102 #53.1 ". */
static void add_answer(struct text *t, const struct ev *answer)
{
    const struct op_info *op = op_info((uint8_t)answer->u.tx.opcode);

    if (op->kind == OPK_READ_RESPONSE)
        text_addf(t, "the response psn=%u ", answer->u.tx.psn);
    else if (op->kind == OPK_ATOMIC_ACK)
        text_add(t, "the response ");
    else
        text_addf(t, "the %s ", enum_name(&enum_syndrome, answer->u.tx.syndrome));
    ev_add_id(t, answer->id);
    text_add(t, " ");
}

void fate_add_answer(struct text *t, const struct past_index *x, const struct ev *answer,
                     ev_id before)
{
    const struct fate back = fate_of(x, answer);

    add_answer(t, answer);
    if (back.kind != FATE_ARRIVED) {
        add_end(t, x, &back, answer);
    } else if (add_arrival(t, x, &back, answer, before) && back.end->u.rx.act == ACT_DROP) {
        text_addf(t, ", %s", enum_by_value(&enum_pkt_act, ACT_DROP)->text);
        ev_add_compared(t, back.end, true);
    }
}

/* Returns the NAK, sent before event @before, that asks for the retransmission of @tx. */
static const struct ev *nak_for(const struct past_index *x, const struct ev *tx, ev_id before)
{
    const size_t end = past_lower_bound(x->past, before);

    for (size_t i = past_lower_bound(x->past, tx->id); i < end; i++) {
        const struct ev *e = past_at(x->past, i);

        if (e->kind == EV_tx && e->u.tx.syndrome == SYN_NAK_PSN_SEQUENCE &&
            e->u.tx.peer == tx->u.tx.host && e->u.tx.dest_qpn == tx->u.tx.qpn &&
            e->u.tx.psn == tx->u.tx.psn)
            return e;
    }
    return NULL;
}

/* Appends the fate of request @tx as of event @before, without its answer.  Returns true if it
 * arrived by then.
 */
static bool add_request(struct text *t, const struct past_index *x, const struct fate *f,
                        const struct ev *tx, ev_id before)
{
    const struct enum_row *act;

    if (f->kind != FATE_ARRIVED) {
        add_end(t, x, f, tx);
        return false;
    }
    if (!add_arrival(t, x, f, tx, before))
        return false;
    if (f->end->u.rx.act == ACT_ACCEPT && op_info((uint8_t)tx->u.tx.opcode)->service == OPS_UD)
        return true; /* datagrams have no order */
    act = enum_by_value(&enum_pkt_act, f->end->u.rx.act);
    text_addf(t, ", %s", act ? act->text : "?");
    if (f->end->u.rx.rule && op_info((uint8_t)tx->u.tx.opcode)->service != OPS_RC)
        text_addf(t, " by %s", enum_name(&enum_rule, f->end->u.rx.rule));
    ev_add_compared(t, f->end, true);
    return true;
}

/* Appends the fate of @tx as of event @before (0: no limit), and that of the answer with @psn.  The
 * answer is its own, or a later one that acknowledges it, or a NAK that asks for its
 * retransmission.  Returns false if @tx was accepted but has no answer, other than a NAK for a
 * later packet.
 */
static bool add_fate(struct text *t, const struct past_index *x, const struct ev *tx, uint32_t psn,
                     ev_id before)
{
    const struct fate f = fate_of(x, tx);
    const bool arrived = add_request(t, x, &f, tx, before);
    const bool taken = arrived && f.end->u.rx.act == ACT_ACCEPT;
    const struct ev *answer = f.answer;

    if (!arrived)
        answer = before ? nak_for(x, tx, before) : NULL;
    else if (psn != tx->u.tx.psn)
        answer = past_last_response(x, f.end->u.rx.host, f.end->u.rx.qpn, psn, before);
    else if (!answer && taken)
        answer = past_covering(x, f.end, before);
    if (!answer || (taken && answer->u.tx.syndrome == SYN_NAK_PSN_SEQUENCE))
        return !taken;
    text_add(t, "; ");
    fate_add_answer(t, x, answer, before);
    return true;
}

/* Appends the fate of another packet: "; psn=5, #57.1, was lost in #59.1, by f1". */
static void add_other(struct text *t, const struct past_index *x, const struct ev *tx, ev_id before)
{
    text_addf(t, "; psn=%u, ", tx->u.tx.psn);
    ev_add_id(t, tx->id);
    text_add(t, ", ");
    (void)add_fate(t, x, tx, tx->u.tx.psn, before);
}

/* If @tx was dropped because a packet with a smaller PSN was missing, appends the fate of that one.
 */
static void add_missing_before(struct text *t, const struct past_index *x, const struct ev *tx,
                               ev_id before)
{
    const struct ev *end = fate_of(x, tx).end, *missed;

    if (!end || end->kind != EV_rx || end->id > before || end->u.rx.act != ACT_DROP ||
        end->u.rx.rule != RULE_RESP_PSN)
        return;
    missed = past_last_tx(x, tx->u.tx.host, tx->u.tx.qpn, (uint32_t)end->u.rx.least, end->id);
    if (missed && missed != tx)
        add_other(t, x, missed, before);
}

/* Returns true if @e is a request of the same queue pair as @tx with a larger PSN. */
static bool is_behind(const struct ev *e, const struct ev *tx)
{
    return e->kind == EV_tx && e->u.tx.host == tx->u.tx.host && e->u.tx.qpn == tx->u.tx.qpn &&
           e->u.tx.syndrome == SYN_NONE && !op_is_response(op_info((uint8_t)e->u.tx.opcode)) &&
           psn_diff((struct psn){e->u.tx.psn}, (struct psn){tx->u.tx.psn}) > 0;
}

/* @tx was accepted, but not acknowledged by event @before.  Appends the fate of the next packet
 * that was not accepted by then, if there is one.
 */
static void add_stuck(struct text *t, const struct past_index *x, const struct ev *tx, ev_id before)
{
    const size_t end = past_lower_bound(x->past, before);

    for (size_t i = past_lower_bound(x->past, tx->id); i < end; i++) {
        const struct ev *e = past_at(x->past, i);
        struct fate f;

        if (!is_behind(e, tx))
            continue;
        f = fate_of(x, e);
        if (f.kind == FATE_ARRIVED && f.end->id < before && f.end->u.rx.act == ACT_ACCEPT)
            continue;
        add_other(t, x, e, before);
        return;
    }
}

void fate_add(struct text *t, const struct past_index *x, const struct ev *tx)
{
    (void)add_fate(t, x, tx, tx->u.tx.psn, 0);
}

void fate_add_at(struct text *t, const struct past_index *x, const struct ev *tx, uint32_t psn,
                 ev_id before)
{
    if (add_fate(t, x, tx, psn, before))
        add_missing_before(t, x, tx, before);
    else
        add_stuck(t, x, tx, before);
}

bool fate_add_missing(struct text *t, const struct past_index *x, const struct ev *e)
{
    const uint32_t psn = (uint32_t)(e->kind == EV_rx ? e->u.rx.least : e->u.drop.least);
    const struct ev *tx = past_tx_of(x->past, e), *missing = NULL;

    if (tx)
        missing = past_last_response(x, tx->u.tx.host, tx->u.tx.qpn, psn, e->id);
    if (missing)
        fate_add_answer(t, x, missing, e->id);
    return missing;
}

void fate_add_end(struct text *t, const struct past_index *x, const struct ev *tx,
                  const struct ev *end)
{
    struct fate f = {.kind = FATE_UNKNOWN, .end = end};

    if (end && end->kind == EV_rx) {
        text_add(t, "arrived in ");
        ev_add_id(t, end->id);
        text_addf(t, ", %s", enum_by_value(&enum_pkt_act, end->u.rx.act)->text);
        if (end->u.rx.rule)
            text_addf(t, " by %s", enum_name(&enum_rule, end->u.rx.rule));
        ev_add_compared(t, end, true);
        fate_add_faults(t, x, tx);
        return;
    }
    if (end)
        f.kind = end->kind == EV_lost ? FATE_LOST : FATE_DROPPED;
    add_end(t, x, &f, tx);
}

bool fate_add_unheard(struct text *t, const struct past_index *x, const struct ev *cqe)
{
    const struct ev *fetch = past_fetch_of(x, cqe);
    const uint64_t since = fetch ? fetch->id : cqe->id;

    for (size_t i = past_lower_bound(x->past, since); i < x->past->n; i++) {
        const struct ev *tx = past_at(x->past, i);
        struct fate f;

        if (tx->id > cqe->id)
            break;
        if (tx->kind != EV_tx || tx->u.tx.host != cqe->u.cqe.host ||
            tx->u.tx.qpn != cqe->u.cqe.qpn || tx->u.tx.dest_qpn == QPN_MULTICAST ||
            op_info((uint8_t)tx->u.tx.opcode)->service == OPS_RC)
            continue;
        f = fate_of(x, tx);
        if (f.kind != FATE_LOST && f.kind != FATE_DROPPED &&
            !(f.kind == FATE_ARRIVED && f.end->u.rx.act == ACT_DROP))
            continue;
        text_addf(t, "psn=%u, ", tx->u.tx.psn);
        ev_add_id(t, tx->id);
        text_add(t, ", ");
        fate_add_end(t, x, tx, f.end);
        return true;
    }
    return false;
}

uint32_t tx_attempt(const struct ev *tx)
{
    return tx->u.tx.attempt ? tx->u.tx.attempt : 1;
}

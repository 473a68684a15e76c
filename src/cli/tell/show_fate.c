/* SPDX-License-Identifier: MIT */
#include "cli/tell/show_fate.h"

#include "cli/print/must.h"
#include "emu/facts/opcode.h"

struct past_index *fate_index(const struct past *p)
{
    struct past_index *x;

    if (past_index_new(p, &x) != RDL_OK)
        must_fail();
    return x;
}

static void add_damage(struct text *t, const struct fate *f)
{
    if (f->fault && f->fault->u.fault.by == FLT_CORRUPT)
        text_addf(t, ", corrupted by %s", f->fault->u.fault.name.s);
}

/* The end of frame @tx, which did not arrive. */
static void add_end(struct text *t, const struct past *p, const struct fate *f, const struct ev *tx)
{
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
        add_damage(t, f);
    } else if (f->kind == FATE_STRAYED) {
        text_add(t, "went astray in ");
        ev_add_id(t, f->end->id);
        text_add(t, ", to the network function of ");
        ev_names_host(p->names, t, f->end->u.eth_rx.host);
        add_damage(t, f);
    } else if (p->gap_from && p->gap_to >= ev_tick(tx->id)) {
        text_add(t, "ended while nothing was recorded, or not yet");
    } else {
        text_add(t, "has not arrived yet");
    }
}

/* "the ACK #50.4 ", "the response psn=102 #53.1 " */
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

/* What became of @answer. */
static void add_way_back(struct text *t, const struct past_index *x, const struct ev *answer)
{
    const struct fate back = fate_of(x, answer);

    add_answer(t, answer);
    if (back.kind == FATE_ARRIVED) {
        text_add(t, "arrived in ");
        ev_add_id(t, back.end->id);
        if (back.end->u.rx.act == ACT_DROP) {
            text_addf(t, ", %s", enum_by_value(&enum_pkt_act, ACT_DROP)->text);
            ev_add_compared(t, back.end, true);
        }
    } else {
        add_end(t, x->past, &back, answer);
    }
}

void fate_add(struct text *t, const struct past_index *x, const struct ev *tx)
{
    fate_add_at(t, x, tx, tx->u.tx.psn, 0);
}

void fate_add_at(struct text *t, const struct past_index *x, const struct ev *tx, uint32_t psn,
                 ev_id before)
{
    const struct fate f = fate_of(x, tx);
    const struct ev *answer = f.answer;
    const struct enum_row *act;

    if (f.kind != FATE_ARRIVED) {
        add_end(t, x->past, &f, tx);
        return;
    }
    act = enum_by_value(&enum_pkt_act, f.end->u.rx.act);
    text_add(t, "arrived in ");
    ev_add_id(t, f.end->id);
    text_addf(t, ", %s", act ? act->text : "?");
    ev_add_compared(t, f.end, true);
    if (psn != tx->u.tx.psn)
        answer = past_last_response(x, f.end->u.rx.host, f.end->u.rx.qpn, psn, before);
    if (!answer)
        return;
    text_add(t, "; ");
    add_way_back(t, x, answer);
}

bool fate_add_missing(struct text *t, const struct past_index *x, const struct ev *e)
{
    const uint32_t psn = (uint32_t)(e->kind == EV_rx ? e->u.rx.least : e->u.drop.least);
    const struct ev *tx = past_tx_of(x->past, e), *missing = NULL;

    if (tx)
        missing = past_last_response(x, tx->u.tx.host, tx->u.tx.qpn, psn, e->id);
    if (missing)
        add_way_back(t, x, missing);
    return missing;
}

uint32_t tx_attempt(const struct ev *tx)
{
    return tx->u.tx.attempt ? tx->u.tx.attempt : 1;
}

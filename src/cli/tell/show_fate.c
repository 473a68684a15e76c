/* SPDX-License-Identifier: MIT */
#include "cli/tell/show_fate.h"

/* Does @e name @tx, directly or through the fault that changed the frame? */
static bool is_about(const struct past *p, const struct ev *e, const struct ev *tx)
{
    const struct ev_field *f = ev_field_find(e->kind, "tx");
    const ev_id id = f ? ev_field_number(e, f) : 0;

    if (id == 0)
        return false;
    return id == tx->id || past_tx_of(p, e) == tx;
}

/* What the receiver of @rx sent back because of it: at once, or as soon as its port was free. */
static const struct ev *answer_to(const struct past *p, size_t i, const struct ev *rx)
{
    for (i++; i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (e->kind != EV_tx || e->u.tx.host != rx->u.rx.host || e->u.tx.syndrome == SYN_NONE)
            continue;
        if (ev_tick(e->id) == ev_tick(rx->id) || e->cause == rx->id)
            return e;
        if (e->u.tx.qpn == rx->u.rx.qpn)
            return NULL; /* answers leave in order: this one is another packet's */
    }
    return NULL;
}

struct fate fate_of(const struct past *p, const struct ev *tx)
{
    struct fate f = {FATE_UNKNOWN, NULL, NULL, NULL};

    for (size_t i = past_lower_bound(p, tx->id) + 1; i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (e->kind != EV_rx && e->kind != EV_drop && e->kind != EV_lost && e->kind != EV_fault)
            continue;
        if (!is_about(p, e, tx))
            continue;
        if (e->kind == EV_fault) {
            f.fault = e;
            continue;
        }
        f.end = e;
        f.kind = e->kind == EV_lost ? FATE_LOST : e->kind == EV_drop ? FATE_DROPPED : FATE_ARRIVED;
        if (f.kind == FATE_ARRIVED)
            f.answer = answer_to(p, i, e);
        /* Another copy may still arrive. */
        if (f.kind == FATE_ARRIVED || !f.fault || f.fault->u.fault.by != FLT_DUPLICATE)
            return f;
    }
    return f;
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
        if (f->fault && f->fault->u.fault.by == FLT_CORRUPT)
            text_addf(t, ", corrupted by %s", f->fault->u.fault.name.s);
    } else if (p->gap_from && p->gap_to >= ev_tick(tx->id)) {
        text_add(t, "ended while nothing was recorded, or not yet");
    } else {
        text_add(t, "has not arrived yet");
    }
}

void fate_add(struct text *t, const struct past *p, const struct ev *tx)
{
    const struct fate f = fate_of(p, tx);
    const struct enum_row *act;
    struct fate back;

    if (f.kind != FATE_ARRIVED) {
        add_end(t, p, &f, tx);
        return;
    }
    act = enum_by_value(&enum_pkt_act, f.end->u.rx.act);
    text_add(t, "arrived in ");
    ev_add_id(t, f.end->id);
    text_addf(t, ", %s", act ? act->text : "?");
    if (!f.answer)
        return;
    back = fate_of(p, f.answer);
    text_addf(t, "; the %s ", enum_name(&enum_syndrome, f.answer->u.tx.syndrome));
    ev_add_id(t, f.answer->id);
    text_add(t, " ");
    if (back.kind == FATE_ARRIVED) {
        text_add(t, "arrived in ");
        ev_add_id(t, back.end->id);
    } else {
        add_end(t, p, &back, f.answer);
    }
}

uint32_t tx_attempt(const struct ev *tx)
{
    return tx->u.tx.attempt ? tx->u.tx.attempt : 1;
}

void ordinal_add(struct text *t, uint32_t n)
{
    const uint32_t ten = n / 10 % 10, one = n % 10;
    const char *tail = "th";

    if (ten != 1 && one >= 1 && one <= 3)
        tail = one == 1 ? "st" : one == 2 ? "nd" : "rd";
    text_addf(t, "%u%s", n, tail);
}

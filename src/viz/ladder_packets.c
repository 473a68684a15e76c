/* SPDX-License-Identifier: MIT */
/* The arrows of a ladder: where packets are sent and where they end. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/past/fate.h"
#include "viz/ladder_builder.h"
#include "viz/ladder_words.h"

/* The newest arrow, not a copy, whose tx event or changing fault is @id. */
static struct ladder_arrow *arrow_find(struct ladder *l, ev_id id)
{
    for (uint32_t i = l->n_arrows; i > 0; i--) {
        struct ladder_arrow *a = &l->arrows[i - 1];

        if (!a->copy && id != 0 && (a->id == id || a->also == id))
            return a;
    }
    return NULL;
}

static struct ladder_arrow *arrow_add(struct ladder *l)
{
    struct ladder_arrow *a = &l->arrows[l->n_arrows++];

    RDL_ASSERT(l->n_arrows <= l->cap_arrows);
    *a = (struct ladder_arrow){.from = LADDER_NONE,
                               .to = LADDER_NONE,
                               .tail = LADDER_NONE,
                               .head = LADDER_NONE,
                               .copy_of = LADDER_NONE,
                               .label_stop = LADDER_NONE};
    return a;
}

static uint32_t arrow_index(const struct ladder *l, const struct ladder_arrow *a)
{
    return (uint32_t)(a - l->arrows);
}

/* Begins the label of the packet that @tx sends, if it was injected: "injected at h1: ". */
static void begin_injected(const struct builder *b, struct text *label, const struct ev *tx)
{
    text_add(label, "injected at ");
    ev_names_host(b->names, label, tx->u.tx.host);
    text_add(label, ": ");
}

/* Ends it: ", wrong ICRC". */
static void end_injected(const struct builder *b, struct text *label, const struct ev *tx)
{
    const struct ev *made = past_find(b->past, tx->cause);

    if (made && made->kind == EV_inject && made->u.inject.bad_icrc)
        text_add(label, ", wrong ICRC");
}

/* Fills in columns, tone and label from the tx event. */
static void describe(struct builder *b, struct ladder_arrow *a, const struct ev *tx, bool name_qp)
{
    struct text label = text_on(a->label, sizeof(a->label));

    a->from = builder_column(b->l, tx->u.tx.host);
    a->to = builder_column(b->l, tx->u.tx.peer);
    a->tone = ladder_packet_tone(tx->u.tx.opcode, tx->u.tx.syndrome);
    a->again = tx->u.tx.attempt > 1;
    a->injected = past_is_injected(tx);
    if (a->injected)
        begin_injected(b, &label, tx);
    ladder_add_label(&label, tx, name_qp, b->past);
    if (a->injected)
        end_injected(b, &label, tx);
}

void take_tx(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = arrow_add(l);

    b->n_packets++;
    a->id = e->id;
    describe(b, a, e, l->columns[column].many_qps);
    a->tail = builder_stop(b, e, column);
    a->label_stop = a->tail;
    l->stops[a->tail].arrow = arrow_index(l, a);
}

/* Returns true if @e is a drop by a guest's network driver.  The packet's arrow then has ended
 * already, in the eth_rx event.
 */
static bool by_guest(const struct builder *b, const struct ev *e)
{
    const struct ev *irq = e->kind == EV_drop ? past_find(b->past, e->cause) : NULL;

    return irq && irq->kind == EV_irq;
}

bool packets_begins(struct builder *b, const struct ev *e, ev_id *ret)
{
    ev_id tx = 0;

    if (e->kind == EV_tx) {
        *ret = e->id;
        return true;
    }
    if (!fate_is_end(e, &tx) || arrow_find(b->l, tx) || by_guest(b, e))
        return false;
    tx = window_sent(b, tx);
    *ret = tx ? tx : e->id;
    return (tx < b->l->options.from || builder_fold_of(b, tx)) && !arrow_find(b->l, tx);
}

static void add_copied_by(struct text *t, const struct ladder_arrow *a)
{
    text_addf(t, "copy%s%s", a->copied_by[0] ? " made by " : "", a->copied_by);
}

/* Adds an arrow for packet @tx, which comes from outside the picture and is ended in it by @e. */
static struct ladder_arrow *arrow_into(struct builder *b, const struct ev *e, ev_id tx,
                                       uint32_t column)
{
    struct ladder *l = b->l;
    const ev_id id = window_sent(b, tx);
    const struct ev *sent = past_find(b->past, id);
    struct ladder_arrow *a = arrow_add(l);
    struct text label = text_on(a->label, sizeof(a->label));

    a->label_stop = builder_stop(b, e, column);
    a->id = id ? id : e->id;
    a->also = tx != id ? tx : 0;
    if (sent && sent->kind == EV_tx) {
        const uint32_t from = builder_column(l, sent->u.tx.host);

        describe(b, a, sent, from != LADDER_NONE && l->columns[from].many_qps);
    } else {
        a->from = id ? LADDER_NONE : builder_column(l, EV_HOST_NONE);
        a->tone =
            e->kind == EV_rx ? ladder_packet_tone(e->u.rx.opcode, e->u.rx.syndrome) : TONE_REQUEST;
        ladder_add_label(&label, e, l->columns[column].many_qps, b->past);
    }
    if (id)
        window_cut_tail(b, a, id, e);
    if (a->copy) {
        label = (struct text){a->label, strlen(a->label), sizeof(a->label), false};
        text_add(&label, ", ");
        add_copied_by(&label, a);
    } else {
        b->n_packets++;
    }
    return a;
}

/* The arrow that event @e of packet @tx ends: the one that was sent; a new copy of it if that one
 * has ended already; or a new arrow from outside the picture.
 */
static struct ladder_arrow *ending_arrow(struct builder *b, const struct ev *e, ev_id tx,
                                         uint32_t column)
{
    struct ladder *l = b->l;
    struct ladder_arrow *sent = arrow_find(l, tx);
    struct ladder_arrow *a;
    struct text label;

    if (sent && sent->head == LADDER_NONE)
        return sent;
    if (!sent || sent->tail == LADDER_NONE)
        return arrow_into(b, e, tx, column);
    a = arrow_add(l);
    label = text_on(a->label, sizeof(a->label));
    a->label_stop = builder_stop(b, e, column);
    a->id = sent->id;
    a->from = sent->from;
    a->tone = sent->tone;
    a->copy = true;
    a->copy_of = arrow_index(l, sent);
    memcpy(a->copied_by, sent->copied_by, sizeof(a->copied_by));
    add_copied_by(&label, a);
    return a;
}

/* The arrow of packet @tx that ended at this host in the same tick, or NULL. */
static struct ladder_arrow *ended_here(struct ladder *l, ev_id tx, const struct ev *e,
                                       uint32_t column)
{
    for (uint32_t i = l->n_arrows; i > 0; i--) {
        struct ladder_arrow *a = &l->arrows[i - 1];
        const struct ladder_stop *s = a->head == LADDER_NONE ? NULL : &l->stops[a->head];

        if (s && tx != 0 && (a->id == tx || a->also == tx) && s->column == column &&
            ev_tick(s->id) == ev_tick(e->id))
            return a;
    }
    return NULL;
}

void take_end(struct builder *b, const struct ev *e, ev_id tx, uint32_t column,
              enum frame_fate fate)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = ended_here(l, tx, e, column);

    if (!a) {
        a = ending_arrow(b, e, tx, column);
        a->to = column;
        a->head = builder_stop(b, e, column);
        l->stops[a->head].arrow = arrow_index(l, a);
    }
    a->fate = fate; /* a drop event is more precise than the rx before it */
    builder_say(b, a->head, e);
}

/* The column for a packet lost on its way; its sender may have no column in the picture. */
static uint32_t lost_column(const struct builder *b, const struct ev *e, ev_id tx)
{
    const struct ev *sent = past_find(b->past, window_sent(b, tx));
    uint32_t column = LADDER_NONE;

    if (sent && sent->kind == EV_tx)
        column = builder_column(b->l, sent->u.tx.host);
    else if (e->kind == EV_lost)
        column = builder_column(b->l, e->u.lost.host);
    return column == LADDER_NONE && b->l->n_columns ? 0 : column;
}

void take_lost(struct builder *b, const struct ev *e, ev_id tx)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = arrow_find(l, tx);
    const uint32_t column = a ? a->from : lost_column(b, e, tx);
    struct text end;
    ev_id begins;

    if (tx == 0 || column == LADDER_NONE || (!a && !packets_begins(b, e, &begins)))
        return;
    if (!a || a->head != LADDER_NONE)
        a = ending_arrow(b, e, tx, column);
    if (a->from == LADDER_NONE)
        a->from = column;
    a->fate = FATE_LOST;
    a->head = builder_stop(b, e, column);
    l->stops[a->head].on_wire = true;
    l->stops[a->head].arrow = arrow_index(l, a);
    end = text_on(a->end, sizeof(a->end));
    if (e->kind == EV_lost && e->u.lost.fault)
        text_addf(&end, "lost: %s", e->u.lost.name.s);
    else if (e->kind == EV_lost)
        text_add(&end, "lost by chance");
    else
        text_addf(&end, "dropped: %s", enum_name(&enum_drop, e->u.drop.reason));
}

/* Returns true if the host of drop event @e refused to send rather than to receive. */
static bool by_sender(const struct builder *b, const struct ev *e)
{
    const struct ev *sent = past_find(b->past, window_sent(b, e->u.drop.tx));

    return sent && sent->kind == EV_tx && sent->u.tx.host == e->u.drop.host &&
           sent->u.tx.peer != e->u.drop.host;
}

/* Notes the drop at the oldest frame that waits for the guest at @column.  A guest handles frames
 * in the order of arrival.
 */
static void take_guest_drop(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;

    for (uint32_t i = 0; i < l->n_arrows; i++) {
        struct ladder_arrow *a = &l->arrows[i];

        if (a->fate == FATE_STRAYED && a->to == column && column != LADDER_NONE) {
            a->fate = FATE_DROPPED;
            builder_say(b, a->head, e);
            return;
        }
    }
}

void take_drop(struct builder *b, const struct ev *e, uint32_t column)
{
    ev_id tx;

    if (!fate_is_end(e, &tx))
        return;
    if (by_guest(b, e))
        take_guest_drop(b, e, column);
    else if (column == LADDER_NONE || by_sender(b, e))
        take_lost(b, e, tx);
    else
        take_end(b, e, tx, column, FATE_DROPPED);
}

void packets_note_fault(struct ladder_arrow *a, const struct ev *e)
{
    struct text t;

    if (e->u.fault.by == FLT_DUPLICATE) {
        memcpy(a->copied_by, e->u.fault.name.s, sizeof(a->copied_by));
        return;
    }
    t = (struct text){a->label, strlen(a->label), sizeof(a->label), false};
    ladder_add_fault(&t, &e->u.fault);
    if (fate_fault_changes(e->u.fault.by))
        a->also = e->id;
}

void take_fault(struct builder *b, const struct ev *e)
{
    struct ladder_arrow *a = arrow_find(b->l, e->u.fault.tx);

    if (a)
        packets_note_fault(a, e);
}

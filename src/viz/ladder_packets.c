/* SPDX-License-Identifier: MIT */
/* The arrows of a ladder: where packets leave, and what becomes of them. */
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_builder.h"
#include "viz/ladder_words.h"

/* The newest arrow that was sent, or changed, by @id. */
static struct ladder_arrow *arrow_find(struct ladder *l, ev_id id)
{
    for (uint32_t i = l->n_arrows; i > 0; i--) {
        struct ladder_arrow *a = &l->arrows[i - 1];

        if (a->copy_of == LADDER_NONE && id != 0 && (a->id == id || a->also == id))
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

void take_tx(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = arrow_add(l);
    struct text label = text_on(a->label, sizeof(a->label));

    b->n_sent++;
    a->id = e->id;
    a->from = column;
    a->to = builder_column(l, e->u.tx.peer);
    a->tone = ladder_packet_tone(e->u.tx.opcode, e->u.tx.syndrome);
    a->again = e->u.tx.attempt > 1;
    a->tail = builder_stop(b, e, column);
    a->label_stop = a->tail;
    l->stops[a->tail].arrow = arrow_index(l, a);
    ladder_add_label(&label, e, l->columns[column].many_qps, b->names);
}

/* The lifeline of the host that sent @tx, which is before what is drawn; LADDER_NONE if the trace
 * does not know it.
 */
static uint32_t sender_of(const struct builder *b, ev_id tx)
{
    const struct ladder_events *events = b->events;
    size_t low = 0, high = events->n;
    const struct ev_field *host;
    const struct ev *e;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (events->at(events->ctx, middle)->id < tx)
            low = middle + 1;
        else
            high = middle;
    }
    e = low < events->n ? events->at(events->ctx, low) : NULL;
    host = e && e->id == tx ? ev_field_find(e->kind, "host") : NULL;
    return host ? builder_column(b->l, (uint32_t)ev_field_number(e, host)) : LADDER_NONE;
}

/* The arrow whose end event @e of packet @tx is: the one that was sent, a copy of it when that has
 * ended already, or one that comes from outside of the picture.
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
    a = arrow_add(l);
    label = text_on(a->label, sizeof(a->label));
    a->label_stop = builder_stop(b, e, column);
    if (sent) {
        a->id = sent->id;
        a->from = sent->from;
        a->tone = sent->tone;
        a->copy_of = arrow_index(l, sent);
        text_addf(&label, "copy%s%s", sent->copied_by[0] ? " made by " : "", sent->copied_by);
    } else {
        a->id = e->id;
        a->from = tx ? sender_of(b, tx) : builder_column(l, EV_HOST_NONE);
        a->tone =
            e->kind == EV_rx ? ladder_packet_tone(e->u.rx.opcode, e->u.rx.syndrome) : TONE_REQUEST;
        ladder_add_label(&label, e, l->columns[column].many_qps, b->names);
    }
    return a;
}

/* The arrow of packet @tx that ended at this host in this very tick, or NULL. */
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
              enum ladder_fate fate)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = ended_here(l, tx, e, column);

    if (!a) {
        a = ending_arrow(b, e, tx, column);
        a->to = column;
        a->head = builder_stop(b, e, column);
        l->stops[a->head].arrow = arrow_index(l, a);
    }
    a->fate = fate; /* a drop knows more of it than the rx before it */
    builder_say(b, a->head, e);
}

/* Lost on the way, by a fault or because nobody takes it. */
void take_lost(struct builder *b, const struct ev *e, ev_id tx)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = arrow_find(l, tx);
    struct text end;

    if (!a)
        return;
    if (a->head != LADDER_NONE)
        a = ending_arrow(b, e, tx, a->from);
    a->fate = FATE_LOST;
    a->head = builder_stop(b, e, a->from);
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

void take_drop(struct builder *b, const struct ev *e, uint32_t column)
{
    const struct ladder_arrow *a = arrow_find(b->l, e->u.drop.tx);
    const bool by_sender = a && a->from == column && a->to != column;

    if (e->u.drop.reason == DROP_NOT_FOR_US || e->u.drop.opcode >= FRAME_OTHER)
        return; /* flooded to others; no RoCEv2, of which the ladder tells */
    if (column == LADDER_NONE || by_sender)
        take_lost(b, e, e->u.drop.tx);
    else
        take_end(b, e, e->u.drop.tx, column, FATE_DROPPED);
}

/* What a fault does to a packet that goes on is told by the packet's label. */
void take_fault(struct builder *b, const struct ev *e)
{
    struct ladder_arrow *a = arrow_find(b->l, e->u.fault.tx);
    struct text t;

    if (!a)
        return;
    if (e->u.fault.by == FLT_DUPLICATE) {
        memcpy(a->copied_by, e->u.fault.name.s, sizeof(a->copied_by));
        return;
    }
    t = (struct text){a->label, strlen(a->label), sizeof(a->label), false};
    ladder_add_fault(&t, &e->u.fault);
    if (e->u.fault.by == FLT_CORRUPT)
        a->also = e->id;
}

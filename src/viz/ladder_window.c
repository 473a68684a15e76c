/* SPDX-License-Identifier: MIT */
/* Packets across the edges of a picture: their history before it, and their end after it. */
#include "emu/facts/enum/drop.h"
#include "viz/ladder_builder.h"

ev_id window_sent(const struct builder *b, ev_id tx)
{
    return past_sent(b->past, tx, b->past->n);
}

/* Returns true if both events report the same end: an rx and the drop that explains it. */
static bool is_same_end(const struct ev *a, const struct ev *b)
{
    return ev_tick(a->id) == ev_tick(b->id) && builder_host(a) == builder_host(b);
}

void window_cut_tail(struct builder *b, struct ladder_arrow *a, ev_id sent, const struct ev *e)
{
    struct text t = text_on(a->beyond, sizeof(a->beyond));
    ev_id tx;

    for (uint32_t i = past_first_of_frame(b->index, sent); i != PAST_NONE; i = b->index->after[i]) {
        const struct ev *then = past_at(b->past, i);

        if (then->id >= e->id)
            break;
        if (then->kind == EV_fault)
            packets_note_fault(a, then);
        else if (fate_is_end(then, &tx) && !is_same_end(then, e))
            a->copy = true; /* the original has ended already */
    }
    a->cut = CUT_TAIL;
    text_add(&t, "sent in ");
    ev_add_id(&t, sent);
    if (builder_fold_of(b, sent))
        text_add(&t, ", in a round left out");
    else if (past_find(b->past, sent))
        text_add(&t, ", before this picture");
    else if (past_in_gap(b->past, sent))
        text_add(&t, ", which was not recorded");
    else
        text_add(&t, ", which is forgotten");
}

/* The first event id after the picture. */
static ev_id end_of(const struct ladder *l)
{
    if (l->left.from)
        return l->left.from;
    return l->options.to ? l->options.to + 1 : UINT64_MAX;
}

/* The first end of a packet after the picture or in rounds that are left out, or NULL.  Later ends
 * belong to its copies. */
static const struct ev *end_behind(const struct builder *b, const struct ladder_arrow *a)
{
    const ev_id end = end_of(b->l);
    ev_id tx;

    for (uint32_t i = past_first_of_frame(b->index, a->id); i != PAST_NONE;
         i = b->index->after[i]) {
        const struct ev *e = past_at(b->past, i);

        if ((e->id >= end || builder_fold_of(b, e->id)) && fate_is_end(e, &tx))
            return e;
    }
    return NULL;
}

/* The drop at a station that packet @a was not for, if that was its end; or NULL.  The drop is not
 * drawn: it happens at each station to which a switch floods a frame.
 */
static const struct ev *astray_end(const struct builder *b, const struct ladder_arrow *a)
{
    const struct ev *tx = past_find(b->past, a->id);
    const struct ev *end = tx ? fate_of(b->index, tx).end : NULL;

    return end && end->kind == EV_drop && end->u.drop.reason == DROP_NOT_FOR_US ? end : NULL;
}

void window_cut_heads(struct builder *b)
{
    const struct past *past = b->past;

    for (uint32_t i = 0; i < b->l->n_arrows; i++) {
        struct ladder_arrow *a = &b->l->arrows[i];
        const struct ev *e;
        struct text t;

        if (a->head != LADDER_NONE)
            continue;
        a->cut = CUT_HEAD;
        t = text_on(a->beyond, sizeof(a->beyond));
        e = end_behind(b, a);
        if (e) {
            text_add(&t, e->kind == EV_lost   ? "is lost in "
                         : e->kind == EV_drop ? "is dropped in "
                                              : "arrives in ");
            ev_add_id(&t, e->id);
            text_add(&t,
                     builder_fold_of(b, e->id) ? ", in a round left out" : ", after this picture");
        } else if ((e = astray_end(b, a)) != NULL) {
            text_add(&t, "dropped at ");
            ev_names_host(b->names, &t, e->u.drop.host);
            text_add(&t, ": NOT_FOR_US");
        } else if (past->gap_from && past->gap_to >= ev_tick(a->id)) {
            text_add(&t, "where it ends was not recorded");
        } else {
            text_add(&t, "still under way");
        }
    }
}

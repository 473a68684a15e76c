/* SPDX-License-Identifier: MIT */
/* The edges of a picture: what had become of packets before it, and what becomes of them after it.
 */
#include <stdlib.h>
#include <string.h>

#include "viz/ladder_builder.h"
#include "viz/ladder_words.h"

size_t window_lower_bound(const struct ladder_events *events, ev_id id)
{
    size_t low = 0, high = events->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (events->at(events->ctx, middle)->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct ev *window_event(const struct ladder_events *events, ev_id id)
{
    const size_t i = window_lower_bound(events, id);
    const struct ev *e = i < events->n ? events->at(events->ctx, i) : NULL;

    return e && e->id == id ? e : NULL;
}

bool window_is_end(const struct ev *e, ev_id *ret)
{
    switch (e->kind) {
    case EV_rx:
        *ret = e->u.rx.tx;
        return true;
    case EV_port_out:
        *ret = e->u.port_out.tx;
        return e->u.port_out.opcode < FRAME_OTHER;
    case EV_lost:
        *ret = e->u.lost.tx;
        return e->u.lost.opcode < FRAME_OTHER;
    case EV_drop: /* flooded to others; no RoCEv2, of which the ladder tells */
        *ret = e->u.drop.tx;
        return e->u.drop.reason != DROP_NOT_FOR_US && e->u.drop.opcode < FRAME_OTHER;
    default:
        return false;
    }
}

ev_id window_sent(const struct ladder_events *events, ev_id tx)
{
    const struct ev *e = tx ? window_event(events, tx) : NULL;

    while (e && e->kind == EV_fault && e->u.fault.tx < tx) {
        tx = e->u.fault.tx;
        e = window_event(events, tx);
    }
    return tx;
}

/* The ticks that @events does not have although they are not too old. */
static bool in_gap(const struct ladder_events *events, ev_id id)
{
    return events->gap_from && ev_tick(id) >= events->gap_from && ev_tick(id) <= events->gap_to;
}

/* An rx and the drop that explains it are one end. */
static bool is_same_end(const struct ev *a, const struct ev *b)
{
    return ev_tick(a->id) == ev_tick(b->id) && builder_host(a) == builder_host(b);
}

void window_cut_tail(struct builder *b, struct ladder_arrow *a, ev_id sent, const struct ev *e)
{
    const struct ladder_events *events = b->events;
    struct text t = text_on(a->beyond, sizeof(a->beyond));
    ev_id tx = 0;

    for (size_t i = window_lower_bound(events, sent); i < events->n; i++) {
        const struct ev *then = events->at(events->ctx, i);

        if (then->id >= e->id)
            break;
        if (then->kind == EV_fault && window_sent(events, then->u.fault.tx) == sent)
            packets_note_fault(a, then);
        else if (window_is_end(then, &tx) && !is_same_end(then, e) &&
                 window_sent(events, tx) == sent)
            a->copy = true; /* the packet itself has ended */
    }
    a->cut = CUT_TAIL;
    text_add(&t, "sent in ");
    ev_add_id(&t, sent);
    if (window_event(events, sent))
        text_add(&t, ", before this picture");
    else if (in_gap(events, sent))
        text_add(&t, ", which was not recorded");
    else
        text_add(&t, ", which is forgotten");
}

/* Where the picture has ended: the index of the first event behind it. */
static size_t end_of(const struct builder *b)
{
    const struct ladder *l = b->l;

    if (b->full)
        return window_lower_bound(b->events, l->left_from);
    return l->options.to ? window_lower_bound(b->events, l->options.to + 1) : b->events->n;
}

static void say_end(struct ladder_arrow *a, const struct ev *e)
{
    struct text t = text_on(a->beyond, sizeof(a->beyond));

    text_add(&t, e->kind == EV_lost   ? "is lost in "
                 : e->kind == EV_drop ? "is dropped in "
                                      : "arrives in ");
    ev_add_id(&t, e->id);
    text_add(&t, ", after this picture");
}

/* An arrow whose end is looked for behind the picture. */
struct open {
    struct ladder_arrow *arrow;
    bool ended;
};

/* The one of packet @tx among @n, which are in the order of their ids; NULL: it is none of them. */
static struct open *open_find(struct open *open, size_t n, ev_id tx)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (open[middle].arrow->id < tx)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && open[low].arrow->id == tx ? &open[low] : NULL;
}

static void find_ends_behind(struct builder *b, struct open *open, size_t n)
{
    const struct ladder_events *events = b->events;
    size_t n_left = n;
    ev_id tx = 0;

    for (size_t i = end_of(b); i < events->n && n_left > 0; i++) {
        const struct ev *e = events->at(events->ctx, i);
        struct open *o = window_is_end(e, &tx) ? open_find(open, n, window_sent(events, tx)) : NULL;

        if (!o || o->ended)
            continue; /* what comes after the first end is a copy's */
        say_end(o->arrow, e);
        o->ended = true;
        n_left--;
    }
}

enum rdl_status window_cut_heads(struct builder *b)
{
    const struct ladder_events *events = b->events;
    struct ladder *l = b->l;
    struct open *open = calloc(l->n_arrows + 1u, sizeof(*open));
    size_t n = 0;

    if (!open)
        return RDL_ERR_NOMEM;
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        struct ladder_arrow *a = &l->arrows[i];
        struct text t;

        if (a->head != LADDER_NONE)
            continue;
        a->cut = CUT_HEAD;
        t = text_on(a->beyond, sizeof(a->beyond));
        text_add(&t, events->gap_from && events->gap_to >= ev_tick(a->id)
                         ? "where it ends was not recorded"
                         : "still under way");
        open[n++].arrow = a;
    }
    find_ends_behind(b, open, n);
    free(open);
    return RDL_OK;
}

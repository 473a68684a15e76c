/* SPDX-License-Identifier: MIT */
/* From events to stops, arrows and timers: one pass to find the hosts, one to find the rest, which
 * ladder_notes.c and ladder_packets.c draw.
 */
#include "viz/ladder_model.h"

#include <stdlib.h>
#include <string.h>

#include "viz/ladder_builder.h"

#define STOPS_PER_PACKET 4u
#define STOPS_EXTRA      1000u /* posts, completions and states without packets */
#define COPIES_MAX       100u  /* arrows beyond the packets that were sent */
#define GAP_FLIGHTS      4u    /* a pause of more usual flights than this becomes a band */
#define FLIGHT_GUESS_NS  1000u

uint32_t builder_host(const struct ev *e)
{
    switch (e->kind) {
    case EV_tx:
        return e->u.tx.host;
    case EV_rx:
        return e->u.rx.host;
    case EV_port_out:
        return e->u.port_out.opcode < FRAME_OTHER ? e->u.port_out.host : EV_HOST_NONE;
    case EV_drop:
        return e->u.drop.reason == DROP_NOT_FOR_US || e->u.drop.opcode >= FRAME_OTHER
                   ? EV_HOST_NONE
                   : e->u.drop.host;
    case EV_post_send:
        return e->u.post_send.host;
    case EV_post_recv:
        return e->u.post_recv.host;
    case EV_cqe:
        return e->u.cqe.host;
    case EV_qp_state:
        return e->u.qp_state.host;
    case EV_timeout:
        return e->u.timeout.host;
    case EV_retry:
        return e->u.retry.host;
    case EV_cq_overflow:
        return e->u.cq_overflow.host;
    case EV_key:
        return e->u.key.rule ? e->u.key.host : EV_HOST_NONE;
    default:
        return EV_HOST_NONE;
    }
}

/* The QP of its host that an event is about, 0 if none is for sure. */
static uint32_t qpn_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "qpn");

    return f && e->kind != EV_drop ? (uint32_t)ev_field_number(e, f) : 0;
}

static bool in_range(const struct ladder *l, ev_id id)
{
    return id >= l->options.from && (l->options.to == 0 || id <= l->options.to);
}

uint32_t builder_column(const struct ladder *l, uint32_t host)
{
    for (uint32_t i = 0; i < l->n_columns; i++) {
        if (l->columns[i].host == host)
            return i;
    }
    return LADDER_NONE;
}

/* Inserts a column, ordered by host number; the outside (EV_HOST_NONE) comes last. */
static uint32_t column_add(struct ladder *l, uint32_t host)
{
    uint32_t at = 0;

    if (l->n_columns == LADDER_COLUMNS_MAX)
        return LADDER_NONE;
    while (at < l->n_columns && l->columns[at].host < host)
        at++;
    memmove(&l->columns[at + 1], &l->columns[at], (l->n_columns - at) * sizeof(l->columns[0]));
    l->columns[at] = (struct ladder_column){.host = host};
    l->n_columns++;
    return at;
}

/* First pass: which hosts appear, what they are called, whether they have several QPs. */
static void find_columns(struct builder *b, const struct ladder_events *events)
{
    uint32_t first_qpn[LADDER_COLUMNS_MAX + 1] = {0};
    struct ladder *l = b->l;

    for (size_t i = 0; i < events->n; i++) {
        const struct ev *e = events->at(events->ctx, i);
        const bool outside = (e->kind == EV_rx && e->u.rx.tx == 0);
        const uint32_t host = builder_host(e);
        uint32_t c;

        ev_names_learn(b->names, e);
        if (!in_range(l, e->id))
            continue;
        if (outside && builder_column(l, EV_HOST_NONE) == LADDER_NONE)
            column_add(l, EV_HOST_NONE);
        if (host == EV_HOST_NONE)
            continue;
        c = builder_column(l, host);
        if (c == LADDER_NONE) {
            c = column_add(l, host);
            if (c == LADDER_NONE) {
                l->hosts_left = true;
                continue;
            }
            memmove(&first_qpn[c + 1], &first_qpn[c],
                    (LADDER_COLUMNS_MAX - c) * sizeof(first_qpn[0]));
            first_qpn[c] = 0;
        }
        if (first_qpn[c] == 0)
            first_qpn[c] = qpn_of(e);
        else if (qpn_of(e) && qpn_of(e) != first_qpn[c])
            l->columns[c].many_qps = true;
    }
}

static void name_columns(struct builder *b, const struct ladder_events *events)
{
    struct ladder *l = b->l;

    for (uint32_t c = 0; c < l->n_columns; c++) {
        struct ladder_column *col = &l->columns[c];
        struct text t = text_on(col->name, sizeof(col->name));

        if (col->host == EV_HOST_NONE)
            text_add(&t, "outside");
        else
            ev_names_host(b->names, &t, col->host);
    }
    for (size_t i = 0; i < events->n; i++) {
        const struct ev *e = events->at(events->ctx, i);
        const uint32_t c =
            e->kind == EV_host_up ? builder_column(l, e->u.host_up.host) : LADDER_NONE;

        if (c != LADDER_NONE)
            memcpy(l->columns[c].addr, e->u.host_up.addr.s, sizeof(l->columns[c].addr));
    }
}

/* Draws an event that belongs to a lifeline.  False: it is not drawn. */
static bool take_on_lifeline(struct builder *b, const struct ev *e, uint32_t column)
{
    switch (e->kind) {
    case EV_tx:
        take_tx(b, e, column);
        return true;
    case EV_rx:
        take_end(b, e, e->u.rx.tx, column, e->u.rx.act == ACT_DROP ? FATE_DROPPED : FATE_ARRIVED);
        return true;
    case EV_port_out:
        take_end(b, e, e->u.port_out.tx, column, FATE_ARRIVED);
        return true;
    case EV_post_send:
    case EV_post_recv:
        take_post(b, e, column);
        return true;
    case EV_cqe:
        take_run(b, e, column);
        return true;
    case EV_qp_state:
        take_state(b, e, column);
        return true;
    case EV_timeout:
        take_timeout(b, e, column);
        return true;
    case EV_retry:
        take_retry(b, e, column);
        return true;
    case EV_key:
    case EV_cq_overflow:
        builder_say(b, builder_stop(b, e, column), e);
        return true;
    default:
        return false;
    }
}

/* Draws an event that changes something that was drawn, or is drawn between the lifelines. */
static bool take_elsewhere(struct builder *b, const struct ev *e, uint32_t column)
{
    switch (e->kind) {
    case EV_drop:
        take_drop(b, e, column);
        return true;
    case EV_lost:
        take_lost(b, e, e->u.lost.tx);
        return true;
    case EV_fault:
        take_fault(b, e);
        return true;
    case EV_timer:
        take_timer(b, e);
        return true;
    case EV_timer_off:
        take_timer_off(b, e);
        return true;
    case EV_kick:
        column = builder_column(b->l, e->u.kick.host);
        if (column != LADDER_NONE)
            take_kick(b, e, column);
        return true;
    default:
        return false;
    }
}

/* Is there room for whatever @e may need? */
static bool make_room(struct builder *b, const struct ev *e)
{
    struct ladder *l = b->l;
    const bool one_too_many = e->kind == EV_tx && b->n_sent == l->options.n_packets;

    if (!b->full && (one_too_many || l->n_stops + 2 > l->cap_stops ||
                     l->n_arrows == l->cap_arrows || l->n_timers == l->cap_timers)) {
        b->full = true;
        l->left_from = e->id;
    }
    return !b->full;
}

static void take(struct builder *b, const struct ev *e)
{
    const uint32_t host = builder_host(e);
    const uint32_t column = host == EV_HOST_NONE ? LADDER_NONE : builder_column(b->l, host);

    if (!make_room(b, e)) {
        b->l->packets_left += e->kind == EV_tx;
        return;
    }
    if (column != LADDER_NONE && take_on_lifeline(b, e, column))
        return;
    if (!take_elsewhere(b, e, column))
        b->unseen_ns = e->at_ns;
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The median flight of a packet. */
static enum rdl_status find_usual(struct ladder *l)
{
    uint64_t *flights = calloc(l->n_arrows + 1u, sizeof(*flights));
    size_t n = 0;

    if (!flights)
        return RDL_ERR_NOMEM;
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        const struct ladder_arrow *a = &l->arrows[i];

        if (a->fate == FATE_ARRIVED && a->tail != LADDER_NONE && a->head != LADDER_NONE &&
            a->from != a->to)
            flights[n++] = l->stops[a->head].at_ns - l->stops[a->tail].at_ns;
    }
    qsort(flights, n, sizeof(*flights), compare_times);
    l->usual_ns = n && flights[n / 2] ? flights[n / 2] : FLIGHT_GUESS_NS;
    free(flights);
    return RDL_OK;
}

/* Is a packet on its way just before stop @i? */
static bool in_flight_before(const struct ladder *l, uint32_t i)
{
    for (uint32_t k = 0; k < l->n_arrows; k++) {
        const struct ladder_arrow *a = &l->arrows[k];

        if (a->tail != LADDER_NONE && a->tail < i && a->head != LADDER_NONE && a->head >= i)
            return true;
    }
    return false;
}

static void find_gaps(struct ladder *l)
{
    for (uint32_t i = 1; i < l->n_stops; i++) {
        struct ladder_stop *s = &l->stops[i];
        const uint64_t pause = s->at_ns - l->stops[i - 1].at_ns;

        if (pause / GAP_FLIGHTS < l->usual_ns)
            continue;
        s->gap_ns = pause;
        s->idle = s->idle && !in_flight_before(l, i);
    }
}

/* Where an arrow of which only the end at @known is in the picture goes to or comes from. */
static uint32_t other_end(const struct ladder *l, uint32_t known)
{
    const uint32_t outside = builder_column(l, EV_HOST_NONE);

    if (outside != LADDER_NONE)
        return outside;
    if (known + 1 < l->n_columns)
        return known + 1;
    return known > 0 ? known - 1 : known;
}

static void find_ends(struct ladder *l)
{
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        struct ladder_arrow *a = &l->arrows[i];

        if (a->copy_of != LADDER_NONE && a->to == LADDER_NONE)
            a->to = l->arrows[a->copy_of].to;
        if (a->to == LADDER_NONE)
            a->to = other_end(l, a->from);
        if (a->from == LADDER_NONE)
            a->from = other_end(l, a->to);
        if (a->fate == FATE_UNKNOWN && l->columns[a->to].host == EV_HOST_NONE)
            a->fate = FATE_ARRIVED; /* what leaves the lab is not seen again */
    }
}

static struct ladder *ladder_alloc(const struct ladder_options *options)
{
    struct ladder *l = calloc(1, sizeof(*l));
    struct text title;

    if (!l)
        return NULL;
    l->options = *options;
    title = text_on(l->title, sizeof(l->title));
    text_add(&title, options->title ? options->title : "");
    l->options.title = NULL;
    if (l->options.to && ev_row(l->options.to) == 0)
        l->options.to |= EV_ROW_MAX;
    if (l->options.n_packets == 0)
        l->options.n_packets = LADDER_PACKETS_DEFAULT;
    if (l->options.n_packets > LADDER_PACKETS_MAX)
        l->options.n_packets = LADDER_PACKETS_MAX;
    l->cap_arrows = l->options.n_packets + COPIES_MAX;
    l->cap_timers = l->cap_arrows;
    l->cap_stops = l->cap_arrows * STOPS_PER_PACKET + STOPS_EXTRA;
    l->stops = calloc(l->cap_stops, sizeof(*l->stops));
    l->arrows = calloc(l->cap_arrows, sizeof(*l->arrows));
    l->timers = calloc(l->cap_timers, sizeof(*l->timers));
    if (!l->stops || !l->arrows || !l->timers) {
        ladder_free(l);
        return NULL;
    }
    return l;
}

enum rdl_status ladder_new(const struct ladder_events *events, const struct ladder_options *options,
                           struct ladder **ret)
{
    enum rdl_status st = RDL_ERR_NOMEM;
    struct builder b = {.l = ladder_alloc(options), .events = events, .names = ev_names_new()};

    if (!b.l || !b.names)
        goto out;
    for (size_t i = 0; i < LADDER_COLUMNS_MAX; i++)
        b.runs[i].first.kind = EV_COUNT;
    for (size_t i = 0; i < ARMED_MAX; i++)
        b.armed[i].stop = LADDER_NONE;
    find_columns(&b, events);
    name_columns(&b, events);
    for (size_t i = 0; i < events->n; i++) {
        const struct ev *e = events->at(events->ctx, i);

        if (in_range(b.l, e->id))
            take(&b, e);
    }
    find_ends(b.l);
    st = find_usual(b.l);
    if (st != RDL_OK)
        goto out;
    find_gaps(b.l);
    *ret = b.l;
    b.l = NULL;
out:
    ev_names_free(b.names);
    ladder_free(b.l);
    return st;
}

void ladder_free(struct ladder *l)
{
    if (!l)
        return;
    free(l->stops);
    free(l->arrows);
    free(l->timers);
    free(l);
}

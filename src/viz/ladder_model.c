/* SPDX-License-Identifier: MIT */
/* Builds a ladder from events in two passes.  The first finds the hosts (ladder_columns.c); the
 * second creates stops, arrows and timers (ladder_notes.c, ladder_packets.c).
 */
#include "viz/ladder_model.h"

#include <stdlib.h>

#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "viz/ladder_builder.h"

#define STOPS_PER_PACKET 4u
#define STOPS_EXTRA      1000u /* for posts, completions and states without packets */
#define COPIES_MAX       100u  /* arrows in addition to the packets sent */
#define GAP_FLIGHTS      4u    /* a pause longer than this many usual flights becomes a band */
#define FLIGHT_GUESS_NS  1000u

/* Draws an event of a lifeline.  Returns false if the event is not drawn. */
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
    case EV_eth_rx:
        take_end(b, e, e->u.eth_rx.tx, column, FATE_STRAYED);
        return true;
    case EV_post_send:
    case EV_post_recv:
    case EV_post_srq_recv:
        take_post(b, e, column);
        return true;
    case EV_cqe:
        take_run(b, e, column);
        return true;
    case EV_qp_state:
    case EV_cm_state:
        take_state(b, e, column);
        return true;
    case EV_timeout:
        take_timeout(b, e, column);
        return true;
    case EV_retry:
        take_retry(b, e, column);
        return true;
    case EV_async_event:
        if (e->u.async_event.object == OBJ_NONE)
            return false; /* about a port, not about packets */
        builder_say(b, builder_stop(b, e, column), e);
        return true;
    case EV_key:
    case EV_atomic:
    case EV_bind:
    case EV_reg_mr:
    case EV_invalidate:
    case EV_cq_overflow:
    case EV_device_fault:
    case EV_late_data:
    case EV_queue_goes_on:
    case EV_used_refused:
    case EV_ring_broken:
    case EV_credits:
    case EV_probe:
    case EV_not_sent:
    case EV_cm_sent:
    case EV_cm_received:
    case EV_cm_event:
    case EV_router_post:
    case EV_router_completion:
        builder_say(b, builder_stop(b, e, column), e);
        return true;
    default:
        return false;
    }
}

/* Draws an event that changes something drawn before or is drawn between lifelines. */
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
    case EV_doorbell:
        column = builder_column(b->l, e->kind == EV_kick ? e->u.kick.host : e->u.doorbell.host);
        if (column != LADDER_NONE)
            take_kick(b, e, column);
        return true;
    default:
        return false;
    }
}

/* Returns true if there is room for everything that @e may need. */
static bool make_room(struct builder *b, const struct ev *e, bool begins)
{
    struct ladder *l = b->l;
    const bool one_too_many = begins && b->n_packets == l->options.n_packets;

    if (!l->left.from && (one_too_many || l->n_stops + 2 > l->cap_stops ||
                          l->n_arrows == l->cap_arrows || l->n_timers == l->cap_timers))
        l->left.from = e->id; /* nothing is drawn from here on */
    return !l->left.from;
}

static void take(struct builder *b, const struct ev *e)
{
    const uint32_t host = builder_host(e);
    const uint32_t column = host == EV_HOST_NONE ? LADDER_NONE : builder_column(b->l, host);
    ev_id packet = 0;
    const bool begins = packets_begins(b, e, &packet);

    take_calls(b, e->id);
    if (!make_room(b, e, begins)) {
        b->l->left.n_packets += begins && packet != b->left;
        b->left = begins ? packet : b->left;
        return;
    }
    if (builder_is_of_kernel(b, e)) {
        b->unseen_ns = e->at_ns;
        return;
    }
    if (column != LADDER_NONE && take_on_lifeline(b, e, column))
        return;
    if (!take_elsewhere(b, e, column))
        b->unseen_ns = e->at_ns;
}

/* Returns true if @e belongs to rounds that are left out. */
static bool skip(struct builder *b, const struct ev *e)
{
    const struct folded *f = b->l->left.from ? NULL : builder_fold_of(b, e->id);

    if (!f)
        return false;
    b->skipped = f;
    take_before(b, e);
    return true;
}

static int compare_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Computes usual_ns, the median time of flight of a packet. */
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

/* Returns true if a packet is in flight just before stop @i. */
static bool in_flight_before(const struct ladder *l, uint32_t i)
{
    for (uint32_t k = 0; k < l->n_arrows; k++) {
        const struct ladder_arrow *a = &l->arrows[k];
        const bool left = a->tail != LADDER_NONE ? a->tail < i : a->cut == CUT_TAIL;
        const bool ended = a->head != LADDER_NONE ? a->head < i : a->cut != CUT_HEAD;

        if (left && !ended)
            return true;
    }
    return false;
}

static void find_gaps(struct builder *b)
{
    struct ladder *l = b->l;

    for (uint32_t i = 1; i < l->n_stops; i++) {
        struct ladder_stop *s = &l->stops[i];
        const uint64_t before_ns = l->stops[i - 1].at_ns;
        /* The calls in a trace of a stranger may have any time. */
        const uint64_t pause = s->at_ns > before_ns ? s->at_ns - before_ns : 0;

        if (pause / GAP_FLIGHTS < l->usual_ns && !s->rounds)
            continue;
        s->gap_ns = pause ? pause : 1;
        s->idle = s->idle && !s->rounds && !in_flight_before(l, i);
        s->unsure = past_gap_between(b->past, l->stops[i - 1].id, s->id);
    }
}

/* The other column of an arrow of which only the end at column @known is in the picture. */
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
        if (a->fate == FATE_UNKNOWN && l->columns[a->to].host == EV_HOST_NONE) {
            a->fate = FATE_ARRIVED; /* a packet that leaves the lab has no further events */
            a->cut = CUT_NONE;
            a->beyond[0] = '\0';
        }
    }
}

uint32_t ladder_stub_column(const struct ladder_arrow *a)
{
    return a->cut == CUT_HEAD || ladder_floats(a) ? a->from : a->to;
}

bool ladder_stub_right(const struct ladder *l, const struct ladder_arrow *a)
{
    const uint32_t column = ladder_stub_column(a);

    if (a->from != a->to)
        return column < (column == a->from ? a->to : a->from);
    return column == 0 || column + 1 < l->n_columns;
}

static struct ladder *ladder_alloc(const struct past *past, const struct picture_options *options)
{
    struct ladder *l = calloc(1, sizeof(*l));
    struct text title, missing;
    size_t failure_bytes;

    if (!l)
        return NULL;
    missing = text_on(l->missing, sizeof(l->missing));
    if (options->failure)
        text_addf(&missing, "%s.", options->failure);
    failure_bytes = missing.len;
    past_add_missing(&missing, past, options->from, options->to);
    if (failure_bytes > 0 && missing.len > failure_bytes) {
        missing = text_on(l->missing, sizeof(l->missing));
        text_addf(&missing, "%s. ", options->failure);
        past_add_missing(&missing, past, options->from, options->to);
    }
    l->options = *options;
    title = text_on(l->title, sizeof(l->title));
    text_add(&title, options->title ? options->title : "");
    l->options.title = l->options.failure = NULL;
    if (past->n && l->options.from < past_at(past, 0)->id)
        l->options.from = past_at(past, 0)->id;
    if (l->options.to)
        l->options.to = ev_id_last(l->options.to);
    if (l->options.n_packets == 0)
        l->options.n_packets = LADDER_PACKETS_DEFAULT;
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

enum rdl_status ladder_new(const struct past *past, const struct picture_options *options,
                           struct ladder **ret)
{
    struct builder b = {.l = ladder_alloc(past, options), .past = past, .names = past->names};
    enum rdl_status st = b.l ? past_index_new(past, &b.index) : RDL_ERR_NOMEM;

    if (st != RDL_OK)
        goto out;
    for (size_t i = 0; i < LADDER_COLUMNS_MAX; i++)
        b.runs[i].first.kind = EV_COUNT;
    builder_find_columns(&b);
    if (!options->all_rounds)
        st = builder_find_folds(&b);
    if (st != RDL_OK)
        goto out;
    for (size_t i = 0; i < past->n; i++) {
        const struct ev *e = past_at(past, i);

        if (e->id < b.l->options.from && !builder_is_of_kernel(&b, e))
            take_before(&b, e);
        else if (builder_in_range(b.l, e->id) && !skip(&b, e))
            take(&b, e);
    }
    b.l->left.n_drawn = b.n_packets;
    take_calls(&b, UINT64_MAX);
    window_cut_heads(&b);
    find_ends(b.l);
    st = find_usual(b.l);
    if (st != RDL_OK)
        goto out;
    find_gaps(&b);
    *ret = b.l;
    b.l = NULL;
out:
    free(b.folds);
    past_index_free(b.index);
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

enum rdl_status ladder_draw(const struct past *past, const struct picture_options *options,
                            bool svg, const struct viz_sink *sink)
{
    struct ladder *l;
    enum rdl_status st = ladder_new(past, options, &l);

    if (st != RDL_OK)
        return st;
    if (options->ret_left)
        *options->ret_left = l->left;
    st = svg ? ladder_svg(l, sink) : ladder_text(l, sink);
    ladder_free(l);
    return st;
}

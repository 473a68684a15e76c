/* SPDX-License-Identifier: MIT */
/* From events to stops, arrows and timers: one pass to find the hosts, one to find the rest. */
#include "viz/ladder_model.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_words.h"

#define STOPS_PER_PACKET 4u
#define STOPS_EXTRA      1000u /* posts, completions and states without packets */
#define COPIES_MAX       100u  /* arrows beyond the packets that were sent */
#define ARMED_MAX        64u   /* timers that are followed at one time */
#define GAP_FLIGHTS      4u    /* a pause of more usual flights than this becomes a band */
#define FLIGHT_GUESS_NS  1000u

struct armed {
    uint32_t column, qpn, timer;
    uint32_t stop; /* LADDER_NONE: a free place */
};

struct builder {
    struct ladder *l;
    struct ev_names *names;
    struct armed armed[ARMED_MAX];
    struct ev run;          /* what the newest note began with, to fold the next one into it */
    uint64_t run_last;      /* its last wr_id */
    bool run_kicked;        /* a kick is part of it */
    uint64_t unseen_ns;     /* time of the newest event that is not drawn */
    uint32_t n_sent;        /* packets with an arrow */
    bool full;              /* nothing more is drawn */
};

/* The host on whose lifeline an event is drawn; EV_HOST_NONE if it is drawn on none. */
static uint32_t host_of(const struct ev *e)
{
    switch (e->kind) {
    case EV_tx:
        return e->u.tx.host;
    case EV_rx:
        return e->u.rx.host;
    case EV_drop:
        return e->u.drop.reason == DROP_NOT_FOR_US ? EV_HOST_NONE : e->u.drop.host;
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
    case EV_key:
        return e->u.key.rule ? e->u.key.host : EV_HOST_NONE;
    default:
        return EV_HOST_NONE;
    }
}

static uint32_t qpn_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "qpn");

    return f ? (uint32_t)ev_field_number(e, f) : 0;
}

static bool in_range(const struct ladder *l, ev_id id)
{
    return id >= l->options.from && (l->options.to == 0 || id <= l->options.to);
}

static uint32_t column_find(const struct ladder *l, uint32_t host)
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
        const uint32_t host = host_of(e);
        uint32_t c;

        ev_names_learn(b->names, e);
        if (!in_range(l, e->id))
            continue;
        if (outside && column_find(l, EV_HOST_NONE) == LADDER_NONE)
            column_add(l, EV_HOST_NONE);
        if (host == EV_HOST_NONE)
            continue;
        c = column_find(l, host);
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
        const uint32_t c = e->kind == EV_host_up ? column_find(l, e->u.host_up.host) : LADDER_NONE;

        if (c != LADDER_NONE)
            memcpy(l->columns[c].addr, e->u.host_up.addr.s, sizeof(l->columns[c].addr));
    }
}

/* A new stop of event @e, without a note; there is room, see make_room(). */
static uint32_t stop_add(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct ladder_stop *s = &l->stops[l->n_stops];
    const struct ladder_stop *before = l->n_stops ? s - 1 : NULL;
    struct text title = text_on(s->title, sizeof(s->title));

    RDL_ASSERT(l->n_stops < l->cap_stops);
    s->id = e->id;
    s->at_ns = e->at_ns;
    s->column = column;
    s->arrow = LADDER_NONE;
    s->kind = e->kind;
    s->idle = !before || b->unseen_ns <= before->at_ns || b->unseen_ns >= e->at_ns;
    ev_add_line(&title, e, b->names);
    b->run.kind = EV_COUNT;
    return l->n_stops++;
}

static void say(struct builder *b, uint32_t stop, const struct ladder_saying *how)
{
    struct ladder_stop *s = &b->l->stops[stop];
    struct text t = text_on(s->note, sizeof(s->note));
    struct ladder_saying words = *how;

    words.name_qp = b->l->columns[s->column].many_qps;
    words.names = b->names;
    s->tone = ladder_say(&t, &words);
}

static void say_plainly(struct builder *b, uint32_t stop, const struct ev *e)
{
    say(b, stop, &(struct ladder_saying){.first = e, .armed_ns = UINT64_MAX});
}

/* Says the run of posts or completions that the newest stop stands for. */
static void say_run(struct builder *b)
{
    say(b, b->l->n_stops - 1,
        &(struct ladder_saying){
            .first = &b->run, .last_wr_id = b->run_last, .kicked = b->run_kicked});
}

static uint64_t wr_id_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "wr_id");

    return f ? ev_field_number(e, f) : 0;
}

/* Posts and completions: several in a row become one note. */
static void take_run(struct builder *b, const struct ev *e, uint32_t column)
{
    if (b->run.kind != EV_COUNT && ladder_say_together(&b->run, b->run_last, e)) {
        b->run_last = wr_id_of(e);
    } else {
        stop_add(b, e, column);
        b->run = *e;
        b->run_last = wr_id_of(e);
        b->run_kicked = false;
    }
    say_run(b);
}

static uint32_t post_queue(const struct ev *e)
{
    if (e->kind == EV_post_send)
        return e->u.post_send.queue;
    return e->kind == EV_post_recv ? e->u.post_recv.queue : 0;
}

/* A kick belongs to the post before it.  Others are told apart by nothing, and left out. */
static void take_kick(struct builder *b, const struct ev *e)
{
    const bool mine = b->run.kind != EV_COUNT && post_queue(&b->run) == e->u.kick.queue &&
                      host_of(&b->run) == e->u.kick.host;

    if (!mine || b->run.at_ns != e->at_ns)
        return;
    b->run_kicked = true;
    say_run(b);
}

/* "RESET -> INIT -> RTR -> RTS" in one note if nothing came between. */
static void take_state(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;

    if (b->run.kind == EV_qp_state && b->run.u.qp_state.host == e->u.qp_state.host &&
        b->run.u.qp_state.qpn == e->u.qp_state.qpn &&
        b->run.u.qp_state.to == e->u.qp_state.from && e->u.qp_state.to != QPS_ERR) {
        struct ladder_stop *s = &l->stops[l->n_stops - 1];
        struct text t = {s->note, strlen(s->note), sizeof(s->note), false};

        text_addf(&t, " -> %s", enum_name(&enum_qp_state, e->u.qp_state.to));
        s->at_ns = e->at_ns;
    } else {
        say_plainly(b, stop_add(b, e, column), e);
    }
    b->run = *e;
}

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

static void take_tx(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = arrow_add(l);
    struct text label = text_on(a->label, sizeof(a->label));

    b->n_sent++;
    a->id = e->id;
    a->from = column;
    a->to = column_find(l, e->u.tx.peer);
    a->tone = ladder_packet_tone(e->u.tx.opcode, e->u.tx.syndrome);
    a->again = e->u.tx.attempt > 1;
    a->tail = stop_add(b, e, column);
    a->label_stop = a->tail;
    l->stops[a->tail].arrow = arrow_index(l, a);
    ladder_add_label(&label, e, l->columns[column].many_qps, b->names);
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
    a->label_stop = stop_add(b, e, column);
    if (sent) {
        a->id = sent->id;
        a->from = sent->from;
        a->tone = sent->tone;
        a->copy_of = arrow_index(l, sent);
        text_addf(&label, "copy%s%s", sent->end[0] ? " made by " : "", sent->end);
    } else {
        a->id = e->id;
        a->from = column_find(l, EV_HOST_NONE);
        a->tone = e->kind == EV_rx ? ladder_packet_tone(e->u.rx.opcode, e->u.rx.syndrome)
                                   : TONE_REQUEST;
        ladder_add_label(&label, e, l->columns[column].many_qps, b->names);
    }
    return a;
}

/* Has this packet ended at this host in this very tick?  Then @e only adds to that. */
static bool ended_here(const struct ladder *l, ev_id tx, const struct ev *e, uint32_t column)
{
    for (uint32_t i = l->n_arrows; i > 0; i--) {
        const struct ladder_arrow *a = &l->arrows[i - 1];
        const struct ladder_stop *s = a->head == LADDER_NONE ? NULL : &l->stops[a->head];

        if (s && tx != 0 && (a->id == tx || a->also == tx) && s->column == column &&
            ev_tick(s->id) == ev_tick(e->id))
            return true;
    }
    return false;
}

static void take_end(struct builder *b, const struct ev *e, ev_id tx, uint32_t column,
                     enum ladder_fate fate)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a;

    if (ended_here(l, tx, e, column)) {
        say_plainly(b, stop_add(b, e, column), e);
        return;
    }
    a = ending_arrow(b, e, tx, column);
    a->to = column;
    a->fate = fate;
    a->head = stop_add(b, e, column);
    l->stops[a->head].arrow = arrow_index(l, a);
    say_plainly(b, a->head, e);
}

/* Lost on the way, by a fault or because nobody takes it. */
static void take_lost(struct builder *b, const struct ev *e, ev_id tx)
{
    struct ladder *l = b->l;
    struct ladder_arrow *a = arrow_find(l, tx);
    struct text end;

    if (!a)
        return;
    if (a->head != LADDER_NONE)
        a = ending_arrow(b, e, tx, a->from);
    a->fate = FATE_LOST;
    a->head = stop_add(b, e, a->from);
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

static void take_drop(struct builder *b, const struct ev *e, uint32_t column)
{
    const struct ladder_arrow *a = arrow_find(b->l, e->u.drop.tx);
    const bool by_sender = a && a->from == column && a->to != column;

    if (e->u.drop.reason == DROP_NOT_FOR_US)
        return;
    if (column == LADDER_NONE || by_sender)
        take_lost(b, e, e->u.drop.tx);
    else
        take_end(b, e, e->u.drop.tx, column, FATE_DROPPED);
}

/* What a fault does to a packet that goes on is told by the packet's label. */
static void take_fault(struct builder *b, const struct ev *e)
{
    struct ladder_arrow *a = arrow_find(b->l, e->u.fault.tx);
    struct text t;

    if (!a)
        return;
    if (e->u.fault.by == FLT_DUPLICATE) {
        t = text_on(a->end, sizeof(a->end)); /* for the label of the copy */
        text_add(&t, e->u.fault.name.s);
        return;
    }
    t = (struct text){a->label, strlen(a->label), sizeof(a->label), false};
    ladder_add_fault(&t, &e->u.fault);
    if (e->u.fault.by == FLT_CORRUPT)
        a->also = e->id;
}

static struct armed *armed_find(struct builder *b, uint32_t column, uint32_t qpn, uint32_t timer)
{
    struct armed *spare = NULL;

    for (size_t i = 0; i < ARMED_MAX; i++) {
        struct armed *a = &b->armed[i];

        if (a->stop == LADDER_NONE)
            spare = a;
        else if (a->column == column && a->qpn == qpn && a->timer == timer)
            return a;
    }
    if (spare)
        *spare = (struct armed){column, qpn, timer, LADDER_NONE};
    return spare;
}

/* A timer starts at the newest stop if that is of this moment and lifeline, else at its own. */
static void take_timer(struct builder *b, const struct ev *e)
{
    struct ladder *l = b->l;
    const uint32_t column = column_find(l, e->u.timer.host);
    const struct ladder_stop *newest = l->n_stops ? &l->stops[l->n_stops - 1] : NULL;
    struct armed *a;

    if (column == LADDER_NONE)
        return;
    a = armed_find(b, column, e->u.timer.qpn, e->u.timer.timer);
    if (!a)
        return;
    if (newest && newest->column == column && newest->at_ns == e->at_ns && !newest->on_wire)
        a->stop = l->n_stops - 1;
    else
        a->stop = stop_add(b, e, column);
}

static void take_timer_off(struct builder *b, const struct ev *e)
{
    const uint32_t column = column_find(b->l, e->u.timer_off.host);
    struct armed *a = armed_find(b, column, e->u.timer_off.qpn, e->u.timer_off.timer);

    if (a)
        a->stop = LADDER_NONE;
}

static void take_timeout(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct armed *a = armed_find(b, column, e->u.timeout.qpn, e->u.timeout.timer);
    const uint32_t stop = stop_add(b, e, column);
    struct ladder_saying how = {.first = e, .armed_ns = UINT64_MAX};

    if (a && a->stop != LADDER_NONE) {
        how.armed_ns = l->stops[a->stop].at_ns;
        l->timers[l->n_timers++] = (struct ladder_timer){a->stop, stop};
        a->stop = LADDER_NONE;
    }
    say(b, stop, &how);
    b->run = *e;
}

/* After a timeout it goes without saying. */
static void take_retry(struct builder *b, const struct ev *e, uint32_t column)
{
    const bool timed_out = b->run.kind == EV_timeout &&
                           b->run.u.timeout.host == e->u.retry.host &&
                           b->run.u.timeout.qpn == e->u.retry.qpn && b->run.at_ns == e->at_ns;

    if (!timed_out)
        say_plainly(b, stop_add(b, e, column), e);
}

/* Draws an event that belongs to a lifeline.  False: it is not drawn. */
static bool take_on_lifeline(struct builder *b, const struct ev *e, uint32_t column)
{
    switch (e->kind) {
    case EV_tx:
        take_tx(b, e, column);
        return true;
    case EV_rx:
        take_end(b, e, e->u.rx.tx, column,
                 ladder_act_drops(e->u.rx.act) ? FATE_DROPPED : FATE_ARRIVED);
        return true;
    case EV_post_send:
    case EV_post_recv:
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
        say_plainly(b, stop_add(b, e, column), e);
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
        take_kick(b, e);
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
    const uint32_t host = host_of(e);
    const uint32_t column = host == EV_HOST_NONE ? LADDER_NONE : column_find(b->l, host);

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

        if (a->fate == FATE_ARRIVED && a->tail != LADDER_NONE && a->from != a->to)
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
    const uint32_t outside = column_find(l, EV_HOST_NONE);

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
        if (a->fate != FATE_LOST)
            a->end[0] = '\0'; /* it was the name of what made a copy */
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
    struct builder b = {.l = ladder_alloc(options), .names = ev_names_new()};

    if (!b.l || !b.names)
        goto out;
    b.run.kind = EV_COUNT;
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

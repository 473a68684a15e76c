/* SPDX-License-Identifier: MIT */
/* The notes beside the lifelines: posts, completions, states, timers, calls. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/past/fold.h"
#include "emu/past/past_lnet.h"
#include "emu/past/posted.h"
#include "viz/ladder_builder.h"
#include "viz/ladder_words.h"

uint32_t builder_stop(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    const struct ladder_stop *before = l->n_stops ? &l->stops[l->n_stops - 1] : NULL;
    struct ladder_stop *s;
    struct text title;

    RDL_ASSERT(l->stops && l->n_stops < l->cap_stops);
    s = &l->stops[l->n_stops];
    title = text_on(s->title, sizeof(s->title));
    s->id = e->id;
    s->at_ns = e->at_ns;
    s->column = column;
    s->arrow = LADDER_NONE;
    s->kind = e->kind;
    s->rounds = b->skipped ? b->skipped->n_rounds : 0;
    b->skipped = NULL;
    s->idle = !before || b->unseen_ns <= before->at_ns || b->unseen_ns >= e->at_ns;
    past_add_line(&title, b->past, e);
    b->runs[column].first.kind = EV_COUNT;
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

void builder_say(struct builder *b, uint32_t stop, const struct ev *e)
{
    say(b, stop, &(struct ladder_saying){.first = e, .armed_ns = UINT64_MAX});
}

/* Starts a run with the newest stop. */
static struct run *run_begin(struct builder *b, const struct ev *e)
{
    const uint32_t stop = b->l->n_stops - 1;
    struct run *r = &b->runs[b->l->stops[stop].column];

    *r = (struct run){.first = *e, .n = 1, .stop = stop};
    return r;
}

static void say_run(struct builder *b, const struct run *r)
{
    say(b, r->stop,
        &(struct ladder_saying){
            .first = &r->first, .n = r->n, .last_wr_id = r->last_wr_id, .kicked = r->kicked});
}

static uint64_t wr_id_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "wr_id");

    return f ? ev_field_number(e, f) : 0;
}

void take_run(struct builder *b, const struct ev *e, uint32_t column)
{
    struct run *r = &b->runs[column];

    if (r->first.kind != EV_COUNT && ladder_say_together(&r->first, r->n, r->last_wr_id, e)) {
        r->n++;
    } else {
        builder_stop(b, e, column);
        r = run_begin(b, e);
    }
    r->last_wr_id = wr_id_of(e);
    say_run(b, r);
}

static uint32_t post_queue(const struct ev *e)
{
    struct posted p = {.queue = 0};

    (void)posted_read(e, &p);
    return p.queue;
}

static bool ring_known(const struct builder *b, uint32_t host, uint32_t queue)
{
    for (uint32_t i = 0; i < b->n_rings; i++) {
        if (b->rings[i].host == host && b->rings[i].queue == queue)
            return true;
    }
    return false;
}

static void learn_ring(struct builder *b, const struct ev *e)
{
    const struct ladder_ring ring = {builder_host(e), post_queue(e)};

    if (!ring_known(b, ring.host, ring.queue) && b->n_rings < RINGS_MAX)
        b->rings[b->n_rings++] = ring;
}

void take_post(struct builder *b, const struct ev *e, uint32_t column)
{
    learn_ring(b, e);
    take_run(b, e, column);
}

/* Adds a kick or a doorbell to the note of the post before it if no other event came between. Kicks
 * of completion and control queues are omitted.
 */
void take_kick(struct builder *b, const struct ev *e, uint32_t column)
{
    const bool kick = e->kind == EV_kick;
    const uint32_t host = kick ? e->u.kick.host : e->u.doorbell.host;
    const uint32_t queue = kick ? e->u.kick.queue : e->u.doorbell.queue;
    struct run *r = &b->runs[column];

    if (!ring_known(b, host, queue))
        return;
    if (r->first.kind != EV_COUNT && r->first.at_ns == e->at_ns && post_queue(&r->first) == queue) {
        r->kicked = true;
        say_run(b, r);
    } else {
        builder_say(b, builder_stop(b, e, column), e);
    }
}

static bool is_next_state(const struct ev_qp_state *last, const struct ev_qp_state *next)
{
    return last->qpn == next->qpn && last->to == next->from && next->to != QPS_ERR;
}

static bool is_next_cm_state(const struct ev_cm_state *last, const struct ev_cm_state *next)
{
    return last->number == next->number && last->to == next->from;
}

/* Returns true if @e continues the state change at the newest stop. */
static bool state_goes_on(const struct builder *b, const struct ev *e, const struct run *r)
{
    return r->first.kind == e->kind && r->stop == b->l->n_stops - 1 &&
           (e->kind == EV_qp_state ? is_next_state(&r->first.u.qp_state, &e->u.qp_state)
                                   : is_next_cm_state(&r->first.u.cm_state, &e->u.cm_state));
}

static const char *new_state(const struct ev *e)
{
    return e->kind == EV_qp_state ? enum_name(&enum_qp_state, e->u.qp_state.to)
                                  : enum_name(&enum_cm_state, e->u.cm_state.to);
}

/* Joins successive changes in one note, "RESET -> INIT -> RTR -> RTS", if no other event came
 * between.  The stop is that of the last change: every picture shows its time.
 */
void take_state(struct builder *b, const struct ev *e, uint32_t column)
{
    struct run *r = &b->runs[column];

    if (state_goes_on(b, e, r)) {
        struct ladder_stop *s = &b->l->stops[r->stop];
        struct text t = {s->note, strlen(s->note), sizeof(s->note), false};
        struct text title = text_on(s->title, sizeof(s->title));

        text_addf(&t, " -> %s", new_state(e));
        past_add_line(&title, b->past, e);
        s->id = e->id;
        s->at_ns = e->at_ns;
        r->first = *e;
    } else {
        builder_say(b, builder_stop(b, e, column), e);
        run_begin(b, e);
    }
}

/* The entry of a running timer; with @add, a free entry if there is none.  NULL if there is
 * neither.
 */
static struct armed *armed_find(struct builder *b, uint32_t host, uint32_t qpn, uint32_t timer,
                                bool add)
{
    struct armed *spare = NULL;

    for (size_t i = 0; i < ARMED_MAX; i++) {
        struct armed *a = &b->armed[i];

        if (!a->runs)
            spare = a;
        else if (a->host == host && a->qpn == qpn && a->timer == timer)
            return a;
    }
    return add ? spare : NULL;
}

/* Records that event @e armed a timer at @stop. */
static void arm(struct builder *b, const struct ev *e, uint32_t stop)
{
    const struct ev_timer *t = &e->u.timer;
    struct armed *a = armed_find(b, t->host, t->qpn, t->timer, true);

    if (a)
        *a = (struct armed){true, t->host, t->qpn, t->timer, e->id, e->id, e->at_ns, stop};
}

/* Returns true if the timer event @e extends a timer that runs, and notes that.  The picture shows
 * when the timer was armed, and not its extensions.
 */
static bool extend(struct builder *b, const struct ev *e)
{
    const struct ev_timer *t = &e->u.timer;
    struct armed *a = armed_find(b, t->host, t->qpn, t->timer, false);

    if (!a || e->cause != a->last)
        return false;
    a->last = e->id;
    return true;
}

static void disarm(struct builder *b, uint32_t host, uint32_t qpn, uint32_t timer)
{
    struct armed *a = armed_find(b, host, qpn, timer, false);

    if (a)
        a->runs = false;
}

/* Arms a timer at the newest stop if that has the same time and lifeline, else at a new stop. */
void take_timer(struct builder *b, const struct ev *e)
{
    struct ladder *l = b->l;
    const uint32_t column = builder_column(l, e->u.timer.host);
    const struct ladder_stop *newest = l->n_stops ? &l->stops[l->n_stops - 1] : NULL;

    if (column == LADDER_NONE || extend(b, e))
        return;
    if (newest && newest->column == column && newest->at_ns == e->at_ns && !newest->on_wire)
        arm(b, e, l->n_stops - 1);
    else
        arm(b, e, builder_stop(b, e, column));
}

void take_timer_off(struct builder *b, const struct ev *e)
{
    disarm(b, e->u.timer_off.host, e->u.timer_off.qpn, e->u.timer_off.timer);
}

void take_before(struct builder *b, const struct ev *e)
{
    switch (e->kind) {
    case EV_post_send:
    case EV_post_recv:
    case EV_post_srq_recv:
        learn_ring(b, e);
        break;
    case EV_timer:
        if (!extend(b, e))
            arm(b, e, LADDER_NONE);
        break;
    case EV_timer_off:
        take_timer_off(b, e);
        break;
    case EV_timeout:
        disarm(b, e->u.timeout.host, e->u.timeout.qpn, e->u.timeout.timer);
        break;
    default:
        break;
    }
}

void take_timeout(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct armed *a = armed_find(b, e->u.timeout.host, e->u.timeout.qpn, e->u.timeout.timer, false);
    const uint32_t stop = builder_stop(b, e, column);
    struct ladder_saying how = {.first = e, .armed_ns = UINT64_MAX};

    if (a) {
        how.armed_ns = a->at_ns;
        how.armed = a->stop == LADDER_NONE ? a->id : 0;
        l->timers[l->n_timers++] = (struct ladder_timer){a->stop, stop};
        a->runs = false;
    }
    say(b, stop, &how);
    run_begin(b, e);
}

/* Omits the note of a retry right after its timeout. */
void take_retry(struct builder *b, const struct ev *e, uint32_t column)
{
    const struct ev *before = &b->runs[column].first;
    const bool timed_out = before->kind == EV_timeout && before->at_ns == e->at_ns &&
                           before->u.timeout.qpn == e->u.retry.qpn;

    if (!timed_out)
        builder_say(b, builder_stop(b, e, column), e);
}

/* Draws a call of librdmacm.  It is no event, and has a place between two of them. */
static void take_call(struct builder *b, const struct past_call *call, uint32_t column)
{
    struct ladder *l = b->l;
    struct ladder_stop *s;
    struct text note, title;

    RDL_ASSERT(l->n_stops < l->cap_stops);
    s = &l->stops[l->n_stops++];
    note = text_on(s->note, sizeof(s->note));
    title = text_on(s->title, sizeof(s->title));
    s->id = call->id;
    s->at_ns = call->at_ns;
    s->column = column;
    s->arrow = LADDER_NONE;
    s->is_call = true;
    s->tone = TONE_CALL;
    ladder_add_call(&note, call, b->names);
    text_addf(&title, "%s: %s", l->columns[column].name, s->note);
    b->runs[column].first.kind = EV_COUNT;
}

void take_calls(struct builder *b, ev_id id)
{
    const struct past *past = b->past;

    for (; b->next_call < past->n_calls; b->next_call++) {
        const struct past_call c = past->call(past->ctx, b->next_call);
        const uint32_t column = builder_column(b->l, c.host);

        if (c.id >= id)
            return;
        if (column != LADDER_NONE && builder_in_range(b->l, c.id) && !b->l->left.from &&
            b->l->n_stops + 2 <= b->l->cap_stops)
            take_call(b, &c, column);
    }
}

/* SPDX-License-Identifier: MIT */
/* What is said beside the lifelines: posts, completions, states, timers. */
#include <string.h>

#include "emu/base/assert.h"
#include "viz/ladder_builder.h"
#include "viz/ladder_words.h"

uint32_t builder_stop(struct builder *b, const struct ev *e, uint32_t column)
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

void builder_say(struct builder *b, uint32_t stop, const struct ev *e)
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
void take_run(struct builder *b, const struct ev *e, uint32_t column)
{
    if (b->run.kind != EV_COUNT && ladder_say_together(&b->run, b->run_last, e)) {
        b->run_last = wr_id_of(e);
    } else {
        builder_stop(b, e, column);
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

static bool ring_known(const struct builder *b, uint32_t host, uint32_t queue)
{
    for (uint32_t i = 0; i < b->n_rings; i++) {
        if (b->rings[i].host == host && b->rings[i].queue == queue)
            return true;
    }
    return false;
}

void take_post(struct builder *b, const struct ev *e, uint32_t column)
{
    const struct ring ring = {builder_host(e), post_queue(e)};

    if (!ring_known(b, ring.host, ring.queue) && b->n_rings < RINGS_MAX)
        b->rings[b->n_rings++] = ring;
    take_run(b, e, column);
}

/* A kick goes into the note of the post before it, if nothing came between.  Those of completion
 * and control queues are left out.
 */
void take_kick(struct builder *b, const struct ev *e, uint32_t column)
{
    if (!ring_known(b, e->u.kick.host, e->u.kick.queue))
        return;
    if (b->run.kind != EV_COUNT && b->run.at_ns == e->at_ns &&
        builder_host(&b->run) == e->u.kick.host && post_queue(&b->run) == e->u.kick.queue) {
        b->run_kicked = true;
        say_run(b);
    } else {
        builder_say(b, builder_stop(b, e, column), e);
    }
}

/* "RESET -> INIT -> RTR -> RTS" in one note if nothing came between. */
void take_state(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;

    if (b->run.kind == EV_qp_state && b->run.u.qp_state.host == e->u.qp_state.host &&
        b->run.u.qp_state.qpn == e->u.qp_state.qpn && b->run.u.qp_state.to == e->u.qp_state.from &&
        e->u.qp_state.to != QPS_ERR) {
        struct ladder_stop *s = &l->stops[l->n_stops - 1];
        struct text t = {s->note, strlen(s->note), sizeof(s->note), false};

        text_addf(&t, " -> %s", enum_name(&enum_qp_state, e->u.qp_state.to));
        s->at_ns = e->at_ns;
    } else {
        builder_say(b, builder_stop(b, e, column), e);
    }
    b->run = *e;
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
void take_timer(struct builder *b, const struct ev *e)
{
    struct ladder *l = b->l;
    const uint32_t column = builder_column(l, e->u.timer.host);
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
        a->stop = builder_stop(b, e, column);
}

void take_timer_off(struct builder *b, const struct ev *e)
{
    const uint32_t column = builder_column(b->l, e->u.timer_off.host);
    struct armed *a = armed_find(b, column, e->u.timer_off.qpn, e->u.timer_off.timer);

    if (a)
        a->stop = LADDER_NONE;
}

void take_timeout(struct builder *b, const struct ev *e, uint32_t column)
{
    struct ladder *l = b->l;
    struct armed *a = armed_find(b, column, e->u.timeout.qpn, e->u.timeout.timer);
    const uint32_t stop = builder_stop(b, e, column);
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
void take_retry(struct builder *b, const struct ev *e, uint32_t column)
{
    const bool timed_out = b->run.kind == EV_timeout && b->run.u.timeout.host == e->u.retry.host &&
                           b->run.u.timeout.qpn == e->u.retry.qpn && b->run.at_ns == e->at_ns;

    if (!timed_out)
        builder_say(b, builder_stop(b, e, column), e);
}

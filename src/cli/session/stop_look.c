/* SPDX-License-Identifier: MIT */
#include "cli/session/stop_look.h"

#include <string.h>

#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/history.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

/* Returns the scope of names in @stop: it does not depend on the running step. */
static struct scope scope_of(const struct session *s, const struct stop *stop)
{
    struct scope in = session_outer_scope(s);

    in.host = stop->host;
    in.since = &stop->tick;
    return in;
}

/* A condition that cannot be evaluated does not hold: its object may not exist yet. */
static bool holds(const struct session *s, const struct stop *stop, struct diag *reterr)
{
    const struct scope in = scope_of(s, stop);
    bool ret = false;

    return expr_holds(&in, stop->when, (struct span){0, 0}, &ret, reterr) && ret;
}

/* Reads the watched value.  It is absent while its object does not exist. */
static struct operand value(const struct session *s, const struct stop *stop, struct diag *reterr)
{
    const struct scope in = scope_of(s, stop);
    const struct question q = {&in, {0, 0}, reterr};
    struct operand o;

    if (operand_read(&q, stop->when, NULL, &o))
        return o;
    operand_done(&o);
    return (struct operand){.kind = OPERAND_ABSENT};
}

bool stop_arrive(const struct session *s, struct stop *stop, struct diag *reterr)
{
    reterr->kind = DIAG_NONE;
    stop->tick = rdl_tick(s->lab);
    stop->stayed = stop->changed = 0;
    if (stop->watches) {
        operand_done(&stop->is);
        stop->is = value(s, stop, reterr);
    } else {
        stop->held = holds(s, stop, reterr);
    }
    return reterr->kind == DIAG_NONE;
}

/* Returns the last event since the last check of @stop that an EXPR_HAPPENS of @e is about; 0:
 * none.
 */
static ev_id event_in(const struct question *q, const struct expr *e)
{
    ev_id id = 0, other = 0;

    if (e->kind == EXPR_HAPPENS && expr_happened(q, e, &id))
        return id;
    /* Depth is bounded by the parser. */
    if (e->a)
        id = event_in(q, e->a);
    if (e->b)
        other = event_in(q, e->b);
    return other > id ? other : id;
}

static bool condition_is_hit(const struct session *s, struct stop *stop)
{
    const bool now = holds(s, stop, NULL);
    const bool hit = now && (!stop->held || stop->momentary);
    const struct scope in = scope_of(s, stop);
    const struct question q = {&in, {0, 0}, NULL};
    ev_id by = 0;

    stop->held = now;
    if (!hit)
        return false;
    by = event_in(&q, stop->when);
    stop->at = by ? by : ev_id_of(rdl_tick(s->lab), 0);
    return true;
}

static bool value_is_hit(const struct session *s, struct stop *stop)
{
    struct operand now = value(s, stop, NULL);
    const ev_id stayed = stop->stayed, changed = stop->changed;
    struct text t = text_on(stop->change, sizeof(stop->change));

    stop->stayed = stop->changed = 0;
    if (operand_equal(&stop->is, &now)) {
        operand_done(&now);
        return false;
    }
    operand_add(&t, &stop->is);
    text_add(&t, " -> ");
    operand_add(&t, &now);
    stop->at = changed ? changed : ev_id_of(rdl_tick(s->lab), 0);
    stop->behind = stayed;
    operand_done(&stop->is);
    stop->is = now;
    return true;
}

bool stop_look(const struct session *s, struct stop *stop)
{
    const uint64_t tick = rdl_tick(s->lab);
    bool hit;

    if (stop->momentary && tick == stop->tick)
        return false;
    hit = stop->watches ? value_is_hit(s, stop) : condition_is_hit(s, stop);
    stop->tick = tick;
    return hit;
}

/* Returns true if an event fulfils the conditions of @filter only at some time or after some
 * attempts.
 */
static bool filters_by_time(const struct ev_filter *filter)
{
    for (size_t i = 0; i < filter->n; i++) {
        if (!filter->conditions[i].field->repeats)
            return true;
    }
    return false;
}

static bool depends_on_time(const struct session *s, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_EVENT:
        return e->number > rdl_tick(s->lab);
    case EXPR_COUNT:
        return true;
    case EXPR_HAPPENS:
        return filters_by_time(e->filter);
    case EXPR_PATH:
        return e->word == EXPR_WORD_TIME || e->word == EXPR_WORD_TICK;
    default: /* depth is bounded by the parser */
        return (e->a && depends_on_time(s, e->a)) || (e->b && depends_on_time(s, e->b));
    }
}

bool stop_depends_on_time(const struct session *s, const struct stop *stop)
{
    return depends_on_time(s, stop->when);
}

/* Continues *@hash, by FNV-1a, with the values of the paths in @e. */
static void add_hash(const struct question *q, const struct expr *e, uint64_t *hash)
{
    char buf[DIAG_MESSAGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct operand o;

    if (e->kind == EXPR_PATH) {
        if (operand_read(q, e, NULL, &o))
            operand_add(&t, &o);
        for (size_t i = 0; i < o.n_bytes; i++)
            *hash = (*hash ^ o.bytes[i]) * 0x100000001b3u;
        operand_done(&o);
    }
    for (const char *c = buf; *c; c++)
        *hash = (*hash ^ (unsigned char)*c) * 0x100000001b3u;
    if (e->a)
        add_hash(q, e->a, hash);
    if (e->b)
        add_hash(q, e->b, hash);
}

void stop_add_hash(const struct session *s, const struct stop *stop, uint64_t *hash)
{
    const struct scope in = scope_of(s, stop);
    const struct question q = {&in, {0, 0}, NULL};

    add_hash(&q, stop->when, hash);
}

/* Appends the events between which a value changed: "between #36.2 and #36.3". */
static void add_change(struct text *t, const struct stop *stop)
{
    const bool before_end = ev_row(stop->at) != 0;

    if (!stop->behind) {
        text_add(t, "at ");
        ev_add_id(t, stop->at);
        return;
    }
    text_add(t, before_end ? "between " : "behind ");
    ev_add_id(t, stop->behind);
    if (!before_end)
        return;
    text_add(t, " and ");
    ev_add_id(t, stop->at);
}

void stop_add_what(struct text *t, const struct stop *stop)
{
    if (stop->host[0])
        text_addf(t, "on %s: ", stop->host);
    text_add(t, stop->text ? stop->text : "");
}

void stop_add_hit(struct text *t, const struct stop *stop)
{
    text_addf(t, "%s %lu ", stop->watches ? "watch" : "break", (unsigned long)stop->id);
    if (stop->watches) {
        add_change(t, stop);
    } else {
        text_add(t, "at ");
        ev_add_id(t, stop->at);
    }
    text_add(t, ", ");
    stop_add_what(t, stop);
    if (stop->watches)
        text_addf(t, ": %s", stop->change);
}

bool stop_attach(struct session *s, struct stop *stop, struct span at)
{
    return expr_attach(s->lab, stop->when, at, &s->diag);
}

/* At an event: notes which watched values have changed. */
static void hear(void *ctx, const struct ev *e)
{
    const struct session *s = ctx;

    if (s->stops.ignored && !s->history->replay.look)
        return;
    for (struct stop *stop = s->stops.first; stop; stop = stop->next) {
        struct operand now;

        if (!stop->enabled || !stop->watches)
            continue;
        now = value(s, stop, NULL);
        if (operand_equal(&stop->is, &now)) {
            stop->stayed = e->id;
            stop->changed = 0; /* it is again what it was */
        } else if (!stop->changed) {
            stop->changed = e->id;
        }
        operand_done(&now);
    }
}

bool stops_listen(struct session *s)
{
    if (!stops_watch(&s->stops)) {
        rdl_unlisten(s->lab, s->stops.listener);
        s->stops.listener = NULL;
    } else if (!s->stops.listener && rdl_listen(s->lab, hear, s, &s->stops.listener) != RDL_OK) {
        return diag_status(&s->diag, (struct span){0, 0}, "watch", RDL_ERR_NOMEM);
    }
    return true;
}

bool stops_move(struct session *s)
{
    struct diag ignored;

    for (struct stop *stop = s->stops.first; stop; stop = stop->next) {
        if (!stop_attach(s, stop, (struct span){0, 0}))
            return false;
        if (stop->owner == STOP_OF_PROMPT) /* that of the program may hold from the beginning */
            (void)stop_arrive(s, stop, &ignored);
    }
    return stops_listen(s);
}

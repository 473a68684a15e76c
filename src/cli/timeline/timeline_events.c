/* SPDX-License-Identifier: MIT */
#include "cli/timeline/timeline_events.h"

#include <stdlib.h>

#include "cli/timeline/timeline_put.h"
#include "emu/facts/enum/object.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "process/must.h"

struct timeline_qp {
    uint32_t host, qpn;
};

/* Returns the index of event @id in the past, or past->n. */
static size_t index_of(const struct past *p, ev_id id)
{
    const size_t i = id ? past_lower_bound(p, id) : p->n;

    return i < p->n && past_at(p, i)->id == id ? i : p->n;
}

/* Returns the index of the event of @s.  A call of a program is no event, and has that of the first
 * event behind it, or of the last one.
 */
static size_t index_of_stop(const struct past *p, const struct ladder_stop *s)
{
    const size_t i = s->is_call ? past_lower_bound(p, s->id) : index_of(p, s->id);

    return s->is_call && i == p->n && i > 0 ? i - 1 : i;
}

/* An event that the page shows if another one was caused by it. */
static bool is_told(const struct timeline_events *e, size_t i)
{
    return e->number[i] != TIMELINE_NO_EVENT || ev_is_for(past_at(e->past, i)->kind, EV_FOR_WHY);
}

/* Returns the index of the next event in the chain of causes of event @i that is shown.  Returns
 * past->n if there is none; *@ret_missing is then the cause that is not recorded, 0: none.
 */
static size_t cause_of(const struct timeline_events *e, size_t i, ev_id *ret_missing)
{
    ev_id id = past_at(e->past, i)->id;

    *ret_missing = 0;
    for (;;) {
        const ev_id cause = past_at(e->past, i)->cause;

        if (cause == 0 || cause >= id) /* a trace of a stranger may name anything */
            return e->past->n;
        i = index_of(e->past, cause);
        if (i == e->past->n) {
            *ret_missing = cause;
            return i;
        }
        if (is_told(e, i))
            return i;
        id = cause;
    }
}

void timeline_events_init(struct timeline_events *e, const struct past *p, const struct ladder *l)
{
    *e = (struct timeline_events){.past = p, .number = must_malloc((p->n + 1) * sizeof(uint32_t))};
    for (size_t i = 0; i < p->n; i++)
        e->number[i] = TIMELINE_NO_EVENT;
    for (uint32_t k = 0; k < l->n_stops; k++)
        e->number[index_of_stop(p, &l->stops[k])] = 0;
    for (size_t i = p->n; i > 0; i--) { /* a cause comes before what it causes */
        ev_id missing;
        size_t cause;

        if (e->number[i - 1] == TIMELINE_NO_EVENT)
            continue;
        cause = cause_of(e, i - 1, &missing);
        if (cause < p->n)
            e->number[cause] = 0;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (e->number[i] != TIMELINE_NO_EVENT)
            e->number[i] = e->n++;
    }
}

void timeline_events_done(struct timeline_events *e)
{
    free(e->number);
    free(e->qps);
}

uint32_t timeline_event(const struct timeline_events *e, const struct ladder_stop *s)
{
    const size_t i = index_of_stop(e->past, s);

    return i < e->past->n ? e->number[i] : TIMELINE_NO_EVENT;
}

/* Returns the number of the queue pair that the event is about, from 1; 0: it is about none. */
static uint32_t qp_of(struct timeline_events *e, const struct ev *ev)
{
    const struct ev_field *f = ev_field_find(ev->kind, "qpn");
    const uint32_t host = past_host_of(ev);
    const uint32_t qpn = f ? (uint32_t)ev_field_number(ev, f) : 0;

    if (qpn == 0 || host == EV_HOST_NONE || ev->kind == EV_drop)
        return 0;
    for (size_t i = e->n_qps; i > 0; i--) {
        if (e->qps[i - 1].host == host && e->qps[i - 1].qpn == qpn)
            return (uint32_t)i;
    }
    e->qps = must_grow(e->qps, e->n_qps, &e->cap_qps, sizeof(*e->qps));
    e->qps[e->n_qps++] = (struct timeline_qp){host, qpn};
    return (uint32_t)e->n_qps;
}

static void put_event(FILE *out, struct timeline_events *e, size_t i, const struct ev *before)
{
    const struct ev *ev = past_at(e->past, i);
    const ev_id before_id = before ? before->id : 0;
    const uint32_t qp = qp_of(e, ev);
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    ev_id missing;
    const size_t cause = cause_of(e, i, &missing);

    past_add_text(&t, e->past, ev);
    fprintf(out, "%s\n[%llu,%u,%llu,%u,", before ? "," : "",
            (unsigned long long)(ev_tick(ev->id) - ev_tick(before_id)), ev_row(ev->id),
            (unsigned long long)(ev->at_ns - (before ? before->at_ns : 0)), (unsigned)ev->kind);
    put_string(out, buf);
    t = text_on(buf, sizeof(buf));
    if (missing)
        ev_add_id(&t, missing);
    if (missing)
        fprintf(out, ",\"%s\"", buf);
    else if (cause < e->past->n || qp)
        fprintf(out, ",%u", cause < e->past->n ? e->number[i] - e->number[cause] : 0);
    if (qp)
        fprintf(out, ",%u", qp);
    fputc(']', out);
}

void timeline_events_put(FILE *out, struct timeline_events *e)
{
    const struct ev *before = NULL;

    fputs("\"kinds\":[", out);
    for (uint32_t k = 0; k < EV_COUNT; k++)
        fprintf(out, "%s\"%s\"", k ? "," : "", ev_schema(k)->name);
    fputs("],\n\"events\":[", out);
    for (size_t i = 0; i < e->past->n; i++) {
        if (e->number[i] == TIMELINE_NO_EVENT)
            continue;
        put_event(out, e, i, before);
        before = past_at(e->past, i);
    }
    fputs("],\n\"qps\":[", out);
    for (size_t i = 0; i < e->n_qps; i++) {
        char buf[2 * EV_NAME_BYTES + 16];
        struct text t = text_on(buf, sizeof(buf));

        ev_names_object(e->past->names, &t, e->qps[i].host, OBJ_QP, e->qps[i].qpn);
        fputs(i ? "," : "", out);
        put_string(out, buf);
    }
    fputs("],\n", out);
}

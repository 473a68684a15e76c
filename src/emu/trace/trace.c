/* SPDX-License-Identifier: MIT */
#include "emu/trace/trace.h"

#include <string.h>

#include "emu/trace/emit.h"
#include "emu/trace/event.h"

void trace_hand_out(const struct trace *t, enum ev_kind kind, const void *fields, size_t bytes,
                    ev_id id)
{
    struct ev e = {.at_ns = t->now_ns, .id = id, .cause = t->cause, .kind = kind};

    RDL_ASSERT(bytes <= sizeof(e.u));
    memcpy(&e.u, fields, bytes);
    for (const struct trace_sink *s = t->sinks->first; s; s = s->next) {
        if (ev_set_has(&s->kinds, kind))
            s->event(s->ctx, &e);
    }
}

static void sum_kinds(struct trace_sinks *s)
{
    s->kinds = ev_set_none;
    for (const struct trace_sink *i = s->first; i; i = i->next) {
        for (size_t k = 0; k < EV_SET_WORDS; k++)
            s->kinds.w[k] |= i->kinds.w[k];
    }
}

void trace_sink_add(struct trace_sinks *s, struct trace_sink *sink)
{
    sink->next = s->first;
    s->first = sink;
    sum_kinds(s);
}

void trace_sink_remove(struct trace_sinks *s, struct trace_sink *sink)
{
    struct trace_sink **at = &s->first;

    while (*at && *at != sink)
        at = &(*at)->next;
    RDL_ASSERT(*at);
    *at = sink->next;
    sink->next = NULL;
    sum_kinds(s);
}

void trace_sink_hear(struct trace_sinks *s, struct trace_sink *sink, const struct ev_set *kinds)
{
    sink->kinds = *kinds;
    sum_kinds(s);
}

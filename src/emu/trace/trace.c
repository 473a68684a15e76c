/* SPDX-License-Identifier: MIT */
#include "emu/trace/trace.h"

void trace_hand_out(const struct trace *t, struct ev *e, ev_id id)
{
    e->at_ns = t->now_ns;
    e->id = id;
    e->cause = t->cause;
    for (const struct trace_sink *s = t->sinks->first; s; s = s->next)
        s->event(s->ctx, e);
}

void trace_sink_add(struct trace_sinks *s, struct trace_sink *sink)
{
    sink->next = s->first;
    s->first = sink;
}

void trace_sink_remove(struct trace_sinks *s, struct trace_sink *sink)
{
    struct trace_sink **at = &s->first;

    while (*at && *at != sink)
        at = &(*at)->next;
    RDL_ASSERT(*at);
    *at = sink->next;
    sink->next = NULL;
}

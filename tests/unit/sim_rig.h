/* SPDX-License-Identifier: MIT */
/* A simulator with a trace, for tests of parts below a lab. */
#ifndef TESTS_UNIT_SIM_RIG_H
#define TESTS_UNIT_SIM_RIG_H

#include "testing.h"

#include "emu/sim/sim.h"
#include "emu/trace/event.h"

struct sim_rig {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    struct sim sim;
};

/* @on_event gets all events.  @ctx is the first argument of @on_event and of @handlers. */
static inline void sim_rig_init(struct sim_rig *r, sim_handler *const *handlers,
                                void (*on_event)(void *ctx, const struct ev *e), void *ctx)
{
    r->arena = arena_new((size_t)1 << 30);
    assert_non_null(r->arena);
    r->sink = (struct trace_sink){on_event, ctx, ev_set_all, NULL};
    r->trace.sinks = &r->sinks;
    trace_sink_add(&r->sinks, &r->sink);
    assert_true(sim_init(&r->sim, r->arena, &r->trace, handlers, ctx));
}

static inline void sim_rig_done(struct sim_rig *r)
{
    arena_free(r->arena);
}

#endif

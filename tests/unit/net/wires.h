/* SPDX-License-Identifier: MIT */
/* A network with hosts that only count frames, a clock, and the faults and events on the way. */
#ifndef TESTS_UNIT_NET_WIRES_H
#define TESTS_UNIT_NET_WIRES_H

#include "testing.h"

#include <string.h>

#include "emu/facts/enum/fault.h"
#include "emu/net/net.h"
#include "emu/trace/event.h"
#include "emu/wire/eth.h"

#define HOSTS 3u

struct fixture {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct ev last_ev[EV_COUNT];
    struct trace trace;
    struct sim sim;
    struct net net;
    uint32_t got[HOSTS]; /* frames delivered */
    uint64_t got_at[HOSTS];
    uint32_t left[NET_EXTS_MAX]; /* frames that left the lab, by external port */
    uint8_t last[2048];
    uint32_t last_len;
    ev_id last_tx; /* tx event of the last frame delivered */
    /* event of the last frame whose bytes were recorded because a fault changed them */
    ev_id kept_tx;
    uint32_t n_kept; /* frames that were recorded as they were sent */
};

static inline void on_deliver(void *ctx, uint32_t host, struct frame *f)
{
    struct fixture *x = ctx;

    x->got[host]++;
    x->got_at[host] = x->trace.now_ns;
    x->last_tx = f->tx;
    x->last_len = f->len;
    memcpy(x->last, f->bytes, f->len < sizeof(x->last) ? f->len : sizeof(x->last));
}

static inline void on_leave(void *ctx, uint32_t ext, const struct frame *f)
{
    struct fixture *x = ctx;

    x->left[ext]++;
    x->last_len = f->len;
    memcpy(x->last, f->bytes, f->len < sizeof(x->last) ? f->len : sizeof(x->last));
}

static inline void on_keep(void *ctx, const struct frame *f, bool changed)
{
    struct fixture *x = ctx;

    if (changed)
        x->kept_tx = f->tx;
    else
        x->n_kept++;
}

static inline void on_event(void *ctx, const struct ev *e)
{
    ((struct fixture *)ctx)->last_ev[e->kind] = *e;
}

static const struct net_ops ops = {on_deliver, on_leave, on_keep, NULL};

static inline void arrive(void *ctx, struct sim_item item)
{
    net_arrive(&((struct fixture *)ctx)->net, item);
}

static inline void lost(void *ctx, struct sim_item item)
{
    net_lost(&((struct fixture *)ctx)->net, item);
}

static sim_handler *const handlers[SIM_KIND_COUNT] = {[SIM_ARRIVE] = arrive, [SIM_LOST] = lost};

static inline int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->arena = arena_new((size_t)1 << 30);
    f->sink = (struct trace_sink){on_event, f, ev_set_all, NULL};
    f->trace.sinks = &f->sinks;
    trace_sink_add(&f->sinks, &f->sink);
    assert_true(sim_init(&f->sim, f->arena, &f->trace, handlers, f));
    net_init(&f->net, f->arena, &f->sim, &ops, f, 7);
    *state = f;
    return 0;
}

/* Checks that every frame sent or copied ended exactly once. */
static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    const struct net_counts *c = &f->net.counts;

    assert_int_equal(c->in_flight, 0);
    assert_int_equal(c->sent + c->copied, c->delivered + c->lost + c->dropped);
    arena_free(f->arena);
    test_free(f);
    return 0;
}

static inline void run(struct fixture *f)
{
    while (sim_next_ns(&f->sim) != UINT64_MAX)
        sim_dispatch(&f->sim);
}

/* Adds a link with 1 us and 8 Gbit/s. */
static inline enum rdl_status try_join(struct fixture *f, enum net_node node, uint32_t index,
                                       uint32_t host, uint32_t loss_ppm, uint32_t *ret)
{
    const struct net_link_config config = {
        .end = {{NET_HOST, host, 0}, {node, index, 0}},
        .latency_ns = 1000,
        .rate_bps = 8000000000u,
        .loss_ppm = loss_ppm,
    };

    return net_link_add(&f->net, &config, ret);
}

static inline uint32_t join(struct fixture *f, enum net_node node, uint32_t index, uint32_t host,
                            uint32_t loss_ppm)
{
    uint32_t link;

    assert_int_equal(try_join(f, node, index, host, loss_ppm, &link), RDL_OK);
    return link << 1; /* the host's end */
}

static inline uint32_t add_switch(struct fixture *f)
{
    uint32_t sw;

    assert_int_equal(net_switch_add(&f->net, "sw", &sw), RDL_OK);
    return sw;
}

/* Adds a copy of @fault, and returns it. */
static inline const struct net_fault *add_fault(struct fixture *f, const struct net_fault *fault)
{
    uint64_t handle;

    assert_int_equal(net_fault_add(&f->net, fault, &handle), RDL_OK);
    return slots_get(&f->net.faults, handle);
}

static inline struct frame *frame_of(struct fixture *f, uint32_t bytes, uint8_t to, uint8_t from)
{
    struct frame *fr = frame_new(f->arena, bytes);

    assert_non_null(fr);
    fr->len = bytes;
    memset(fr->bytes, 0, bytes);
    fr->bytes[5] = to;
    fr->bytes[11] = from;
    fr->note.host = from - 1u;
    return fr;
}

/* 76 bytes and 24 of gap: 100 ns at 8 Gbit/s. */
static inline struct frame *frame(struct fixture *f, uint8_t to, uint8_t from, uint32_t psn)
{
    struct frame *fr = frame_of(f, 76, to, from);

    fr->note.psn = psn;
    return fr;
}

/* Drops the first frame of all. */
static const struct net_fault any = {
    .kind = FLT_DROP,
    .match = {{NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY}},
    .nth = 1,
    .count = 1};

/* Adds an external port with a link to host 0; *@ret_end is the host's end. */
static inline uint32_t ext_to_host(struct fixture *f, uint32_t *ret_end)
{
    const uint32_t ext = net_ext_add(&f->net, "outside");
    const struct net_end a = {NET_EXT, ext, 0}, b = {NET_HOST, 0, 0};
    const struct net_link_config config = {
        .end = {a, b}, .latency_ns = 1000, .rate_bps = 8000000000u};
    uint32_t link;

    assert_int_equal(net_link_add(&f->net, &config, &link), RDL_OK);
    f->net.exts[ext].link_end = link << 1;
    *ret_end = link << 1 | 1;
    return ext;
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif

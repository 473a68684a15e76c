/* SPDX-License-Identifier: MIT */
/* A lab: creation, clock, steps and waits. */
#include "rdmalab/lab.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/lab/bus.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/lab/lnet.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/event.h"
#include "emu/virtio/fault.h"

/* half the address space on 32 bits */
#define ARENA_BYTES_MOST  ((size_t)1 << (sizeof(size_t) > 4 ? 36 : 31))
#define ARENA_BYTES_LEAST ((size_t)1 << 30)
#define CLOCK_END_NS      (UINT64_C(1) << 62) /* 146 years: no delay added to it overflows */
#define CHECK_EVERY       256u                /* ticks between checks of what changed */

/* The host in which this tick happens; counts the tick. */
static struct host *host_of_tick(struct lab_state *w, uint32_t index)
{
    struct host *h = w->hosts[index];

    h->n_ticks++;
    return h;
}

static void on_doorbell(void *ctx, struct sim_item item)
{
    struct host *h = host_of_tick(ctx, item.target);
    const struct fn_queue q = fn_queue_of(item.arg);
    const struct pci_fn *f = h->functions[q.number];

    f->ops->doorbell(f->dev, q.queue);
}

static void on_irq(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    host_interrupt(w, host_of_tick(w, item.target), fn_irq_of(item.arg));
}

static void on_guest_timer(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.timers++;
    guest_net_timer(&host_of_tick(w, item.target)->guest.net, item.arg);
}

static void on_cm_timer(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.timers++;
    cm_agent_timer(&host_of_tick(w, item.target)->guest.cm, item.arg);
}

static void on_qp_timer(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;
    const struct rdma_device *d = &host_of_tick(w, item.target)->device;

    w->progress.timers++;
    d->ops->timer(d->dev, item.arg);
}

static void on_egress(void *ctx, struct sim_item item)
{
    struct eth_port *p = &host_of_tick(ctx, item.target)->port;

    if (p->sw)
        eswitch_egress(p->sw);
    else
        eth_port_egress(p);
}

static void on_arrive(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.packets++;
    net_arrive(&w->net, item);
}

static void on_lost(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.packets++;
    net_lost(&w->net, item);
}

static void on_late_data(void *ctx, struct sim_item item)
{
    (void)host_of_tick(ctx, item.target);
    virtio_late_arrives((struct virtio_late *)(uintptr_t)item.arg);
}

static void on_go_on(void *ctx, struct sim_item item)
{
    struct host *h = host_of_tick(ctx, item.target);

    const struct fn_queue q = fn_queue_of(item.arg);

    virtio_go_on(h->functions[q.number]->dev, q.queue);
}

static void on_router(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.timers++;
    router_run(host_of_tick(w, item.target)->rnic->router);
}

static void on_iov(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.timers++;
    guest_iov_timer(&host_of_tick(w, item.target)->guest);
}

static void on_vrnic(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.timers++;
    pool_wait_ends(host_of_tick(w, item.target)->vrnic, item.arg != 0);
}

static void on_lnet(void *ctx, struct sim_item item)
{
    struct lab_state *w = ctx;

    w->progress.timers += item.arg != 0;
    lab_lnet_tick(host_of_tick(w, item.target), item.arg);
}

sim_handler *const lab_handlers[SIM_KIND_COUNT] = {
    [SIM_DOORBELL] = on_doorbell,   [SIM_IRQ] = on_irq,       [SIM_QP_TIMER] = on_qp_timer,
    [SIM_EGRESS] = on_egress,       [SIM_ARRIVE] = on_arrive, [SIM_LOST] = on_lost,
    [SIM_LATE_DATA] = on_late_data, [SIM_GO_ON] = on_go_on,   [SIM_GUEST_TIMER] = on_guest_timer,
    [SIM_CM_TIMER] = on_cm_timer,   [SIM_IOV] = on_iov,       [SIM_VRNIC] = on_vrnic,
    [SIM_ROUTER] = on_router,       [SIM_LNET] = on_lnet,
};

static void deliver(void *ctx, uint32_t host, struct frame *f)
{
    struct eth_port *p = &host_of_tick(ctx, host)->port;

    if (p->sw)
        eswitch_deliver(p->sw, f);
    else
        eth_port_deliver(p, f);
}

/* For the record and the watch. */
RDL_COLD __attribute__((noinline)) static void keep_for(const struct rdl_lab *lab,
                                                        const struct frame *f, bool changed)
{
    if (lab->record && !record_paused(lab->record))
        record_frame(lab->record, f->tx, f->bytes, f->len);
    /* Only frames of RDMA functions are known to be well formed. */
    if (lab->watch && !changed && f->note.qpn != 0)
        watch_frame(lab->watch, f->bytes, f->len);
}

static void keep(void *ctx, const struct frame *f, bool changed)
{
    const struct rdl_lab *lab = ((struct lab_state *)ctx)->lab;

    if (lab->record || lab->watch)
        keep_for(lab, f, changed);
}

const struct net_ops lab_net_ops = {deliver, port_leave, keep, lab_sent};

/* Reserves the arena.  Reserving costs only address space, which a resource limit or a tool like
 * valgrind may restrict.  The reservation bounds the size of the lab.
 */
static struct arena *arena_for(const struct rdl_lab_config *config)
{
    if (config->arena_bytes_max)
        return arena_new(config->arena_bytes_max);
    return arena_new_within(ARENA_BYTES_LEAST, ARENA_BYTES_MOST);
}

/* Starts checking invariants.  Returns false when memory is short. */
static bool watch_all(struct rdl_lab *lab)
{
    lab->watch = watch_new(lab->state);
    lab->changed = changed_new(lab->state);
    if (!lab->watch || !lab->changed)
        return false;
    lab->watch_sink = (struct trace_sink){watch_event, lab->watch, ev_set_for(EV_FOR_WATCH), NULL};
    lab->changed_sink = (struct trace_sink){changed_event, lab->changed, ev_set_all, NULL};
    trace_sink_add(&lab->sinks, &lab->watch_sink);
    trace_sink_add(&lab->sinks, &lab->changed_sink);
    return true;
}

enum rdl_status rdl_lab_new(const struct rdl_lab_config *config, struct rdl_lab **ret)
{
    struct rdl_lab *lab = calloc(1, sizeof(*lab));
    struct lab_state *w;

    if (!lab)
        return RDL_ERR_NOMEM;
    lab->arena = arena_for(config);
    lab->state = lab->arena ? arena_alloc(lab->arena, sizeof(*lab->state)) : NULL;
    if (!lab->state)
        goto fail;
    w = lab->state;
    w->arena = lab->arena;
    w->lab = lab;
    w->seed = config->seed;
    w->trace.sinks = &lab->sinks;
    directory_init(&w->directory, lab->arena);
    directory_init(&w->addresses, lab->arena);
    parts_init(&w->parts, lab->arena);
    if (!sim_init(&w->sim, lab->arena, &w->trace, lab_handlers, w))
        goto fail;
    net_init(&w->net, lab->arena, &w->sim, &lab_net_ops, w, config->seed);
    if (config->check_invariants && !watch_all(lab))
        goto fail;
    *ret = lab;
    return RDL_OK;
fail:
    rdl_lab_free(lab);
    return RDL_ERR_NOMEM;
}

void rdl_lab_free(struct rdl_lab *lab)
{
    if (!lab)
        return;
    while (lab->sinks.first) {
        struct trace_sink *s = lab->sinks.first;

        trace_sink_remove(&lab->sinks, s);
        if (s != &lab->names_sink && s != &lab->record_sink && s != &lab->hash_sink &&
            s != &lab->watch_sink && s != &lab->changed_sink && s != &lab->sent_sink &&
            s != &lab->tallies.sink)
            free(s); /* added by rdl_listen(): the sink is its only member */
    }
    free(lab->sent);
    record_free(lab->record);
    tallies_done(&lab->tallies);
    watch_free(lab->watch);
    changed_free(lab->changed);
    ev_names_free(lab->names);
    arena_free(lab->arena);
    free(lab);
}

uint64_t rdl_now_ns(const struct rdl_lab *lab)
{
    return lab->state->trace.now_ns;
}

uint64_t rdl_tick(const struct rdl_lab *lab)
{
    return lab->state->trace.tick;
}

uint64_t rdl_tick_ns(const struct rdl_lab *lab)
{
    return lab->state->trace.tick_ns;
}

uint64_t rdl_next_ns(const struct rdl_lab *lab)
{
    return sim_next_ns(&lab->state->sim);
}

void rdl_not_before(struct rdl_lab *lab, uint64_t now_ns)
{
    struct sim *sim = &lab->state->sim;

    if (now_ns > sim->floor_ns)
        sim->floor_ns = now_ns < CLOCK_END_NS ? now_ns : CLOCK_END_NS;
}

struct bounds bounds_of(const struct rdl_lab *lab, struct rdl_limits limits)
{
    const struct trace *t = &lab->state->trace;
    struct bounds b = {UINT64_MAX, CLOCK_END_NS};

    if (limits.ticks && limits.ticks < UINT64_MAX - t->tick)
        b.last_tick = t->tick + limits.ticks;
    if (limits.ns && limits.ns < CLOCK_END_NS - t->now_ns)
        b.last_ns = t->now_ns + limits.ns;
    return b;
}

/* Executes one tick.  Returns RDL_ERR_IDLE if nothing is due at or before @until_ns, which is less
 * than UINT64_MAX.
 */
static inline enum rdl_status tick_until(struct rdl_lab *lab, uint64_t until_ns,
                                         const struct bounds *b)
{
    struct lab_state *w = lab->state;
    struct sim_place *first = sim_first(&w->sim);

    if (first->when.at_ns > until_ns)
        return RDL_ERR_IDLE;
    if (arena_is_short(lab->arena))
        return RDL_ERR_NOMEM;
    if (first->when.at_ns > b->last_ns || w->trace.tick >= b->last_tick)
        return RDL_ERR_TIMEOUT;
    sim_dispatch_first(&w->sim, first);
    if (arena_is_short(lab->arena))
        return RDL_ERR_NOMEM;
    if (lab->watch && !lab_check(lab, w->trace.tick % CHECK_EVERY == 0))
        return RDL_ERR_INVARIANT;
    return RDL_OK;
}

enum rdl_status lab_tick(struct rdl_lab *lab, const struct bounds *b)
{
    if (arena_is_short(lab->arena))
        return RDL_ERR_NOMEM;
    return tick_until(lab, UINT64_MAX - 1, b);
}

uint64_t rdl_progress(const struct rdl_lab *lab, enum rdl_step step)
{
    const struct lab_state *w = lab->state;

    switch (step) {
    case RDL_STEP_TICK:
        return w->trace.tick;
    case RDL_STEP_DESC:
        return w->progress.chains;
    case RDL_STEP_WQE:
        return w->progress.wqes;
    case RDL_STEP_PACKET:
        return w->progress.packets;
    case RDL_STEP_TIMER:
        return w->progress.timers;
    case RDL_STEP_CQE:
        return w->progress.cqes;
    }
    return 0;
}

enum rdl_status rdl_step(struct rdl_lab *lab, enum rdl_step step, struct rdl_limits limits)
{
    const struct bounds b = bounds_of(lab, limits);
    const uint64_t before = rdl_progress(lab, step);
    enum rdl_status st;

    do {
        st = lab_tick(lab, &b);
    } while (st == RDL_OK && rdl_progress(lab, step) == before);
    return st;
}

enum rdl_status rdl_step_host(struct rdl_lab *lab, rdl_host host, struct rdl_limits limits)
{
    const struct bounds b = bounds_of(lab, limits);
    const struct host *h = lab_host(lab->state, host.raw);
    const uint64_t before = h ? h->n_ticks : 0;
    enum rdl_status st;

    if (!h)
        return RDL_ERR_STALE;
    do {
        st = lab_tick(lab, &b);
    } while (st == RDL_OK && h->n_ticks == before);
    return st;
}

enum rdl_status rdl_run(struct rdl_lab *lab, uint64_t until_ns, struct rdl_limits limits)
{
    const struct bounds b = bounds_of(lab, limits);
    struct sim *sim = &lab->state->sim;
    enum rdl_status st;

    do {
        st = tick_until(lab, until_ns == RDL_NEVER ? UINT64_MAX - 1 : until_ns, &b);
    } while (st == RDL_OK);
    if (st != RDL_ERR_IDLE)
        return st;
    if (until_ns != RDL_NEVER && until_ns > sim_now(sim))
        sim_advance(sim, until_ns < CLOCK_END_NS ? until_ns : CLOCK_END_NS);
    if (arena_is_short(lab->arena))
        return RDL_ERR_NOMEM;
    return lab->watch && !lab_check(lab, true) ? RDL_ERR_INVARIANT : RDL_OK;
}

enum rdl_shortage rdl_shortage(struct rdl_lab *lab)
{
    const bool record = lab->record && record_was_short(lab->record);
    const bool names = lab->names && ev_names_were_short(lab->names);

    if (arena_is_short(lab->arena))
        return RDL_SHORT_LAB;
    return record || names ? RDL_SHORT_RECORD : RDL_SHORT_OF_NOTHING;
}

enum rdl_status rdl_wait(struct rdl_lab *lab, rdl_host host, struct rdl_limits limits,
                         struct rdl_response *reterr_rsp)
{
    const struct bounds b = bounds_of(lab, limits);
    struct host *h = NULL;
    enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    while (st == RDL_OK && h->guest.verbs.request.n > 0)
        st = host_is_broken(h) ? RDL_ERR_BROKEN : lab_tick(lab, &b);
    return st == RDL_OK ? verbs_answer(&h->guest.verbs, reterr_rsp) : st;
}

enum rdl_status rdl_answer(const struct rdl_lab *lab, rdl_host host,
                           struct rdl_response *reterr_rsp)
{
    struct host *h;
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    if (st != RDL_OK)
        return st;
    return host_is_broken(h) ? RDL_ERR_BROKEN : verbs_answer(&h->guest.verbs, reterr_rsp);
}

size_t rdl_used_bytes(const struct rdl_lab *lab)
{
    return arena_used_bytes(lab->arena);
}

const char *rdl_broken_invariant(const struct rdl_lab *lab)
{
    return lab->broken[0] ? lab->broken : NULL;
}

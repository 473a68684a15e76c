/* SPDX-License-Identifier: MIT */
/* The device of the toy RNIC: registers, rings and commands around struct rnic. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/mcast.h"
#include "emu/hca/mw.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"
#include "emu/xport/ctrl.h"
#include "toy/devices.h"
#include "toy/toy.h"

/* Delays in ns: from the write of a register until the device reads the ring or the command. */
#define DOORBELL_NS 100u
#define COMMAND_NS  1000u

#define QUEUE_COMMAND UINT32_MAX /* for SIM_DOORBELL: no queue, but the command */
#define AT_EXPRESS    0x40u
#define AT_MSIX       0x80u

/* A ring as the device knows it. */
struct ring {
    uint64_t gpa; /* 0: there is none */
    uint32_t n, bytes;
    uint32_t taken; /* work queues: number of requests that were fetched */
    bool due;       /* a doorbell is on its way */
    bool held;      /* a doorbell came while the device may not access memory */
    ev_id kick;
};

struct toy {
    struct rdma_device_config config;
    struct rnic nic;
    struct pci_fn fn;
    struct ring *wq, *srq, *cq; /* by TOY_SQ() and TOY_RQ(), SRQN, CQN: in one array */
    size_t n_rings;
    struct ring events;
    uint64_t command; /* address of the command to execute; 0: there is none */
    bool cause;
};

static bool is_driven(const void *ctx)
{
    return ((const struct toy *)ctx)->events.gpa != 0;
}

static bool is_running(const void *ctx)
{
    return is_driven(ctx) && fn_is_master(&((const struct toy *)ctx)->fn);
}

/* --- Rings ------------------------------------------------------------------------------------ */

static struct toy_ring counters(const struct toy *t, const struct ring *r)
{
    struct toy_ring c = {0, 0};

    (void)ram_read(t->nic.ram, r->gpa, &c, sizeof(c));
    return c;
}

static uint64_t entry(const struct ring *r, uint32_t k)
{
    return r->gpa + sizeof(struct toy_ring) + (uint64_t)(k % r->n) * r->bytes;
}

/* Writes an entry that the driver is to take.  Returns false if the ring is full. */
static bool put(const struct toy *t, const struct ring *r, const void *in)
{
    struct toy_ring c = counters(t, r);

    if (c.put - c.got >= r->n)
        return false;
    (void)ram_write(t->nic.ram, entry(r, c.put), in, r->bytes);
    c.put++;
    return ram_write(t->nic.ram, r->gpa, &c, sizeof(c));
}

static struct ring *receives_of(const struct toy *t, const struct qp *qp)
{
    return qp->srq ? &t->srq[qp->srq->srqn] : &t->wq[TOY_RQ(qp->qpn)];
}

/* Returns true if @r has a request that the device has not fetched. */
static bool has_request(const struct toy *t, const struct ring *r)
{
    return is_running(t) && r->gpa != 0 && counters(t, r).put != r->taken;
}

/* Reads the next request of @r that the device has not fetched.  Returns false if there is none. */
static bool take(const struct toy *t, struct ring *r, void *out)
{
    if (!has_request(t, r))
        return false;
    (void)ram_read(t->nic.ram, entry(r, r->taken), out, r->bytes);
    r->taken++;
    t->nic.progress->wqes++;
    return true;
}

/* --- Calls of the RNIC ------------------------------------------------------------------------ */

static bool sends_wait(const void *ctx, const struct qp *qp)
{
    const struct toy *t = ctx;

    return has_request(t, &t->wq[TOY_SQ(qp->qpn)]);
}

static enum fetch fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    struct toy *t = ctx;
    struct ring *r = &t->wq[TOY_SQ(qp->qpn)];
    struct toy_send s;
    ev_id cause;

    if (!take(t, r, &s))
        return FETCH_EMPTY;
    s.wqe.sge = out->sge;
    s.wqe.inline_data = out->inline_data;
    *out = s.wqe;
    out->desc = r->taken - 1;
    if (out->flags & SF_INLINE)
        memcpy(out->inline_data, &s.data, qp->config.max_inline_data);
    else
        memcpy(out->sge, &s.data, qp->config.max_send_sge * sizeof(*out->sge));
    cause = trace_because(t->nic.trace, r->kick);
    TRACE_ID(t->nic.trace, out->fetched, fetch, .host = t->config.nic.host, .qpn = qp->qpn,
             .queue = TOY_SQ(qp->qpn), .desc = out->desc, .wr_id = out->wr_id, .op = out->opcode,
             .bytes = r->bytes);
    trace_because(t->nic.trace, cause);
    return FETCH_OK;
}

static enum fetch fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    struct toy *t = ctx;
    struct ring *r = receives_of(t, qp);
    struct toy_recv w;
    ev_id fetched, cause;

    if (!take(t, r, &w))
        return FETCH_EMPTY;
    w.wqe.sge = out->sge;
    *out = w.wqe;
    out->desc = r->taken - 1;
    memcpy(out->sge, &w.data, qp->config.max_recv_sge * sizeof(*out->sge));
    TRACE_ID(t->nic.trace, fetched, fetch, .host = t->config.nic.host, .qpn = qp->qpn,
             .queue = TOY_RQ(qp->qpn), .desc = out->desc, .wr_id = out->wr_id, .op = WR_RECV,
             .bytes = r->bytes);
    cause = trace_because(t->nic.trace, fetched);
    if (qp->srq)
        rnic_srq_taken(&t->nic, qp->srq, counters(t, r).put - r->taken);
    trace_because(t->nic.trace, cause);
    return FETCH_OK;
}

static uint32_t receives(void *ctx, struct qp *qp)
{
    const struct toy *t = ctx;
    const struct ring *r = &t->wq[TOY_RQ(qp->qpn)];

    return r->gpa ? counters(t, r).put - r->taken : 0;
}

static void release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc)
{
    const struct toy *t = ctx;
    const struct ring *r = wq == WQ_SEND ? &t->wq[TOY_SQ(qp->qpn)] : receives_of(t, qp);
    struct toy_ring c = counters(t, r);

    (void)desc; /* which one is over does not matter: all were copied */
    c.got++;
    (void)ram_write(t->nic.ram, r->gpa, &c, sizeof(c));
}

static bool complete(void *ctx, struct cq *cq, const struct completion *wc)
{
    struct toy *t = ctx;
    const bool good = put(t, &t->cq[cq->cqn], wc);

    if (!good)
        rnic_cq_overflow(&t->nic, cq);
    return good;
}

static void tell(struct toy *t, uint32_t type, uint32_t number, bool missed)
{
    const bool told = put(t, &t->events, &(struct toy_event){type, number, missed});

    RDL_ASSERT(told); /* asynchronous events leave room */
    fn_raise(&t->fn, 0, FN_NO_QUEUE);
}

static void completed(void *ctx, struct cq *cq)
{
    tell(ctx, TOY_CQ_EVENT, cq->cqn, false);
}

/* Passes on the asynchronous events that wait, as many as there is room for. */
static void event(void *ctx)
{
    struct toy *t = ctx;
    const struct rnic_events *e = &t->nic.events;

    while (is_running(t) && e->len > 0) {
        const struct toy_ring c = counters(t, &t->events);

        if (c.put - c.got + TOY_EVENT_ROOM >= t->events.n)
            return; /* until TOY_TAKEN */
        tell(t, e->ring[e->first].type, e->ring[e->first].number, e->untold);
        rnic_event_told(&t->nic);
    }
}

static const struct rnic_ops rnic_ops = {
    .is_driven = is_driven,
    .is_running = is_running,
    .fetch_send = fetch_send,
    .fetch_recv = fetch_recv,
    .receives = receives,
    .sends_wait = sends_wait,
    .event = event,
    .release = release,
    .complete = complete,
    .completed = completed,
};

/* --- Commands --------------------------------------------------------------------------------- */

static enum refusal_reason query_limits(struct toy *t, struct toy_command *c)
{
    c->limits = (struct toy_limits){.l = t->nic.limits,
                                    .max_cq = t->nic.hca.limits.max_cq,
                                    .max_qp = t->nic.hca.limits.max_qp,
                                    .max_srq = t->nic.hca.limits.max_srq,
                                    .max_pkeys = t->nic.hca.pkeys.n,
                                    .active_mtu = (uint32_t)rnic_active_mtu(&t->nic)};
    return REF_NONE;
}

static enum refusal_reason query_pkey(struct toy *t, struct toy_command *c)
{
    uint16_t pkey;
    const enum refusal_reason why = hca_pkey(&t->nic.hca, c->number, &pkey);

    if (why != REF_NONE)
        return hca_refuse(&t->nic.hca, why, compared_found(c->number));
    c->number = pkey;
    return REF_NONE;
}

static enum refusal_reason set_gid(struct toy *t, struct toy_command *c)
{
    return rnic_gid_set(&t->nic, c->number, c->flag ? c->gid : NULL);
}

static enum refusal_reason create_pd(struct toy *t, struct toy_command *c)
{
    struct pd *pd;
    const enum refusal_reason why = hca_pd_create(&t->nic.hca, &pd);

    if (why == REF_NONE)
        c->number = pd->pdn;
    return why;
}

/* A command about a region or window.  The answer has its key. */
static enum refusal_reason about_mr(struct toy *t, struct toy_command *c)
{
    const size_t bytes = c->pages ? c->mr.n_pages * sizeof(uint64_t) : 0;
    uint64_t *pages = bytes ? arena_alloc_raw(t->nic.arena, bytes) : NULL;
    const struct mr_map map = {c->mr.start, c->mr.length, pages, c->mr.n_pages};
    struct hca *h = &t->nic.hca;
    enum refusal_reason why;
    struct mkey *k = NULL;

    if (bytes && (!pages || !ram_read(t->nic.ram, c->pages, pages, bytes)))
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    c->mr.pages = pages;
    why = c->op == TOY_MAP_MR      ? hca_mr_map(h, c->number, &map)
          : c->op == TOY_CREATE_MW ? hca_mw_create(h, c->pdn, c->kind, &k)
          : c->op == TOY_REREG_MR  ? hca_mr_change(h, c->number, c->mask, &c->mr, &k)
          : c->kind == KEY_DMA_MR  ? hca_dma_mr_create(h, c->mr.pdn, c->mr.access, &k)
          : c->kind == KEY_FAST_MR
              ? hca_fast_mr_create(h, c->mr.pdn, c->mr.access, c->mr.n_pages, &k)
              : hca_mr_create(h, &c->mr, &k);
    if (k && why == REF_NONE) {
        c->number = key_number(k->key);
        c->key = k->key;
        c->flag = k->kind == KEY_FAST_MR || (k->access & KEY_REMOTE_ACCESS);
    }
    if (pages)
        arena_release(t->nic.arena, pages, bytes);
    return why;
}

static struct ring ring_of(uint64_t gpa, uint32_t n, size_t bytes)
{
    return (struct ring){.gpa = gpa, .n = n, .bytes = (uint32_t)bytes};
}

static enum refusal_reason create_cq(struct toy *t, struct toy_command *c)
{
    struct cq *cq;
    const enum refusal_reason why = hca_cq_create(&t->nic.hca, c->value, &cq);

    if (why == REF_NONE) {
        c->number = cq->cqn;
        t->cq[cq->cqn] = ring_of(c->ring, c->value, sizeof(struct completion));
    }
    return why;
}

static enum refusal_reason arm_cq(struct toy *t, struct toy_command *c)
{
    struct cq *cq = hca_cq(&t->nic.hca, c->number);

    if (!cq)
        return hca_refuse(&t->nic.hca, REF_CQ_HANDLE, compared_found(c->number));
    cq_arm(cq, c->flag);
    return REF_NONE;
}

static enum refusal_reason create_srq(struct toy *t, struct toy_command *c)
{
    struct srq *srq;
    const enum refusal_reason why = hca_srq_create(&t->nic.hca, &c->srq, &srq);

    if (why == REF_NONE) {
        c->number = srq->srqn;
        t->srq[srq->srqn] = ring_of(c->recv_ring, c->srq.max_wr, sizeof(struct toy_recv));
    }
    return why;
}

static enum refusal_reason about_srq(struct toy *t, struct toy_command *c)
{
    struct srq *srq = hca_srq(&t->nic.hca, c->number);

    if (!srq)
        return hca_refuse(&t->nic.hca, REF_SRQ_HANDLE, compared_found(c->number));
    if (c->op == TOY_MODIFY_SRQ)
        return srq_set_limit(&t->nic.hca, srq, c->value);
    c->value = srq->limit;
    return REF_NONE;
}

static enum refusal_reason create_qp(struct toy *t, struct toy_command *c)
{
    struct qp *qp;
    const enum refusal_reason why = xport_qp_create(&t->nic.xport, &c->qp, &qp);

    if (why == REF_NONE) {
        c->number = qp->qpn;
        t->wq[TOY_SQ(qp->qpn)] = ring_of(c->ring, c->qp.max_send_wr, sizeof(struct toy_send));
        t->wq[TOY_RQ(qp->qpn)] = ring_of(c->recv_ring, c->qp.max_recv_wr, sizeof(struct toy_recv));
    }
    return why;
}

static enum refusal_reason about_qp(struct toy *t, struct toy_command *c)
{
    struct qp *qp = hca_qp(&t->nic.hca, c->number);

    if (!qp)
        return hca_refuse(&t->nic.hca, REF_QP_HANDLE, compared_found(c->number));
    if (c->op == TOY_MODIFY_QP)
        return xport_qp_modify(&t->nic.xport, qp, c->mask, &c->attr);
    if (c->op == TOY_ATTACH)
        return mcast_attach(&t->nic.hca, qp, c->gid);
    if (c->op == TOY_DETACH)
        return mcast_detach(&t->nic.hca, qp, c->gid);
    c->attr = qp->attr;
    c->attr.state = c->attr.cur_state = qp->state;
    c->flag = xport_is_draining(qp);
    return REF_NONE;
}

static enum refusal_reason destroy(struct toy *t, struct toy_command *c)
{
    static enum refusal_reason (*const of_kind[])(struct hca * h, uint32_t number) = {
        [OBJ_PD] = hca_pd_destroy, [OBJ_MR] = hca_mr_destroy,   [OBJ_MW] = hca_mw_destroy,
        [OBJ_CQ] = hca_cq_destroy, [OBJ_SRQ] = hca_srq_destroy,
    };
    const enum refusal_reason why = c->kind == OBJ_QP ? xport_qp_destroy(&t->nic.xport, c->number)
                                                      : of_kind[c->kind](&t->nic.hca, c->number);

    if (why == REF_NONE)
        rnic_events_forget(&t->nic, c->kind, c->number);
    return why;
}

static enum refusal_reason (*const commands[TOY_OPS])(struct toy *t, struct toy_command *c) = {
    [TOY_QUERY_LIMITS] = query_limits, [TOY_QUERY_PKEY] = query_pkey,
    [TOY_SET_GID] = set_gid,           [TOY_CREATE_PD] = create_pd,
    [TOY_CREATE_MR] = about_mr,        [TOY_REREG_MR] = about_mr,
    [TOY_MAP_MR] = about_mr,           [TOY_CREATE_MW] = about_mr,
    [TOY_CREATE_CQ] = create_cq,       [TOY_ARM_CQ] = arm_cq,
    [TOY_CREATE_SRQ] = create_srq,     [TOY_MODIFY_SRQ] = about_srq,
    [TOY_QUERY_SRQ] = about_srq,       [TOY_CREATE_QP] = create_qp,
    [TOY_MODIFY_QP] = about_qp,        [TOY_QUERY_QP] = about_qp,
    [TOY_ATTACH] = about_qp,           [TOY_DETACH] = about_qp,
    [TOY_DESTROY] = destroy,
};

/* Executes the command; without bus mastering it waits for mastering(). */
static void run_command(struct toy *t)
{
    const uint64_t gpa = t->command;
    struct toy_command c;

    if (gpa == 0 || !fn_is_master(&t->fn))
        return;
    t->command = 0;
    if (!ram_read(t->nic.ram, gpa, &c, sizeof(c)) || c.op >= TOY_OPS)
        return;
    t->nic.hca.refused.why = REF_NONE;
    c.error = refusal_errno(refusal_kind(commands[c.op](t, &c)));
    c.done = 1;
    (void)ram_write(t->nic.ram, gpa, &c, sizeof(c));
    rnic_settle(&t->nic);
    if (!t->nic.booting)
        fn_raise(&t->fn, 0, FN_NO_QUEUE);
}

/* --- Registers -------------------------------------------------------------------------------- */

static void reset(void *dev)
{
    struct toy *t = dev;

    rnic_reset(&t->nic);
    memset(t->wq, 0, t->n_rings * sizeof(*t->wq));
    t->events = (struct ring){0};
    t->command = 0;
    t->cause = false;
}

static void ring_doorbell(struct toy *t, uint32_t queue)
{
    if (queue > TOY_RQ(t->config.nic.max_qp))
        return;
    t->wq[queue].kick = t->nic.trace->cause;
    if (!t->wq[queue].due)
        fn_ring_doorbell(&t->fn, queue, DOORBELL_NS);
    t->wq[queue].due = true;
}

static void write_command(struct toy *t, uint64_t gpa)
{
    t->command = gpa;
    if (t->nic.booting)
        run_command(t);
    else
        fn_ring_doorbell(&t->fn, QUEUE_COMMAND, COMMAND_NS);
}

static uint64_t bar_read(void *dev, uint32_t bar, uint32_t offset, uint32_t width)
{
    struct toy *t = dev;
    const bool cause = t->cause;

    (void)bar;
    if (offset != TOY_CAUSE || width != 4)
        return 0;
    t->cause = false;
    return cause;
}

static void bar_write(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    struct toy *t = dev;

    (void)bar;
    if (offset == TOY_DOORBELL && width == 4)
        ring_doorbell(t, (uint32_t)value);
    else if (offset == TOY_TAKEN && width == 4)
        event(t);
    else if (offset == TOY_COMMAND && width == 8)
        write_command(t, value);
    else if (offset == TOY_EVENTS && width == 8 && value == 0)
        reset(t);
    else if (offset == TOY_EVENTS && width == 8)
        t->events = ring_of(value, TOY_N_EVENTS, sizeof(struct toy_event));
}

static void interrupt(void *dev, uint32_t queue)
{
    (void)queue;
    ((struct toy *)dev)->cause = true;
}

static bool has_reason(const void *dev)
{
    return ((const struct toy *)dev)->cause;
}

/* --- Calls of host and function --------------------------------------------------------------- */

static void take_work(struct toy *t, uint32_t queue)
{
    struct qp *qp = hca_qp(&t->nic.hca, queue / 2);

    t->wq[queue].held = !is_running(t);
    if (qp && !t->wq[queue].held)
        rnic_kick(&t->nic, qp, queue % 2 ? WQ_RECV : WQ_SEND);
}

static void doorbell(void *dev, uint32_t queue)
{
    struct toy *t = dev;

    if (queue == QUEUE_COMMAND) {
        run_command(t);
    } else {
        t->wq[queue].due = false;
        take_work(t, queue);
    }
    rnic_pump(&t->nic);
}

/* Does what had to wait until the device may access memory. */
static void mastering(void *dev, bool on)
{
    struct toy *t = dev;

    if (!on || !is_driven(t))
        return;
    run_command(t);
    event(t);
    rnic_go_on(&t->nic);
    for (uint32_t i = 0; i <= TOY_RQ(t->config.nic.max_qp); i++) {
        if (t->wq[i].held)
            take_work(t, i);
    }
    rnic_pump(&t->nic);
}

static void timer(void *dev, uint64_t arg)
{
    struct toy *t = dev;

    rnic_timer(&t->nic, arg, !fn_is_master(&t->fn));
}

static uint32_t shared_receives(const void *dev, uint32_t srqn)
{
    const struct toy *t = dev;

    return counters(t, &t->srq[srqn]).put - t->srq[srqn].taken;
}

static const struct pci_fn_ops fn_ops = {
    .bar_read = bar_read,
    .bar_write = bar_write,
    .mastering = mastering,
    .reset = reset,
    .interrupt = interrupt,
    .has_reason = has_reason,
    .doorbell = doorbell,
};

static const struct pci_place places[] = {
    FN_PLACES_EXPRESS(AT_EXPRESS, AT_MSIX),
    FN_PLACES_MSIX(AT_MSIX, 0),
};

/* It cannot fail, and its limits cannot change. */
static const struct rdma_device_ops device_ops = {.timer = timer,
                                                  .shared_receives = shared_receives};

bool toy_new(struct rdma_device *ret, const struct rnic_env *env,
             const struct rdma_device_config *config)
{
    const struct fn_config fn = {
        .host = config->nic.host,
        .function = FN_RDMA,
        .slot = config->slot,
        .vendor = TOY_VENDOR,
        .device = TOY_DEVICE,
        .class_code = PCI_CLASS_NETWORK_OTHER,
        .config_bytes = PCI_CONFIG_BYTES_EXPRESS,
        .bar_bytes[TOY_BAR] = TOY_REG_BYTES,
        .msix_bar = TOY_BAR_MSIX,
        .n_vectors = 1,
        .places = places,
        .n_places = ARRAY_LEN(places),
    };
    const struct rnic_config *c = &config->nic;
    const size_t n_wq = TOY_SQ(c->max_qp + 1), n_srq = c->max_srq + 1;
    struct toy *t = arena_alloc(env->arena, sizeof(*t));

    if (!t)
        return false;
    *t = (struct toy){.config = *config, .n_rings = n_wq + n_srq + c->max_cq + 1};
    t->config.nic.has_mw = true;
    t->wq = arena_alloc(env->arena, t->n_rings * sizeof(*t->wq));
    *ret = (struct rdma_device){.ops = &device_ops, .dev = t, .nic = &t->nic, .fn = &t->fn};
    if (!t->wq || !rnic_init(&t->nic, env, &t->config.nic, &rnic_ops, t))
        return false;
    t->srq = t->wq + n_wq;
    t->cq = t->srq + n_srq;
    fn_init(&t->fn, env->arena, env->sim, &fn, &fn_ops, t);
    return true;
}

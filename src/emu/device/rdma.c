/* SPDX-License-Identifier: MIT */
/* Lifecycle of the virtio-rdma device, and its doorbells. */
#include "emu/device/rdma.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/device/internal.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/rfc.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"
#include "emu/trace/events/rings.h"
#include "emu/xport/ctrl.h"

static const struct xport_ops xport_ops;

enum mtu rdma_active_mtu(const struct rdma *d)
{
    const uint32_t carried = mtu_within(d->port->mtu - ROCE_HEADERS_MAX);

    return carried < d->config.max_mtu ? (enum mtu)carried : d->config.max_mtu;
}

static struct hca_limits hca_limits_of(const struct rdma *d, const struct rdl_device_limits *l)
{
    const struct rdma_config *c = &d->config;
    const bool has_mw = (d->pci.offered & VIRTIO_FEATURE(VF_MW)) != 0;

    return (struct hca_limits){
        .max_pd = l->max_pd,
        .max_mr = l->max_mr,
        .max_cq = c->max_cq,
        .max_qp = c->max_qp,
        .max_cqe = l->max_cqe,
        .max_qp_wr = l->max_qp_wr,
        .max_send_sge = l->max_send_sge,
        .max_recv_sge = l->max_recv_sge,
        .max_sge_rd = l->max_sge_rd,
        .max_inline_data = l->max_inline_data,
        .max_rd_atomic = l->max_qp_init_rd_atom,
        .max_dest_rd_atomic = l->max_qp_rd_atom,
        .max_res_rd_atom = l->max_res_rd_atom,
        .max_mr_bytes = l->max_mr_size,
        .max_mw = has_mw ? l->max_mw : 0,
        .max_fast_pages = has_mw ? l->max_fast_reg_page_list_len : 0,
        .max_mtu = rdma_active_mtu(d),
        .max_mcast_grp = l->max_mcast_grp,
        .max_mcast_qp_attach = l->max_mcast_qp_attach,
        .max_total_mcast_qp_attach = l->max_total_mcast_qp_attach,
        .max_srq = rdma_offers(c, VF_SRQ) ? c->max_srq : 0,
    };
}

static void transport_init(struct rdma *d)
{
    const struct rdma_config *c = &d->config;
    const struct hca_env env = {
        .arena = d->arena,
        .sim = d->sim,
        .ram = d->ram,
        .host = c->host,
        .profile = c->profile,
        .first_qpn = c->first_qpn,
        .keys = prng_stream(c->seed, c->host),
        .pkeys = c->pkeys,
    };
    const struct hca_limits limits = hca_limits_of(d, &c->limits); /* sizes of the tables */

    hca_init(&d->hca, &env, &limits);
    d->hca.limits = hca_limits_of(d, &d->limits);
    xport_init(&d->xport, &d->hca, &xport_ops, d, c->mac);
}

bool rdma_limit(struct rdma *d, const struct rdl_device_limits *to)
{
    struct rdl_device_limits now = d->limits;

#define TAKE(name)                                                                                 \
    if (to->name > d->config.limits.name)                                                          \
        return false;                                                                              \
    if (to->name != 0)                                                                             \
        now.name = to->name;
    RDL_DEVICE_LIMITS_LIVE(TAKE)
#undef TAKE
    d->limits = now;
    d->hca.limits = hca_limits_of(d, &d->limits);
    if (!rdma_config_fill(d))
        return true;
    virtio_config_new(&d->pci);
    TRACE(d->trace, config_changed, .host = d->config.host, .generation = d->pci.config_generation);
    virtio_config_changed(&d->pci);
    return true;
}

static void transport_done(struct rdma *d)
{
    xport_done(&d->xport);
    hca_done(&d->hca);
}

void rdma_ring(struct rdma *d, uint32_t queue)
{
    const uint64_t delay = queue == QUEUE_CTRL ? RDMA_CTRL_NS : RDMA_DOORBELL_NS;

    if (d->doorbell_due[queue])
        return;
    d->doorbell_due[queue] = true;
    sim_enqueue(d->sim, sim_now(d->sim) + delay, SIM_DOORBELL, d->config.host,
                virtio_doorbell_arg(FN_RDMA, queue));
}

static void on_notify(void *ctx, uint32_t queue)
{
    struct rdma *d = ctx;

    d->kicks[queue] = d->trace->cause;
    if (d->booting && queue == QUEUE_CTRL)
        rdma_ctrl_run(d);
    else
        rdma_ring(d, queue);
}

/* Updates the device configuration, and its generation if it has changed. */
static void refill_config(struct rdma *d)
{
    if (rdma_config_fill(d))
        virtio_config_new(&d->pci);
}

static void on_reset(void *ctx)
{
    struct rdma *d = ctx;
    const uint32_t n = rdma_queues(&d->config);

    transport_done(d);
    transport_init(d);
    memset(d->kicks, 0, n * sizeof(*d->kicks));
    memset(d->ready.is_queued, 0, (d->config.max_qp + 1) * sizeof(*d->ready.is_queued));
    d->ready.len = 0;
    d->n_failed_cqs = 0;
    d->bad_pkeys = d->bad_qkeys = 0;
    d->events = (struct rdma_events){0};
    refill_config(d);
}

/* The content of the configuration depends on the accepted features. */
static void on_negotiated(void *ctx)
{
    refill_config(ctx);
}

/* The driver has reset a queue.  A queue pair in use goes to ERR, unless RESIZE_QP announced the
 * reset.
 */
static void on_queue_reset(void *ctx, uint32_t queue)
{
    struct rdma *d = ctx;
    const struct qp_attr to_err = {.state = QPS_ERR};
    struct qp *qp = hca_qp(&d->hca, queue_owner(d->config.max_cq, queue));
    const unsigned wq = queue_is_sends(d->config.max_cq, queue) ? WQ_SEND : WQ_RECV;

    if (qp && (qp->exchanged & 1u << wq)) {
        qp->exchanged &= ~(1u << wq); /* RESIZE_QP: the driver sets up a new ring */
        return;
    }
    if (qp && qp->state != QPS_RESET && qp->state != QPS_ERR) {
        if (xport_qp_modify(&d->xport, qp, QPA_STATE, &to_err) != REF_NONE)
            assert_fail("every state leads to ERR", __FILE__, __LINE__);
        rdma_event(d, ASE_QP_FATAL, OBJ_QP, qp->qpn);
        rdma_settle(d);
    }
    rdma_srq_taken_away(d, queue);
}

/* The device takes buffers of a CQ when a completion needs one, so it disables kicks.  The same
 * holds for shared receives and the event queue.  But a pending event needs a kick when a buffer is
 * added; that can be requested again later only with EVENT_IDX.
 */
static void on_queue_enabled(void *ctx, uint32_t queue)
{
    struct rdma *d = ctx;
    struct vq *vq = &d->pci.queues[queue];

    if (!d->pci.bus_master)
        return; /* on_mastering() does it later */
    if ((queue >= 1 && queue <= d->config.max_cq) || rdma_is_srq_queue(d, queue) ||
        (queue == queue_of_events(d->config.max_cq, d->config.max_qp) && vq->event_idx))
        vq_refuse_kicks(vq, d->ram);
    else
        vq_started(vq, d->ram);
}

/* Bus mastering was enabled.  Writes the kick requests of the rings, then continues everything that
 * waited for memory.
 */
static void on_mastering(void *ctx)
{
    struct rdma *d = ctx;

    for (uint32_t i = 0; i < d->pci.config.num_queues; i++) {
        if (d->pci.queues[i].enabled)
            on_queue_enabled(d, i);
    }
    if (!virtio_running(&d->pci))
        return;
    rdma_events_flush(d);
    xport_go_on(&d->xport);
    rdma_settle(d);
    if (d->ready.len > 0)
        eth_port_wait(d->port, FN_RDMA);
    rdma_ring(d, QUEUE_CTRL);
}

static const struct virtio_ops virtio_ops = {
    .notify = on_notify,
    .reset = on_reset,
    .queue_reset = on_queue_reset,
    .queue_enabled = on_queue_enabled,
    .negotiated = on_negotiated,
    .mastering = on_mastering,
};

static uint32_t peer_of(void *ctx, const uint8_t gid[GID_BYTES])
{
    struct rdma *d = ctx;

    return d->peer_of(d->world, gid);
}

static const struct xport_ops xport_ops = {
    .fetch_send = rdma_fetch_send,
    .fetch_recv = rdma_fetch_recv,
    .complete = rdma_complete,
    .ready = rdma_ready_add,
    .peer_of = peer_of,
    .receives = rdma_receives,
    .event = rdma_event,
};

bool rdma_init(struct rdma *d, const struct rdma_env *env, const struct rdma_config *config)
{
    const uint32_t n = rdma_queues(config);
    const struct virtio_config pci = {
        .host = config->host,
        .function = FN_RDMA,
        .features_off = config->features_off,
        .features_own = rdma_features(config),
        .packed = config->packed,
        .num_queues = n,
        .queue_size = VRING_SIZE_MAX,
        .n_vectors = n + 1 < VIRTIO_VECTORS_MAX ? n + 1 : VIRTIO_VECTORS_MAX,
        .config_bytes = sizeof(struct raw_config),
    };

    *d = (struct rdma){.config = *config,
                       .arena = env->arena,
                       .sim = env->sim,
                       .trace = env->sim->trace,
                       .ram = env->ram,
                       .port = env->port,
                       .progress = env->progress,
                       .peer_of = env->peer_of,
                       .world = env->world};
    rdma_limits_complete(&d->config.limits, config->max_qp);
    d->limits = d->config.limits;
    d->doorbell_due = arena_alloc(d->arena, n * sizeof(*d->doorbell_due));
    d->kicks = arena_alloc(d->arena, n * sizeof(*d->kicks));
    d->failed_cqs = arena_alloc(d->arena, config->max_cq * sizeof(*d->failed_cqs));
    d->ready.ring = arena_alloc(d->arena, (config->max_qp + 1) * sizeof(*d->ready.ring));
    d->ready.is_queued = arena_alloc(d->arena, (config->max_qp + 1) * sizeof(*d->ready.is_queued));
    if (!d->doorbell_due || !d->kicks || !d->failed_cqs || !d->ready.ring || !d->ready.is_queued)
        return false;
    if (!virtio_init(&d->pci, d->arena, d->sim, &pci, &virtio_ops, d))
        return false;
    transport_init(d);
    (void)rdma_config_fill(d);
    rdma_port_use(d);
    return true;
}

/* Processes the kick of a work queue or the event queue.  Kicks of other queues are ignored: the
 * device takes their buffers when it needs them.
 */
static void kick(struct rdma *d, uint32_t queue)
{
    const uint32_t n_cq = d->config.max_cq;
    struct qp *qp = hca_qp(&d->hca, queue_owner(n_cq, queue));

    if (queue == queue_of_events(n_cq, d->config.max_qp))
        rdma_events_flush(d);
    if (!qp)
        return;
    xport_kick(&d->xport, qp, queue_is_sends(n_cq, queue) ? WQ_SEND : WQ_RECV);
    rdma_settle(d);
}

void rdma_doorbell(struct rdma *d, uint32_t queue)
{
    d->doorbell_due[queue] = false;
    if (!virtio_running(&d->pci)) { /* reset meanwhile, broken, or no bus mastering */
        virtio_hold_kick(&d->pci, queue);
        return;
    }
    if (queue == QUEUE_CTRL)
        rdma_ctrl_run(d);
    else
        kick(d, queue);
    eth_port_pump(d->port);
}

void rdma_timer(struct rdma *d, uint64_t arg)
{
    xport_timer(&d->xport, arg, !d->pci.bus_master);
    rdma_settle(d);
    eth_port_pump(d->port);
}

void rdma_link_changed(struct rdma *d, bool up)
{
    rdma_event(d, up ? ASE_PORT_ACTIVE : ASE_PORT_ERR, OBJ_NONE, HCA_PORT);
}

void rdma_queue_broken(struct rdma *d, uint32_t queue)
{
    const bool worked = virtio_running(&d->pci);

    rdma_srq_broken(d, queue); /* raises an event, while the device still works */
    virtio_queue_broken(&d->pci, queue);
    if (worked)
        rdma_event_fatal(d);
}

void rdma_interrupt(struct rdma *d, uint32_t queue)
{
    struct vq *vq = &d->pci.queues[queue];

    if (!vq->enabled || vq->broken != VQE_NONE)
        return;
    if (vq_wants_interrupt(vq, d->ram))
        virtio_raise(&d->pci, queue);
    else if (vq->broken != VQE_NONE)
        rdma_queue_broken(d, queue);
}

void rdma_push(struct rdma *d, uint32_t queue, uint16_t head, uint32_t len)
{
    struct vq *vq = &d->pci.queues[queue];

    if (!vq->enabled || vq->broken != VQE_NONE || !d->pci.bus_master)
        return; /* queue reset, broken or without memory access */
    if (!vq_push(vq, d->ram, head, len)) {
        rdma_queue_broken(d, queue);
        return;
    }
    d->progress->chains++;
    TRACE(d->trace, used, .host = d->config.host, .queue = queue, .desc = head, .len = len,
          .used_idx = vq->used_idx);
    if (d->pci.is_faulty)
        virtio_may_invent(&d->pci, queue, d->ram, len);
}

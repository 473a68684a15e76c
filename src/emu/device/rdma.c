/* SPDX-License-Identifier: MIT */
/* Lifecycle of the virtio-rdma device, and its doorbells. */
#include "emu/device/rdma.h"

#include <string.h>

#include "emu/device/internal.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio/pci.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"
#include "emu/trace/events/rings.h"

void rdma_ring(struct rdma *d, uint32_t queue)
{
    const uint64_t delay = queue == QUEUE_CTRL ? RDMA_CTRL_NS : RDMA_DOORBELL_NS;

    if (d->doorbell_due[queue])
        return;
    d->doorbell_due[queue] = true;
    fn_ring_doorbell(&d->pci.fn, queue, delay);
}

static void on_notify(void *ctx, uint32_t queue)
{
    struct rdma *d = ctx;

    d->kicks[queue] = d->nic.trace->cause;
    if (d->nic.booting && queue == QUEUE_CTRL)
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

    rnic_reset(&d->nic);
    memset(d->kicks, 0, n * sizeof(*d->kicks));
    rdma_ceqs_reset(d);
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
    struct qp *qp = hca_qp(&d->nic.hca, queue_owner(d->config.nic.max_cq, queue));
    struct srq *srq = rdma_srq_of(d, queue);
    const unsigned wq = queue_is_sends(d->config.nic.max_cq, queue) ? WQ_SEND : WQ_RECV;

    if (qp && (qp->exchanged & 1u << wq)) {
        qp->exchanged &= ~(1u << wq); /* RESIZE_QP: the driver sets up a new ring */
        return;
    }
    if (qp)
        rnic_qp_lost_queue(&d->nic, qp);
    if (srq)
        rnic_srq_lost_queue(&d->nic, srq);
}

/* The device takes buffers of a CQ when a completion needs one, so it disables kicks.  The same
 * holds for shared receives and the queues of events.  But a pending event needs a kick when a
 * buffer is added; that can be requested again later only with EVENT_IDX.
 */
static void on_queue_enabled(void *ctx, uint32_t queue)
{
    struct rdma *d = ctx;
    struct vq *vq = &d->pci.queues[queue];

    if (!d->pci.bus_master)
        return; /* on_mastering() does it later */
    if ((queue >= 1 && queue <= d->config.nic.max_cq) || rdma_is_srq_queue(d, queue) ||
        (queue == queue_of_events(d->config.nic.max_cq, d->config.nic.max_qp) && vq->event_idx) ||
        (rdma_is_ceq(d, queue) && vq->event_idx && !rdma_ceq_waits(d, queue)))
        vq_refuse_kicks(vq, d->nic.ram);
    else
        vq_started(vq, d->nic.ram);
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
    rdma_ceqs_flush(d);
    rnic_go_on(&d->nic);
    rdma_ring(d, QUEUE_CTRL);
}

/* Processes the kick of a work queue or a queue of events.  Kicks of other queues are ignored: the
 * device takes their buffers when it needs them.
 */
static void kick(struct rdma *d, uint32_t queue)
{
    const uint32_t n_cq = d->config.nic.max_cq;
    struct qp *qp = hca_qp(&d->nic.hca, queue_owner(n_cq, queue));

    if (queue == queue_of_events(n_cq, d->config.nic.max_qp))
        rdma_events_flush(d);
    if (rdma_is_ceq(d, queue))
        rdma_ceq_flush(d, queue);
    if (!qp)
        return;
    rnic_kick(&d->nic, qp, queue_is_sends(n_cq, queue) ? WQ_SEND : WQ_RECV);
}

/* Processes the work that was posted to virtqueue @queue, or remembers the kick while bus mastering
 * is off.
 */
static void on_doorbell(void *ctx, uint32_t queue)
{
    struct rdma *d = ctx;

    d->doorbell_due[queue] = false;
    if (!virtio_running(&d->pci)) { /* reset meanwhile, broken, or no bus mastering */
        virtio_hold_kick(&d->pci, queue);
        return;
    }
    if (queue == QUEUE_CTRL)
        rdma_ctrl_run(d);
    else
        kick(d, queue);
    rnic_pump(&d->nic);
}

static const struct virtio_ops virtio_ops = {
    .notify = on_notify,
    .reset = on_reset,
    .queue_reset = on_queue_reset,
    .queue_enabled = on_queue_enabled,
    .negotiated = on_negotiated,
    .mastering = on_mastering,
    .doorbell = on_doorbell,
};

static bool is_driven(const void *ctx)
{
    const struct rdma *d = ctx;

    return virtio_is_driven(&d->pci);
}

static bool is_running(const void *ctx)
{
    const struct rdma *d = ctx;

    return virtio_running(&d->pci);
}

static const struct rnic_ops rnic_ops = {
    .is_driven = is_driven,
    .is_running = is_running,
    .fetch_send = rdma_fetch_send,
    .fetch_recv = rdma_fetch_recv,
    .receives = rdma_receives,
    .sends_wait = rdma_sends_wait,
    .keeps_events = rdma_keeps_events,
    .event = rdma_event,
    .release = rdma_release,
    .complete = rdma_complete,
    .completed = rdma_completed,
};

_Static_assert(1 + 3 * DEVICE_OBJECTS_MAX + 1 + DEVICE_SRQS_MAX + DEVICE_CEQS_MAX ==
                   VIRTIO_QUEUES_MAX,
               "the queues of the largest device: see facts/device.h");

bool rdma_init(struct rdma *d, const struct rnic_env *env, const struct rdma_device_config *config)
{
    const uint32_t n = rdma_queues(config);
    const struct virtio_config pci = {
        .host = config->nic.host,
        .function = FN_RDMA,
        .slot = config->slot,
        .virtio_id = VIRTIO_ID_RDMA,
        .class_code = PCI_CLASS_NETWORK_OTHER,
        .features_off = config->features_off,
        .features_own = rdma_features(config),
        .packed = config->packed,
        .platform = config->platform,
        .num_queues = n,
        .queue_size = config->queue_size ? config->queue_size : VRING_SIZE_MAX,
        .n_vectors = n + 1 < VIRTIO_VECTORS_MAX ? n + 1 : VIRTIO_VECTORS_MAX,
        .config_bytes = sizeof(struct raw_config),
        .total_vfs = config->total_vfs,
    };

    *d = (struct rdma){.config = *config};
    d->config.nic.has_mw = rdma_offers(config, VF_MW);
    d->config.nic.max_srq = rdma_offers(config, VF_SRQ) ? config->nic.max_srq : 0;
    d->n_ceqs = rdma_offers(config, VF_CEQ) ? config->ceqs : 0;
    d->doorbell_due = arena_alloc(env->arena, n * sizeof(*d->doorbell_due));
    d->kicks = arena_alloc(env->arena, n * sizeof(*d->kicks));
    if (!d->doorbell_due || !d->kicks || !rdma_ceqs_init(d, env->arena) ||
        !virtio_init(&d->pci, env->arena, env->sim, &pci, &virtio_ops, d) ||
        !rnic_init(&d->nic, env, &d->config.nic, &rnic_ops, d))
        return false;
    (void)rdma_config_fill(d);
    return true;
}

void rdma_queue_broken(struct rdma *d, uint32_t queue)
{
    const bool worked = virtio_running(&d->pci);
    struct srq *srq = rdma_srq_of(d, queue);

    if (srq)
        rnic_srq_failed(&d->nic, srq); /* raises an event, while the device still works */
    virtio_queue_broken(&d->pci, queue);
    if (worked)
        rnic_event_fatal(&d->nic);
}

void rdma_interrupt(struct rdma *d, uint32_t queue)
{
    struct vq *vq = &d->pci.queues[queue];

    if (!vq->enabled || vq->broken != VQE_NONE)
        return;
    if (vq_wants_interrupt(vq, d->nic.ram))
        virtio_raise(&d->pci, queue);
    else if (vq->broken != VQE_NONE)
        rdma_queue_broken(d, queue);
}

void rdma_push(struct rdma *d, uint32_t queue, uint16_t head, uint32_t len)
{
    struct vq *vq = &d->pci.queues[queue];

    if (!vq->enabled || vq->broken != VQE_NONE || !d->pci.bus_master)
        return; /* queue reset, broken or without memory access */
    if (d->pci.is_faulty)
        len = virtio_length(&d->pci, queue, head, len);
    if (!vq_push(vq, d->nic.ram, head, len)) {
        rdma_queue_broken(d, queue);
        return;
    }
    d->nic.progress->chains++;
    TRACE(d->nic.trace, used, .host = d->config.nic.host, .queue = queue, .desc = head, .len = len,
          .used_idx = vq->used_idx);
    if (d->pci.is_faulty)
        virtio_may_invent(&d->pci, queue, d->nic.ram, len);
}

static void timer(void *dev, uint64_t arg)
{
    struct rdma *d = dev;

    rnic_timer(&d->nic, arg, !d->pci.bus_master);
}

static bool limit(void *dev, const struct rdl_device_limits *to)
{
    struct rdma *d = dev;

    if (!rnic_limit(&d->nic, to))
        return false;
    if (!rdma_config_fill(d))
        return true;
    virtio_config_new(&d->pci);
    TRACE(d->nic.trace, config_changed, .host = d->config.nic.host,
          .generation = d->pci.config_generation);
    virtio_config_changed(&d->pci);
    return true;
}

static uint32_t shared_receives(const void *dev, uint32_t srqn)
{
    const struct rdma *d = dev;
    const struct vq *vq = &d->pci.queues[rdma_srq(d, srqn)];

    return vq->enabled ? vq_avail_peek(vq, d->nic.ram) : 0;
}

static bool is_broken(const void *dev)
{
    return rdma_broken(dev);
}

const struct rdma_device_ops virtio_rdma_device_ops = {
    .timer = timer,
    .limit = limit,
    .shared_receives = shared_receives,
    .is_broken = is_broken,
};

bool virtio_rdma_new(struct rdma_device *ret, const struct rnic_env *env,
                     const struct rdma_device_config *config)
{
    struct rdma *d = arena_alloc(env->arena, sizeof(*d));

    if (!d)
        return false;
    *ret = (struct rdma_device){
        .ops = &virtio_rdma_device_ops, .dev = d, .nic = &d->nic, .fn = &d->pci.fn};
    return rdma_init(d, env, config);
}

struct rdma *rdma_of(const struct rdma_device *d)
{
    return d->ops == &virtio_rdma_device_ops ? d->dev : NULL;
}

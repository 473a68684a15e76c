/* SPDX-License-Identifier: MIT */
/* Asynchronous events.  The driver keeps the event queue filled with buffers; the device returns
 * one per event.  The driver enables the queue's interrupt only when a program uses the device.
 * Until then events stay in the ring.
 *
 * A device without an event queue only counts events, in the first reserved field of its
 * configuration, and raises the configuration interrupt.  [decision 0009]
 */
#include <stddef.h>

#include "emu/guest/virtio_rdma/internal.h"

#define EVENT_BYTES ((uint32_t)sizeof(struct raw_async_event))

static bool has_queue(const struct virtio_rdma *d)
{
    return virtio_has_feature(&d->virtio, VF_EVENTQ);
}

static struct vqd *event_queue(const struct virtio_rdma *d, uint32_t *ret_number)
{
    *ret_number = queue_of_events(d->device.max_cq, d->device.max_qp);
    return virtio_rdma_vq(d, *ret_number);
}

/* Adds the next free descriptor with its buffer to the event queue. */
static bool add_buffer(struct virtio_rdma *d, struct vqd *q)
{
    const struct vqd_seg seg = {
        d->events.buffers_gpa + (uint64_t)vqd_next_head(q) * EVENT_BYTES,
        EVENT_BYTES,
    };
    uint16_t head;

    return vqd_add(q, d->virtio.pci.ram, &seg, 0, 1, &head);
}

enum rdl_status events_boot(struct virtio_rdma *d)
{
    const uint32_t size =
        d->queue_size_max < GUEST_EVENT_QUEUE_SIZE ? d->queue_size_max : GUEST_EVENT_QUEUE_SIZE;
    struct vqd *q;
    uint32_t queue;
    enum rdl_status st;

    if (!has_queue(d))
        return RDL_OK;
    q = event_queue(d, &queue);
    st = virtqueue_place(&d->virtio, &d->queues[queue], queue, size);
    if (st != RDL_OK)
        return st;
    d->events.buffers_gpa = dma_take(d->virtio.pci.dma, (uint64_t)size * EVENT_BYTES);
    if (!d->events.buffers_gpa || !vqd_init(q, d->arena, d->virtio.pci.ram, q->ring,
                                            virtio_has_feature(&d->virtio, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    st = virtqueue_program(&d->virtio, &d->queues[queue], ctrl_vector(d));
    if (st != RDL_OK)
        return st;
    while (q->n_free > 0 && add_buffer(d, q))
        ;
    vqd_want_interrupt(q, d->virtio.pci.ram, false);
    /* No kick: the device looks for buffers when it has an event. */
    vqd_publish(q, d->virtio.pci.ram);
    return q->n_free == 0 ? RDL_OK : RDL_ERR_NOMEM;
}

/* Passes on the event that the device wrote into buffer @i.  Returns false if it is malformed. */
static bool take_event(struct virtio_rdma *d, uint16_t i, uint32_t len)
{
    struct rfc_async_event event;
    struct raw_async_event raw;

    if (len != EVENT_BYTES ||
        !ram_read(d->virtio.pci.ram, d->events.buffers_gpa + (uint64_t)i * EVENT_BYTES, &raw,
                  sizeof(raw)))
        return false;
    rfc_async_event_get(&event, &raw);
    if (event.type & ASYNC_EVENTS_MISSED)
        verbs_async_missed(d->verbs);
    verbs_async(d->verbs, event.type & ~ASYNC_EVENTS_MISSED, event.number);
    return true;
}

static void poll_queue(struct virtio_rdma *d)
{
    uint32_t queue, len;
    struct vqd *q = event_queue(d, &queue);
    enum vqd_used got;
    uint16_t head;
    bool any = false;

    while ((got = virtqueue_take_used(&d->virtio, q, queue, &head, &len)) == VQD_GOT) {
        any = true;
        if (!take_event(d, head, len) || !add_buffer(d, q)) {
            q->broken = true; /* what the device wrote is no event */
            got = VQD_BROKEN;
            break;
        }
    }
    if (got == VQD_BROKEN)
        verbs_broken(d->verbs);
    if (!any)
        return;
    vqd_publish(q, d->virtio.pci.ram);
    if (vqd_needs_kick(q, d->virtio.pci.ram))
        queue_kick_now(d, queue);
}

void events_poll(struct virtio_rdma *d)
{
    uint32_t queue;
    struct vqd *q;

    if (!has_queue(d))
        return;
    q = event_queue(d, &queue);
    poll_queue(d);
    if (d->events.heard && !q->broken) {
        vqd_want_interrupt(q, d->virtio.pci.ram, true);
        poll_queue(d); /* events that arrived before the interrupt was enabled */
    }
}

void events_count(struct virtio_rdma *d)
{
    const uint32_t at = (uint32_t)offsetof(struct raw_config, reserved);
    uint64_t n;

    if (has_queue(d))
        return;
    n = virtio_config_read(&d->virtio, at, 4);
    n |= virtio_config_read(&d->virtio, at + 4, 4) << 32;
    if (n > d->events.counted)
        verbs_async_unnamed(d->verbs, n - d->events.counted);
    d->events.counted = n;
}

void events_listen(struct verbs *v)
{
    struct virtio_rdma *d = v->driver;

    d->events.heard = true;
    events_poll(d);
}

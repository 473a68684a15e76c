/* SPDX-License-Identifier: MIT */
#include "emu/guest/virtio_rdma/event_ring.h"

#include "emu/guest/virtio_rdma/internal.h"

/* Adds the next free descriptor with its buffer. */
static bool add_buffer(struct virtio_rdma *d, const struct event_ring *r, struct vqd *q)
{
    const struct vqd_seg seg = {
        r->buffers_gpa + (uint64_t)vqd_next_head(q) * EVENT_RING_BYTES,
        EVENT_RING_BYTES,
    };
    uint16_t head;

    return vqd_add(q, d->virtio.pci.ram, &seg, 0, 1, &head);
}

enum rdl_status event_ring_boot(struct virtio_rdma *d, struct event_ring *r, uint32_t size,
                                uint16_t vector, bool interrupts)
{
    struct vqd *q = virtio_rdma_vq(d, r->queue);
    enum rdl_status st;

    if (size > d->queue_size_max)
        size = d->queue_size_max;
    st = virtqueue_place(&d->virtio, &d->queues[r->queue], r->queue, size);
    if (st != RDL_OK)
        return st;
    r->buffers_gpa = dma_take(d->virtio.pci.dma, (uint64_t)size * EVENT_RING_BYTES);
    if (!r->buffers_gpa || !vqd_init(q, d->arena, d->virtio.pci.ram, q->ring,
                                     virtio_has_feature(&d->virtio, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    st = virtqueue_program(&d->virtio, &d->queues[r->queue], vector);
    if (st != RDL_OK)
        return st;
    while (q->n_free > 0 && add_buffer(d, r, q))
        ;
    vqd_want_interrupt(q, d->virtio.pci.ram, interrupts);
    /* No kick: the device looks for buffers when it has an event. */
    vqd_publish(q, d->virtio.pci.ram);
    return q->n_free == 0 ? RDL_OK : RDL_ERR_NOMEM;
}

/* Passes on the event in buffer @i, of which the device says that it has @len bytes. */
static bool take_buffer(struct virtio_rdma *d, const struct event_ring *r, uint16_t i, uint32_t len)
{
    uint8_t event[EVENT_RING_BYTES];

    return len == sizeof(event) &&
           ram_read(d->virtio.pci.ram, r->buffers_gpa + (uint64_t)i * sizeof(event), event,
                    sizeof(event)) &&
           r->take(d, event);
}

static void take_all(struct virtio_rdma *d, const struct event_ring *r, struct vqd *q)
{
    enum vqd_used got;
    uint16_t head;
    uint32_t len;
    bool any = false;

    while ((got = virtqueue_take_used(&d->virtio, q, r->queue, &head, &len)) == VQD_GOT) {
        any = true;
        if (!take_buffer(d, r, head, len) || !add_buffer(d, r, q)) {
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
        queue_kick_now(d, r->queue);
}

void event_ring_poll(struct virtio_rdma *d, const struct event_ring *r, bool listens)
{
    struct vqd *q = virtio_rdma_vq(d, r->queue);

    take_all(d, r, q);
    if (!listens || q->broken)
        return;
    vqd_want_interrupt(q, d->virtio.pci.ram, true);
    take_all(d, r, q);
}

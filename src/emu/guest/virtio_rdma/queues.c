/* SPDX-License-Identifier: MIT */
/* The virtqueues of the RDMA function. */
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/guest/virtio_rdma/internal.h"

uint16_t ctrl_vector(const struct virtio_rdma *d)
{
    return d->virtio.pci.n_vectors > GUEST_VECTOR_CTRL ? GUEST_VECTOR_CTRL : GUEST_VECTOR_CONFIG;
}

uint16_t shared_vector(const struct virtio_rdma *d, uint32_t k)
{
    const uint32_t n = d->virtio.pci.n_vectors;

    if (n <= GUEST_VECTOR_CQ)
        return (uint16_t)(n - 1);
    return (uint16_t)(GUEST_VECTOR_CQ + k % (n - GUEST_VECTOR_CQ));
}

uint16_t cq_vector(const struct virtio_rdma *d, uint32_t cqn)
{
    return has_ceqs(d) ? VIRTIO_NO_VECTOR : shared_vector(d, cqn - 1);
}

enum rdl_status queue_boot(struct virtio_rdma *d, uint32_t queue, uint32_t size, uint16_t vector)
{
    struct guest_queue *q = &d->queues[queue];
    const enum rdl_status st = virtqueue_place(&d->virtio, q, queue, size);

    return st == RDL_OK ? virtqueue_program(&d->virtio, q, vector) : st;
}

enum rdl_status queue_mem_take(struct virtio_rdma *d, uint32_t n, uint32_t buffer_bytes,
                               struct guest_queue_mem *ret)
{
    const bool resizable = virtio_has_feature(&d->virtio, VF_RING_RESET);
    const uint32_t wanted =
        virtio_has_feature(&d->virtio, VF_RING_PACKED) && n > 0 ? n : (uint32_t)pow2_ceil(n);
    const uint64_t mark = dma_mark(d->virtio.pci.dma);
    struct guest_queue_mem m = {
        .size = resizable ? wanted : d->boot_size,
        .slot_bytes = (uint32_t)pow2_ceil(buffer_bytes),
    };

    RDL_ASSERT(m.slot_bytes <= RAM_PAGE_BYTES);
    if (wanted > (resizable ? d->queue_size_max : d->boot_size))
        return RDL_ERR_LIMIT;
    m.slots_gpa = dma_take(d->virtio.pci.dma, (uint64_t)m.size * m.slot_bytes);
    if (m.size > d->boot_size)
        m.ring_gpa =
            rings_share_pages(d)
                ? dma_take_shared(d->virtio.pci.dma, virtqueue_ring_bytes(&d->virtio, m.size))
                : dma_take(d->virtio.pci.dma, virtqueue_ring_bytes(&d->virtio, m.size));
    if (!m.slots_gpa || (m.size > d->boot_size && !m.ring_gpa)) {
        queue_mem_undo(d, &m, mark);
        return RDL_ERR_NOMEM;
    }
    *ret = m;
    return RDL_OK;
}

void queue_mem_give(struct virtio_rdma *d, struct guest_queue_mem *mem)
{
    dma_give(d->virtio.pci.dma, mem->slots_gpa, (uint64_t)mem->size * mem->slot_bytes);
    dma_give(d->virtio.pci.dma, mem->ring_gpa, virtqueue_ring_bytes(&d->virtio, mem->size));
    *mem = (struct guest_queue_mem){0};
}

void queue_mem_undo(struct virtio_rdma *d, struct guest_queue_mem *mem, uint64_t mark)
{
    if (rings_share_pages(d)) { /* the page may meanwhile hold other rings */
        queue_mem_give(d, mem);
        return;
    }
    dma_undo(d->virtio.pci.dma, mem->ring_gpa, virtqueue_ring_bytes(&d->virtio, mem->size), mark);
    dma_undo(d->virtio.pci.dma, mem->slots_gpa, (uint64_t)mem->size * mem->slot_bytes, mark);
    *mem = (struct guest_queue_mem){0};
}

/* Resets the queue.  [virtio 1.2, 2.6.1] */
static void stop(const struct virtio_rdma *d, uint32_t queue)
{
    if (!virtio_has_feature(&d->virtio, VF_RING_RESET))
        return;
    reg_write(&d->virtio, REG_QUEUE_SELECT, 2, queue);
    reg_write(&d->virtio, REG_QUEUE_RESET, 2, 1);
    (void)reg_read(&d->virtio, REG_QUEUE_RESET, 2); /* 0: done; devices here reset at once */
}

static enum rdl_status start(const struct virtio_rdma *d, uint32_t queue, uint16_t vector)
{
    if (!virtio_has_feature(&d->virtio, VF_RING_RESET))
        return RDL_OK;
    return virtqueue_program(&d->virtio, &d->queues[queue], vector);
}

enum rdl_status queue_attach(struct virtio_rdma *d, uint32_t queue,
                             const struct guest_queue_mem *mem, uint16_t vector)
{
    struct guest_queue *q = &d->queues[queue];
    const uint64_t base = mem->ring_gpa ? mem->ring_gpa : q->boot_gpa;
    const struct vring ring = virtqueue_ring(&d->virtio, base, mem->size);

    if (queues_on_demand(d) && !q->notify_at)
        virtqueue_find(&d->virtio, q, queue);
    stop(d, queue);
    if (!vqd_init(&q->vq, d->arena, d->virtio.pci.ram, ring,
                  virtio_has_feature(&d->virtio, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    if (vector == VIRTIO_NO_VECTOR) /* with INTx, the only way to suppress its interrupts */
        vqd_want_interrupt(&q->vq, d->virtio.pci.ram, false);
    return start(d, queue, vector);
}

void queue_detach(struct virtio_rdma *d, uint32_t queue, uint16_t vector)
{
    struct guest_queue *q = &d->queues[queue];

    stop(d, queue);
    vqd_done(&q->vq, d->arena);
    q->vq = vqd_idle((struct vring){0});
    if (queues_on_demand(d))
        return; /* the next object enables the queue */
    q->vq = vqd_idle(virtqueue_ring(&d->virtio, q->boot_gpa, d->boot_size));
    if (!vqd_clear_ring(d->virtio.pci.ram, &q->vq.ring) || start(d, queue, vector) != RDL_OK)
        verbs_broken(d->verbs);
}

void queue_leave(struct virtio_rdma *d, uint32_t queue, const struct guest_queue_mem *mem)
{
    if (virtio_has_feature(&d->virtio, VF_QP_END) &&
        virtio_has_feature(&d->virtio, VF_RING_RESET) && mem->ring_gpa == 0)
        return;
    queue_detach(d, queue, VIRTIO_NO_VECTOR);
}

void queue_kick_now(struct virtio_rdma *d, uint32_t queue)
{
    virtqueue_kick_now(&d->virtio, &d->queues[queue], queue);
}

void queue_kick(struct virtio_rdma *d, uint32_t queue)
{
    virtqueue_kick(&d->virtio, &d->queues[queue], queue);
}

/* SPDX-License-Identifier: MIT */
/* The virtqueues of the RDMA function, as its driver uses them. */
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/guest/machine/internal.h"

uint16_t ctrl_vector(const struct guest *g)
{
    return g->config.n_vectors > GUEST_VECTOR_CTRL ? GUEST_VECTOR_CTRL : GUEST_VECTOR_CONFIG;
}

uint16_t cq_vector(const struct guest *g, uint32_t cqn)
{
    const uint32_t n = g->config.n_vectors;

    if (n <= GUEST_VECTOR_CQ)
        return (uint16_t)(n - 1);
    return (uint16_t)(GUEST_VECTOR_CQ + (cqn - 1) % (n - GUEST_VECTOR_CQ));
}

enum rdl_status queue_boot(struct guest *g, uint32_t queue, uint32_t size, uint16_t vector)
{
    struct guest_queue *q = &g->queues[queue];
    const enum rdl_status st = pci_queue_place(&g->pci, q, queue, size);

    if (st == RDL_OK)
        pci_queue_program(&g->pci, q, vector);
    return st;
}

enum rdl_status queue_mem_take(struct guest *g, uint32_t n, uint32_t buffer_bytes,
                               struct guest_queue_mem *ret)
{
    const bool resizable = pci_has(&g->pci, VF_RING_RESET);
    const uint32_t wanted = (uint32_t)pow2_ceil(n);
    struct guest_queue_mem m = {
        .size = resizable ? wanted : g->boot_size,
        .slot_bytes = (uint32_t)pow2_ceil(buffer_bytes),
    };

    RDL_ASSERT(m.slot_bytes <= RAM_PAGE_BYTES);
    if (wanted > (resizable ? g->queue_size_max : g->boot_size))
        return RDL_ERR_LIMIT;
    m.slots_gpa = dma_take(&g->dma, (uint64_t)m.size * m.slot_bytes);
    if (m.size > g->boot_size)
        m.ring_gpa = dma_take(&g->dma, vring_bytes(m.size));
    if (!m.slots_gpa || (m.size > g->boot_size && !m.ring_gpa)) {
        queue_mem_give(g, &m);
        return RDL_ERR_NOMEM;
    }
    *ret = m;
    return RDL_OK;
}

void queue_mem_give(struct guest *g, struct guest_queue_mem *mem)
{
    dma_give(&g->dma, mem->slots_gpa, (uint64_t)mem->size * mem->slot_bytes);
    dma_give(&g->dma, mem->ring_gpa, vring_bytes(mem->size));
    *mem = (struct guest_queue_mem){0};
}

/* Takes the queue away from the device.  [virtio 1.2, 2.6.1] */
static void stop(const struct guest *g, uint32_t queue)
{
    if (!pci_has(&g->pci, VF_RING_RESET))
        return;
    reg_write(&g->pci, REG_QUEUE_SELECT, 2, queue);
    reg_write(&g->pci, REG_QUEUE_RESET, 2, 1);
    (void)reg_read(&g->pci, REG_QUEUE_RESET, 2); /* 0: done; a device here is as quick as this */
}

static void start(const struct guest *g, uint32_t queue, uint16_t vector)
{
    if (pci_has(&g->pci, VF_RING_RESET))
        pci_queue_program(&g->pci, &g->queues[queue], vector);
}

enum rdl_status queue_attach(struct guest *g, uint32_t queue, const struct guest_queue_mem *mem,
                             uint16_t vector)
{
    struct guest_queue *q = &g->queues[queue];
    const uint64_t base = mem->ring_gpa ? mem->ring_gpa : q->boot_gpa;
    const struct vring ring = vring_place(base, mem->size);

    stop(g, queue);
    if (!vqd_init(&q->vq, g->arena, g->config.ram, ring, pci_has(&g->pci, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    start(g, queue, vector);
    return RDL_OK;
}

void queue_detach(struct guest *g, uint32_t queue, uint16_t vector)
{
    struct guest_queue *q = &g->queues[queue];

    stop(g, queue);
    vqd_done(&q->vq, g->arena);
    q->vq = (struct vqd){.ring = vring_place(q->boot_gpa, g->boot_size)};
    if (!vqd_clear_ring(g->config.ram, &q->vq.ring))
        g->broken = true;
    start(g, queue, vector);
}

void queue_kick_now(struct guest *g, uint32_t queue)
{
    pci_kick_now(&g->pci, &g->queues[queue], queue);
}

void queue_kick(struct guest *g, uint32_t queue)
{
    pci_kick(&g->pci, &g->queues[queue], queue);
}

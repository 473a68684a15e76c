/* SPDX-License-Identifier: MIT */
/* Registers and virtqueues, as the driver uses them. */
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/guest/internal.h"

uint64_t reg_read(const struct guest *g, enum reg reg, uint32_t width)
{
    return g->config.bus->read(g->config.bus_ctx, (uint32_t)reg, width);
}

void reg_write(const struct guest *g, enum reg reg, uint32_t width, uint64_t value)
{
    g->config.bus->write(g->config.bus_ctx, (uint32_t)reg, width, value);
}

void reg_write_64(const struct guest *g, enum reg reg, uint64_t value)
{
    g->config.bus->write(g->config.bus_ctx, (uint32_t)reg, 4, (uint32_t)value);
    g->config.bus->write(g->config.bus_ctx, (uint32_t)reg + 4, 4, value >> 32);
}

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

/* Fills in the registers of the selected queue and enables it.  [virtio 1.2, 4.1.5.1.3] */
static void program(const struct guest *g, const struct guest_queue *q, uint16_t vector)
{
    const struct vring *ring = &q->vq.ring;

    if (ring->size != q->size_max)
        reg_write(g, REG_QUEUE_SIZE, 2, ring->size);
    if (vector != VIRTIO_NO_VECTOR)
        reg_write(g, REG_QUEUE_MSIX_VECTOR, 2, vector);
    reg_write_64(g, REG_QUEUE_DESC, ring->desc);
    reg_write_64(g, REG_QUEUE_DRIVER, ring->avail);
    reg_write_64(g, REG_QUEUE_DEVICE, ring->used);
    reg_write(g, REG_QUEUE_ENABLE, 2, 1);
}

enum rdl_status queue_boot(struct guest *g, uint32_t queue, uint32_t size, uint16_t vector)
{
    struct guest_queue *q = &g->queues[queue];

    reg_write(g, REG_QUEUE_SELECT, 2, queue);
    q->size_max = (uint32_t)reg_read(g, REG_QUEUE_SIZE, 2);
    if (size > q->size_max)
        return RDL_ERR_BROKEN;
    q->notify_at = BAR_NOTIFY + (uint32_t)reg_read(g, REG_QUEUE_NOTIFY_OFF, 2) * NOTIFY_MULTIPLIER;
    q->boot_gpa = dma_take(&g->dma, vring_bytes(size));
    if (!q->boot_gpa)
        return RDL_ERR_NOMEM;
    q->vq = (struct vqd){.ring = vring_place(q->boot_gpa, size)};
    program(g, q, vector);
    return RDL_OK;
}

enum rdl_status queue_mem_take(struct guest *g, uint32_t n, uint32_t buffer_bytes,
                               struct guest_queue_mem *ret)
{
    const bool resizable = guest_has(g, VF_RING_RESET);
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
    if (!guest_has(g, VF_RING_RESET))
        return;
    reg_write(g, REG_QUEUE_SELECT, 2, queue);
    reg_write(g, REG_QUEUE_RESET, 2, 1);
    (void)reg_read(g, REG_QUEUE_RESET, 2); /* 0: done; a device here is as quick as this */
}

static void start(const struct guest *g, uint32_t queue, uint16_t vector)
{
    if (guest_has(g, VF_RING_RESET))
        program(g, &g->queues[queue], vector);
}

enum rdl_status queue_attach(struct guest *g, uint32_t queue, const struct guest_queue_mem *mem,
                             uint16_t vector)
{
    struct guest_queue *q = &g->queues[queue];
    const uint64_t base = mem->ring_gpa ? mem->ring_gpa : q->boot_gpa;
    const struct vring ring = vring_place(base, mem->size);

    stop(g, queue);
    if (!vqd_init(&q->vq, g->arena, g->config.ram, ring, guest_has(g, VF_EVENT_IDX)))
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
    struct trace *t = g->config.trace;
    ev_id id, old;

    TRACE_ID(t, id, kick, .host = g->config.host, .queue = queue,
             .avail_idx = guest_vq(g, queue)->avail_idx);
    old = trace_because(t, id);
    g->config.bus->write(g->config.bus_ctx, g->queues[queue].notify_at, 2, queue);
    trace_because(t, old);
}

void queue_kick(struct guest *g, uint32_t queue)
{
    struct vqd *q = guest_vq(g, queue);

    if (vqd_needs_kick(q, g->config.ram))
        queue_kick_now(g, queue);
    else
        TRACE(g->config.trace, no_kick, .host = g->config.host, .queue = queue,
              .avail_idx = q->avail_idx);
}

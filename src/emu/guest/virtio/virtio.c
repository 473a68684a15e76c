/* SPDX-License-Identifier: MIT */
/* Registers, the first steps of initialisation, rings.  [virtio 1.2, 3.1.1 and 4.1.5] */
#include "emu/guest/virtio/virtio.h"

#include "emu/facts/virtio/pci.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/rings.h"

static uint64_t common(const struct guest_virtio *v, enum reg reg)
{
    return v->structures[VIRTIO_CAP_COMMON].gpa + (uint32_t)reg;
}

uint64_t reg_read(const struct guest_virtio *v, enum reg reg, uint32_t width)
{
    return pci_read(&v->pci, common(v, reg), width);
}

void reg_write(const struct guest_virtio *v, enum reg reg, uint32_t width, uint64_t value)
{
    pci_write(&v->pci, common(v, reg), width, value);
}

uint64_t virtio_config_read(const struct guest_virtio *v, uint32_t offset, uint32_t width)
{
    return pci_read(&v->pci, v->structures[VIRTIO_CAP_DEVICE].gpa + offset, width);
}

unsigned virtio_ask_isr(const struct guest_virtio *v)
{
    uint64_t isr;

    if (!pci_uses_line(&v->pci))
        return 0;
    isr = pci_read(&v->pci, v->structures[VIRTIO_CAP_ISR].gpa, 1);
    return isr == 0xff ? 0 : (unsigned)isr; /* 0xff: the function does not answer */
}

static void reg_write_64(const struct guest_virtio *v, enum reg reg, uint64_t value)
{
    pci_write(&v->pci, common(v, reg), 4, (uint32_t)value);
    pci_write(&v->pci, common(v, reg) + 4, 4, value >> 32);
}

void virtio_add_status(const struct guest_virtio *v, unsigned bit)
{
    reg_write(v, REG_DEVICE_STATUS, 1, reg_read(v, REG_DEVICE_STATUS, 1) | bit);
}

static uint64_t read_features(const struct guest_virtio *v)
{
    uint64_t low, high;

    reg_write(v, REG_DEVICE_FEATURE_SELECT, 4, 0);
    low = reg_read(v, REG_DEVICE_FEATURE, 4);
    reg_write(v, REG_DEVICE_FEATURE_SELECT, 4, 1);
    high = reg_read(v, REG_DEVICE_FEATURE, 4);
    return high << 32 | low;
}

static void write_features(const struct guest_virtio *v)
{
    reg_write(v, REG_DRIVER_FEATURE_SELECT, 4, 0);
    reg_write(v, REG_DRIVER_FEATURE, 4, (uint32_t)v->features);
    reg_write(v, REG_DRIVER_FEATURE_SELECT, 4, 1);
    reg_write(v, REG_DRIVER_FEATURE, 4, v->features >> 32);
}

enum rdl_status virtio_negotiate(struct guest_virtio *v, uint64_t wanted)
{
    reg_write(v, REG_DEVICE_STATUS, 1, 0);
    if (reg_read(v, REG_DEVICE_STATUS, 1) != 0)
        return RDL_ERR_BROKEN;
    virtio_add_status(v, VS_ACKNOWLEDGE);
    virtio_add_status(v, VS_DRIVER);
    v->features = read_features(v) & wanted;
    if (!virtio_has_feature(v, VF_VERSION_1))
        return RDL_ERR_UNSUPPORTED;
    write_features(v);
    virtio_add_status(v, VS_FEATURES_OK);
    return reg_read(v, REG_DEVICE_STATUS, 1) & VS_FEATURES_OK ? RDL_OK : RDL_ERR_UNSUPPORTED;
}

bool virtio_map_vector(const struct guest_virtio *v, enum reg reg, uint16_t vector)
{
    if (v->pci.use_line)
        return true;
    reg_write(v, reg, 2, vector);
    return reg_read(v, reg, 2) == vector;
}

enum rdl_status virtqueue_program(const struct guest_virtio *v, const struct guest_queue *q,
                                  uint16_t vector)
{
    const struct vring *ring = &q->vq.ring;

    if (ring->size != q->size_max)
        reg_write(v, REG_QUEUE_SIZE, 2, ring->size);
    if (vector != VIRTIO_NO_VECTOR && !virtio_map_vector(v, REG_QUEUE_MSIX_VECTOR, vector))
        return RDL_ERR_BROKEN;
    reg_write_64(v, REG_QUEUE_DESC, ring->desc);
    reg_write_64(v, REG_QUEUE_DRIVER, ring->avail);
    reg_write_64(v, REG_QUEUE_DEVICE, ring->used);
    reg_write(v, REG_QUEUE_ENABLE, 2, 1);
    return RDL_OK;
}

void virtqueue_find(const struct guest_virtio *v, struct guest_queue *q, uint32_t queue)
{
    reg_write(v, REG_QUEUE_SELECT, 2, queue);
    q->size_max = (uint32_t)reg_read(v, REG_QUEUE_SIZE, 2);
    q->notify_at = v->structures[VIRTIO_CAP_NOTIFY].gpa +
                   reg_read(v, REG_QUEUE_NOTIFY_OFF, 2) * v->notify_multiplier;
}

enum rdl_status virtqueue_place(const struct guest_virtio *v, struct guest_queue *q, uint32_t queue,
                                uint32_t size)
{
    virtqueue_find(v, q, queue);
    if (size > q->size_max)
        return RDL_ERR_BROKEN;
    q->boot_gpa = dma_take(v->pci.dma, virtqueue_ring_bytes(v, size));
    if (!q->boot_gpa)
        return RDL_ERR_NOMEM;
    q->vq = vqd_idle(virtqueue_ring(v, q->boot_gpa, size));
    return RDL_OK;
}

void virtqueue_say_refused(const struct guest_virtio *v, const struct vqd *q, uint32_t queue)
{
    TRACE(v->pci.trace, used_refused, .host = v->pci.host, .function = v->pci.function,
          .queue = queue, .desc = vqd_next_used(q, v->pci.ram));
}

void virtqueue_kick_now(const struct guest_virtio *v, const struct guest_queue *q, uint32_t queue)
{
    struct trace *t = v->pci.trace;
    ev_id id, old;

    TRACE_ID(t, id, kick, .host = v->pci.host, .function = v->pci.function, .queue = queue,
             .avail_idx = q->vq.avail_idx);
    old = trace_because(t, id);
    pci_write(&v->pci, q->notify_at, 2, queue);
    trace_because(t, old);
}

void virtqueue_kick(const struct guest_virtio *v, struct guest_queue *q, uint32_t queue)
{
    if (vqd_needs_kick(&q->vq, v->pci.ram))
        virtqueue_kick_now(v, q, queue);
    else
        TRACE(v->pci.trace, no_kick, .host = v->pci.host, .function = v->pci.function,
              .queue = queue, .avail_idx = q->vq.avail_idx);
}

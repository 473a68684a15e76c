/* SPDX-License-Identifier: MIT */
/* The functions that all drivers share: registers, the first steps of initialisation, rings.
 * [virtio 1.2, 3.1.1 and 4.1.5]
 */
#include "emu/guest/pci/pci.h"

#include "emu/trace/emit.h"
#include "emu/trace/events/rings.h"

static uint64_t common(const struct guest_pci *p, enum reg reg)
{
    return p->structures[VIRTIO_CAP_COMMON].gpa + (uint32_t)reg;
}

uint64_t reg_read(const struct guest_pci *p, enum reg reg, uint32_t width)
{
    return p->bus->read(p->bus_ctx, common(p, reg), width);
}

void reg_write(const struct guest_pci *p, enum reg reg, uint32_t width, uint64_t value)
{
    p->bus->write(p->bus_ctx, common(p, reg), width, value);
}

uint64_t pci_config_read(const struct guest_pci *p, uint32_t offset, uint32_t width)
{
    return p->bus->read(p->bus_ctx, p->structures[VIRTIO_CAP_DEVICE].gpa + offset, width);
}

/* 0xff: the function does not answer, so it has not interrupted. */
unsigned pci_ask_isr(const struct guest_pci *p)
{
    const uint64_t isr = p->bus->read(p->bus_ctx, p->structures[VIRTIO_CAP_ISR].gpa, 1);

    return isr == 0xff ? 0 : (unsigned)isr;
}

static void reg_write_64(const struct guest_pci *p, enum reg reg, uint64_t value)
{
    p->bus->write(p->bus_ctx, common(p, reg), 4, (uint32_t)value);
    p->bus->write(p->bus_ctx, common(p, reg) + 4, 4, value >> 32);
}

void pci_add_status(const struct guest_pci *p, unsigned bit)
{
    reg_write(p, REG_DEVICE_STATUS, 1, reg_read(p, REG_DEVICE_STATUS, 1) | bit);
}

static uint64_t read_features(const struct guest_pci *p)
{
    uint64_t low, high;

    reg_write(p, REG_DEVICE_FEATURE_SELECT, 4, 0);
    low = reg_read(p, REG_DEVICE_FEATURE, 4);
    reg_write(p, REG_DEVICE_FEATURE_SELECT, 4, 1);
    high = reg_read(p, REG_DEVICE_FEATURE, 4);
    return high << 32 | low;
}

static void write_features(const struct guest_pci *p)
{
    reg_write(p, REG_DRIVER_FEATURE_SELECT, 4, 0);
    reg_write(p, REG_DRIVER_FEATURE, 4, (uint32_t)p->features);
    reg_write(p, REG_DRIVER_FEATURE_SELECT, 4, 1);
    reg_write(p, REG_DRIVER_FEATURE, 4, p->features >> 32);
}

enum rdl_status pci_negotiate(struct guest_pci *p, uint64_t wanted)
{
    reg_write(p, REG_DEVICE_STATUS, 1, 0);
    if (reg_read(p, REG_DEVICE_STATUS, 1) != 0)
        return RDL_ERR_BROKEN;
    pci_add_status(p, VS_ACKNOWLEDGE);
    pci_add_status(p, VS_DRIVER);
    p->features = read_features(p) & wanted;
    if (!pci_has(p, VF_VERSION_1))
        return RDL_ERR_UNSUPPORTED;
    write_features(p);
    pci_add_status(p, VS_FEATURES_OK);
    return reg_read(p, REG_DEVICE_STATUS, 1) & VS_FEATURES_OK ? RDL_OK : RDL_ERR_UNSUPPORTED;
}

bool pci_map_vector(const struct guest_pci *p, enum reg reg, uint16_t vector)
{
    if (p->use_line)
        return true;
    reg_write(p, reg, 2, vector);
    return reg_read(p, reg, 2) == vector;
}

enum rdl_status pci_queue_program(const struct guest_pci *p, const struct guest_queue *q,
                                  uint16_t vector)
{
    const struct vring *ring = &q->vq.ring;

    if (ring->size != q->size_max)
        reg_write(p, REG_QUEUE_SIZE, 2, ring->size);
    if (vector != VIRTIO_NO_VECTOR && !pci_map_vector(p, REG_QUEUE_MSIX_VECTOR, vector))
        return RDL_ERR_BROKEN;
    reg_write_64(p, REG_QUEUE_DESC, ring->desc);
    reg_write_64(p, REG_QUEUE_DRIVER, ring->avail);
    reg_write_64(p, REG_QUEUE_DEVICE, ring->used);
    reg_write(p, REG_QUEUE_ENABLE, 2, 1);
    return RDL_OK;
}

void pci_queue_find(const struct guest_pci *p, struct guest_queue *q, uint32_t queue)
{
    reg_write(p, REG_QUEUE_SELECT, 2, queue);
    q->size_max = (uint32_t)reg_read(p, REG_QUEUE_SIZE, 2);
    q->notify_at = p->structures[VIRTIO_CAP_NOTIFY].gpa +
                   reg_read(p, REG_QUEUE_NOTIFY_OFF, 2) * p->notify_multiplier;
}

enum rdl_status pci_queue_place(const struct guest_pci *p, struct guest_queue *q, uint32_t queue,
                                uint32_t size)
{
    pci_queue_find(p, q, queue);
    if (size > q->size_max)
        return RDL_ERR_BROKEN;
    q->boot_gpa = dma_take(p->dma, pci_ring_bytes(p, size));
    if (!q->boot_gpa)
        return RDL_ERR_NOMEM;
    q->vq = vqd_idle(pci_ring(p, q->boot_gpa, size));
    return RDL_OK;
}

void pci_say_refused(const struct guest_pci *p, const struct vqd *q, uint32_t queue)
{
    TRACE(p->trace, used_refused, .host = p->host, .function = p->function, .queue = queue,
          .desc = vqd_next_used(q, p->ram));
}

void pci_kick_now(const struct guest_pci *p, const struct guest_queue *q, uint32_t queue)
{
    struct trace *t = p->trace;
    ev_id id, old;

    TRACE_ID(t, id, kick, .host = p->host, .function = p->function, .queue = queue,
             .avail_idx = q->vq.avail_idx);
    old = trace_because(t, id);
    p->bus->write(p->bus_ctx, q->notify_at, 2, queue);
    trace_because(t, old);
}

void pci_kick(const struct guest_pci *p, struct guest_queue *q, uint32_t queue)
{
    if (vqd_needs_kick(&q->vq, p->ram))
        pci_kick_now(p, q, queue);
    else
        TRACE(p->trace, no_kick, .host = p->host, .function = p->function, .queue = queue,
              .avail_idx = q->vq.avail_idx);
}

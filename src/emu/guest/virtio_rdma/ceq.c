/* SPDX-License-Identifier: MIT */
/* Completion event queues (CEQs), and arming in memory.
 *
 * The driver keeps each CEQ filled with buffers of one event.  An interrupt of a CEQ makes it take
 * the events, and each names the CQ whose program gets a completion event.  A CQ has
 * the CEQ that its program asks for as completion vector, or the next one in turn.  Their own rings
 * do not interrupt.  [decision 0061]
 *
 * With the feature ARM_MEM each CQ has 8 bytes of DMA memory.  Arming is a store there, with a new
 * number each time, and no request.  [decision 0062]
 */
#include <stddef.h>

#include "emu/base/cursor.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

#define EVENT_BYTES ((uint32_t)sizeof(struct raw_cq_event))
#define ARM_BYTES   ((uint32_t)sizeof(struct raw_cq_arm))

bool has_ceqs(const struct virtio_rdma *d)
{
    return virtio_has_feature(&d->virtio, VF_CEQ);
}

bool arms_in_memory(const struct virtio_rdma *d)
{
    return has_ceqs(d) && virtio_has_feature(&d->virtio, VF_ARM_MEM);
}

bool ceq_read_limits(struct virtio_rdma *d, uint32_t n_queues)
{
    const uint32_t at = (uint32_t)offsetof(struct raw_config, reserved) + CEQ_LIMITS_AT;
    struct rfc_ceq_limits limits;
    struct raw_ceq_limits raw;
    uint32_t n_all;

    _Static_assert(sizeof(raw) == 4, "one access");
    if (!has_ceqs(d))
        return true;
    st_le32((uint8_t *)&raw, (uint32_t)virtio_config_read(&d->virtio, at, 4));
    rfc_ceq_limits_get(&limits, &raw);
    n_all = (uint32_t)reg_read(&d->virtio, REG_NUM_QUEUES, 2);
    if (limits.max_ceq < 1 || limits.max_ceq > DEVICE_CEQS_MAX || n_all < n_queues + limits.max_ceq)
        return false;
    d->n_ceqs = limits.max_ceq;
    d->first_ceq = n_all - limits.max_ceq;
    return true;
}

/* Adds the next free descriptor with its buffer to CEQ @k. */
static bool add_buffer(struct virtio_rdma *d, uint32_t k, struct vqd *q)
{
    const struct vqd_seg seg = {
        d->ceq_buffers_gpa[k] + (uint64_t)vqd_next_head(q) * EVENT_BYTES,
        EVENT_BYTES,
    };
    uint16_t head;

    return vqd_add(q, d->virtio.pci.ram, &seg, 0, 1, &head);
}

static enum rdl_status boot_one(struct virtio_rdma *d, uint32_t k)
{
    const uint32_t queue = d->first_ceq + k;
    const uint32_t size = d->queue_size_max < GUEST_CEQ_SIZE ? d->queue_size_max : GUEST_CEQ_SIZE;
    struct vqd *q = virtio_rdma_vq(d, queue);
    enum rdl_status st = virtqueue_place(&d->virtio, &d->queues[queue], queue, size);

    if (st != RDL_OK)
        return st;
    d->ceq_buffers_gpa[k] = dma_take(d->virtio.pci.dma, (uint64_t)size * EVENT_BYTES);
    if (!d->ceq_buffers_gpa[k] || !vqd_init(q, d->arena, d->virtio.pci.ram, q->ring,
                                            virtio_has_feature(&d->virtio, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    st = virtqueue_program(&d->virtio, &d->queues[queue], shared_vector(d, k));
    if (st != RDL_OK)
        return st;
    while (q->n_free > 0 && add_buffer(d, k, q))
        ;
    vqd_want_interrupt(q, d->virtio.pci.ram, true);
    /* No kick: the device looks for buffers when it has an event. */
    vqd_publish(q, d->virtio.pci.ram);
    return q->n_free == 0 ? RDL_OK : RDL_ERR_NOMEM;
}

enum rdl_status ceq_boot(struct virtio_rdma *d)
{
    enum rdl_status st = RDL_OK;

    for (uint32_t k = 0; st == RDL_OK && k < d->n_ceqs; k++)
        st = boot_one(d, k);
    return st;
}

/* Raises the completion event that the device wrote into buffer @i of CEQ @k.  Returns false if it
 * is malformed.  The device writes an event only for an arming, so each is passed on.
 */
static bool take_event(struct virtio_rdma *d, uint32_t k, uint16_t i, uint32_t len)
{
    struct rfc_cq_event event;
    struct raw_cq_event raw;
    struct virtio_rdma_cq *c;

    if (len != EVENT_BYTES ||
        !ram_read(d->virtio.pci.ram, d->ceq_buffers_gpa[k] + (uint64_t)i * EVENT_BYTES, &raw,
                  sizeof(raw)))
        return false;
    rfc_cq_event_get(&event, &raw);
    if (event.cqn < 1 || event.cqn > d->device.max_cq)
        return false;
    c = (struct virtio_rdma_cq *)d->verbs->cq_of[event.cqn];
    if (!c)
        return true;
    if (event.number == c->armings) /* otherwise the CQ has been armed again meanwhile */
        c->arming = 0;
    verbs_cq_event(&c->cq);
    return true;
}

static void poll_queue(struct virtio_rdma *d, uint32_t k)
{
    const uint32_t queue = d->first_ceq + k;
    struct vqd *q = virtio_rdma_vq(d, queue);
    enum vqd_used got;
    uint16_t head;
    uint32_t len;
    bool any = false;

    while ((got = virtqueue_take_used(&d->virtio, q, queue, &head, &len)) == VQD_GOT) {
        any = true;
        if (!take_event(d, k, head, len) || !add_buffer(d, k, q)) {
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

static void poll_one(struct virtio_rdma *d, uint32_t k)
{
    struct vqd *q = virtio_rdma_vq(d, d->first_ceq + k);

    poll_queue(d, k);
    if (q->broken)
        return;
    vqd_want_interrupt(q, d->virtio.pci.ram, true);
    poll_queue(d, k); /* events that arrived before the interrupt was enabled */
}

void ceq_interrupt(struct virtio_rdma *d, uint32_t vector)
{
    for (uint32_t k = 0; k < d->n_ceqs; k++) {
        if (shared_vector(d, k) == vector)
            poll_one(d, k);
    }
}

void ceq_drain(struct virtio_rdma *d)
{
    for (uint32_t k = 0; k < d->n_ceqs; k++)
        poll_one(d, k);
}

bool ceq_choose(struct virtio_rdma *d, struct virtio_rdma_cq *c)
{
    c->ceq = c->cq.vector == RDL_VECTOR_ANY ? d->next_ceq : c->cq.vector;
    c->arm_gpa = 0;
    c->arming = 0;
    c->armings = 0;
    if (arms_in_memory(d)) {
        c->arm_gpa = dma_take_shared(d->virtio.pci.dma, ARM_BYTES);
        if (!c->arm_gpa)
            return false;
    }
    if (c->cq.vector == RDL_VECTOR_ANY)
        d->next_ceq = (d->next_ceq + 1) % d->n_ceqs;
    return true;
}

void ceq_leave(struct virtio_rdma *d, struct virtio_rdma_cq *c)
{
    dma_give(d->virtio.pci.dma, c->arm_gpa, ARM_BYTES);
    c->arm_gpa = 0;
}

enum rdl_status ceq_arm(struct virtio_rdma *d, struct virtio_rdma_cq *c, bool solicited_only)
{
    const uint32_t asked = solicited_only ? NOTIFY_SOLICITED : NOTIFY_NEXT_COMPLETION;
    struct rfc_cq_arm arm = {0};
    struct raw_cq_arm raw;

    if (c->arming != NOTIFY_NEXT_COMPLETION) /* an arming for any completion stays one */
        c->arming = asked;
    c->armings = (c->armings + 1) & CQ_ARM_SEQUENCE_MAX;
    arm.arm = c->armings << CQ_ARM_SEQUENCE_SHIFT | c->arming;
    rfc_cq_arm_put(&raw, &arm);
    if (!ram_write(d->virtio.pci.ram, c->arm_gpa, &raw, sizeof(raw)))
        return RDL_ERR_NOMEM;
    ram_fence(d->virtio.pci.ram); /* the program looks at the ring after that */
    TRACE(d->virtio.pci.trace, cq_arm, .host = d->virtio.pci.host, .cqn = c->cq.cqn,
          .number = arm.arm >> CQ_ARM_SEQUENCE_SHIFT, .solicited = c->arming == NOTIFY_SOLICITED,
          .addr = c->arm_gpa);
    return RDL_OK;
}

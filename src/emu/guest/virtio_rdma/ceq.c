/* SPDX-License-Identifier: MIT */
/* Completion event queues (CEQs), and arming in memory.
 *
 * The driver keeps each CEQ filled with buffers of one event.  An interrupt of a CEQ makes it take
 * the events, and each names the CQ whose program gets a completion event.  A CQ has the CEQ that
 * its program asks for as completion vector, or the next one in turn.  The rings of CQs do not
 * interrupt.  [decision 0061]
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

#define ARM_BYTES ((uint32_t)sizeof(struct raw_cq_arm))

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

/* The device writes an event only for an arming, so each is passed on. */
static bool take_event(struct virtio_rdma *d, const uint8_t bytes[EVENT_RING_BYTES])
{
    struct rfc_cq_event event;
    struct virtio_rdma_cq *c;

    _Static_assert(sizeof(struct raw_cq_event) == EVENT_RING_BYTES, "an event of this ring");
    rfc_cq_event_get(&event, (const struct raw_cq_event *)bytes);
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

enum rdl_status ceq_boot(struct virtio_rdma *d)
{
    enum rdl_status st = RDL_OK;

    for (uint32_t k = 0; st == RDL_OK && k < d->n_ceqs; k++) {
        d->ceqs[k] = (struct event_ring){.queue = d->first_ceq + k, .take = take_event};
        st = event_ring_boot(d, &d->ceqs[k], GUEST_CEQ_SIZE, shared_vector(d, k), true);
    }
    return st;
}

void ceq_interrupt(struct virtio_rdma *d, uint32_t vector)
{
    for (uint32_t k = 0; k < d->n_ceqs; k++) {
        if (shared_vector(d, k) == vector)
            event_ring_poll(d, &d->ceqs[k], true);
    }
}

void ceq_drain(struct virtio_rdma *d)
{
    for (uint32_t k = 0; k < d->n_ceqs; k++)
        event_ring_poll(d, &d->ceqs[k], true);
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

/* SPDX-License-Identifier: MIT */
/* Interrupt handlers.  [virtio 1.2, 4.1.5.3 and 4.1.5.4] */
#include "emu/guest/virtio_rdma/internal.h"

/* The configuration changed: the device may need a reset, have new limits or have counted events.
 */
static void config_interrupt(struct virtio_rdma *d)
{
    if (reg_read(&d->virtio, REG_DEVICE_STATUS, 1) & VS_DEVICE_NEEDS_RESET)
        verbs_broken(d->verbs);
    else
        boot_config_changed(d);
    events_count(d);
}

/* Raises a completion event if @cq is armed.  Vectors are shared, so the interrupt may belong to
 * another CQ and the event may come too early; programs must expect that.  [IBTA1 11.4.2.2]  If the
 * CQ is empty and nothing was polled since it was armed, the interrupt is not for it.  If
 * completions were polled since, it may be for those, and the device will raise no other.
 */
static void cq_interrupt(struct virtio_rdma *d, struct guest_cq *cq)
{
    struct vqd *q = virtio_rdma_vq(d, cq->cqn);

    if (!cq->armed || (work_count_unpolled(cq) == 0 && cq->polled == cq->polled_when_armed))
        return;
    vqd_want_interrupt(q, d->virtio.pci.ram, verbs_is_arming(cq));
    verbs_cq_event(cq);
}

/* Handles the interrupt for every CQ that uses @vector. */
static void cq_vector_interrupt(struct virtio_rdma *d, uint32_t vector)
{
    const uint32_t n = d->virtio.pci.n_vectors;
    const uint32_t stride = n > GUEST_VECTOR_CQ ? n - GUEST_VECTOR_CQ : 1;
    const uint32_t first = n > GUEST_VECTOR_CQ ? vector - GUEST_VECTOR_CQ + 1 : 1;

    for (uint32_t cqn = first; cqn <= d->device.max_cq; cqn += stride) {
        if (d->verbs->cq_of[cqn])
            cq_interrupt(d, d->verbs->cq_of[cqn]);
    }
}

void irq_message(void *driver, uint32_t vector)
{
    struct virtio_rdma *d = driver;

    if (!d->queues || vector >= d->virtio.pci.n_vectors)
        return;
    d->irqs++;
    if (vector == GUEST_VECTOR_CONFIG)
        config_interrupt(d);
    if (vector == ctrl_vector(d)) {
        ctrl_await(d);
        events_poll(d);
        if (!d->verbs->up)
            (void)boot_go_on(d); /* verbs_answer() reports a failure */
    }
    if (has_ceqs(d))
        ceq_interrupt(d, vector);
    else if (vector >= shared_vector(d, 0))
        cq_vector_interrupt(d, vector);
}

/* With INTx there is one vector, 0, which all sources share. */
bool irq_line(void *driver)
{
    struct virtio_rdma *d = driver;
    const bool had_interrupted = virtio_ask_isr(&d->virtio) != 0;

    if (had_interrupted)
        irq_message(d, 0);
    return had_interrupted;
}

/* SPDX-License-Identifier: MIT */
/* Interrupts.  [virtio 1.2, 4.1.5.3 and 4.1.5.4] */
#include "emu/guest/machine/internal.h"

/* The configuration changed: of interest is only whether the device gave up. */
static void config_interrupt(struct guest *g)
{
    if (reg_read(&g->pci, REG_DEVICE_STATUS, 1) & VS_DEVICE_NEEDS_RESET)
        g->broken = true;
}

/* A completion event, if @cq waits for one.  Vectors are shared, so it may be another's interrupt,
 * and then an event comes too early: programs must expect that.  [IBTA1 11.4.2.2 (unverified)]
 */
static void cq_interrupt(struct guest *g, struct guest_cq *cq)
{
    struct vqd *q = guest_vq(g, cq->cqn);

    if (!cq->armed || vqd_used_count(q, g->config.ram) == 0)
        return;
    cq->armed = false;
    cq->events++;
    vqd_want_interrupt(q, g->config.ram, false);
    TRACE(g->config.trace, cq_event, .host = g->config.host, .cqn = cq->cqn);
}

/* Every CQ whose vector this is. */
static void cq_vector_interrupt(struct guest *g, uint32_t vector)
{
    const uint32_t n = g->config.n_vectors;
    const uint32_t stride = n > GUEST_VECTOR_CQ ? n - GUEST_VECTOR_CQ : 1;
    const uint32_t first = n > GUEST_VECTOR_CQ ? vector - GUEST_VECTOR_CQ + 1 : 1;

    for (uint32_t cqn = first; cqn <= g->device.max_cq; cqn += stride) {
        if (g->cq_of[cqn])
            cq_interrupt(g, g->cq_of[cqn]);
    }
}

void guest_interrupt(struct guest *g, uint32_t vector)
{
    if (!g->queues || vector >= g->config.n_vectors)
        return;
    g->irqs++;
    if (vector == GUEST_VECTOR_CONFIG)
        config_interrupt(g);
    if (vector == ctrl_vector(g)) {
        ctrl_poll(g);
        if (!g->up)
            (void)boot_on(g); /* guest_answer() tells how it went */
    }
    if (vector >= cq_vector(g, 1))
        cq_vector_interrupt(g, vector);
}

/* SPDX-License-Identifier: MIT */
/* Between the files of the device. */
#ifndef EMU_DEVICE_INTERNAL_H
#define EMU_DEVICE_INTERNAL_H

#include "emu/base/cold.h"
#include "emu/device/rdma.h"
#include "emu/facts/device.h"
#include "emu/virtio/fault.h"

/* rdma_config.c: gives every limit that is 0 what it is by default. */
void rdma_limits_complete(struct rdl_device_limits *l, uint32_t max_qp);

/* Fills the device configuration space.  True: a driver may have read something else there. */
bool rdma_config_fill(struct rdma *d);

/* rdma.c: the device looks at @queue in a later tick, as if the driver had just kicked it. */
void rdma_ring(struct rdma *d, uint32_t queue);

/* rdma_ctrl.c: executes what waits in the control queue. */
void rdma_ctrl_run(struct rdma *d);

/* rdma_queues.c: how the transport reaches the rings. */
enum fetch rdma_fetch_send(void *ctx, struct qp *qp, struct send_wqe *out);
enum fetch rdma_fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out);
bool rdma_complete(void *ctx, struct qp *qp, enum wq wq, uint32_t desc,
                   const struct completion *wc);

/* Takes the next chain of @queue into d->chain. */
enum fetch rdma_pop(struct rdma *d, uint32_t queue);

/* rdma_events.c: tells the driver of @type about object @number of @kind; ops->event(). */
void rdma_event(void *ctx, enum async_event type, enum object_kind kind, uint32_t number);

/* The device needs a reset, which the driver learns from its status. */
void rdma_event_fatal(const struct rdma *d);

/* Writes what waits, as far as there are buffers. */
void rdma_events_flush(struct rdma *d);

/* An object is destroyed: what waits about it will not be told. */
void rdma_events_forget(struct rdma *d, enum object_kind kind, uint32_t number);

uint32_t rdma_receives(void *ctx, struct qp *qp);

/* rdma_srq.c */

/* Is @queue the ring of a shared receive queue, whether or not it exists now? */
bool rdma_is_srq_queue(const struct rdma *d, uint32_t queue);

/* A receive was taken out of the ring of @srq. */
void rdma_srq_taken(struct rdma *d, struct srq *srq);

/* Ring @queue is broken: if it is a shared receive queue's, that has failed. */
void rdma_srq_broken(struct rdma *d, uint32_t queue);

/* The driver took ring @queue away: if it is a shared receive queue's that is used, that has failed
 * and its queue pairs with it.
 */
void rdma_srq_taken_away(struct rdma *d, uint32_t queue);

/* Lets the QPs of CQs that overflowed learn of it; after every call into the transport. */
RDL_COLD void rdma_settle_failed(struct rdma *d);

static inline void rdma_settle(struct rdma *d)
{
    if (d->n_failed_cqs > 0)
        rdma_settle_failed(d);
}

/* rdma_port.c: ops->ready(), and becoming a user of the Ethernet port. */
void rdma_ready_add(void *ctx, struct qp *qp);
void rdma_port_use(struct rdma *d);

/* Has a fault stopped @queue?  Nobody asks that of a completion queue: it would have overflowed. */
static inline bool rdma_is_stuck(struct rdma *d, uint32_t queue)
{
    return d->pci.is_faulty && virtio_is_stuck(&d->pci, queue, d->ram);
}

/* Writes @n bytes to the beginning of @c, a chain of @queue that is given back then.  Returns how
 * many found room.
 */
static inline size_t rdma_write(struct rdma *d, uint32_t queue, const struct vq_chain *c,
                                const void *in, size_t n)
{
    return virtio_chain_write(
        &d->pci,
        &(struct virtio_write){.queue = queue, .ram = d->ram, .chain = c, .in = in, .n = n});
}

/* Gives a chain back. */
void rdma_push(struct rdma *d, uint32_t queue, uint16_t head, uint32_t len);

/* Interrupts the driver for what was given back, if it wants that. */
void rdma_interrupt(struct rdma *d, uint32_t queue);

/* Queue @queue was found broken. */
RDL_COLD void rdma_queue_broken(struct rdma *d, uint32_t queue);

#endif

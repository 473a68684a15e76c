/* SPDX-License-Identifier: MIT */
/* Functions shared between the files of the virtio-rdma device. */
#ifndef EMU_DEVICE_INTERNAL_H
#define EMU_DEVICE_INTERNAL_H

#include "emu/base/cold.h"
#include "emu/device/rdma.h"
#include "emu/facts/device.h"
#include "emu/virtio/fault.h"

/* rdma_config.c: writes the device configuration from the current limits and features.  Returns
 * true if its content changed while the device status was not 0: a driver may have read the
 * previous content.
 */
bool rdma_config_fill(struct rdma *d);

/* rdma.c: schedules SIM_DOORBELL for @queue, as if the driver had just kicked it. */
void rdma_ring(struct rdma *d, uint32_t queue);

/* rdma_ctrl.c: executes the requests in the control queue and completes them. */
void rdma_ctrl_run(struct rdma *d);

/* rdma_queues.c: implement the functions of struct rnic_ops with these names.  rdma_receives() also
 * requests a kick for the next receive that the driver posts.
 */
enum fetch rdma_fetch_send(void *ctx, struct qp *qp, struct send_wqe *out);
enum fetch rdma_fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out);
uint32_t rdma_receives(void *ctx, struct qp *qp);
bool rdma_sends_wait(const void *ctx, const struct qp *qp);
void rdma_release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc);
bool rdma_complete(void *ctx, struct cq *cq, const struct completion *wc);
void rdma_completed(void *ctx, struct cq *cq);

/* Takes the next chain of @queue into d->chain and returns FETCH_OK.  Returns FETCH_EMPTY if there
 * is no chain, or the queue or the device cannot be used.  Also returns FETCH_EMPTY, and schedules
 * a doorbell, if the work of this tick is done (vq_turn_is_over()).  If the queue is broken,
 * reports it with rdma_queue_broken() and returns FETCH_BROKEN.
 */
enum fetch rdma_pop(struct rdma *d, uint32_t queue);

/* The end of a queue pair with the feature QP_END; without it they do nothing.  [decision 0065]
 *
 * rdma_empty_rings() completes with length 0 every chain that is available in the rings of @qp, if
 * it is in RESET; the transport has completed those that it had taken.  rdma_end_qp() resets @qp,
 * which is about to be destroyed, and does the same.
 */
void rdma_empty_rings(struct rdma *d, const struct qp *qp);
void rdma_end_qp(struct rdma *d, struct qp *qp);

/* rdma_events.c: implement the functions of struct rnic_ops with these names. */
bool rdma_keeps_events(const void *ctx);
void rdma_event(void *ctx);

/* Writes pending events to the buffers of the event queue, until there are no more events or no
 * more buffers, and interrupts the driver.  Does nothing without the feature EVENTQ.
 */
void rdma_events_flush(struct rdma *d);

/* rdma_ceq.c */

/* rdma_ceqs_init() allocates the state of completion event queues, if the device offers them, and
 * returns false if the arena is full.  rdma_ceqs_reset() resets it.
 */
bool rdma_ceqs_init(struct rdma *d, struct arena *a);
void rdma_ceqs_reset(struct rdma *d);

/* Writes the waiting events of the CEQ whose queue is @queue, or of all CEQs, as long as there are
 * buffers, and interrupts the driver for each.
 */
void rdma_ceq_flush(struct rdma *d, uint32_t queue);
void rdma_ceqs_flush(struct rdma *d);

/* Raises the event for which @cq was armed: writes it into the CEQ, or keeps it until the CEQ has a
 * buffer.
 */
void rdma_ceq_event(struct rdma *d, const struct cq *cq);

/* Updates the arming of @cq by its driver's memory, if it is armed there.  Called after the used
 * entry of a completion was written.
 */
void rdma_arm_look(struct rdma *d, struct cq *cq);

/* Forgets the event and the arming of @cqn, which was destroyed. */
void rdma_ceq_forget(struct rdma *d, uint32_t cqn);

/* rdma_srq.c */

/* Returns true if virtqueue @queue is reserved for a shared receive queue, whether or not the
 * shared receive queue exists.
 */
bool rdma_is_srq_queue(const struct rdma *d, uint32_t queue);

/* Returns the shared receive queue whose ring is virtqueue @queue, or NULL if there is none. */
struct srq *rdma_srq_of(const struct rdma *d, uint32_t queue);

/* Returns true if a fault has stopped @queue, or stops it now.  Not used for completion queues,
 * which would overflow.
 */
static inline bool rdma_is_stuck(struct rdma *d, uint32_t queue)
{
    return d->pci.is_faulty && virtio_is_stuck(&d->pci, queue, d->nic.ram);
}

/* Writes @n bytes to the start of @c, a chain of @queue that the caller is about to complete.
 * Returns the number of bytes that fit.
 */
static inline size_t rdma_write(struct rdma *d, uint32_t queue, const struct vq_chain *c,
                                const void *in, size_t n)
{
    return virtio_chain_write(
        &d->pci,
        &(struct virtio_write){.queue = queue, .ram = d->nic.ram, .chain = c, .in = in, .n = n});
}

/* Completes the chain @head of @queue, with @len bytes written to it, and emits `used`.  Does
 * nothing if the queue is disabled or broken, or bus mastering is off.
 */
void rdma_push(struct rdma *d, uint32_t queue, uint16_t head, uint32_t len);

/* Interrupts the driver for completed chains of @queue, if the driver requests that. */
void rdma_interrupt(struct rdma *d, uint32_t queue);

/* Reports that @queue is broken: sets DEVICE_NEEDS_RESET, raises SRQ_ERR if @queue is the ring of a
 * shared receive queue, and emits `async_event` for DEVICE_FATAL if the device was running.
 */
RDL_COLD void rdma_queue_broken(struct rdma *d, uint32_t queue);

#endif

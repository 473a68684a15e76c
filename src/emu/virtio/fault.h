/* SPDX-License-Identifier: MIT */
/* Injected device faults at the boundary between driver and device.  [decision 0036]
 *
 *   LOST_KICK       the device does not receive a notification from the driver
 *   LOST_INTERRUPT  the device does not send an interrupt for a queue
 *   LATE_DATA       a buffer is completed before the device has written its bytes
 *   STUCK_QUEUE     the device takes nothing from a queue, for a time or until the fault is removed
 *   SPURIOUS        after a completed chain the driver finds one more that it did not offer
 *   FALSE_DATA      a byte that the device writes to a buffer is wrong
 *   FALSE_LENGTH    the used entry of a chain has a wrong length
 *   FALSE_READ      the driver reads something wrong from a register
 *
 * emu/pci/fault.h decides which occasions are hit.  While d->is_faulty, the code at an occasion
 * calls virtio_fault_hits().  The other functions here carry out the consequences.
 *
 * Invariants: d->is_faulty is true while a fault is active or a queue is stuck.  A queue is in
 * d->stuck at most once.
 */
#ifndef EMU_VIRTIO_FAULT_H
#define EMU_VIRTIO_FAULT_H

#include "emu/base/cold.h"
#include "emu/facts/enum/fault.h"
#include "emu/pci/fault.h"
#include "emu/virtio/pci.h"

/* A stuck queue: a fault of kind STUCK_QUEUE has stopped it. */
struct virtio_stuck {
    uint32_t queue;
    const struct device_fault *by; /* the fault that stopped the queue */
    sim_ticket ticket; /* timer that ends the stuck state; valid if by->time_ns is not 0 */
    struct virtio_stuck *next;
};

/* A write by the device to a chain of @queue.  @offset counts from the first writable byte. */
struct virtio_write {
    uint32_t queue;
    struct ram *ram;
    const struct vq_chain *chain;
    size_t offset;
    const void *in;
    size_t n;
};

/* A delayed write, from virtio_write_late() until virtio_late_arrives(). */
struct virtio_late;

/* Adds @f after the other faults of the device.  The caller owns @f and must keep it in place until
 * virtio_fault_remove().
 */
void virtio_fault_add(struct virtio_dev *d, struct device_fault *f);

/* Removes @f from the device.  The queues that it has stopped continue: virtio_go_on(). */
void virtio_fault_remove(struct virtio_dev *d, struct device_fault *f);

/* Counts an occasion of the fault kind @kind at @queue, a queue of the device.  If a fault hits the
 * occasion, emits device_fault and returns the fault.  Otherwise returns NULL.  Callers may omit
 * the call while d->is_faulty is false.
 */
RDL_COLD struct device_fault *virtio_fault_hits(struct virtio_dev *d, uint32_t kind,
                                                uint32_t queue);

/* Like virtio_fault_hits() for the kind LATE_DATA. */
RDL_COLD struct device_fault *virtio_fault_late(struct virtio_dev *d, uint32_t queue);

/* Returns true if a fault keeps the device from taking chains from @queue.  A queue with available
 * chains is an occasion of STUCK_QUEUE: a hit stops the queue, for fault->time_ns if that is not 0.
 */
RDL_COLD bool virtio_is_stuck(struct virtio_dev *d, uint32_t queue, const struct ram *ram);

/* Handler of SIM_GO_ON: ends the stuck state of @queue, which must be stuck.  Emits queue_goes_on
 * and processes the queue as if the driver had kicked it.
 */
void virtio_go_on(struct virtio_dev *d, uint32_t queue);

/* Ends the stuck state of @queue, or of all queues if @queue is FAULT_QUEUE_ANY, without
 * processing the queue.  Does nothing if the queue is not stuck.  For the reset of a queue or of
 * the device.
 */
void virtio_stuck_forget(struct virtio_dev *d, uint32_t queue);

/* Schedules the write @w for @fault->time_ns from now, with a copy of its bytes.  If the arena is
 * full, the write is lost.
 */
RDL_COLD void virtio_write_late(struct virtio_dev *d, const struct device_fault *fault,
                                const struct virtio_write *w);

/* Handler of SIM_LATE_DATA: does the delayed write, emits late_data and frees @late.  The write is
 * lost if the device is not running at that time, or the driver has reset the queue meanwhile.
 */
void virtio_late_arrives(struct virtio_late *late);

/* Does the write @w, of which @fault of kind FALSE_DATA makes a byte wrong; emits falsified. */
RDL_COLD size_t virtio_write_false(struct virtio_dev *d, struct device_fault *fault,
                                   const struct virtio_write *w);

/* Writes to a chain that the caller is about to complete, like vq_chain_write().  If a fault hits,
 * schedules a late write, or writes something wrong.  A late write is no occasion for the other
 * fault.  Returns the number of bytes that the caller reports to the driver.
 */
static inline size_t virtio_chain_write(struct virtio_dev *d, const struct virtio_write *w)
{
    const struct device_fault *late = d->is_faulty ? virtio_fault_late(d, w->queue) : NULL;
    struct device_fault *wrong =
        d->is_faulty && !late ? virtio_fault_hits(d, FLT_FALSE_DATA, w->queue) : NULL;
    const size_t room = w->chain->writable_bytes;

    if (wrong)
        return virtio_write_false(d, wrong, w);
    if (!late)
        return vq_chain_write(w->ram, w->chain, w->offset, w->in, w->n);
    virtio_write_late(d, late, w);
    return w->n < room ? w->n : room;
}

/* Returns the length that the used entry of chain @head of @queue gets: @len, or another one if a
 * fault of kind FALSE_LENGTH hits, which emits falsified.  Callers may omit the call while
 * d->is_faulty is false.
 */
RDL_COLD uint32_t virtio_length(struct virtio_dev *d, uint32_t queue, uint32_t head, uint32_t len);

/* Returns what a read of @width bytes at @offset of the device's BAR gives: @value, or something
 * else if a fault of kind FALSE_READ hits, which emits falsified.
 */
RDL_COLD uint64_t virtio_false_read(struct virtio_dev *d, uint32_t offset, uint32_t width,
                                    uint64_t value);

/* Writes one more used entry with @len bytes (vq_invent()) if a fault of kind SPURIOUS hits.  The
 * driver then finds a completed chain that it did not offer.  Call it while d->is_faulty, after
 * each completed chain of @queue.
 */
RDL_COLD void virtio_may_invent(struct virtio_dev *d, uint32_t queue, struct ram *ram,
                                uint32_t len);

#endif

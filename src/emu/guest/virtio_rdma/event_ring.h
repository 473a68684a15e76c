/* SPDX-License-Identifier: MIT */
/* Rings into which the device writes events: the event queue and the completion event queues.  The
 * driver keeps such a ring filled with buffers of one event each.
 */
#ifndef EMU_GUEST_VIRTIO_RDMA_EVENT_RING_H
#define EMU_GUEST_VIRTIO_RDMA_EVENT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/status.h"

#define EVENT_RING_BYTES 8u /* of each event */

struct virtio_rdma;

struct event_ring {
    uint32_t queue;       /* number of the virtqueue */
    uint64_t buffers_gpa; /* buffer i belongs to descriptor i */
    /* Passes on an event that the device wrote.  Returns false if it is malformed. */
    bool (*take)(struct virtio_rdma *d, const uint8_t event[EVENT_RING_BYTES]);
};

/* Sets up the ring of @r, whose @queue and @take the caller has written, with buffers and the MSI-X
 * vector @vector.  @size is a power of two; the ring is shorter if the device has shorter ones.
 * @interrupts: whether the device interrupts for an event from now on.
 * Returns RDL_OK, RDL_ERR_NOMEM or RDL_ERR_BROKEN.
 */
enum rdl_status event_ring_boot(struct virtio_rdma *d, struct event_ring *r, uint32_t size,
                                uint16_t vector, bool interrupts);

/* Takes the events in the ring.  If @listens, also enables its interrupt, and takes what arrived
 * before that.
 */
void event_ring_poll(struct virtio_rdma *d, const struct event_ring *r, bool listens);

#endif

/* SPDX-License-Identifier: MIT */
/* Asynchronous events.  The driver keeps the event queue filled with buffers; the device returns
 * one per event.  The driver enables the queue's interrupt only when a program uses the device.
 * Until then events stay in the ring.
 *
 * A device without an event queue only counts events, in the first reserved field of its
 * configuration, and raises the configuration interrupt.  [decision 0009]
 */
#include <stddef.h>

#include "emu/guest/virtio_rdma/internal.h"

static bool has_queue(const struct virtio_rdma *d)
{
    return virtio_has_feature(&d->virtio, VF_EVENTQ);
}

static bool take_event(struct virtio_rdma *d, const uint8_t bytes[EVENT_RING_BYTES])
{
    struct rfc_async_event event;

    _Static_assert(sizeof(struct raw_async_event) == EVENT_RING_BYTES, "an event of this ring");
    rfc_async_event_get(&event, (const struct raw_async_event *)bytes);
    if (event.type & ASYNC_EVENTS_MISSED)
        verbs_async_missed(d->verbs);
    verbs_async(d->verbs, event.type & ~ASYNC_EVENTS_MISSED, event.number);
    return true;
}

enum rdl_status events_boot(struct virtio_rdma *d)
{
    if (!has_queue(d))
        return RDL_OK;
    d->events.ring = (struct event_ring){
        .queue = queue_of_events(d->device.max_cq, d->device.max_qp), .take = take_event};
    return event_ring_boot(d, &d->events.ring, GUEST_EVENT_QUEUE_SIZE, ctrl_vector(d), false);
}

void events_poll(struct virtio_rdma *d)
{
    if (has_queue(d))
        event_ring_poll(d, &d->events.ring, d->events.heard);
}

void events_count(struct virtio_rdma *d)
{
    const uint32_t at = (uint32_t)offsetof(struct raw_config, reserved);
    uint64_t n;

    if (has_queue(d))
        return;
    n = virtio_config_read(&d->virtio, at, 4);
    n |= virtio_config_read(&d->virtio, at + 4, 4) << 32;
    if (n > d->events.counted)
        verbs_async_unnamed(d->verbs, n - d->events.counted);
    d->events.counted = n;
}

void events_listen(struct verbs *v)
{
    struct virtio_rdma *d = v->driver;

    d->events.heard = true;
    events_poll(d);
}

/* SPDX-License-Identifier: MIT */
/* Asynchronous events: from the RNIC to the driver.
 *
 * With the feature EVENTQ the driver fills a queue with empty buffers, and each event uses one.  Up
 * to RNIC_EVENTS_MAX events wait for a buffer.  Further ones are lost, and the next event that is
 * delivered has the flag ASYNC_EVENTS_MISSED.  Without the feature the driver learns only that
 * something has happened: a counter in the first reserved field of the configuration, and a
 * configuration interrupt.  [decision 0009]
 */
#include "emu/device/internal.h"
#include "emu/facts/rfc.h"

static uint32_t event_queue(const struct rdma *d)
{
    return queue_of_events(d->config.nic.max_cq, d->config.nic.max_qp);
}

/* Writes one event to the buffer in d->chain and completes it.  Returns false if the buffer is too
 * small; it is then completed with length 0.
 */
static bool put_event(struct rdma *d, const struct rnic_event *event)
{
    const struct rfc_async_event said = {
        .type = event->type | (d->nic.events.untold ? ASYNC_EVENTS_MISSED : 0),
        .number = event->number,
    };
    const bool fits = d->chain.writable_bytes >= sizeof(struct raw_async_event);
    struct raw_async_event raw;

    rfc_async_event_put(&raw, &said);
    if (fits)
        rdma_write(d, event_queue(d), &d->chain, &raw, sizeof(raw));
    rdma_push(d, event_queue(d), d->chain.head, fits ? sizeof(raw) : 0);
    return fits;
}

void rdma_events_flush(struct rdma *d)
{
    struct rnic_events *e = &d->nic.events;
    const uint32_t queue = event_queue(d);

    if (!virtio_has(&d->pci, VF_EVENTQ))
        return;
    while (e->len > 0 && !rdma_is_stuck(d, queue) && rdma_pop(d, queue) == FETCH_OK) {
        if (put_event(d, &e->ring[e->first]))
            rnic_event_told(&d->nic);
    }
    rdma_interrupt(d, queue);
}

/* Reports an event to a driver without EVENTQ: updates the counter in the configuration. */
static void count_in_config(struct rdma *d)
{
    struct raw_config *config = (struct raw_config *)(void *)d->pci.device_config;

    st_le64(config->reserved, d->nic.events.raised);
    virtio_config_changed(&d->pci);
}

bool rdma_keeps_events(const void *ctx)
{
    const struct rdma *d = ctx;

    return virtio_has(&d->pci, VF_EVENTQ);
}

void rdma_event(void *ctx)
{
    struct rdma *d = ctx;

    if (rdma_keeps_events(d))
        rdma_events_flush(d);
    else
        count_in_config(d);
}

/* SPDX-License-Identifier: MIT */
/* Asynchronous events: from the transport, the completion queues and the port to the driver.
 *
 * With the feature EVENTQ the driver fills a queue with empty buffers, and each event uses one.  Up
 * to RDMA_EVENTS_MAX events wait for a buffer.  Further ones are lost, and the next event that is
 * delivered has the flag ASYNC_EVENTS_MISSED.  Without the feature the driver learns only that
 * something has happened: a counter in the first reserved field of the configuration, and a
 * configuration interrupt.  [decision 0009]
 */
#include "emu/base/assert.h"
#include "emu/device/internal.h"
#include "emu/facts/async.h"
#include "emu/facts/rfc.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

static uint32_t event_queue(const struct rdma *d)
{
    return queue_of_events(d->config.nic.max_cq, d->config.nic.max_qp);
}

/* Writes one event to the buffer in d->chain and completes it.  Returns false if the buffer is too
 * small; it is then completed with length 0.
 */
static bool put_event(struct rdma *d, const struct rdma_event *event)
{
    const struct rfc_async_event said = {
        .type = event->type | (d->events.untold ? ASYNC_EVENTS_MISSED : 0),
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
    struct rdma_events *e = &d->events;
    const uint32_t queue = event_queue(d);

    if (!virtio_has(&d->pci, VF_EVENTQ))
        return;
    while (e->len > 0 && !rdma_is_stuck(d, queue) && rdma_pop(d, queue) == FETCH_OK) {
        if (!put_event(d, &e->ring[e->first]))
            continue;
        e->first = (e->first + 1) % RDMA_EVENTS_MAX;
        e->len--;
        e->untold = false;
    }
    rdma_interrupt(d, queue);
}

/* Reports an event to a driver without EVENTQ: updates the counter in the configuration. */
static void count_in_config(struct rdma *d)
{
    struct raw_config *config = (struct raw_config *)(void *)d->pci.device_config;

    st_le64(config->reserved, d->events.raised);
    virtio_config_changed(&d->pci);
}

static ev_id trace_event(const struct rdma *d, enum async_event type, uint32_t number, bool lost)
{
    ev_id id;

    TRACE_ID(d->nic.trace, id, async_event, .host = d->config.nic.host, .event = (uint32_t)type,
             .object = (uint32_t)async_object((uint32_t)type), .number = number, .lost = lost);
    return id;
}

void rdma_event(void *ctx, uint32_t type, uint32_t kind, uint32_t number)
{
    struct rdma *d = ctx;
    struct rdma_events *e = &d->events;
    const bool queued = virtio_has(&d->pci, VF_EVENTQ);
    const bool lost = queued && e->len == RDMA_EVENTS_MAX;
    ev_id before;

    RDL_ASSERT(async_object((uint32_t)type) == kind);
    if (!virtio_is_driven(&d->pci))
        return; /* no driver */
    before = trace_because(d->nic.trace, trace_event(d, type, number, lost));
    e->raised++;
    if (!queued) {
        count_in_config(d);
    } else if (lost) {
        e->lost++;
        e->untold = true;
    } else {
        e->ring[(e->first + e->len++) % RDMA_EVENTS_MAX] = (struct rdma_event){type, number};
        rdma_events_flush(d);
    }
    trace_because(d->nic.trace, before);
}

void rdma_event_fatal(const struct rdma *d)
{
    (void)trace_event(d, ASE_DEVICE_FATAL, 0, false);
}

void rdma_events_forget(struct rdma *d, uint32_t kind, uint32_t number)
{
    struct rdma_events *e = &d->events;
    const uint32_t n = e->len;

    e->len = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct rdma_event event = e->ring[(e->first + i) % RDMA_EVENTS_MAX];

        if (async_object((uint32_t)event.type) != kind || event.number != number)
            e->ring[(e->first + e->len++) % RDMA_EVENTS_MAX] = event;
    }
}

/* SPDX-License-Identifier: MIT */
#include "emu/virtio/fault.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/turn.h"
#include "emu/facts/enum/fault.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"

struct virtio_late {
    struct virtio_dev *d;
    struct ram *ram;
    uint32_t queue;
    struct vq_chain chain;
    size_t offset, n;
    uint32_t qpn, cqn, number; /* of the fault, which may be removed before the write */
    struct ev_str name;
    uint8_t bytes[];
};

static void judge(struct virtio_dev *d)
{
    d->is_faulty = d->faults || d->stuck;
}

void virtio_fault_add(struct virtio_dev *d, struct virtio_fault *f)
{
    struct virtio_fault **end = &d->faults;

    while (*end)
        end = &(*end)->next;
    *end = f;
    f->next = NULL;
    judge(d);
}

/* Removes @f from the active faults, if it is among them. */
static void take_off(struct virtio_dev *d, const struct virtio_fault *f)
{
    struct virtio_fault **at = &d->faults;

    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
    judge(d);
}

/* --- Hits ------------------------------------------------------------------------------------- */

/* The device_fault event of a hit.  The condition of a fault is evaluated on it before it is
 * emitted.
 */
static struct ev_device_fault describe(const struct virtio_dev *d, const struct virtio_fault *f,
                                       uint32_t queue)
{
    const struct vq *vq = &d->queues[queue];

    return (struct ev_device_fault){
        .host = d->config.host,
        .qpn = f->qpn,
        .cqn = f->cqn,
        .by = (uint32_t)f->kind,
        .fault = f->number,
        .name = f->name,
        .function = d->config.function,
        .queue = queue,
        .seen = f->seen,
        .avail_idx = vq->last_avail,
        .used_idx = vq->used_idx,
        .delay = f->time_ns,
    };
}

static bool holds(const struct virtio_dev *d, const struct virtio_fault *f, uint32_t queue)
{
    const struct ev hit = {
        .at_ns = sim_now(d->sim), .kind = EV_device_fault, .u.device_fault = describe(d, f, queue)};

    return !f->where || f->where(f->where_ctx, &hit);
}

/* Counts the occasion.  Returns true if @f hits it. */
static bool takes(struct virtio_dev *d, struct virtio_fault *f, uint32_t queue)
{
    if (!holds(d, f, queue))
        return false;
    f->seen++;
    if (!turn_has_come(f->seen, f->nth, f->every))
        return false;
    if (f->chance_ppm && prng_below(&f->rng, VIRTIO_PPM) >= f->chance_ppm)
        return false;
    f->hits++;
    if (f->count != VIRTIO_COUNT_ALL && --f->count == 0)
        take_off(d, f);
    return true;
}

static void say_hit(const struct virtio_dev *d, struct virtio_fault *f, uint32_t queue)
{
    const struct ev_device_fault e = describe(d, f, queue);

    TRACE_ID(d->sim->trace, f->hit, device_fault, .host = e.host, .qpn = e.qpn, .cqn = e.cqn,
             .by = e.by, .fault = e.fault, .name = e.name, .function = e.function, .queue = e.queue,
             .seen = e.seen, .avail_idx = e.avail_idx, .used_idx = e.used_idx, .delay = e.delay);
}

struct virtio_fault *virtio_fault_hits(struct virtio_dev *d, uint32_t kind, uint32_t queue)
{
    for (struct virtio_fault *f = d->faults; f; f = f->next) {
        if (f->kind != kind || (f->queue != queue && f->queue != VIRTIO_QUEUE_ANY) ||
            !takes(d, f, queue))
            continue;
        say_hit(d, f, queue);
        return f;
    }
    return NULL;
}

struct virtio_fault *virtio_fault_late(struct virtio_dev *d, uint32_t queue)
{
    return virtio_fault_hits(d, FLT_LATE_DATA, queue);
}

/* --- Stuck queues ----------------------------------------------------------------------------- */

static struct virtio_stuck **find_stuck(struct virtio_dev *d, uint32_t queue)
{
    struct virtio_stuck **at = &d->stuck;

    while (*at && (*at)->queue != queue)
        at = &(*at)->next;
    return at;
}

/* Removes and frees the entry *@at. */
static void unstick(struct virtio_dev *d, struct virtio_stuck **at)
{
    struct virtio_stuck *s = *at;

    *at = s->next;
    if (s->by->time_ns)
        (void)sim_cancel(d->sim, s->ticket); /* fails if this timer is running now */
    arena_release(d->arena, s, sizeof(*s));
    judge(d);
}

bool virtio_is_stuck(struct virtio_dev *d, uint32_t queue, const struct ram *ram)
{
    const struct virtio_fault *f;
    struct virtio_stuck *s;

    if (*find_stuck(d, queue))
        return true;
    if (vq_avail_peek(&d->queues[queue], ram) == 0)
        return false;
    f = virtio_fault_hits(d, FLT_STUCK_QUEUE, queue);
    s = f ? arena_alloc(d->arena, sizeof(*s)) : NULL;
    if (!s)
        return false;
    *s = (struct virtio_stuck){.queue = queue, .by = f, .next = d->stuck};
    d->stuck = s;
    judge(d);
    if (f->time_ns) {
        const ev_id cause = trace_because(d->sim->trace, f->hit);

        s->ticket = sim_schedule(d->sim, sim_now(d->sim) + f->time_ns, SIM_GO_ON, d->config.host,
                                 fn_queue_arg(&d->fn, queue));
        trace_because(d->sim->trace, cause);
    }
    return true;
}

/* Ends the stuck state of *@at.  The device processes the queue as if the driver had kicked it. */
static void go_on(struct virtio_dev *d, struct virtio_stuck **at)
{
    const struct virtio_stuck s = **at;
    ev_id id, cause;

    unstick(d, at);
    TRACE_ID(d->sim->trace, id, queue_goes_on, .host = d->config.host, .qpn = s.by->qpn,
             .cqn = s.by->cqn, .function = d->config.function, .queue = s.queue,
             .fault = s.by->number, .name = s.by->name);
    cause = trace_because(d->sim->trace, id);
    virtio_take_kick(d, s.queue);
    trace_because(d->sim->trace, cause);
}

void virtio_go_on(struct virtio_dev *d, uint32_t queue)
{
    struct virtio_stuck **at = find_stuck(d, queue);

    RDL_ASSERT(*at); /* unstick() cancels the timer of a removed entry */
    go_on(d, at);
}

void virtio_stuck_forget(struct virtio_dev *d, uint32_t queue)
{
    struct virtio_stuck **at = &d->stuck;

    while (*at) {
        if (queue == VIRTIO_QUEUE_ANY || (*at)->queue == queue)
            unstick(d, at);
        else
            at = &(*at)->next;
    }
}

void virtio_fault_remove(struct virtio_dev *d, struct virtio_fault *f)
{
    struct virtio_stuck **at = &d->stuck;

    take_off(d, f);
    while (*at) {
        if ((*at)->by == f)
            go_on(d, at);
        else
            at = &(*at)->next;
    }
}

/* --- Late and spurious writes ----------------------------------------------------------------- */

void virtio_write_late(struct virtio_dev *d, const struct virtio_fault *fault,
                       const struct virtio_write *w)
{
    struct virtio_late *late = arena_alloc_raw(d->arena, sizeof(*late) + w->n);
    ev_id cause;

    if (!late)
        return;
    late->d = d;
    late->ram = w->ram;
    late->queue = w->queue;
    late->chain = *w->chain;
    late->offset = w->offset;
    late->n = w->n;
    late->qpn = fault->qpn;
    late->cqn = fault->cqn;
    late->number = fault->number;
    late->name = fault->name;
    memcpy(late->bytes, w->in, w->n);
    cause = trace_because(d->sim->trace, fault->hit);
    sim_enqueue(d->sim, sim_now(d->sim) + fault->time_ns, SIM_LATE_DATA, d->config.host,
                (uint64_t)(uintptr_t)late);
    trace_because(d->sim->trace, cause);
}

void virtio_late_arrives(struct virtio_late *late)
{
    struct virtio_dev *d = late->d;

    if (virtio_running(d) && d->queues[late->queue].enabled) {
        TRACE(d->sim->trace, late_data, .host = d->config.host, .qpn = late->qpn, .cqn = late->cqn,
              .function = d->config.function, .queue = late->queue, .desc = late->chain.head,
              .bytes = (uint32_t)late->n, .fault = late->number, .name = late->name);
        (void)vq_chain_write(late->ram, &late->chain, late->offset, late->bytes, late->n);
    }
    arena_release(d->arena, late, sizeof(*late) + late->n);
}

void virtio_may_invent(struct virtio_dev *d, uint32_t queue, struct ram *ram, uint32_t len)
{
    struct vq *vq = &d->queues[queue];
    const struct virtio_fault *f = virtio_fault_hits(d, FLT_SPURIOUS, queue);

    if (f)
        vq_invent(vq, ram, f->id == VIRTIO_ID_BEHIND ? vq->ring.size : f->id, len);
}

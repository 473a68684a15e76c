/* SPDX-License-Identifier: MIT */
#include "emu/virtio/fault.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"

struct virtio_late {
    struct virtio_dev *d;
    struct ram *ram;
    uint32_t queue, life; /* the queue, and which one of its lives */
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

void virtio_fault_add(struct virtio_dev *d, struct device_fault *f)
{
    device_fault_add(&d->faults, f);
    judge(d);
}

struct device_fault *virtio_fault_hits(struct virtio_dev *d, uint32_t kind, uint32_t queue)
{
    static const struct vq none;
    const struct vq *vq = queue == FAULT_QUEUE_ANY ? &none : &d->queues[queue];
    const struct fault_place place = {.sim = d->sim,
                                      .host = d->config.host,
                                      .function = d->config.function,
                                      .queue = queue,
                                      .taken = vq->last_avail,
                                      .returned = vq->used_idx};
    struct device_fault *hit = device_fault_hits(&d->faults, kind, &place);

    if (hit)
        judge(d);
    return hit;
}

struct device_fault *virtio_fault_late(struct virtio_dev *d, uint32_t queue)
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
    const struct device_fault *f;
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
        if (queue == FAULT_QUEUE_ANY || (*at)->queue == queue)
            unstick(d, at);
        else
            at = &(*at)->next;
    }
}

void virtio_fault_remove(struct virtio_dev *d, struct device_fault *f)
{
    struct virtio_stuck **at = &d->stuck;

    device_fault_take_off(&d->faults, f);
    judge(d);
    while (*at) {
        if ((*at)->by == f)
            go_on(d, at);
        else
            at = &(*at)->next;
    }
}

/* --- Late and spurious writes ----------------------------------------------------------------- */

void virtio_write_late(struct virtio_dev *d, const struct device_fault *fault,
                       const struct virtio_write *w)
{
    struct virtio_late *late = arena_alloc_raw(d->arena, sizeof(*late) + w->n);
    ev_id cause;

    if (!late)
        return;
    late->d = d;
    late->ram = w->ram;
    late->queue = w->queue;
    late->life = d->queues[w->queue].life;
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

    if (virtio_running(d) && d->queues[late->queue].life == late->life) {
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
    const struct device_fault *f = virtio_fault_hits(d, FLT_SPURIOUS, queue);

    if (f)
        vq_invent(vq, ram, f->id == FAULT_ID_BEHIND ? vq->ring.size : f->id, len);
}

/* --- What is told wrongly --------------------------------------------------------------------- */

/* The part of a write, a used entry or a read that a fault changes. */
struct untruth {
    uint32_t queue, desc;
    uint32_t at; /* offset in the buffer, or in the BAR */
    uint64_t right, wrong;
};

static void tell_falsified(struct virtio_dev *d, const struct device_fault *f,
                           const struct untruth *u)
{
    const ev_id cause = trace_because(d->sim->trace, f->hit);

    TRACE(d->sim->trace, falsified, .host = d->config.host, .qpn = f->qpn, .cqn = f->cqn,
          .function = d->config.function, .queue = u->queue, .desc = u->desc, .at = u->at,
          .right = u->right, .wrong = u->wrong, .fault = f->number, .name = f->name);
    trace_because(d->sim->trace, cause);
}

/* Returns the bits of @f to invert in a value of @width bytes, at least one. */
static uint64_t flip_of(struct device_fault *f, uint32_t width)
{
    const uint64_t all = width < 8 ? ((uint64_t)1 << 8 * width) - 1 : UINT64_MAX;
    uint64_t flip = f->flip;

    if (flip == FAULT_DRAWN)
        flip = prng_next(&f->rng);
    return flip & all ? flip & all : 1;
}

size_t virtio_write_false(struct virtio_dev *d, struct device_fault *fault,
                          const struct virtio_write *w)
{
    const size_t done = vq_chain_write(w->ram, w->chain, w->offset, w->in, w->n);
    const uint8_t *right = w->in;
    uint32_t at = fault->at;
    uint8_t wrong;

    if (done == 0)
        return done;
    if (at == FAULT_DRAWN)
        at = (uint32_t)prng_below(&fault->rng, done);
    else if (at >= done)
        at = (uint32_t)done - 1;
    wrong = (uint8_t)(right[at] ^ flip_of(fault, 1));
    (void)vq_chain_write(w->ram, w->chain, w->offset + at, &wrong, 1);
    tell_falsified(d, fault,
                   &(struct untruth){.queue = w->queue,
                                     .desc = w->chain->head,
                                     .at = (uint32_t)w->offset + at,
                                     .right = right[at],
                                     .wrong = wrong});
    return done;
}

/* Returns u.right, a value of @width bytes, or a wrong one if a fault of @kind hits. */
static uint64_t falsify(struct virtio_dev *d, uint32_t kind, uint32_t width, struct untruth u)
{
    struct device_fault *f = virtio_fault_hits(d, kind, u.queue);

    if (!f)
        return u.right;
    u.wrong = u.right ^ flip_of(f, width);
    tell_falsified(d, f, &u);
    return u.wrong;
}

uint32_t virtio_length(struct virtio_dev *d, uint32_t queue, uint32_t head, uint32_t len)
{
    return (uint32_t)falsify(d, FLT_FALSE_LENGTH, sizeof(len),
                             (struct untruth){.queue = queue, .desc = head, .right = len});
}

uint64_t virtio_false_read(struct virtio_dev *d, uint32_t offset, uint32_t width, uint64_t value)
{
    return falsify(d, FLT_FALSE_READ, width,
                   (struct untruth){.queue = FAULT_QUEUE_ANY, .at = offset, .right = value});
}

/* SPDX-License-Identifier: MIT */
#include "emu/pci/fault.h"

#include "emu/base/turn.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"

void device_fault_add(struct device_fault **list, struct device_fault *f)
{
    while (*list)
        list = &(*list)->next;
    *list = f;
    f->next = NULL;
}

void device_fault_take_off(struct device_fault **list, const struct device_fault *f)
{
    while (*list && *list != f)
        list = &(*list)->next;
    if (*list)
        *list = f->next;
}

/* The device_fault event of a hit.  The condition of a fault is evaluated on it before it is
 * emitted.
 */
static struct ev_device_fault describe(const struct device_fault *f, const struct fault_place *p)
{
    return (struct ev_device_fault){
        .host = p->host,
        .qpn = f->qpn,
        .cqn = f->cqn,
        .by = f->kind,
        .fault = f->number,
        .name = f->name,
        .function = p->function,
        .queue = p->queue,
        .seen = f->seen,
        .avail_idx = p->taken,
        .used_idx = p->returned,
        .delay = f->time_ns,
    };
}

static bool holds(const struct device_fault *f, const struct fault_place *p)
{
    const struct ev hit = {
        .at_ns = sim_now(p->sim), .kind = EV_device_fault, .u.device_fault = describe(f, p)};

    return !f->where || f->where(f->where_ctx, &hit);
}

/* Counts the occasion.  Returns true if @f hits it. */
static bool takes(struct device_fault **list, struct device_fault *f, const struct fault_place *p)
{
    if (!holds(f, p))
        return false;
    f->seen++;
    if (!turn_has_come(f->seen, f->nth, f->every))
        return false;
    if (f->chance_ppm && prng_below(&f->rng, FAULT_PPM) >= f->chance_ppm)
        return false;
    f->hits++;
    if (f->count != FAULT_COUNT_ALL && --f->count == 0)
        device_fault_take_off(list, f);
    return true;
}

static void say_hit(struct device_fault *f, const struct fault_place *p)
{
    const struct ev_device_fault e = describe(f, p);

    TRACE_ID(p->sim->trace, f->hit, device_fault, .host = e.host, .qpn = e.qpn, .cqn = e.cqn,
             .by = e.by, .fault = e.fault, .name = e.name, .function = e.function, .queue = e.queue,
             .seen = e.seen, .avail_idx = e.avail_idx, .used_idx = e.used_idx, .delay = e.delay);
}

struct device_fault *device_fault_hits(struct device_fault **list, uint32_t kind,
                                       const struct fault_place *place)
{
    for (struct device_fault *f = *list; f; f = f->next) {
        if (f->kind != kind || (f->queue != place->queue && f->queue != FAULT_QUEUE_ANY) ||
            !takes(list, f, place))
            continue;
        say_hit(f, place);
        return f;
    }
    return NULL;
}

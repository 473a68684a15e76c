/* SPDX-License-Identifier: MIT */
/* The drill of a machine: what events tell of the receive queue of virtio-net, and faults of it.
 *
 * The model counts the occasions of a fault.  For a fault with a chance, the model takes the hits
 * from its events.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/virtio/net.h"
#include "emu/trace/event.h"
#include "emu/trace/kind.h"
#include "rdmalab/fault.h"
#include "swarm/drills/drill_machine.h"

static void order(struct drill *d)
{
    static const uint32_t kinds[] = {FLT_LOST_INTERRUPT, FLT_LATE_DATA, FLT_STUCK_QUEUE,
                                     FLT_SPURIOUS};
    struct machine *m = machine_of(d);
    struct machine_fault *f = &m->fault;
    struct rdl_device_fault_config c = {.name = "odd", .host = m->host, .net = true};

    c.kind = kinds[drill_below(d, ARRAY_LEN(kinds))];
    c.queue = drill_one_in(d, 2) ? RDL_ANY : NET_QUEUE_RX;
    c.nth = 1 + drill_below(d, 3);
    c.count = drill_one_in(d, 3) ? RDL_ANY : 1 + drill_below(d, 3);
    c.chance_ppm = drill_one_in(d, 2) ? 0 : 1 + drill_below(d, 1000000);
    if (c.kind == FLT_LATE_DATA || (c.kind == FLT_STUCK_QUEUE && drill_one_in(d, 2)))
        c.time_ns = 1 + drill_below(d, 5000);
    if (c.kind == FLT_SPURIOUS)
        c.id = drill_one_in(d, 3) ? RDL_ANY : drill_below(d, 40);
    *f = (struct machine_fault){.kind = c.kind,
                                .nth = c.nth,
                                .left = c.count,
                                .chance_ppm = c.chance_ppm,
                                .id = c.id,
                                .time_ns = c.time_ns,
                                .from = drill_events(d)};
    f->is_there = drill_works(d, rdl_device_fault_add(d->lab, &c, &f->fault),
                              "a fault of a device can be ordered");
}

void machine_change_fault(struct drill *d)
{
    struct machine_fault *f = &machine_of(d)->fault;

    d->n_unsaid++;
    if (!f->is_there) {
        order(d);
        return;
    }
    if (!machine_check_fault(d))
        return;
    (void)drill_works(d, rdl_fault_remove(d->lab, f->fault), "a fault can be cleared");
    *f = (struct machine_fault){.is_there = false};
    (void)drill_settle(d);
}

void machine_fault_begin(struct drill *d)
{
    struct machine_fault *f = &machine_of(d)->fault;

    f->from = drill_events(d);
    f->step_hits = 0;
}

/* Returns true if an event of this step tells that occasion @seen was hit. */
static bool was_hit(struct drill *d, const struct machine_fault *f, uint32_t seen)
{
    uint64_t at = f->from;
    const struct ev *e = drill_event(d, EV_device_fault, &at);

    while (e && e->u.device_fault.seen != seen)
        e = drill_event(d, EV_device_fault, &at);
    return e != NULL;
}

bool machine_fault_hits(struct drill *d, uint32_t kind)
{
    struct machine_fault *f = &machine_of(d)->fault;

    if (!f->is_there || f->kind != kind || f->left == 0)
        return false;
    f->seen++;
    if (f->seen < f->nth || (f->chance_ppm && !was_hit(d, f, f->seen)))
        return false;
    f->hits++;
    f->step_hits++;
    if (f->left != RDL_ANY)
        f->left--;
    return true;
}

static bool leaf_is(struct drill *d, const char *path, uint64_t want)
{
    return drill_number_is(d, path, want, "the tree tells how often a fault saw and hit something");
}

bool machine_check_fault(struct drill *d)
{
    const struct machine_fault *f = &machine_of(d)->fault;
    uint64_t at = f->from;
    uint32_t n = 0;

    if (!f->is_there)
        return true;
    while (drill_event(d, EV_device_fault, &at))
        n++;
    return drill_expect(d, n == f->step_hits, "a fault hits the occasions that it was ordered for",
                        "it hit %u, and not %u", n, f->step_hits) &&
           leaf_is(d, "odd.seen", f->seen) && leaf_is(d, "odd.hits", f->hits) &&
           (f->left == RDL_ANY || leaf_is(d, "odd.left", f->left));
}

bool machine_check_used(struct drill *d, uint64_t from, uint32_t n)
{
    const struct machine *m = machine_of(d);
    const struct ev *e = drill_event(d, EV_used, &from);
    uint16_t want = (uint16_t)(m->used_idx - n);

    for (; e; e = drill_event(d, EV_used, &from)) {
        want++;
        if (!drill_expect(d, e->u.used.used_idx == want,
                          "each used element is told with the index behind it", "%u, and not %u",
                          e->u.used.used_idx, want))
            return false;
    }
    return drill_expect(d, want == m->used_idx, "each used element is told", "%u are not",
                        (uint32_t)(uint16_t)(m->used_idx - want));
}

/* SPDX-License-Identifier: MIT */
#include "capture/axis.h"

/* Extends @a to the time @at_ns.  Until axis_init() has divided it, step_ns is its whole length. */
static void extend(struct axis *a, uint64_t at_ns)
{
    const uint64_t end_ns = a->from_ns + a->step_ns;

    if (a->n_steps == 0) {
        a->n_steps = 1;
        a->from_ns = at_ns;
        return;
    }
    if (at_ns < a->from_ns) {
        a->step_ns = end_ns - at_ns;
        a->from_ns = at_ns;
    } else if (at_ns > end_ns) {
        a->step_ns = at_ns - a->from_ns;
    }
}

static void count(struct axis *a, enum axis_kind kind, uint64_t at_ns)
{
    uint64_t *v = &a->v[kind][(at_ns - a->from_ns) / a->step_ns];

    a->sum[kind]++;
    if (++*v > a->most[kind])
        a->most[kind] = *v;
}

static bool is_counted(const struct seen *s)
{
    return !(s->flags & SEEN_AGAIN);
}

void axis_init(struct axis *a, const struct capture_record *r)
{
    *a = (struct axis){.n_steps = 0};
    for (uint32_t i = 0; i < r->n; i++) {
        if (is_counted(&r->v[i]))
            extend(a, r->v[i].at_ns);
    }
    for (size_t i = 0; i < r->n_pauses; i++)
        extend(a, r->pauses[i].at_ns);
    if (a->n_steps == 0)
        return;
    a->step_ns = a->step_ns / AXIS_STEPS + 1;
    a->n_steps = AXIS_STEPS;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct seen *s = &r->v[i];

        if (is_counted(s))
            count(a, seen_op(s)->service == OPS_CNP ? AXIS_CNP : AXIS_PACKETS, s->at_ns);
        if (s->flags & SEEN_CE)
            count(a, AXIS_CE, s->at_ns);
    }
    for (size_t i = 0; i < r->n_pauses; i++) {
        count(a, r->pauses[i].what.stops ? AXIS_STOP : AXIS_START, r->pauses[i].at_ns);
        a->priorities |= r->pauses[i].what.stops;
    }
}

bool axis_is_congested(const struct axis *a)
{
    return a->sum[AXIS_CE] + a->sum[AXIS_CNP] + a->sum[AXIS_STOP] + a->sum[AXIS_START] > 0;
}

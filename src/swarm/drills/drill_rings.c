/* SPDX-License-Identifier: MIT */
/* The drill of rings: virtqueues, the memory that holds them, and the verbs objects that use them.
 */
#include "swarm/drills/drill_rings.h"

#include "swarm/drills/kinds.h"

#define STEPS 32u

static void set_up(struct drill *d)
{
    static const struct rings_part *const parts[] = {
        &rings_of_driver, &rings_of_driver, &rings_of_queues, &rings_of_queues, &rings_of_memory};
    struct rings *k = d->own;

    k->part = parts[drill_below(d, ARRAY_LEN(parts))];
    k->part->set_up(d);
}

static void take(struct drill *d)
{
    const struct rings *k = d->own;

    k->part->take(d);
}

const struct drill_kind drill_of_rings = {
    .name = "rings", .bytes = sizeof(struct rings), .steps = STEPS, .set_up = set_up, .take = take};

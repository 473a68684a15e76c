/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: the attacks, and the steps. */
#include "swarm/drills/drill_rogue.h"

#include <inttypes.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/refusal.h"
#include "rdmalab/status.h"
#include "swarm/drills/kinds.h"

#define STEPS   16u
#define BUSY_NS 12000u /* messages of a step take longer, mostly */

#define VALUE_OWN_DROP(value) DROP_##value
#define VALUE_DROP(value)     DROP_##value
#define VALUE_ANSWER(value)   DROP_##value
#define VALUE_STATUS(value)   WCS_##value
#define VALUE_REFUSED(value)  RDL_##value
#define VALUE_REQUEST(value)  REF_##value
#define VALUE_NOTHING(value)  0
#define VALUE_SHARE(value)    0
#define VALUE_OPEN(value)     0

#define ATTACK(name, stop, value, ...)                                                             \
    {#name, ROGUE_##stop, (uint32_t)VALUE_##stop(value), rogue_##name},
#define TOLD(...)
const struct rogue_attack rogue_attacks[] = {
#include "swarm/drills/rogue_attacks.def"
};
#undef ATTACK
#undef TOLD
const uint32_t rogue_attacks_n = ARRAY_LEN(rogue_attacks);

static void set_up(struct drill *d)
{
    (void)rogue_set_up(d);
}

/* Gives the rogue a connection again, or its place to another guest. */
static bool repair(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    const bool has_failed = s->has_failed;

    s->has_failed = false;
    if (s->guest.is_broken)
        return rogue_add_guest(d);
    return !has_failed || rogue_reconnect(d);
}

/* Returns the attack of this step.  The last guest does not break its device. */
static const struct rogue_attack *choose(struct drill *d)
{
    const struct rogue_attack *a = &rogue_attacks[drill_below(d, rogue_attacks_n)];
    const bool breaks = a->act == rogue_rings_rewritten || a->act == rogue_reset;

    return breaks && rogue_of(d)->n_guests == ROGUE_GUESTS ? &rogue_attacks[0] : a;
}

/* Lets the labs come to rest after an attack, and compares them. */
static bool judge(struct drill *d)
{
    return rogue_settle(d) && rogue_completes(d) && repair(d) && rogue_settle(d) &&
           rogue_compare(d, false);
}

/* The attack hits before the honest hosts have work, or while they have. */
static void take(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_attack *a = choose(d);

    d->script = s->script;
    drill_say(d, "# step %u: %s", d->step, a->name);
    d->script = NULL;
    s->is_quiet = drill_one_in(d, 2);
    if (!rogue_draw_messages(d) || (s->is_quiet && !(a->act(d, a) && judge(d))) ||
        !rogue_post_messages(d))
        return;
    if (!s->is_quiet && !(rogue_run_for(d, drill_below(d, BUSY_NS)) && a->act(d, a)))
        return;
    s->is_quiet = false;
    (void)judge(d);
}

static void finish(struct drill *d)
{
    static const char *const hosts[ROGUE_HONEST] = {"g1", "g2", "h1"};
    const struct rogue_drill *s = rogue_of(d);

    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        if (s->has_flooded) {
            rogue_differs(d, ROGUE_ANY, "%s.net.", hosts[h]);
            rogue_differs(d, ROGUE_ANY, "%s.ip.", hosts[h]);
        }
        if (s->has_sent_cm) /* the kernel arms its completion queue again */
            rogue_differs(d, ROGUE_ANY, "%s.ctrl.", hosts[h]);
    }
    (void)rogue_compare(d, true);
}

const struct drill_kind drill_of_rogue = {.name = "rogue",
                                          .bytes = sizeof(struct rogue_drill),
                                          .steps = STEPS,
                                          .set_up = set_up,
                                          .take = take,
                                          .finish = finish,
                                          .close = rogue_close,
                                          .any_device = true};

/* SPDX-License-Identifier: MIT */
/* Drills of frames. */
#include "cli/drill/kinds.h"
#include "cli/drill/rig.h"
#include "emu/facts/enums.h"

struct frames {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
};

static void set_up(struct drill *d)
{
    struct frames *k = d->own;
    const struct rig_config c = {.profile = drill_one_in(d, 3) ? PROFILE_rxe : PROFILE_iba};

    (void)rig_add_hosts(d, &c, k->host, &k->link);
}

static void take(struct drill *d)
{
    (void)drill_below(d, 2);
}

const struct drill_kind drill_of_frames = {
    .name = "frames", .bytes = sizeof(struct frames), .steps = 60, .set_up = set_up, .take = take};

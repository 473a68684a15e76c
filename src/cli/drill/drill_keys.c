/* SPDX-License-Identifier: MIT */
/* Regions and windows, and who may use their keys. */
#include "cli/drill/kinds.h"
#include "cli/drill/rig.h"
#include "emu/facts/enums.h"

struct keys {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
};

static void set_up(struct drill *d)
{
    struct keys *k = d->own;
    const struct rig_config c = {.profile = drill_one_in(d, 3) ? PROFILE_rxe : PROFILE_iba};

    (void)rig_add_hosts(d, &c, k->host, &k->link);
}

static void take(struct drill *d)
{
    (void)drill_below(d, 2);
}

const struct drill_kind drill_of_keys = {
    .name = "keys", .bytes = sizeof(struct keys), .steps = 60, .set_up = set_up, .take = take};

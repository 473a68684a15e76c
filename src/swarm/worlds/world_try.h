/* SPDX-License-Identifier: MIT */
/* One random world from its seed to its verdict. */
#ifndef SWARM_WORLDS_WORLD_TRY_H
#define SWARM_WORLDS_WORLD_TRY_H

#include <stdio.h>

#include "swarm/worlds/world_run.h"

struct ev;

/* What is asked of a run, and how it ended. */
struct world_try {
    FILE *script;                                 /* gets the lines of the run; NULL: nobody */
    void (*print)(void *ctx, const struct ev *e); /* hears each event, with the lab; or NULL */
    bool ret_invariant;                           /* an invariant of the emulator broke */
    uint64_t ret_hash, ret_ticks;
    uint64_t ret_retries; /* how often a requester went back */
};

/* Runs @w in @r, which keeps what went wrong; false: something did. */
bool world_try(const struct world *w, struct world_run *r, struct world_try *how);

/* Says what went wrong in @r, in a line or more. */
void world_tell(const struct world_run *r, FILE *out);

#endif

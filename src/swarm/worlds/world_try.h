/* SPDX-License-Identifier: MIT */
/* Runs one world and returns the verdict. */
#ifndef SWARM_WORLDS_WORLD_TRY_H
#define SWARM_WORLDS_WORLD_TRY_H

#include <stdio.h>

#include "swarm/worlds/world_run.h"

struct ev;

/* Inputs of a run, and how it ended. */
struct world_try {
    FILE *script; /* receives the run as script lines; NULL: no script */
    /* Called for each event; @ctx is the lab.  NULL: not called. */
    void (*print)(void *ctx, const struct ev *e);
    bool ret_invariant;           /* an invariant of the emulator broke */
    uint64_t ret_hash, ret_ticks; /* hash of all events, and number of ticks */
    uint64_t ret_retries;         /* number of retransmissions (EV_retry events) */
};

/* Runs @w in a new lab.  Returns false if it failed; the failure is in r->wrong and the members
 * after it.
 */
bool world_try(const struct world *w, struct world_run *r, struct world_try *how);

/* Prints the rule that @r has broken, with the item, queue pair or host, in one or more lines. */
void world_print_failure(const struct world_run *r, FILE *out);

#endif

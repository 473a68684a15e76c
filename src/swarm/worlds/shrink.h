/* SPDX-License-Identifier: MIT */
/* Makes a world that goes wrong smaller, as long as it goes wrong in the same way. */
#ifndef SWARM_WORLDS_SHRINK_H
#define SWARM_WORLDS_SHRINK_H

#include "swarm/worlds/world_run.h"

/* @w goes wrong as @r tells; both are changed.  Tries at most @runs_max runs, and returns how many
 * it took.  A world that cannot be told as a script, because frames are forged in it, may stay one.
 */
uint32_t world_shrink(struct world *w, struct world_run *r, uint32_t runs_max);

#endif

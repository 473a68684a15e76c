/* SPDX-License-Identifier: MIT */
/* Reduces a failing world while it fails in the same way. */
#ifndef SWARM_WORLDS_SHRINK_H
#define SWARM_WORLDS_SHRINK_H

#include "swarm/worlds/world_run.h"

/* Leaves out parts of the world @w, whose run @r has broken the rule @r->wrong, as long as the rest
 * breaks the same rule.  @w and @r are replaced by the reduced world and its run.  Makes at most
 * @runs_max runs and returns the number of runs.  If forged frames are needed for the failure, the
 * result still has them and cannot be written as a script.
 */
uint32_t world_shrink(struct world *w, struct world_run *r, uint32_t runs_max);

#endif

/* SPDX-License-Identifier: MIT */
/* The drills of a seed, beside its world. */
#ifndef SWARM_SEEDS_SWARM_DRILLS_H
#define SWARM_SEEDS_SWARM_DRILLS_H

#include "swarm/seeds/swarm_worlds.h"

/* Is @name that of a kind of drill, or "all"? */
bool swarm_drills_known(const char *name);

/* Runs the drills of @seed that @o asks for and prints what goes wrong.  False: something did;
 * *@ret_broke: an invariant of the emulator was what went wrong.
 */
bool swarm_drills(const struct swarm_options *o, uint64_t seed, bool *ret_broke);

#endif

/* SPDX-License-Identifier: MIT */
/* Runs the drills of a seed (swarm/drills/drill.h). */
#ifndef SWARM_SEEDS_SWARM_DRILLS_H
#define SWARM_SEEDS_SWARM_DRILLS_H

#include "emu/base/text.h"
#include "swarm/seeds/swarm_worlds.h"

/* Appends the names of the kinds of drills and "all", separated by |. */
void swarm_drills_words(struct text *t);

/* Returns the number of kinds of drills that @o asks for. */
uint32_t swarm_drills_asked(const struct swarm_options *o);

/* Returns true if @name is the name of a kind of drill, or "all". */
bool swarm_drills_known(const char *name);

/* The results of the drills of a seed: an invariant of the emulator broke; messages that were
 * judged, and bytes that were compared.
 */
struct swarm_drills_met {
    bool broke;
    uint64_t messages, bytes;
};

/* Runs the drills of @seed, of the kind @o->drill or of all kinds, and prints their failures.
 * Returns false if one failed.
 */
bool swarm_drills(const struct swarm_options *o, uint64_t seed, struct swarm_drills_met *ret);

#endif

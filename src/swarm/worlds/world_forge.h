/* SPDX-License-Identifier: MIT */
/* Forged frames, which no program of the world sent. */
#ifndef SWARM_WORLDS_WORLD_FORGE_H
#define SWARM_WORLDS_WORLD_FORGE_H

#include "swarm/worlds/world_run.h"

/* Delivers a forged frame for the queue pair of @end directly to its host.  The host must ignore
 * the frame, or at most acknowledge it.  @what, any number, selects the kind of frame.  Does
 * nothing if the service of @end has no such frame.
 */
void world_forge(struct world_run *r, uint16_t end, uint32_t what);

/* Like world_forge(), but the host of @end's peer sends the frame, through the network. */
void world_inject(struct world_run *r, uint16_t end, uint32_t what);

#endif

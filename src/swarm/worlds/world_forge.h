/* SPDX-License-Identifier: MIT */
/* Frames that nobody of the world sent. */
#ifndef SWARM_WORLDS_WORLD_FORGE_H
#define SWARM_WORLDS_WORLD_FORGE_H

#include "swarm/worlds/world_run.h"

/* A frame for @end that must change nothing arrives at its host; @what chooses among them. */
void world_forge(struct world_run *r, uint16_t end, uint32_t what);

/* The host of the peer of @end is made to send it such a frame, which takes its way through the
 * network.
 */
void world_inject(struct world_run *r, uint16_t end, uint32_t what);

#endif

/* SPDX-License-Identifier: MIT */
/* Links and faults of a running world. */
#ifndef SWARM_WORLDS_WORLD_FAULT_H
#define SWARM_WORLDS_WORLD_FAULT_H

#include "swarm/worlds/world_run.h"

/* Writes the name of @host's link, for example "h1-s1". */
void world_link_name(const struct world *w, unsigned host, char out[RDL_NAME_BYTES]);

/* Adds a link between the nodes @a and @b with the properties of the link of @like.  Like
 * world_set_link() it makes the run fail if the lab refuses.
 */
void world_add_link(struct world_run *r, const struct world_host *like, const char *a,
                    const char *b, rdl_link *ret);

/* Gives the link @link, whose name is @name, the properties of @like; without loss bursts if
 * @has_bursts is false.
 */
void world_set_link(struct world_run *r, const struct world_host *like, rdl_link link,
                    const char *name, bool has_bursts);

/* Adds fault @i of the world to the lab. */
void world_add_fault(struct world_run *r, uint16_t i);

#endif

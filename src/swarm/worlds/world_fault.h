/* SPDX-License-Identifier: MIT */
/* What links do to the frames of a world: properties of links, and faults. */
#ifndef SWARM_WORLDS_WORLD_FAULT_H
#define SWARM_WORLDS_WORLD_FAULT_H

#include "swarm/worlds/world_run.h"

/* The link of @host: "h1-s1". */
void world_link_name(const struct world *w, unsigned host, char out[RDL_NAME_BYTES]);

/* Links @a and @b as @like says. */
void world_add_link(struct world_run *r, const struct world_host *like, const char *a,
                    const char *b, rdl_link *ret);

/* The link called @name is as @like says from now on; without bursts unless @has_bursts. */
void world_set_link(struct world_run *r, const struct world_host *like, rdl_link link,
                    const char *name, bool has_bursts);

/* Fault @i of the world is there from now on. */
void world_add_fault(struct world_run *r, uint16_t i);

#endif

/* SPDX-License-Identifier: MIT */
/* Machines and guests of a running world. */
#ifndef SWARM_WORLDS_WORLD_PLACE_H
#define SWARM_WORLDS_WORLD_PLACE_H

#include "swarm/worlds/world_run.h"

#define PLACE_BYTES 64u /* for the words of a script line */

/* The command that adds a host at @p: `machine`, `guest` or `host`. */
const char *world_place_command(const struct world_place *p);

/* Fills in what @c and the script line of the host say of @p.  @machine receives the name that
 * c->on points to, @words the parameters with a space in front.
 */
void world_place_config(const struct world_place *p, struct rdl_host_config *c,
                        char machine[RDL_NAME_BYTES], char words[PLACE_BYTES]);

/* Sets the virtual functions of the machine @h. */
void world_set_functions(struct world_run *r, unsigned h);

/* Learns which function the guest @h has, whose first object exists: host_state.max_tx_bps. */
void world_learn_function(struct world_run *r, unsigned h);

#endif

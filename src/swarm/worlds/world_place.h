/* SPDX-License-Identifier: MIT */
/* Machines and guests of a running world. */
#ifndef SWARM_WORLDS_WORLD_PLACE_H
#define SWARM_WORLDS_WORLD_PLACE_H

#include "swarm/worlds/world_run.h"

#define PLACE_BYTES 96u /* for the words of a script line */

/* The command that adds a host at @p: `machine`, `guest` or `host`. */
const char *world_place_command(const struct world_place *p);

/* Text for world_place_config(): the names that c->on and c->vrnic_with point to, and the
 * parameters of the script line with a space in front.
 */
struct place_text {
    char machine[RDL_NAME_BYTES], with[RDL_NAME_BYTES], words[PLACE_BYTES];
};

/* Fills in what @c and the script line of host @h say of its place. */
void world_place_config(const struct world *w, unsigned h, struct rdl_host_config *c,
                        struct place_text *text);

/* Moves the guest @h to its machine, if it was added on another one. */
void world_move_guest(struct world_run *r, unsigned h);

/* Sets the virtual functions of the machine @h. */
void world_set_functions(struct world_run *r, unsigned h);

/* Lets the control centre allow connections between all groups. */
void world_allow_groups(struct world_run *r);

/* Takes the rule between the groups @a and @b back, which moves the queue pairs between them to
 * ERR, and makes it again, so that they can be connected anew.
 */
void world_change_rule(struct world_run *r, uint32_t a, uint32_t b);

/* Learns which function the guest @h has, whose first object exists: host_state.max_tx_bps. */
void world_learn_function(struct world_run *r, unsigned h);

#endif

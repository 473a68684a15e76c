/* SPDX-License-Identifier: MIT */
/* Random runs with a stranger: hostile frames come in through an external port of a lab at work. */
#ifndef CLI_TRIAL_SWARM_OUTSIDE_H
#define CLI_TRIAL_SWARM_OUTSIDE_H

#include "cli/trial/swarm.h"

/* One run.  False: it went wrong, and what and how to see it again was printed. */
bool swarm_outside(struct swarm_seed *run);

#endif

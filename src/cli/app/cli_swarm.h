/* SPDX-License-Identifier: MIT */
/* `rdmalab swarm`: randomized tests of the engine. */
#ifndef CLI_APP_CLI_SWARM_H
#define CLI_APP_CLI_SWARM_H

/* @argv[0] is "swarm".  Returns the exit status: 0, 1 if a run failed, 2 for wrong usage, 99 if an
 * invariant was violated.
 */
int swarm_main(int argc, char **argv);

#endif

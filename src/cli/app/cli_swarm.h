/* SPDX-License-Identifier: MIT */
/* `rdmalab swarm`: randomized tests of the engine. */
#ifndef CLI_APP_CLI_SWARM_H
#define CLI_APP_CLI_SWARM_H

/* Runs the mode `swarm`; @argv[0] is "swarm".
 *
 * Return: 0   every run passed
 *	   1   a run failed
 *	   2   wrong usage
 *	   99  an invariant was violated
 */
int swarm_main(int argc, char **argv);

#endif

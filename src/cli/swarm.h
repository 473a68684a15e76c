/* SPDX-License-Identifier: MIT */
/* `rdmalab swarm`: random traffic under random faults, with the invariants watched. */
#ifndef CLI_SWARM_H
#define CLI_SWARM_H

#include <stdbool.h>
#include <stdint.h>

struct ev;

/* Prints an event; @ctx is its lab. */
typedef void swarm_print(void *ctx, const struct ev *e);

/* @argv[0] is "swarm".  Returns an exit status of rdmalab: 0, 1 if a run failed, 2 for wrong usage,
 * 99 if an invariant broke.
 */
int swarm_main(int argc, char **argv);

#endif

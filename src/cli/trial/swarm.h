/* SPDX-License-Identifier: MIT */
/* `rdmalab swarm`: random worlds, judged by a model and by invariants. */
#ifndef CLI_TRIAL_SWARM_H
#define CLI_TRIAL_SWARM_H

#include <stdbool.h>
#include <stdint.h>

struct ev;

/* Prints an event; @ctx is its lab. */
typedef void swarm_print(void *ctx, const struct ev *e);

/* What one run is to do, and how it ended. */
struct swarm_seed {
    uint64_t seed;
    swarm_print *print; /* NULL: events are not printed */
    bool hashed;        /* @ret_hash is asked for */
    bool ret_invariant; /* an invariant of the emulator broke */
    uint64_t ret_hash;  /* of all events; 0: none was computed */
};

/* @argv[0] is "swarm".  Returns an exit status of rdmalab: 0, 1 if a run failed, 2 for wrong usage,
 * 99 if an invariant broke.
 */
int swarm_main(int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* Random runs in which a hostile station sends frames into a working lab through an external port.
 */
#ifndef SWARM_OUTSIDE_OUTSIDE_H
#define SWARM_OUTSIDE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

struct ev;

/* One run: its inputs, and how it ended. */
struct swarm_outside_run {
    uint64_t seed;
    /* Called for each event; @ctx is the lab.  NULL: not called. */
    void (*print)(void *ctx, const struct ev *e);
    bool hashed;        /* input: compute @ret_hash */
    bool ret_invariant; /* an invariant of the emulator broke */
    uint64_t ret_hash;  /* hash of all events; 0 without @hashed */
};

/* Runs one seed.  Returns false if the run failed; then it has printed the failure and the command
 * that repeats it.
 */
bool swarm_outside(struct swarm_outside_run *run);

#endif

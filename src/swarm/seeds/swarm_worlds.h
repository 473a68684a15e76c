/* SPDX-License-Identifier: MIT */
/* Runs many seeds in several processes, each with a random world and the drills, and prints
 * statistics.
 */
#ifndef SWARM_SEEDS_SWARM_WORLDS_H
#define SWARM_SEEDS_SWARM_WORLDS_H

#include <stdbool.h>
#include <stdint.h>

struct ev;

/* Options of `rdmalab swarm`. */
struct swarm_options {
    uint64_t first, last; /* the seeds to run, both included; see also @one_in */
    /* Run the cells of the matrix (swarm/worlds/matrix.h) instead of random worlds. */
    bool is_matrix;
    /* Matrix: run one cell in @one_in, chosen at random from the first seed.  0 or 1: run the cells
     * with numbers from @first to @last.
     */
    uint32_t one_in;
    uint32_t jobs;    /* number of processes, at least 1 */
    uint64_t minutes; /* wall-clock time after which no seed is started; 0: no limit */
    bool pairs;       /* only worlds of two hosts */
    bool devices;     /* hosts have drawn RDMA devices; only drills that have any device */
    bool extensions;  /* virtio-rdma has drawn extensions; only drills that take them */
    bool machines;    /* hosts have drawn places on machines; no drills, which know none */
    /* Only drills of this kind, or "all", and no worlds; NULL: worlds and drills. */
    const char *drill;
    bool hashed;           /* print the hash of all events of each run */
    bool fails_fast;       /* each process stops after its first failure */
    bool shrinks;          /* reduce a failing world and write it to a file */
    const char *artifacts; /* directory for the files of @shrinks; NULL: the working directory */
    const char *script; /* file that receives the run of seed @first as script lines; NULL: none */
    /* Called for each event; @ctx is the lab.  NULL: not called. */
    void (*print)(void *ctx, const struct ev *e);
};

#define SWARM_AGAIN_BYTES 128u

/* Writes the command that runs @seed of @o again, and prints its events. */
void swarm_again(const struct swarm_options *o, uint64_t seed, char out[SWARM_AGAIN_BYTES]);

/* Runs the seeds and prints the results.  Returns an exit status of rdmalab. */
int swarm_worlds(const struct swarm_options *o);

#endif

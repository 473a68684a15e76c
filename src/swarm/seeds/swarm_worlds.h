/* SPDX-License-Identifier: MIT */
/* Many random worlds, in several processes, and the report of what they met. */
#ifndef SWARM_SEEDS_SWARM_WORLDS_H
#define SWARM_SEEDS_SWARM_WORLDS_H

#include <stdbool.h>
#include <stdint.h>

struct ev;

struct swarm_options {
    uint64_t first, last;  /* seeds */
    bool is_matrix;        /* the seeds are cells of the matrix (swarm/worlds/matrix.h) */
    uint32_t one_in;       /* of a matrix: one cell stands for so many, chosen by the first seed */
    uint32_t jobs;         /* processes, from 1 */
    uint64_t minutes;      /* of a clock, after which no seed is begun; 0: no limit */
    bool pairs;            /* worlds of two hosts alone */
    const char *drill;     /* drills of this kind alone, or "all", and no worlds; NULL: both */
    bool hashed;           /* the hash of each is printed */
    bool fails_fast;       /* the first world that goes wrong is the last one of its process */
    bool shrinks;          /* a world that goes wrong is made smaller, and written to a file */
    const char *artifacts; /* directory for what goes wrong, made smaller; NULL: this one */
    const char *script;    /* file for the lines of the world, of the first seed; NULL: none */
    void (*print)(void *ctx, const struct ev *e); /* hears each event, with the lab; or NULL */
};

/* Runs them and prints what there is to say.  Returns an exit status of rdmalab. */
int swarm_worlds(const struct swarm_options *o);

#endif

/* SPDX-License-Identifier: MIT */
/* The matrix: a systematic test of single messages.  A *cell* is one combination of operation, path
 * MTU, boundary size, fault on one packet, own or shared receive queue, and PSNs with or without
 * wrap.  Each cell is a small world, which the model judges.
 *
 * In a message of more than eight packets the faults hit the first two, the middle and the last two
 * packets.  Combinations without effect are left out, for example receive queues where none is
 * needed.
 */
#ifndef SWARM_WORLDS_MATRIX_H
#define SWARM_WORLDS_MATRIX_H

#include "swarm/worlds/world.h"

struct matrix_cell {
    uint32_t number;   /* from 1 */
    uint8_t type;      /* enum qp_type */
    uint32_t opcode;   /* enum wr_opcode */
    uint32_t path_mtu; /* enum mtu */
    uint32_t bytes;    /* length of the message */
    uint32_t fault;    /* enum fault_kind; FLT_NONE: no fault */
    bool of_answer;    /* the fault hits a response; otherwise a request */
    uint32_t nth; /* number of the packet that the fault hits, from 1; not used without a fault */
    bool has_srq; /* the receiver uses a shared receive queue */
    bool wraps;   /* the PSNs of the message wrap from 2^24 - 1 to 0 */
};

/* Calls @each for every cell in order, until it returns false. */
void matrix_walk(bool (*each)(void *ctx, const struct matrix_cell *c), void *ctx);

/* Fills @w with the world of cell @c. */
void matrix_world(struct world *w, const struct matrix_cell *c);

#endif

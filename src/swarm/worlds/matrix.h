/* SPDX-License-Identifier: MIT */
/* One message at a time: every operation, path MTU and size at which something changes, with each
 * thing that can happen to each of its packets, in an own receive queue and in a shared one, and
 * with PSNs about to wrap.  A cell of this matrix is a small world, which the model judges.
 *
 * Of 1 MiB the first, second and middle packet and the last two are hit.  What makes no difference
 * is left out: a queue of receives where none is needed, a response where there is none.
 */
#ifndef SWARM_WORLDS_MATRIX_H
#define SWARM_WORLDS_MATRIX_H

#include "swarm/worlds/world.h"

struct matrix_cell {
    uint32_t number; /* from 1 */
    uint8_t type;    /* enum qp_type */
    uint32_t opcode; /* enum wr_opcode */
    uint32_t path_mtu, bytes;
    uint32_t fault; /* enum fault_kind; FLT_NONE: nothing happens */
    bool of_answer; /* it happens to an answer, and not to a request */
    uint32_t nth;   /* packet, from 1 */
    bool has_srq, wraps;
};

/* Calls @each for every cell, in their order, until it returns false. */
void matrix_walk(bool (*each)(void *ctx, const struct matrix_cell *c), void *ctx);

/* The world of @c. */
void matrix_world(struct world *w, const struct matrix_cell *c);

#endif

/* SPDX-License-Identifier: MIT */
/* All that can be looked at in a lab at one moment, to be compared with another moment. */
#ifndef TREE_TREE_STATE_H
#define TREE_TREE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdmalab/lab.h"

/* The leaves of the inspect tree, in the order of their paths. */
struct tree_state {
    struct tree_state_leaf {
        const char *path, *text;
        uint32_t row; /* enum leaf_id */
    } * v;
    size_t n, room;
    struct tree_state_block *blocks; /* of bytes: the one that is being filled first */
};

/* What @lab is now.  Free with tree_state_done(), which takes one that is all zero, too. */
void tree_state_take(struct tree_state *ret, const struct rdl_lab *lab);
void tree_state_done(struct tree_state *state);

/* A value that two states do not share; its texts are valid as long as the states. */
struct tree_difference {
    const char *path;
    uint32_t row;      /* enum leaf_id */
    const char *a, *b; /* NULL: that state has no such leaf */
    /* Where that is so: how much of @path is the node that the state has not. */
    size_t node_bytes;
};

/* Calls @each for each difference, in the order of paths; of a node that only one of them has once,
 * with the first of its leaves.
 */
void tree_state_compare(const struct tree_state *a, const struct tree_state *b,
                        void (*each)(void *ctx, const struct tree_difference *d), void *ctx);

/* Is the value in this row of the schema (enum leaf_id) a counter, or part of a ring or a list?
 * They are many, and follow from the rest.
 */
bool tree_state_is_detail(uint32_t row);

#endif

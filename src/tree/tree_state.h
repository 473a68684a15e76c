/* SPDX-License-Identifier: MIT */
/* A snapshot of all inspectable values of a lab, to be compared with another snapshot. */
#ifndef TREE_TREE_STATE_H
#define TREE_TREE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdmalab/lab.h"

/* The leaves of the inspect tree, in the order of their paths. */
struct tree_state {
    struct tree_state_leaf {
        const char *path, *text; /* text: the value */
        uint32_t row;            /* enum leaf_id */
    } * v;
    size_t n, room;
    struct tree_state_block *blocks; /* memory of the texts; the first block is being filled */
};

/* Takes a snapshot of @lab.  tree_state_done() frees it; it accepts a zeroed one. */
void tree_state_take(struct tree_state *ret, const struct rdl_lab *lab);
void tree_state_done(struct tree_state *state);

/* A value that differs between two snapshots.  Its texts are valid as long as the snapshots. */
struct tree_difference {
    const char *path;
    uint32_t row;      /* enum leaf_id */
    const char *a, *b; /* the values in both snapshots; NULL: that snapshot has no such leaf */
    /* If @a or @b is NULL: length of the part of @path that names the missing node, or the missing
     * leaf.  Otherwise 0.
     */
    size_t node_bytes;
};

/* Calls @each for each difference, in the order of paths.  If only one snapshot has a node, calls
 * it once for the whole node, with the first of its leaves.
 */
void tree_state_compare(const struct tree_state *a, const struct tree_state *b,
                        void (*each)(void *ctx, const struct tree_difference *d), void *ctx);

/* Returns true if the leaf @row (enum leaf_id) is a counter, or part of a ring or list.  There are
 * many of these, and they follow from others, so comparisons may leave them out.
 */
bool tree_state_is_detail(uint32_t row);

#endif

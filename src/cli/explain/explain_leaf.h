/* SPDX-License-Identifier: MIT */
/* What `explain` says of the inspect tree: its leaves, from their rows, and its nodes. */
#ifndef CLI_EXPLAIN_EXPLAIN_LEAF_H
#define CLI_EXPLAIN_EXPLAIN_LEAF_H

#include <stdbool.h>
#include <stdio.h>

/* Every leaf that is called @word, "next_psn", or the one of a node, "qp.next_psn" and
 * "h1.qp.next_psn"; false if there is none.
 */
bool explain_leaf(FILE *out, const char *word);

/* The node that is called @word, with what is in it; false if there is none. */
bool explain_node(FILE *out, const char *word);

/* The children of nodes that are called @word; false if there are none. */
bool explain_part(FILE *out, const char *word);

/* Calls @each with every key of the tree. */
void explain_leaf_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* `explain` for the inspect tree: its leaves, nodes and keys. */
#ifndef CLI_EXPLAIN_EXPLAIN_LEAF_H
#define CLI_EXPLAIN_EXPLAIN_LEAF_H

#include <stdbool.h>
#include <stdio.h>

/* Prints every leaf called @word: "next_psn", or only that of a node, as in "qp.next_psn" and
 * "h1.qp.next_psn".  Returns false if there is none.
 */
bool explain_leaf(FILE *out, const char *word);

/* Prints the node called @word, with its children.  Returns false if there is none. */
bool explain_node(FILE *out, const char *word);

/* Prints the children of nodes that are called @word.  Returns false if there are none. */
bool explain_part(FILE *out, const char *word);

/* Calls @each with every key of the tree. */
void explain_leaf_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

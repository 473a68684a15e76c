/* SPDX-License-Identifier: MIT */
/* `explain` for the inspect tree: its leaves, nodes and keys. */
#ifndef CLI_EXPLAIN_EXPLAIN_LEAF_H
#define CLI_EXPLAIN_EXPLAIN_LEAF_H

#include <stdbool.h>

struct answer_page;

/* Prints every leaf with the key @word, such as "next_psn".  In "qp.next_psn" or "h1.qp.next_psn",
 * prints only the leaf of that kind of node.  Returns false if there is none.
 */
bool explain_leaf(struct answer_page *out, const char *word);

/* Prints the kind of node called @word ("qp"), with its children.  Returns false if there is none.
 */
bool explain_node(struct answer_page *out, const char *word);

/* Prints each child that has the key @word ("sq", "desc"), with the kind of node that has it.
 * Returns false if there is none.
 */
bool explain_part(struct answer_page *out, const char *word);

/* Calls @each with every key of the tree. */
void explain_leaf_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* Explains the parts of messages and their fields: management datagrams (`explain cm_req`, `explain
 * service_id`) and messages of o2iblnd (`explain o2iblnd_descriptor`, `explain match_bits`).
 */
#ifndef CLI_EXPLAIN_EXPLAIN_LAYOUT_H
#define CLI_EXPLAIN_EXPLAIN_LAYOUT_H

#include <stdbool.h>

struct answer_page;

/* Prints the part @word, and the parts that have the field @word.  Returns false if it is neither.
 */
bool explain_layout(struct answer_page *out, const char *word);

/* Calls @each for each such word. */
void explain_layout_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* Explains the parts of messages of o2iblnd and their fields: `explain o2iblnd_descriptor`,
 * `explain match_bits`.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_LNET_H
#define CLI_EXPLAIN_EXPLAIN_LNET_H

#include <stdbool.h>

struct answer_page;

/* Prints the part @word, or the parts that have the field @word.  Returns false if it is neither.
 */
bool explain_lnet(struct answer_page *out, const char *word);

/* Calls @each for each such word. */
void explain_lnet_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

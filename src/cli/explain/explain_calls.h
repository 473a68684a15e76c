/* SPDX-License-Identifier: MIT */
/* Explains calls of the kernel and of programs: `explain kernel-calls`, `explain program-calls`,
 * and each call of the kernel.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_CALLS_H
#define CLI_EXPLAIN_EXPLAIN_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct answer_page;

/* Prints the page @word, or what is known of the call @word.  Returns false if it is neither. */
bool explain_calls(struct answer_page *out, const char *word);

/* Calls @each for each such word. */
void explain_calls_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* Explains the layouts of management datagrams and their fields: `explain cm_req`, `explain
 * service_id`.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_MAD_H
#define CLI_EXPLAIN_EXPLAIN_MAD_H

#include <stdbool.h>

struct answer_page;

/* Prints the layout @word, or the messages that have the field @word.  Returns false if it is
 * neither.
 */
bool explain_mad(struct answer_page *out, const char *word);

/* Calls @each for each such word. */
void explain_mad_each(void (*each)(void *ctx, const char *word), void *ctx);

#endif

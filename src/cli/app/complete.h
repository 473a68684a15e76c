/* SPDX-License-Identifier: MIT */
/* Completion of a line, from the command table and what the lab has. */
#ifndef CLI_APP_COMPLETE_H
#define CLI_APP_COMPLETE_H

#include "cli/session/session.h"

/* @meaning: a sentence, "" if there is none. */
typedef void complete_each(void *ctx, const char *word, const char *meaning);

/* Calls @each with every word that the last word of @line (up to the cursor) can become; the last
 * word is what follows the last blank, `;`, `{` or `}`.  True: it is the name of a file, which is
 * not looked for here.
 */
bool complete_line(struct session *s, const char *line, complete_each *each, void *ctx);

#endif

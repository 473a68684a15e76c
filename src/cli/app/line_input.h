/* SPDX-License-Identifier: MIT */
/* Lines from a person at a terminal: with editing, history and completion if they were built in. */
#ifndef CLI_APP_LINE_INPUT_H
#define CLI_APP_LINE_INPUT_H

#include "cli/session/session.h"

/* Completion asks @s. */
void line_input_open(struct session *s);

/* Writes the history back. */
void line_input_close(void);

/* One line without its end, to be freed; NULL at the end of input.  ^C begins it anew, with the
 * prompt @fresh, and sets *ret_fresh: what was read before is to be forgotten.
 */
char *line_input_read(const char *prompt, const char *fresh, bool *ret_fresh);

/* What reads lines, for `doctor`. */
const char *line_input_name(void);

#endif

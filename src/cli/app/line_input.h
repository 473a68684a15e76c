/* SPDX-License-Identifier: MIT */
/* Lines from a person at a terminal: with editing, history and completion if they were built in. */
#ifndef CLI_APP_LINE_INPUT_H
#define CLI_APP_LINE_INPUT_H

#include "cli/session/session.h"

/* Completion and hints ask @s. */
void line_input_open(struct session *s);
void line_input_close(void);

/* What is asked for a line. */
struct line_asked {
    const char *prompt;
    const char *fresh;  /* the prompt once ^C has begun it anew */
    const char *before; /* lines of a block that is open; NULL: there are none */
};

/* One line without its end, or several that were recalled or pasted, to be freed; NULL at the end
 * of input.  ^C begins it anew, with another prompt, and sets *ret_fresh: what was read before is
 * to be forgotten.
 */
char *line_input_read(const struct line_asked *asked, bool *ret_fresh);

/* @text can be recalled from now on. */
void line_input_remember(const char *text);

/* What reads lines, for `doctor`. */
const char *line_input_name(void);

#endif

/* SPDX-License-Identifier: MIT */
/* What the parts of the line editor share.  GNU readline's callbacks have no context argument: each
 * part has its own variables.
 */
#ifndef CLI_APP_LINE_KEYS_H
#define CLI_APP_LINE_KEYS_H

#include "cli/session/session.h"

/* TAB. */
void line_matches_open(struct session *s);
void line_matches_close(void);

/* A dim text behind the cursor says what may follow.  It is on the screen only while a key is
 * waited for, and never part of the line.
 */
void line_hint_open(struct session *s);

/* Draws it, if there is something to say and nobody has typed more yet. */
void line_hint_show(void);

/* Takes the text off the screen, if it is there: before anything else is written. */
void line_hint_clear(void);

/* The prompt of the line that is edited, and the lines of a block before it; NULL: none. */
void line_hint_prompt(const char *text);
void line_before(const char *lines);

/* The lines before it, and the first @n bytes of the line; to be freed.  NULL: no memory. */
char *line_so_far(size_t n);

#endif

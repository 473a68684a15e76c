/* SPDX-License-Identifier: MIT */
/* Reads lines from a terminal.  A line editor, if one was built in, offers editing, history and
 * completion.  Where the terminal cannot move its cursor, or its window is very small, lines are
 * read without it, until the window grows.
 */
#ifndef CLI_APP_LINE_INPUT_H
#define CLI_APP_LINE_INPUT_H

#include <stdbool.h>

struct session;

/* Initializes the input.  Completion and hints use @s, which must stay until line_input_close(). */
void line_input_open(struct session *s);
void line_input_close(void);

/* Uses @s for completion and hints from now on. */
void line_input_use(struct session *s);

/* The prompt for a line, and the lines before it. */
struct line_asked {
    const char *prompt;
    const char *fresh;  /* the prompt that replaces @prompt after ^C has discarded the input */
    const char *before; /* earlier lines of an open block; NULL: none */
};

/* Returns one line without its end, or several if they were recalled or pasted.  The caller frees
 * it.  Returns NULL at the end of input.  ^C discards the input, continues with the prompt @fresh
 * and sets *@ret_fresh: the caller must discard the earlier lines of the block.
 */
char *line_input_read(const struct line_asked *asked, bool *ret_fresh);

/* Adds @text to the history in which the user can go back with the arrow keys. */
void line_input_remember(const char *text);

/* Returns the name of the line editor, for `doctor`. */
const char *line_input_name(void);

#endif

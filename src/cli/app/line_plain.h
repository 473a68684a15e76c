/* SPDX-License-Identifier: MIT */
/* Reads lines from a terminal without a line editor: the terminal itself echoes keys, and its
 * backspace is all the editing.  It needs nothing of the terminal, and any size will do.
 */
#ifndef CLI_APP_LINE_PLAIN_H
#define CLI_APP_LINE_PLAIN_H

#include "cli/app/line_input.h"

enum line_end {
    LINE_WHOLE, /* a line was read */
    LINE_NONE,  /* the input is at its end */
    LINE_LEFT   /* another reader must continue with the line */
};

/* Reads the rest of a line that begins with *@text; NULL: it begins with nothing.  A lab with live
 * ports of @s continues to run.  *@text is replaced by the line, and the caller frees it; for
 * LINE_LEFT it is the part that was read; for LINE_NONE it is NULL.  @is_over is asked each time
 * that the process wakes up, and ends the call with LINE_LEFT; NULL: nothing does.  *@ret_fresh:
 * see line_input_read().
 */
enum line_end line_plain_read(struct session *s, const struct line_asked *asked,
                              bool (*is_over)(void), char **text, bool *ret_fresh);

/* Prints @lines while line_plain_read() reads, and then the prompt anew.  The terminal keeps what
 * was typed behind the old prompt: it belongs to the line, but cannot be shown again.  It is the
 * function session.prompt.print_around during the call.
 */
void line_plain_print_around(const char *lines);

/* Returns the next byte that line_plain_read() has taken from the terminal without using it, or -1.
 */
int line_plain_unread(void);

#endif

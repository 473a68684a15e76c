/* SPDX-License-Identifier: MIT */
/* Internal interface of the parts of the line editor.  GNU readline's callbacks have no context
 * argument, so each part has static variables.
 */
#ifndef CLI_APP_LINE_KEYS_H
#define CLI_APP_LINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct session;

/* Reads what the terminal can do. */
void line_window_open(void);

/* Returns true if the terminal and its window are fit for the editor.  Below that readline divides
 * by zero, or draws the line over itself.
 */
bool line_window_is_fit(void);

/* Draws the line anew if the window has another size.  Returns false if it is not fit any more:
 * then the editor still draws for the window that it was.
 */
bool line_window_follow(void);

/* Initialize and end completion with TAB. */
void line_matches_open(struct session *s);
void line_matches_close(void);

/* Initializes the hint: a dim text after the cursor that shows what may follow.  It is on the
 * screen only while the editor waits for a key, and never part of the line.
 */
void line_hint_open(struct session *s);

/* Draws the hint, if there is one and no further key has been typed. */
void line_hint_show(void);

/* Removes the hint from the screen.  Call it before anything else is written. */
void line_hint_clear(void);

/* Both describe the line that is being edited.  line_hint_prompt() sets its prompt.  line_before()
 * sets the lines typed before it that belong to the same open block; NULL: none.
 */
void line_hint_prompt(const char *text);
void line_before(const char *lines);

/* Returns the lines set with line_before(), followed by the first @n bytes of the line that is
 * being edited.  The caller frees the text.  Returns NULL if there is no memory.
 */
char *line_so_far(size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* Completion and hints at the prompt, from the command table, the objects of the lab and their
 * states.
 */
#ifndef CLI_COMPLETE_COMPLETE_H
#define CLI_COMPLETE_COMPLETE_H

#include <stdbool.h>

#include "emu/base/text.h"

struct session;

/* A candidate for the last word of a line. */
struct offer {
    const char *word;
    const char *meaning; /* phrase for people, shown beside the word; may be empty */
    bool barred; /* with this word the command would be refused now; @meaning is the reason */
    bool open;   /* the word may continue, so no blank is added after it */
};

/* Receives a candidate, which lives only during the call.  @ctx is that of complete_line(). */
typedef void complete_each(void *ctx, const struct offer *o);

/* Calls @each with every candidate for the last word of @line, which ends at the cursor.  The last
 * word begins after the last blank, `;`, `{` or `}`.  @line may begin with the lines of open
 * blocks.  Returns true if the word is a file name, which the caller must complete.
 */
bool complete_line(struct session *s, const char *line, complete_each *each, void *ctx);

/* Appends to @ret what may follow @line, whose cursor is at its end: keys with their current
 * values, or the form of the value that is being typed.  Appends nothing if that is not known.
 */
void complete_hint(struct session *s, const char *line, struct text *ret);

#endif

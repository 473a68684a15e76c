/* SPDX-License-Identifier: MIT */
/* What may be typed next: from the command table, what the lab has, and the states that it is in.
 */
#ifndef CLI_COMPLETE_COMPLETE_H
#define CLI_COMPLETE_COMPLETE_H

#include "cli/session/session.h"
#include "emu/base/text.h"

/* A word that the last word of a line can become. */
struct offer {
    const char *word;
    const char *meaning; /* a phrase; "" if there is none */
    bool barred;         /* it would be refused where the lab is, and @meaning says why */
    bool open;           /* it may go on: no blank belongs behind it */
};

typedef void complete_each(void *ctx, const struct offer *o);

/* Calls @each with every word that the last word of @line (up to the cursor) can become; the last
 * word is what follows the last blank, `;`, `{` or `}`.  Lines of a block that is open may stand
 * before it.  True: it is the name of a file, which is not looked for here.
 */
bool complete_line(struct session *s, const char *line, complete_each *each, void *ctx);

/* Appends what can follow @line, whose cursor is at its end: keys with their values now, or the
 * form of the value that is begun.  Nothing if that is not known.
 */
void complete_hint(struct session *s, const char *line, struct text *ret);

#endif

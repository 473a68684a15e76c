/* SPDX-License-Identifier: MIT */
/* The conditions of faults: `drop where bytes > 100 and h1.qp.state == RTS`.
 *
 * A fault of the lab holds a pointer to its condition, and the lab may go back to where the fault
 * was there: so a condition lives as long as the session, and the same one is kept once.  Two are
 * the same if they have the same text, look up bare names on the same host, and ask the same lab.
 */
#ifndef CLI_SESSION_CONDITIONS_H
#define CLI_SESSION_CONDITIONS_H

#include <stdbool.h>

#include "cli/lang/source.h"

struct condition;
struct ev;
struct session;

struct conditions {
    struct condition *first;
};

void conditions_free(struct conditions *list);

/* The condition that @text, which stands at @at, is; NULL: it is none, and s->diag says why. */
struct condition *condition_of(struct session *s, const char *text, struct span at);

/* Does it hold of the packet that was sent with event @sent?  @condition: a struct condition.  What
 * cannot be answered does not hold.
 */
bool condition_holds_of(void *condition, const struct ev *sent);

#endif

/* SPDX-License-Identifier: MIT */
/* Evaluates expressions against the lab of a session. */
#ifndef CLI_SESSION_EXPR_EVAL_H
#define CLI_SESSION_EXPR_EVAL_H

#include "cli/session/session.h"
#include "emu/base/text.h"

/* Begins to count, in the lab of the session, what each count() of @e asks for; without this they
 * cannot be evaluated.  False: s->diag says why, for example that it is too late.
 */
bool expr_attach(struct session *s, struct expr *e, struct span at);

/* Does it hold now?  False: it cannot be evaluated, and s->diag says why; @at is where it stands.
 * An element of a list that is not there (yet) makes its comparison false.
 */
bool expr_holds(struct session *s, const struct expr *e, struct span at, bool *ret);

/* Appends why it does not hold: "it is 3". */
void expr_add_actual(struct session *s, const struct expr *e, struct text *t);

/* Adds to the notes of s->diag the events that each count() in @e counted, with what became of
 * them.
 */
void expr_note_events(struct session *s, const struct expr *e);

#endif

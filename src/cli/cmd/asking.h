/* SPDX-License-Identifier: MIT */
/* Evaluates the expression of a command that acts on the answer. */
#ifndef CLI_CMD_ASKING_H
#define CLI_CMD_ASKING_H

#include "cli/session/session.h"

/* *@ret tells whether the expression `that` of @st holds now.  Returns false if it cannot be
 * evaluated; s->diag says why.
 */
bool asking_now(struct session *s, const struct step *st, bool *ret);

#endif

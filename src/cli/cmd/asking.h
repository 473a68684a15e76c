/* SPDX-License-Identifier: MIT */
/* Evaluates the condition of a command that does something only if it holds, such as `if`. */
#ifndef CLI_CMD_ASKING_H
#define CLI_CMD_ASKING_H

#include "cli/session/session.h"

/* Evaluates the expression in parameter `that` of @st in the present state of the lab; *@ret is its
 * value.  Returns false, with the error in s->diag, if it cannot be evaluated.
 */
bool asking_now(struct session *s, const struct step *st, bool *ret);

#endif

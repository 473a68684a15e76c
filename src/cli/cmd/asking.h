/* SPDX-License-Identifier: MIT */
/* Asking whether an expression holds, for commands that act on the answer. */
#ifndef CLI_CMD_ASKING_H
#define CLI_CMD_ASKING_H

#include "cli/session/session.h"

/* Does the expression `that` of @st hold at this moment?  False: it cannot be asked, and s->diag
 * says why.
 */
bool asking_now(struct session *s, const struct step *st, bool *ret);

#endif

/* SPDX-License-Identifier: MIT */
/* The command `why not`. */
#ifndef CLI_CMD_WHY_NOT_H
#define CLI_CMD_WHY_NOT_H

#include "cli/session/session.h"

/* Executes `why not @text`; @at is the position of @text in the command line.
 *
 *	an event id     explains why the packet of this tx or rx event has no answer
 *	an expression   explains why it does not hold, or why its event did not happen
 *	""              prints what is waiting, or else what can be asked
 *
 * Returns false, with the error in s->diag, if @text is invalid or names nothing that exists.
 */
bool why_not_run(struct session *s, const char *text, struct span at);

#endif

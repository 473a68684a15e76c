/* SPDX-License-Identifier: MIT */
/* The command `why not`. */
#ifndef CLI_CMD_WHY_NOT_H
#define CLI_CMD_WHY_NOT_H

#include "cli/session/session.h"

/* Prints why @text, which stands at @at, did not happen or does not hold: an event id or an
 * expression.  For "" it prints everything that waits for something.  Returns false if no
 * explanation is possible; s->diag has the error.
 */
bool why_not_run(struct session *s, const char *text, struct span at);

#endif

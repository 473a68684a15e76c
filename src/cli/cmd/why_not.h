/* SPDX-License-Identifier: MIT */
/* What stands behind `why not`. */
#ifndef CLI_CMD_WHY_NOT_H
#define CLI_CMD_WHY_NOT_H

#include "cli/session/session.h"

/* Tells why @text, which stands at @at, is not so: an event, an expression, a part of the lab; "":
 * what is waited for.  False: s->diag says why nothing can be told.
 */
bool why_not_run(struct session *s, const char *text, struct span at);

#endif

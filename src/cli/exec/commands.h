/* SPDX-License-Identifier: MIT */
/* The table of all commands with their functions. */
#ifndef CLI_EXEC_COMMANDS_H
#define CLI_EXEC_COMMANDS_H

#include "cli/session/session.h"

/* Calls the function of the command of @st, with numbers in place of the names that stand for them.
 * Nothing is written into the history.  On failure s->diag is set.
 */
bool command_run(struct session *s, const struct step *st);

#endif

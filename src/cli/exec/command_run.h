/* SPDX-License-Identifier: MIT */
/* The table of all commands with their functions. */
#ifndef CLI_EXEC_COMMAND_RUN_H
#define CLI_EXEC_COMMAND_RUN_H

#include "cli/session/session.h"

/* Calls the function of the command of @st.  Names that stand for numbers are replaced by the
 * numbers first (resolve_numbers()).  Does not add @st to the history.  Returns false, with the
 * error in s->diag, if it failed.
 */
bool command_run(struct session *s, const struct step *st);

#endif

/* SPDX-License-Identifier: MIT */
/* The functions of the commands that execute other steps, or replay the history: run_NAME for each
 * row CMD_EXECUTING of commands.def.
 */
#ifndef CLI_EXEC_EXECUTING_H
#define CLI_EXEC_EXECUTING_H

#include "cli/session/session.h"

/* Executes @st.  Returns false, with the error in s->diag, if it failed. */
#define CMD(name, ...)
#define CMD_EXECUTING(name, ...) bool run_##name(struct session *s, const struct step *st);
#include "cli/lang/commands.def"
#undef CMD_EXECUTING
#undef CMD

#endif

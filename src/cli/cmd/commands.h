/* SPDX-License-Identifier: MIT */
/* The functions of the commands: run_NAME for each row CMD of commands.def.
 *
 * These commands execute no other step and do not replay the history.  Commands that do so are the
 * rows CMD_EXECUTING; their functions are in cli/exec.
 */
#ifndef CLI_CMD_COMMANDS_H
#define CLI_CMD_COMMANDS_H

#include "cli/session/session.h"

/* Executes @st.  Returns false, with the error in s->diag, if it failed. */
#define CMD(name, ...) bool run_##name(struct session *s, const struct step *st);
#define CMD_EXECUTING(name, ...)
#include "cli/lang/commands.def"
#undef CMD_EXECUTING
#undef CMD

#endif

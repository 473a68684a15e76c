/* SPDX-License-Identifier: MIT */
/* The functions of the commands: run_NAME for each row CMD of commands.def.
 *
 * They carry out no other step and do not replay.  Commands that do, the rows CMD_EXECUTING, are in
 * cli/exec.
 */
#ifndef CLI_CMD_COMMANDS_H
#define CLI_CMD_COMMANDS_H

#include "cli/session/session.h"

/* Carries @st out.  On failure s->diag is set. */
#define CMD(name, ...) bool run_##name(struct session *s, const struct step *st);
#define CMD_EXECUTING(name, ...)
#include "cli/lang/commands.def"
#undef CMD_EXECUTING
#undef CMD

#endif

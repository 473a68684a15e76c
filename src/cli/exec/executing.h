/* SPDX-License-Identifier: MIT */
/* The functions of the commands that carry out other steps, or replay the history: run_NAME for
 * each row CMD_EXECUTING of commands.def.
 */
#ifndef CLI_EXEC_EXECUTING_H
#define CLI_EXEC_EXECUTING_H

#include "cli/session/session.h"

/* Carries @st out.  On failure s->diag is set. */
#define CMD(name, ...)
#define CMD_EXECUTING(name, ...) bool run_##name(struct session *s, const struct step *st);
#include "cli/lang/commands.def"
#undef CMD_EXECUTING
#undef CMD

#endif

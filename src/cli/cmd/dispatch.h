/* SPDX-License-Identifier: MIT */
/* The functions of the commands: run_NAME for each row of commands.def. */
#ifndef CLI_CMD_DISPATCH_H
#define CLI_CMD_DISPATCH_H

#include "cli/session/session.h"

/* Carries @st out.  On failure s->diag is set. */
#define CMD(name, ...) bool run_##name(struct session *s, const struct step *st);
#include "cli/lang/commands.def"
#undef CMD

bool dispatch(struct session *s, const struct step *st);

#endif

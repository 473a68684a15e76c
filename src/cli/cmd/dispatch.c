/* SPDX-License-Identifier: MIT */
#include "cli/cmd/dispatch.h"

bool dispatch(struct session *s, const struct step *st)
{
    static bool (*const run[N_CMDS])(struct session *, const struct step *) = {
#define CMD(name, ...) [CMD_##name] = run_##name,
#include "cli/lang/commands.def"
#undef CMD
    };

    return run[st->cmd - cmd_table](s, st);
}

/* SPDX-License-Identifier: MIT */
#include "cli/cmd/dispatch.h"

#include "cli/session/resolve.h"

bool dispatch(struct session *s, const struct step *st)
{
    static bool (*const run[N_CMDS])(struct session *, const struct step *) = {
#define CMD(name, ...) [CMD_##name] = run_##name,
#include "cli/lang/commands.def"
#undef CMD
    };

    const struct scope in = session_scope(s);
    struct pool pool = {0};
    const struct step *step = resolve_numbers(&in, st, &pool, &s->diag);
    const bool ok = step && run[st->cmd - cmd_table](s, step);

    pool_free(&pool);
    return ok;
}

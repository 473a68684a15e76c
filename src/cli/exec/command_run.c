/* SPDX-License-Identifier: MIT */
#include "cli/exec/command_run.h"

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/exec/executing.h"
#include "cli/session/resolve.h"

/* Returns true if the session does not allow the command of @st. */
static bool is_refused(struct session *s, const struct step *st)
{
    if (!(step_flags(st) & s->config.refused_commands))
        return false;
    session_fail(s, st->at, "%s is not done again", st->cmd->name);
    return true;
}

bool command_run(struct session *s, const struct step *st)
{
    static bool (*const run[N_CMDS])(struct session *, const struct step *) = {
#define CMD(name, ...)           [CMD_##name] = run_##name,
#define CMD_EXECUTING(name, ...) [CMD_##name] = run_##name,
#include "cli/lang/commands.def"
#undef CMD_EXECUTING
#undef CMD
    };

    const struct session_observer *observer = &s->config.observer;
    const struct scope in = session_scope(s);
    struct pool pool = {0};
    const struct step *step;
    bool ok;

    if (observer->command)
        observer->command(observer->ctx, st);
    if (session_interrupted(s, st->at) || is_refused(s, st) || !gate_pass(s, st))
        return false;
    step = resolve_numbers(&in, st, &pool, &s->diag);
    ok = step && run[st->cmd - cmd_table](s, step);
    if (step && !ok && s->diag.reason == RDL_ERR_KERNEL)
        verb_name_keeper(s, step);
    pool_free(&pool);
    return ok;
}

/* SPDX-License-Identifier: MIT */
/* Programs of the machine on hosts of the lab. */
#include "cli/cmd/commands.h"
#include "cli/cmd/outside.h"
#include "cli/live/live.h"
#include "cli/session/resolve.h"

bool run_exec(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    struct live_exec_config config = {.command = step_text(st, "command"),
                                      .direct = step_has(st, "direct")};
    struct live_error error;
    rdl_host host;

    if (!outside_open(s, st) || !resolve_host(&in, st, "host", &host, &s->diag))
        return false;
    config.host_name = step_text(st, "host");
    if (!s->config.live_ops->exec(s->outside.live, &config, &error))
        return outside_fail(s, st, &error);
    session_lift_limits(s);
    return true;
}

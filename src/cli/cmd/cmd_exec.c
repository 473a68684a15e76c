/* SPDX-License-Identifier: MIT */
/* Programs of the machine on hosts of the lab. */
#include "cli/cmd/commands.h"
#include "cli/cmd/outside.h"
#include "cli/live/live.h"
#include "cli/session/advance.h"
#include "cli/session/resolve.h"

/* Simulated time between two looks at a program. */
#define LOOK_NS 50000000u

/* Lets the lab run until the program that was started last is ready, for at most @ns. */
static bool wait_for_program(struct session *s, const struct step *st, uint64_t ns)
{
    const uint64_t end = rdl_now_ns(s->lab) + ns;

    while (rdl_now_ns(s->lab) < end && !s->config.live_ops->exec_is_ready(s->outside.live)) {
        if (advance_run(s, rdl_now_ns(s->lab) + LOOK_NS, st->at).end == ADVANCE_FAILED)
            return false;
    }
    return true;
}

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
    return wait_for_program(s, st, step_number_or(st, "wait", 0));
}

/* SPDX-License-Identifier: MIT */
#include "cli/cmd/waiting.h"

#include "cli/live/live.h"
#include "cli/session/advance.h"

/* Returns true if the clock follows real time, although all programs have ended and nothing is
 * scheduled: waiting would change nothing.
 */
static bool nothing_can_act(const struct session *s)
{
    return s->outside.live && !s->config.live_ops->is_open(s->outside.live) &&
           !s->config.live_ops->programs_run(s->outside.live) && rdl_next_ns(s->lab) == RDL_NEVER;
}

bool waiting_go_on(struct session *s, const struct step *st, struct waiting *w)
{
    const uint64_t timeout = step_number(st, "timeout");
    const uint64_t now = rdl_now_ns(s->lab);
    const uint64_t deadline = timeout > RDL_NEVER - now ? RDL_NEVER : now + timeout;
    uint64_t next = rdl_tick(s->lab);

    for (w->since = next;; w->since = next) {
        enum advance_end end;

        next = rdl_tick(s->lab);
        if (!w->look(w, s, &w->held))
            return false;
        w->stopped = session_is_over(s);
        if (w->held || w->stopped) {
            s->run.step.cut |= !w->held;
            return true;
        }
        end = nothing_can_act(s) ? ADVANCE_IDLE : advance_tick(s, deadline, st->at).end;
        if (end == ADVANCE_DONE)
            continue;
        if (end == ADVANCE_FAILED)
            return false;
        if (end != ADVANCE_STOPPED)
            advance_stop(s); /* the last tick may have hit one: then it was that which ended it */
        w->stopped = session_is_over(s);
        s->run.step.cut |= w->stopped;
        w->idle = end == ADVANCE_IDLE;
        return true;
    }
}

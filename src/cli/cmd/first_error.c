/* SPDX-License-Identifier: MIT */
#include "cli/cmd/first_error.h"

#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/trace/event.h"

/* Returns true if an error moved a queue pair to ERR or SQE in @e.  A program that does so itself
 * wants the flush: the cause is then its request.
 */
static bool is_error_state(const struct past *p, const struct ev *e)
{
    const struct ev *cause;

    if (e->kind != EV_qp_state || (e->u.qp_state.to != QPS_ERR && e->u.qp_state.to != QPS_SQE))
        return false;
    cause = past_find(p, e->cause);
    return !cause || (cause->kind != EV_ctrl_execute && cause->kind != EV_ctrl_request &&
                      cause->kind != EV_kick);
}

static bool is_failed_completion(const struct ev *e)
{
    return e->kind == EV_cqe && e->u.cqe.status != WCS_SUCCESS &&
           e->u.cqe.status != WCS_WR_FLUSH_ERR;
}

bool is_error_event(const struct past *p, const struct ev *e)
{
    return is_failed_completion(e) || is_error_state(p, e);
}

const struct ev *first_error(const struct past *p)
{
    const struct ev *state = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (is_failed_completion(e))
            return e;
        if (!state && is_error_state(p, e))
            state = e;
    }
    return state;
}

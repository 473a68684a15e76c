/* SPDX-License-Identifier: MIT */
/* Programs of the machine on hosts of the lab. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/outside.h"
#include "cli/live/live.h"
#include "cli/session/advance.h"
#include "cli/session/resolve.h"
#include "cli/session/unmet.h"
#include "cli/show/show_live.h"
#include "process/must.h"

#define LOOK_NS  50000000u   /* simulated time between two looks at a program */
#define READY_NS 1000000000u /* how long a program may take to wait for a connection */

/* Lets the lab run for a moment. */
static enum advance_end run_on(struct session *s, const struct step *st)
{
    if (s->config.programs_virtual)
        return advance_tick(s, RDL_NEVER, st->at).end;
    return advance_run(s, rdl_now_ns(s->lab) + LOOK_NS, st->at).end;
}

/* Lets the lab run until the program that was started last is ready, or a breakpoint is hit. */
static bool wait_until_ready(struct session *s, const struct step *st)
{
    const uint64_t end = s->config.programs_virtual ? RDL_NEVER : rdl_now_ns(s->lab) + READY_NS;

    while (rdl_now_ns(s->lab) < end && !s->config.live_ops->exec_is_ready(s->outside.live)) {
        const enum advance_end how = run_on(s, st);

        if (how == ADVANCE_FAILED || how == ADVANCE_STOPPED)
            return how == ADVANCE_STOPPED;
    }
    return true;
}

/* Lets the lab run until program @number has ended, or a breakpoint is hit.  ^C is for the program.
 */
static bool wait_for_end(struct session *s, const struct step *st, uint32_t number)
{
    const struct live_ops *ops = s->config.live_ops;
    struct live_exec_info info;

    while (ops->exec_at(s->outside.live, number - 1, &info) && info.runs) {
        const enum advance_end end = run_on(s, st);

        if (end == ADVANCE_STOPPED)
            return true;
        if (end != ADVANCE_FAILED)
            continue;
        if (ops->exec_at(s->outside.live, number - 1, &info) && info.runs)
            ops->exec_kill(s->outside.live, number, SIGINT);
        return false;
    }
    return true;
}

/* Returns the words of the command, ended by NULL, without a "--" before the program and "&" at the
 * end; to be freed.  Returns NULL if no program is left.
 */
static const char **words_of(struct session *s, const struct step *st, bool *ret_behind)
{
    const struct arg *a = step_arg(st, "command");
    size_t first = strcmp(a->v[0].text, "--") == 0, n = a->n;
    const char **words;

    *ret_behind = n > 0 && strcmp(a->v[n - 1].text, "&") == 0;
    n -= *ret_behind;
    if (n <= first) {
        session_fail(s, step_span(st, "command", 0), "the program is missing");
        diag_remedy(&s->diag, "exec HOST PROGRAM [ARG...] [&]");
        return NULL;
    }
    words = must_malloc((n - first + 1) * sizeof(*words));
    for (size_t i = first; i < n; i++)
        words[i - first] = a->v[i].text;
    words[n - first] = NULL;
    return words;
}

bool run_exec(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const struct arg *a = step_arg(st, "status");
    uint8_t statuses[SCRIPT_LIST_MAX];
    struct live_exec_config config = {.direct = s->config.programs_direct,
                                      .statuses = statuses,
                                      .n_statuses = a->n,
                                      .seed = s->lab_info.seed};
    const char **words;
    char place[SESSION_PLACE_BYTES];
    struct live_error error;
    uint32_t number = 0;
    bool behind, started;
    rdl_host host;

    if (!outside_open(s, st) || !resolve_host(&in, st, "host", &host, &s->diag))
        return false;
    words = words_of(s, st, &behind);
    if (!words)
        return false;
    config.host_name = step_text(st, "host");
    config.words = words;
    session_place(s, st->at, place);
    config.place = place;
    for (size_t i = 0; i < a->n; i++)
        statuses[i] = (uint8_t)value_number(step_param(st, "status"), a->v[i].text);
    started = s->config.live_ops->exec(s->outside.live, &config, &number, &error);
    free(words);
    if (!started)
        return outside_fail(s, st, &error);
    unmet_started(s, st, number);
    session_lift_limits(s);
    return behind ? wait_until_ready(s, st) : wait_for_end(s, st, number);
}

bool run_kill(struct session *s, const struct step *st)
{
    const uint32_t number = (uint32_t)step_number(st, "program");

    if (s->outside.live &&
        s->config.live_ops->exec_kill(s->outside.live, number, (int)step_number(st, "signal")))
        return true;
    session_fail(s, step_span(st, "program", 0), "no program %u runs", number);
    return diag_remedy(&s->diag, "\"programs\" lists them");
}

bool run_programs(struct session *s, const struct step *st)
{
    show_programs(s->config.out, s->config.live_ops, s->outside.live,
                  (enum show_form)step_number(st, "format"));
    return true;
}

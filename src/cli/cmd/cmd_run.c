/* SPDX-License-Identifier: MIT */
/* Letting time pass: step, run. */
#include "cli/cmd/commands.h"
#include "cli/lang/words.h"
#include "cli/session/advance.h"
#include "cli/session/resolve.h"
#include "emu/base/quantity.h"

static void say_time(struct session *s, const char *what)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    session_say(s, "%st=%s\n", what, buf);
}

/* Prints that a tick showed nothing: for example, a device found nothing to do. */
static void say_quiet(struct session *s)
{
    const unsigned long long tick = (unsigned long long)rdl_tick(s->lab);

    session_say(s,
                "#%-6llu nothing of the story; \"show events #%llu\" lists its details, if any\n",
                tick, tick);
}

/* The unit of a `step`: a grain, or an occurrence at one host. */
struct stride {
    enum rdl_step grain;
    bool at_host;
    rdl_host host;
};

static bool read_stride(struct session *s, const struct step *st, struct stride *ret)
{
    const struct scope in = session_scope(s);
    const uint64_t grain = step_number(st, "grain");

    ret->at_host = grain == STEP_HOST;
    if (ret->at_host)
        return resolve_host(&in, st, "host", &ret->host, &s->diag);
    ret->grain = (enum rdl_step)grain;
    if (!step_has(st, "host"))
        return true;
    session_fail(s, step_span(st, "host", 0), "only \"step host\" takes a host");
    return diag_remedy(&s->diag, "\"until tx(host==%s)\" waits for an event there",
                       step_text(st, "host"));
}

bool run_step(struct session *s, const struct step *st)
{
    struct stride by = {.at_host = false};

    if (!read_stride(s, st, &by))
        return false;
    for (uint64_t left = step_number(st, "count"); left > 0 && !session_is_over(s); left--) {
        const uint64_t shown = s->display.shown.n_taken;
        const struct advanced a =
            by.at_host ? advance_step_host(s, by.host, st->at) : advance_step(s, by.grain, st->at);

        switch (a.end) {
        case ADVANCE_FAILED:
            return false;
        case ADVANCE_IDLE:
            say_time(s, "idle at ");
            return true;
        case ADVANCE_DONE:
            if (s->display.shown.n_taken == shown)
                say_quiet(s);
            break;
        case ADVANCE_GOES_ON:
        case ADVANCE_STOPPED:
            break;
        }
        s->run.step.left = left - (a.end == ADVANCE_DONE);
    }
    return true;
}

bool run_run(struct session *s, const struct step *st)
{
    const uint64_t now = rdl_now_ns(s->lab), duration = step_number_or(st, "for", RDL_NEVER);
    const uint64_t until = duration > RDL_NEVER - now ? RDL_NEVER : now + duration;

    switch (advance_run(s, until, st->at).end) {
    case ADVANCE_FAILED:
        return false;
    case ADVANCE_IDLE:
        say_time(s, "idle at ");
        break;
    case ADVANCE_DONE:
    case ADVANCE_GOES_ON:
    case ADVANCE_STOPPED:
        say_time(s, "");
        break;
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Letting time pass, and asking whether what should have happened has: step, run, until, expect. */
#include "cli/cmd/dispatch.h"
#include "cli/session/advance.h"
#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "emu/base/quantity.h"

static void say_time(struct session *s, const char *what)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    session_say(s, "%st=%s\n", what, buf);
}

/* Tells of a tick that showed nothing: a device looked and found nothing to do, or a frame has left
 * its port.
 */
static void say_quiet(struct session *s)
{
    const unsigned long long tick = (unsigned long long)rdl_tick(s->lab);

    session_say(s, "#%-6llu nothing to tell; \"show events #%llu\" has its rows, if any\n", tick,
                tick);
}

bool run_step(struct session *s, const struct step *st)
{
    const enum rdl_step grain = (enum rdl_step)step_number(st, "grain");

    for (uint64_t left = step_number(st, "count"); left > 0 && !session_is_over(s); left--) {
        const uint64_t shown = s->shown.n;

        switch (advance_step(s, grain, st->at).end) {
        case ADVANCE_FAILED:
            return false;
        case ADVANCE_IDLE:
            say_time(s, "idle at ");
            return true;
        case ADVANCE_DONE:
            if (s->shown.n == shown)
                say_quiet(s);
            break;
        case ADVANCE_GOES_ON:
        case ADVANCE_STOPPED:
            break;
        }
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

/* Where @s looks up the names of an expression that is asked after each tick; the last one that it
 * was asked after is @since.  NULL: it is asked once.
 */
static struct scope scope_since(const struct session *s, const uint64_t *since)
{
    struct scope in = session_scope(s);

    in.since = since;
    return in;
}

/* Fails: the expression does not hold; says what it is instead, and how to see it again. */
static bool refute(struct session *s, const struct step *st, const struct expr *e,
                   const uint64_t *since, const char *why)
{
    const struct scope in = scope_since(s, since);
    const char *that = step_text(st, "that");
    char found[DIAG_MESSAGE_BYTES];
    struct text t = text_on(found, sizeof(found));
    struct expr_terms terms;

    expr_decide(&in, e, false, &terms);
    expr_add_terms(&in, &terms, that, &t);
    diag_set(&s->diag, DIAG_EXPECT, st->at, "%s %s: %s%s", st->cmd->name, that, why, found);
    expr_note_events(&in, &terms, &s->diag);
    return false;
}

static void note_replay(struct session *s)
{
    if (source_is_file(s->in->src))
        diag_note(&s->diag, "  again: rdmalab run %s --seed %llu --until '#%llu'", s->in->src->name,
                  (unsigned long long)s->seed, (unsigned long long)rdl_tick(s->lab));
}

/* What cannot be answered is a mistake of who asks, and nothing that `refused` may take. */
static bool answer(struct session *s, const struct expr *e, struct span at, const uint64_t *since,
                   bool *ret)
{
    const struct scope in = scope_since(s, since);

    if (expr_holds(&in, e, at, ret, &s->diag))
        return true;
    if (s->diag.kind == DIAG_FAILED)
        s->diag.kind = DIAG_VALUE;
    return false;
}

/* The expression of @st, which belongs to the lab; NULL on failure. */
static struct expr *read_that(struct session *s, const struct step *st, struct pool *pool)
{
    const struct span at = step_span(st, "that", 0);
    struct expr *e = expr_parse(pool, step_text(st, "that"), at, &s->diag);

    if (e && expr_attach(s->lab, e, at, &s->diag))
        return e;
    if (s->diag.kind == DIAG_FAILED)
        s->diag.kind = DIAG_VALUE;
    return NULL;
}

static bool run_until_holds(struct session *s, const struct step *st, const struct expr *e)
{
    const uint64_t timeout = step_number(st, "timeout");
    const uint64_t now = rdl_now_ns(s->lab);
    const uint64_t deadline = timeout > RDL_NEVER - now ? RDL_NEVER : now + timeout;
    const struct span at = step_span(st, "that", 0);
    uint64_t since = rdl_tick(s->lab), next = since;
    bool holds = false;

    for (;; since = next) {
        enum advance_end end;

        next = rdl_tick(s->lab);
        if (!answer(s, e, at, &since, &holds))
            return false;
        if (holds || session_is_over(s)) {
            s->step.cut |= !holds;
            return true;
        }
        end = advance_tick(s, deadline, st->at).end;
        if (end == ADVANCE_DONE)
            continue;
        if (end == ADVANCE_FAILED)
            return false;
        if (end == ADVANCE_STOPPED)
            return true;
        advance_stop(s); /* the last tick may have hit one: then it was that which ended it */
        s->step.cut |= session_is_over(s);
        if (s->config.indulgent || session_is_over(s))
            return true;
        refute(s, st, e, &since,
               end == ADVANCE_IDLE ? "nothing is left to run, and " : "the time is over, and ");
        advance_note_waits(s);
        note_replay(s);
        return false;
    }
}

bool run_until(struct session *s, const struct step *st)
{
    struct pool pool = {NULL};
    const struct expr *e = read_that(s, st, &pool);
    const bool ok = e && run_until_holds(s, st, e);

    pool_free(&pool);
    return ok;
}

/* "ok: count(tx) > 3: it is 5" */
static void say_held(struct session *s, const struct step *st, const struct expr *e)
{
    const char *that = step_text(st, "that");
    const struct scope in = session_scope(s);
    char found[DIAG_MESSAGE_BYTES];
    struct text t = text_on(found, sizeof(found));
    struct expr_terms terms;

    expr_decide(&in, e, true, &terms);
    expr_leave_out_plain(&terms);
    expr_add_terms(&in, &terms, that, &t);
    session_say(s, "ok: ");
    session_say_plain(s, that);
    session_say(s, "%s%s\n", found[0] ? ": " : "", found);
}

bool run_expect(struct session *s, const struct step *st)
{
    struct pool pool = {NULL};
    const struct expr *e = read_that(s, st, &pool);
    bool holds = s->config.indulgent;
    bool ok = e && (holds || answer(s, e, step_span(st, "that", 0), NULL, &holds));

    s->history.n_expected++;
    if (ok && !holds) {
        ok = refute(s, st, e, NULL, "");
        note_replay(s);
    } else if (ok) {
        say_held(s, st, e);
    }
    pool_free(&pool);
    return ok;
}

/* SPDX-License-Identifier: MIT */
/* Commands that wait for an expression, check it or print it: until, expect, print. */
#include "cli/cmd/asking.h"
#include "cli/cmd/cause.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/waiting.h"
#include "cli/session/advance.h"
#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/expr_notes.h"
#include "tree/tree.h"

/* Returns the scope of an expression that is evaluated after each tick.  @since is the last tick
 * before; NULL: it is evaluated once.
 */
static struct scope scope_since(const struct session *s, const uint64_t *since)
{
    struct scope in = session_scope(s);

    in.since = since;
    return in;
}

/* Sets the error that the expression does not hold, with its value, the events that it counted,
 * what is waited for if @since is given, and the causes of its subjects.
 */
static void refute(struct session *s, const struct step *st, const struct expr *e,
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
    if (since)
        advance_note_waits(s);
    cause_note(s, &in, &terms, that);
}

/* Evaluates @e.  An expression that cannot be evaluated is a mistake, which `refused` does not
 * take.
 */
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

/* Reads the expression of @st and attaches it to the lab; NULL on failure. */
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

/* --- until ------------------------------------------------------------------------------------ */

struct awaited {
    const struct expr *e;
    struct span at;
};

static bool holds(struct waiting *w, struct session *s, bool *ret)
{
    const struct awaited *awaited = w->ctx;

    return answer(s, awaited->e, awaited->at, &w->since, ret);
}

static bool run_until_holds(struct session *s, const struct step *st, const struct expr *e)
{
    struct awaited awaited = {e, step_span(st, "that", 0)};
    struct waiting w = {.look = holds, .ctx = &awaited};

    if (!waiting_go_on(s, st, &w))
        return false;
    if (w.held || w.stopped)
        return true;
    refute(s, st, e, &w.since, w.idle ? "nothing is left to run, and " : "the time is over, and ");
    return session_ignores_error(s);
}

bool run_until(struct session *s, const struct step *st)
{
    struct pool pool = {NULL};
    const struct expr *e = read_that(s, st, &pool);
    const bool ok = e && run_until_holds(s, st, e);

    s->run.n_waits++;
    pool_free(&pool);
    return ok;
}

/* --- expect ----------------------------------------------------------------------------------- */

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
    bool holds = false;
    const bool ok = e && answer(s, e, step_span(st, "that", 0), NULL, &holds);

    s->run.n_expectations++;
    if (ok && holds)
        say_held(s, st, e);
    else if (ok)
        refute(s, st, e, NULL, "");
    pool_free(&pool);
    return (ok && holds) || (e && session_ignores_error(s));
}

/* --- print ------------------------------------------------------------------------------------ */

/* Prints the value at @path.  Fails if it is a node, which has many. */
static bool print_value(struct session *s, const struct step *st, const char *path,
                        const struct rdl_value *v)
{
    char value[RDL_VALUE_BYTES];
    struct text t = text_on(value, sizeof(value));

    if (v->type == RDL_NODE) {
        session_fail(s, step_span(st, "that", 0), "%s is no value", path);
        return diag_remedy(&s->diag, "\"show %s\" prints all that it has", path);
    }
    if (step_has(st, "hex") && v->type != RDL_TEXT)
        text_addf(&t, "0x%llx", (unsigned long long)v->number);
    else
        tree_add_value(&t, v);
    session_say(s, "%s = %s\n", path, value);
    return true;
}

/* "count(tx) > 7: no, it is 5"; "h1.qp.state == RTS: yes" */
static void print_answer(struct session *s, const struct step *st, const struct expr *e, bool holds)
{
    const char *that = step_text(st, "that");
    const struct scope in = session_scope(s);
    char found[DIAG_MESSAGE_BYTES];
    struct text t = text_on(found, sizeof(found));
    struct expr_terms terms;

    expr_decide(&in, e, holds, &terms);
    expr_leave_out_plain(&terms);
    expr_add_terms(&in, &terms, that, &t);
    session_say_plain(s, that);
    session_say(s, ": %s%s%s\n", holds ? "yes" : "no", found[0] ? ", " : "", found);
}

bool run_print(struct session *s, const struct step *st)
{
    const struct scope scope = session_scope(s);
    struct pool pool = {NULL};
    char path[SESSION_PATH_BYTES];
    const struct expr *e;
    struct rdl_value v;
    bool ok, holds = false;
    size_t bad;

    resolve_path(&scope, step_text(st, "that"), path);
    if (rdl_inspect(s->lab, path, &v, &bad) == RDL_OK)
        return print_value(s, st, path, &v);
    e = read_that(s, st, &pool);
    ok = e && answer(s, e, step_span(st, "that", 0), NULL, &holds);
    if (ok)
        print_answer(s, st, e, holds);
    pool_free(&pool);
    return ok;
}

/* --- if --------------------------------------------------------------------------------------- */

bool asking_now(struct session *s, const struct step *st, bool *ret)
{
    struct pool pool = {NULL};
    const struct expr *e = read_that(s, st, &pool);
    const bool ok = e && answer(s, e, step_span(st, "that", 0), NULL, ret);

    pool_free(&pool);
    return ok;
}

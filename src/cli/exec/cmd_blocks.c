/* SPDX-License-Identifier: MIT */
/* Commands that carry out other steps: if, foreach, on, repeat, refused, call, continue, source. */
#include <string.h>

#include "cli/cmd/asking.h"
#include "cli/exec/exec.h"
#include "cli/exec/executing.h"
#include "cli/lang/expand.h"
#include "cli/lang/words.h"
#include "cli/session/history.h"
#include "cli/session/remainder.h"
#include "cli/session/resolve.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

bool run_if(struct session *s, const struct step *st)
{
    const struct block b = exec_inner_block(s);
    bool holds;

    if (!asking_now(s, st, &holds))
        return false;
    return exec_steps(s, holds ? st->body : st->other, &b);
}

/* Carries out one round of @st, with @text for its variable. */
static bool do_round(struct session *s, const struct step *st, const char *text)
{
    const struct block b = exec_inner_block(s);
    const struct var v = {.name = step_text(st, "name"), .text = text};
    struct pool pool = {NULL};
    struct step *steps = NULL;
    const bool ok = !session_interrupted(s, st->at) &&
                    expand_steps(st->body, &v, &pool, &steps, &s->diag) && exec_steps(s, steps, &b);

    if (!ok && s->diag.kind != DIAG_NONE)
        diag_note(&s->diag, "  with $%s = %s", v.name, text);
    pool_free(&pool);
    return ok;
}

/* Adds the remaining rounds @r of a `foreach` to the remainder of the line. */
static void put_rest(struct session *s, const struct step *st, const struct rounds *r)
{
    struct pool pool = {NULL};
    struct step *left = rounds_rest(r, st, &pool);

    left->body = st->body;
    if (step_has(left, "in"))
        remainder_add(s, s->run.block, left, NULL);
    pool_free(&pool);
}

bool run_foreach(struct session *s, const struct step *st)
{
    struct rounds r = rounds_of(st);
    struct pool pool = {NULL};
    const char *text;
    bool ok = true;

    while (ok && !session_is_over(s) && (text = rounds_next(&r, &pool))) {
        ok = do_round(s, st, text);
        if (ok && !session_is_over(s))
            journal_round(&s->history->journal);
    }
    if (ok && session_is_over(s))
        put_rest(s, st, &r);
    pool_free(&pool);
    return ok;
}

/* Adds the hosts of an `on` from number @i on to the remainder of the line. */
static void put_rest_of_hosts(struct session *s, const struct step *st, size_t i)
{
    struct pool pool = {NULL};
    struct step *left = step_copy(&pool, st);
    struct arg *hosts = &left->args[step_param(st, "hosts") - st->cmd->params];

    hosts->v += i;
    hosts->n -= i;
    if (hosts->n > 0)
        remainder_add(s, s->run.block, left, NULL);
    pool_free(&pool);
}

bool run_on(struct session *s, const struct step *st)
{
    const struct arg *hosts = step_arg(st, "hosts");

    for (size_t i = 0; i < hosts->n && !session_is_over(s); i++) {
        const struct scope in = session_scope(s);
        struct block b = exec_inner_block(s);
        struct made made = {""};
        rdl_host host;
        bool ok;

        b.host = hosts->v[i].text;
        if (rdl_find_host(s->lab, b.host, &host) != RDL_OK)
            return resolve_unknown(&in, hosts->v[i].at, b.host, "no host", &s->diag);
        if (!b.made)
            b.made = &made;
        ok = exec_steps(s, st->body, &b);
        if (made.text[0])
            session_say(s, "%s: %s\n", b.host, made.text);
        if (!ok)
            return false;
        if (session_is_over(s))
            put_rest_of_hosts(s, st, i + 1);
    }
    return true;
}

/* Adds @n rounds of a `repeat` to the remainder of the line. */
static void put_rest_of_rounds(struct session *s, const struct step *st, uint64_t n)
{
    struct pool pool = {NULL};
    struct step *left = step_copy(&pool, st);

    step_put_number(&pool, left, "count", n);
    if (n > 0)
        remainder_add(s, s->run.block, left, NULL);
    pool_free(&pool);
}

bool run_repeat(struct session *s, const struct step *st)
{
    const struct block b = exec_inner_block(s);
    const uint64_t count = step_number(st, "count");

    for (uint64_t i = 0; i < count; i++) {
        if (session_interrupted(s, st->at) || !exec_steps(s, st->body, &b))
            return false;
        if (session_is_over(s)) {
            if (s->stops.in_block && i + 1 < count && !s->run.quit)
                session_say(s, "  not done: rounds %llu to %llu of repeat\n",
                            (unsigned long long)i + 2, (unsigned long long)count);
            put_rest_of_rounds(s, st, count - i - 1);
            return true;
        }
        journal_round(&s->history->journal);
    }
    return true;
}

/* Carries out the steps of a `refused` block within its limit of ticks, which replaces the limit
 * for each step at a prompt.  *@ret_reached is true if this limit ended them.
 */
static bool run_limited(struct session *s, const struct step *st, bool *ret_reached)
{
    const uint64_t own = rdl_tick(s->lab) + step_number_or(st, "ticks", 0);
    const struct limit around = session_limit(s);
    struct block b = exec_inner_block(s);
    const bool counts =
        step_has(st, "ticks") && (around.tick == 0 || own < around.tick || around.of_step);
    bool ok;

    if (counts) {
        b.last_tick = own;
        b.n_lifted = s->limits.n_lifted;
    }
    ok = exec_steps(s, st->body, &b);
    *ret_reached = !ok && counts && s->diag.kind == DIAG_LIMIT && rdl_tick(s->lab) >= own;
    return ok;
}

/* Returns true if a `refused` with @says can take the error in s->diag.  A mistake in the script is
 * a refusal only if the scenario has a part of its message.
 */
static bool may_be_refused(const struct session *s, const char *says)
{
    if (s->run.step.interrupted)
        return false;
    return s->diag.kind == DIAG_FAILED || (s->diag.kind == DIAG_VALUE && says);
}

/* Fails because the error in s->diag is another one than @st tells of. */
static bool refused_otherwise(struct session *s, const struct step *st, const char *param,
                              const char *lead)
{
    const struct enum_row *row = enum_by_value(&words_reason, s->diag.reason);
    char message[DIAG_MESSAGE_BYTES];
    struct text t = text_on(message, sizeof(message));
    char reason[VALUE_WORD_BYTES];

    text_add(&t, s->diag.message);
    diag_set(&s->diag, DIAG_EXPECT, step_span(st, param, 0), "refused, but %s: %s", lead, message);
    if (strcmp(param, "reason") != 0)
        return false;
    if (!row)
        return diag_remedy(
            &s->diag, "this error has no name for reason=; give a part of its message by says=");
    value_word_text(&words_reason, row, reason);
    return diag_remedy(&s->diag, "it is reason=%s", reason);
}

bool run_refused(struct session *s, const struct step *st)
{
    const char *says = step_text(st, "says");
    struct remainder_part *last = remainder_last(s);
    bool reached;

    s->run.n_waits++;
    if (run_limited(s, st, &reached)) {
        if (session_is_over(s)) {
            remainder_forget_since(s, last); /* nobody would see whether it is refused */
            return true;
        }
        diag_set(&s->diag, DIAG_EXPECT, st->at, "refused: nothing was refused");
        return false;
    }
    if (reached) {
        s->diag.kind = DIAG_FAILED;
        diag_reason(&s->diag, RDL_ERR_TIMEOUT);
    }
    if (!may_be_refused(s, says))
        return false;
    s->diag_src = (struct source){0};
    if (says && !strstr(s->diag.message, says))
        return refused_otherwise(s, st, "says", "it says");
    if (step_has(st, "reason") && step_number(st, "reason") != s->diag.reason)
        return refused_otherwise(s, st, "reason", "for another reason");
    session_say(s, "refused: %s\n", s->diag.message);
    s->diag.kind = DIAG_NONE;
    return true;
}

/* Notes where the macro was called in which a step failed. */
static void note_call(struct session *s, const struct step *st)
{
    const struct source *src = s->run.block->src;
    const char *name = source_shown_name(src), *text = src->text + st->at.at;
    size_t line, column;

    source_place(src, st->at.at, &line, &column);
    if (name)
        diag_note(&s->diag, "  in macro %s, called in line %zu of %s", step_text(st, "macro"), line,
                  name);
    else
        diag_note(&s->diag, "  in macro %s, called by: %.*s", step_text(st, "macro"),
                  (int)strcspn(text, "\r\n;}"), text);
}

bool run_call(struct session *s, const struct step *st)
{
    const struct macro *m = macro_called(&s->run.macros.list, NULL, st, &s->diag);
    struct block b = exec_inner_block(s);
    const struct var *vars = NULL;
    struct pool pool = {NULL};
    struct step *steps = NULL;
    bool ok;

    if (!m || !macro_bind(m, st, &pool, &vars, &s->diag)) {
        pool_free(&pool);
        return false;
    }
    if (++b.n_calls >= SCRIPT_DEPTH_MAX) {
        pool_free(&pool);
        return session_fail(s, st->at, "more than %u macros that call each other",
                            SCRIPT_DEPTH_MAX);
    }
    b.src = m->src;
    ok = expand_steps(m->def->body, vars, &pool, &steps, &s->diag);
    if (!ok)
        s->diag_src = *m->src;
    ok = ok && exec_steps(s, steps, &b);
    if (!ok && s->diag.kind != DIAG_NONE)
        note_call(s, st);
    pool_free(&pool);
    return ok;
}

bool run_continue(struct session *s, const struct step *st)
{
    const struct remainder *r;
    bool ok = true;

    if (s->run.block->outer)
        return session_fail(s, st->at, "continue does not work in a block or a sourced file");
    r = remainder_take(s);
    for (const struct remainder_part *part = r->first; part && ok && !s->run.quit;
         part = part->next) {
        struct block b = exec_inner_block(s);

        b.src = part->src;
        b.host = part->host;
        ok = exec_steps(s, part->steps, &b);
        if (ok && session_is_over(s)) {
            remainder_add_parts(s, part->next);
            return true;
        }
    }
    if (ok && s->run.remainders.waiting) {
        session_say(s, "  that was all of it; there waits: the rest of ");
        session_say_plain(s, s->run.remainders.waiting->line);
        session_say(s, "\n");
    }
    return ok;
}

bool run_source(struct session *s, const struct step *st)
{
    struct source src = {0};
    enum diag_kind kind;
    bool ok;

    if (!gate_source(s, st, "file", &src))
        return false;
    if (s->run.block->n_sources >= SESSION_SOURCES_MAX) {
        source_done(&src);
        return session_fail(s, st->at, "more than %u files that source each other",
                            SESSION_SOURCES_MAX);
    }
    ok = exec_file(s, &src);
    if (!ok) {
        kind = s->diag.kind;
        session_complain(s, s->config.err);
        s->diag_src = (struct source){0};
        diag_set(&s->diag, kind == DIAG_EXPECT ? DIAG_FAILED : kind, st->at,
                 "%s stopped; sourced here", step_text(st, "file"));
    }
    source_done(&src);
    return ok;
}

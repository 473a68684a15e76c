/* SPDX-License-Identifier: MIT */
/* Blocks with conditions and variables: if, foreach, macro, call; and what is left of blocks:
 * continue, abandon.
 */
#include <string.h>

#include "cli/cmd/asking.h"
#include "cli/cmd/dispatch.h"
#include "cli/lang/expand.h"
#include "cli/session/rest.h"

bool run_if(struct session *s, const struct step *st)
{
    const struct block b = session_inner_block(s);
    bool holds;

    if (!asking_now(s, st, &holds))
        return false;
    return session_steps(s, holds ? st->body : st->other, &b);
}

/* One round of @st, with @text in place of its variable. */
static bool do_round(struct session *s, const struct step *st, const char *text)
{
    const struct block b = session_inner_block(s);
    const struct var v = {.name = step_text(st, "name"), .text = text};
    struct pool pool = {NULL};
    struct step *steps = NULL;
    const bool ok = !session_interrupted(s, st->at) &&
                    expand_steps(st->body, &v, &pool, &steps, &s->diag) &&
                    session_steps(s, steps, &b);

    if (!ok && s->diag.kind != DIAG_NONE)
        diag_note(&s->diag, "  with $%s = %s", v.name, text);
    pool_free(&pool);
    return ok;
}

/* What is left of a `foreach` are the rounds of @r. */
static void put_rest(struct session *s, const struct step *st, const struct rounds *r)
{
    struct pool pool = {NULL};
    struct step *left = rounds_rest(r, st, &pool);

    left->body = st->body;
    if (step_has(left, "in"))
        rest_add(s, s->in, left, NULL);
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
            journal_round(&s->history.journal);
    }
    if (ok && session_is_over(s))
        put_rest(s, st, &r);
    pool_free(&pool);
    return ok;
}

bool run_macro(struct session *s, const struct step *st)
{
    struct pool *p = &s->macros.pool;

    macro_put(&s->macros.list, p, step_copy(p, st), source_copy(p, s->in->src));
    return true;
}

/* Says where the macro was called in whose block something is wrong. */
static void note_call(struct session *s, const struct step *st)
{
    const struct source *src = s->in->src;
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
    const struct macro *m = macro_called(&s->macros.list, NULL, st, &s->diag);
    struct block b = session_inner_block(s);
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
    ok = ok && session_steps(s, steps, &b);
    if (!ok && s->diag.kind != DIAG_NONE)
        note_call(s, st);
    pool_free(&pool);
    return ok;
}

bool run_continue(struct session *s, const struct step *st)
{
    const struct rest *r;
    bool ok = true;

    if (s->in->outer)
        return session_fail(s, st->at, "continue does not work in a block or a sourced file");
    r = rest_take(s);
    for (const struct rest_part *part = r->first; part && ok && !s->quit; part = part->next) {
        struct block b = session_inner_block(s);

        b.src = part->src;
        b.host = part->host;
        ok = session_steps(s, part->steps, &b);
        if (ok && session_is_over(s)) {
            rest_add_parts(s, part->next);
            return true;
        }
    }
    if (ok && s->rests.first) {
        session_say(s, "  that was all of it; there waits: the rest of ");
        session_say_plain(s, s->rests.first->line);
        session_say(s, "\n");
    }
    return ok;
}

bool run_abandon(struct session *s, const struct step *st)
{
    if (!s->rests.first)
        return session_fail(s, st->at, "there is nothing that waits to be gone on with");
    rests_give_up(s);
    return true;
}

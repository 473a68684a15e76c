/* SPDX-License-Identifier: MIT */
/* Checks a whole statement before it runs: expands it on trial, including all macros that it calls.
 */
#include <string.h>

#include "cli/lang/expand.h"

struct trial {
    const struct script *s;
    size_t left;         /* commands that are still allowed */
    const char *defines; /* name of the macro that is being defined; NULL: none */
    struct diag *d;
};

static bool too_much(struct trial *t, const struct step *st)
{
    diag_set(t->d, DIAG_VALUE, st->at, "with this there would be more than %u commands",
             EXPAND_STEPS_MAX);
    return diag_remedy(t->d, "\"repeat\" does the same many times; it counts once");
}

static bool try_list(struct trial *t, const struct step *first, size_t depth);

/* Reports an error inside macro @m at the call @st.  A note gives the place in the macro. */
static bool blame_call(struct trial *t, const struct macro *m, const struct step *st)
{
    const char *name = source_shown_name(m->src);
    const struct span at = t->d->at;
    size_t line, column;

    source_place(m->src, at.at, &line, &column);
    if (name)
        diag_note(t->d, "  in macro %s, in line %zu of %s", step_text(m->def, "name"), line, name);
    else
        diag_note(t->d, "  in macro %s, where it says %.*s", step_text(m->def, "name"), (int)at.len,
                  m->src->text + at.at);
    t->d->at = st->at;
    return false;
}

static bool try_call(struct trial *t, const struct step *st, size_t depth)
{
    const struct macro *m;
    const struct var *vars = NULL;
    struct pool pool = {NULL};
    struct step *steps = NULL;
    bool ok;

    if (t->defines && strcmp(t->defines, step_text(st, "macro")) == 0) {
        diag_set(t->d, DIAG_VALUE, st->at, "macro %s would call itself", t->defines);
        return diag_remedy(t->d, "\"repeat\" and \"foreach\" run a block several times");
    }
    m = macro_called(&t->s->macros, t->s->known, st, t->d);
    if (!m)
        return false;
    ok = macro_bind(m, st, &pool, &vars, t->d);
    if (ok) {
        /* Inside a macro definition the arguments of a call are not known yet. */
        ok = t->defines ? try_list(t, m->def->body, depth + 1)
                        : expand_steps(m->def->body, vars, &pool, &steps, t->d) &&
                              try_list(t, steps, depth + 1);
        ok = ok || blame_call(t, m, st);
    }
    pool_free(&pool);
    return ok;
}

static bool try_rounds(struct trial *t, const struct step *st, size_t depth)
{
    struct rounds r = rounds_of(st);
    struct pool pool = {NULL};
    struct var v = {.name = step_text(st, "name")};
    bool ok = true;

    if (rounds_count(st) > FOREACH_ROUNDS_MAX)
        return diag_set(t->d, DIAG_VALUE, step_span(st, "in", 0), "more than %u rounds",
                        FOREACH_ROUNDS_MAX);
    if (t->defines)
        return try_list(t, st->body, depth + 1);
    while (ok && (v.text = rounds_next(&r, &pool))) {
        struct step *steps = NULL;

        ok = expand_steps(st->body, &v, &pool, &steps, t->d) && try_list(t, steps, depth + 1);
        if (!ok)
            diag_note(t->d, "  with $%s = %s", v.name, v.text);
        pool_free(&pool);
    }
    pool_free(&pool);
    return ok;
}

/* Each level of recursion is a block or a call, of which SCRIPT_DEPTH_MAX are allowed. */
static bool try_list(struct trial *t, const struct step *first, size_t depth)
{
    bool ok = true;

    for (const struct step *st = first; st && ok; st = st->next) {
        if (t->left-- == 0) {
            t->left = 0;
            return too_much(t, st);
        }
        if (depth >= SCRIPT_DEPTH_MAX)
            return diag_set(t->d, DIAG_VALUE, st->at,
                            "more than %u blocks and macros in each other", SCRIPT_DEPTH_MAX);
        if (st->cmd == &cmd_table[CMD_call])
            ok = try_call(t, st, depth);
        else if (st->cmd == &cmd_table[CMD_foreach])
            ok = try_rounds(t, st, depth);
        else
            ok = try_list(t, st->body, depth + 1) && try_list(t, st->other, depth + 1);
    }
    return ok;
}

/* Returns true if @st contains a `foreach` or a call.  Depth is bounded by SCRIPT_DEPTH_MAX. */
static bool has_expandable(const struct step *st)
{
    if (st->cmd == &cmd_table[CMD_call] || st->cmd == &cmd_table[CMD_foreach])
        return true;
    for (const struct step *b = st->body; b; b = b->next) {
        if (has_expandable(b))
            return true;
    }
    for (const struct step *b = st->other; b; b = b->next) {
        if (has_expandable(b))
            return true;
    }
    return false;
}

static bool is_possible(const struct script *s, const struct step *st, struct diag *d)
{
    struct trial t = {.s = s, .left = EXPAND_STEPS_MAX, .d = d};
    struct step alone = *st;

    if (!has_expandable(st))
        return true;
    if (st->cmd == &cmd_table[CMD_macro])
        t.defines = step_text(st, "name");
    alone.next = NULL;
    return try_list(&t, &alone, 0);
}

bool expand_whole(struct script *s, const struct step *st, struct diag *d)
{
    if (!is_possible(s, st, d))
        return false;
    if (st->cmd == &cmd_table[CMD_macro])
        macro_put(&s->macros, &s->pool, st, &s->src);
    return true;
}

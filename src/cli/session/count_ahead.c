/* SPDX-License-Identifier: MIT */
/* Starts the tallies of all count()s of a script before its first step, so that they count from the
 * beginning.
 */
#include "cli/lang/expand.h"
#include "cli/session/expr_count.h"
#include "cli/session/session.h"

/* The same for each round of @st.  A block that cannot be expanded fails when it runs. */
static void count_rounds_ahead(const struct session *s, const struct step *st)
{
    struct rounds r = rounds_of(st);
    struct pool pool = {NULL};
    struct var v = {.name = step_text(st, "name")};

    while ((v.text = rounds_next(&r, &pool))) {
        struct step *steps = NULL;

        if (expand_steps(st->body, &v, &pool, &steps, NULL)) {
            for (const struct step *b = steps; b; b = b->next)
                session_count_ahead(s, b);
        }
        pool_free(&pool);
    }
}

/* An expression that cannot be counted fails when it is evaluated.  Depth is bounded by
 * SCRIPT_DEPTH_MAX.
 */
void session_count_ahead(const struct session *s, const struct step *st)
{
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const char *text =
            st->cmd->params[i].kind == VAL_EXPR && st->args[i].n > 0 ? st->args[i].v[0].text : NULL;
        struct diag ignored = {.kind = DIAG_NONE};
        struct pool pool = {NULL};
        struct expr *e = text ? expr_parse(&pool, text, st->at, &ignored) : NULL;

        if (e)
            (void)expr_attach(s->lab, e, st->at, &ignored);
        pool_free(&pool);
    }
    if (st->cmd == &cmd_table[CMD_macro])
        return; /* nothing of it is done where it is defined */
    if (st->cmd == &cmd_table[CMD_foreach]) {
        count_rounds_ahead(s, st);
        return;
    }
    for (const struct step *b = st->body; b; b = b->next)
        session_count_ahead(s, b);
    for (const struct step *b = st->other; b; b = b->next)
        session_count_ahead(s, b);
}

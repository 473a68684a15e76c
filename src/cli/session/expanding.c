/* SPDX-License-Identifier: MIT */
/* What a session has of blocks with variables: its macros, and what their expressions count. */
#include <string.h>

#include "cli/lang/expand.h"
#include "cli/session/expr_count.h"
#include "cli/session/session.h"

void session_put_macro(struct session *s, const struct step *st)
{
    struct pool *p = &s->macros.pool;
    struct source *src = pool_alloc(p, sizeof(*src));

    *src = *s->in->src;
    src->text = pool_copy(p, src->text, src->len);
    if (src->name)
        src->name = pool_copy(p, src->name, strlen(src->name));
    macro_put(&s->macros.list, p, step_copy(p, st), src);
}

/* The same of each round of @st.  What cannot be expanded is an error when it runs. */
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

/* What cannot be counted is an error when it is asked for.  Depth is bounded by SCRIPT_DEPTH_MAX.
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
    if (st->cmd == &cmd_table[CMD_foreach]) {
        count_rounds_ahead(s, st);
        return;
    }
    for (const struct step *b = st->body; b; b = b->next)
        session_count_ahead(s, b);
    for (const struct step *b = st->other; b; b = b->next)
        session_count_ahead(s, b);
}

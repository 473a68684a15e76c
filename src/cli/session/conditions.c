/* SPDX-License-Identifier: MIT */
/* The conditions of faults. */
#include <stdlib.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "cli/print/must.h"
#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/session.h"
#include "rdmalab/events.h"

struct condition {
    struct condition *next;
    struct pool pool;
    struct rdl_lab *lab;
    char host[RDL_NAME_BYTES]; /* of bare names; "": they are looked up nowhere */
    const char *text;
    const struct expr *e;
};

void conditions_free(struct conditions *list)
{
    while (list->first) {
        struct condition *c = list->first;

        list->first = c->next;
        pool_free(&c->pool);
        free(c);
    }
}

static struct scope scope_of(const struct condition *c, const struct ev *sent)
{
    return (struct scope){.lab = c->lab, .host = c->host, .sent = sent};
}

bool condition_holds_of(void *condition, const struct ev *sent)
{
    const struct condition *c = condition;
    const struct scope in = scope_of(c, sent);
    struct diag ignored = {.kind = DIAG_NONE};
    bool holds = false;

    return expr_holds(&in, c->e, (struct span){0, 0}, &holds, &ignored) && holds;
}

/* The one that was made of the same before, or NULL. */
static struct condition *find(const struct session *s, const char *text, const char *host)
{
    for (struct condition *c = s->conditions.first; c; c = c->next) {
        if (c->lab == s->lab && strcmp(c->text, text) == 0 && strcmp(c->host, host) == 0)
            return c;
    }
    return NULL;
}

/* A word of @e that looks like a field of a packet, and is none; NULL: there is none. */
static const struct expr *misspelt(const struct expr *e, const char **ret_field)
{
    const struct ev_schema *tx = ev_schema(EV_tx);
    const struct expr *found = NULL;
    struct suggestion near;

    if (!e)
        return NULL;
    if (e->kind != EXPR_PATH || strpbrk(e->text, ".[") || ev_field_find(EV_tx, e->text)) {
        /* Depth is bounded by the parser. */
        found = misspelt(e->a, ret_field);
        return found ? found : misspelt(e->b, ret_field);
    }
    near = suggestion_for(e->text);
    for (size_t i = 0; i < tx->n_fields; i++)
        suggest_offer(&near, tx->fields[i].name);
    *ret_field = near.best;
    return near.best ? e : NULL;
}

/* Can it be asked at all?  Asks it of a packet of which nothing is known. */
static bool check(struct session *s, const struct condition *c, struct span at)
{
    const struct ev nothing = {.kind = EV_tx};
    const struct scope in = scope_of(c, &nothing);
    const struct expr *wrong;
    const char *field = NULL;
    bool ignored;

    if (expr_has_happening(c->e)) {
        session_fail(s, at, "a condition says how a packet or the lab is, and not what happens");
        return diag_remedy(&s->diag, "for example: where bytes > 100 and h2.qp.state == RTS");
    }
    if (expr_holds(&in, c->e, at, &ignored, &s->diag))
        return true;
    wrong = misspelt(c->e, &field);
    if (wrong) {
        session_fail(s, expr_place(wrong, at), "a packet has no field \"%s\"", wrong->text);
        return diag_remedy(&s->diag, "did you mean \"%s\"?", field);
    }
    if (!s->diag.remedy[0])
        diag_remedy(&s->diag, "the fields of a packet are psn, opcode, bytes, attempt ...: "
                              "\"show packet\" and \"explain tx\" tell more");
    return false;
}

struct condition *condition_of(struct session *s, const char *text, struct span at)
{
    const struct scope in = session_scope(s);
    struct condition *c = find(s, text, in.host);
    struct expr *e;

    if (c)
        return c;
    c = must_malloc(sizeof(*c));
    *c = (struct condition){.lab = s->lab};
    e = expr_parse(&c->pool, text, at, &s->diag);
    c->e = e;
    memcpy(c->host, in.host, strlen(in.host) + 1);
    c->text = e ? pool_copy(&c->pool, text, strlen(text)) : "";
    if (!e || !check(s, c, at) || !expr_attach(s->lab, e, at, &s->diag)) {
        pool_free(&c->pool);
        free(c);
        return NULL;
    }
    c->next = s->conditions.first;
    s->conditions.first = c;
    return c;
}

/* SPDX-License-Identifier: MIT */
/* The conditions of faults. */
#include <stdlib.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "cli/session/expr_count.h"
#include "cli/session/expr_eval.h"
#include "cli/session/session.h"
#include "emu/facts/enum_table.h"
#include "emu/trace/event.h"
#include "process/must.h"
#include "rdmalab/events.h"

struct condition {
    struct condition *next;
    struct pool pool;
    struct rdl_lab *lab;
    enum ev_kind kind;         /* of the event that it is asked about */
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

static bool holds_in(const struct condition *c, const struct scope *in)
{
    struct diag ignored = {.kind = DIAG_NONE};
    bool holds = false;

    return expr_holds(in, c->e, (struct span){0, 0}, &holds, &ignored) && holds;
}

bool condition_holds_of(void *condition, const struct ev *hit)
{
    const struct scope in = scope_of(condition, hit);

    return holds_in(condition, &in);
}

bool condition_holds_of_packet(void *condition, const struct ev *sent, const uint8_t *frame,
                               size_t bytes)
{
    struct scope in = scope_of(condition, sent);

    in.frame = frame;
    in.frame_bytes = bytes;
    return holds_in(condition, &in);
}

/* Finds an equal condition; NULL: there is none. */
static struct condition *find(const struct session *s, enum ev_kind kind, const char *text,
                              const char *host)
{
    for (struct condition *c = s->conditions.first; c; c = c->next) {
        if (c->lab == s->lab && c->kind == kind && strcmp(c->text, text) == 0 &&
            strcmp(c->host, host) == 0)
            return c;
    }
    return NULL;
}

/* Finds a word of @e that looks like a field of such an event, but is none; NULL: there is none.
 */
static const struct expr *misspelt(const struct expr *e, enum ev_kind kind, const char **ret_field)
{
    const struct ev_schema *schema = ev_schema(kind);
    const struct expr *found = NULL;
    struct suggestion near;

    if (!e)
        return NULL;
    if (e->kind != EXPR_PATH || strpbrk(e->text, ".[") || ev_field_find(kind, e->text) ||
        (kind == EV_tx && enum_by_name(&enum_wire_field, e->text))) {
        /* Depth is bounded by the parser. */
        found = misspelt(e->a, kind, ret_field);
        return found ? found : misspelt(e->b, kind, ret_field);
    }
    near = suggestion_for(e->text);
    for (size_t i = 0; i < schema->n_fields; i++)
        suggest_offer(&near, schema->fields[i].name);
    for (size_t i = 0; kind == EV_tx && i < enum_wire_field.n_rows; i++)
        suggest_offer(&near, enum_wire_field.rows[i].name);
    *ret_field = near.best;
    return near.best ? e : NULL;
}

/* Returns the name of the subject in messages. */
static const char *subject(const struct condition *c)
{
    return c->kind == EV_tx ? "a packet" : "a hit";
}

static const char *fields_hint(const struct condition *c)
{
    return c->kind == EV_tx ? "the fields of a packet are psn, opcode, bytes, attempt ...: "
                              "\"show packet\" and \"explain tx\" tell more"
                            : "the fields of a hit are queue, seen, avail_idx, used_idx ...: "
                              "\"explain device_fault\" tells more";
}

/* Returns true if @c can be evaluated at all.  Tries it with an event without values. */
static bool check(struct session *s, const struct condition *c, struct span at)
{
    const struct ev nothing = {.kind = c->kind};
    const struct scope in = scope_of(c, &nothing);
    const struct expr *wrong;
    const char *field = NULL;
    bool ignored;

    if (expr_has_happening(c->e)) {
        session_fail(s, at, "a condition says how %s or the lab is, and not what happens",
                     subject(c));
        return diag_remedy(&s->diag, "for example: where %s and h2.qp.state == RTS",
                           c->kind == EV_tx ? "bytes > 100" : "used_idx > 3");
    }
    if (expr_holds(&in, c->e, at, &ignored, &s->diag))
        return true;
    wrong = misspelt(c->e, c->kind, &field);
    if (wrong) {
        session_fail(s, expr_place(wrong, at), "%s has no field \"%s\"", subject(c), wrong->text);
        return diag_remedy(&s->diag, "did you mean \"%s\"?", field);
    }
    if (!s->diag.remedy[0])
        diag_remedy(&s->diag, "%s", fields_hint(c));
    return false;
}

struct condition *condition_of(struct session *s, uint32_t kind, const char *text, struct span at)
{
    const struct scope in = session_scope(s);
    struct condition *c = find(s, kind, text, in.host);
    struct expr *e;

    if (c)
        return c;
    c = must_malloc(sizeof(*c));
    *c = (struct condition){.lab = s->lab, .kind = kind};
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

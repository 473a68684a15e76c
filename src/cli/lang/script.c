/* SPDX-License-Identifier: MIT */
#include "cli/lang/script.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/lang/words.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "process/must.h"

void script_done(struct script *s)
{
    pool_free(&s->pool);
    s->header = NULL;
    s->first = NULL;
    s->macros.first = NULL;
}

static size_t index_of(const struct step *st, const char *name)
{
    const struct param *p = cmd_param(st->cmd, name);

    RDL_ASSERT(p);
    return (size_t)(p - st->cmd->params);
}

const struct arg *step_arg(const struct step *st, const char *name)
{
    return &st->args[index_of(st, name)];
}

const struct param *step_param(const struct step *st, const char *name)
{
    return &st->cmd->params[index_of(st, name)];
}

bool step_has(const struct step *st, const char *name)
{
    return step_arg(st, name)->n > 0;
}

bool step_wants(const struct step *st, size_t i)
{
    const char *after = st->cmd->params[i].after;

    for (size_t k = 0; after && k < i; k++) {
        if (st->cmd->params[k].kind == VAL_WORD && (st->cmd->params[k].flags & P_OPERAND) &&
            st->args[k].n > 0 && strcasecmp(st->args[k].v[0].text, after) == 0)
            return true;
    }
    return !after;
}

bool step_is_bare(const struct step *st)
{
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        if (st->args[i].n > 0)
            return false;
    }
    return true;
}

/* Returns true if @st gives a parameter that is a setting of the session. */
static bool sets_session(const struct step *st)
{
    bool sets = false;

    for (size_t i = 0; i < st->cmd->n_params; i++)
        sets = sets || ((st->cmd->params[i].flags & P_SESSION) && st->args[i].n > 0);
    return sets;
}

unsigned step_flags(const struct step *st)
{
    if (st->cmd == &cmd_table[CMD_set] &&
        (step_number_or(st, "what", SET_LINK) != SET_LINK || sets_session(st) || step_is_bare(st)))
        return st->cmd->flags | CMD_LOOKS | CMD_PROMPT_ONLY;
    return st->cmd->flags;
}

const struct step *step_with(const struct step *st, unsigned flags)
{
    const struct step *found = step_flags(st) & flags ? st : NULL;

    /* Depth is bounded by SCRIPT_DEPTH_MAX. */
    for (const struct step *b = st->body; b && !found; b = b->next)
        found = step_with(b, flags);
    for (const struct step *b = st->other; b && !found; b = b->next)
        found = step_with(b, flags);
    return found;
}

const char *step_text(const struct step *st, const char *name)
{
    const struct arg *a = step_arg(st, name);

    return a->n ? a->v[0].text : NULL;
}

const char *step_text_or_standard(const struct step *st, const char *name)
{
    const char *text = step_text(st, name);

    RDL_ASSERT(text || step_param(st, name)->standard);
    return text ? text : step_param(st, name)->standard;
}

uint64_t step_number(const struct step *st, const char *name)
{
    return value_number(step_param(st, name), step_text_or_standard(st, name));
}

uint64_t step_number_or(const struct step *st, const char *name, uint64_t otherwise)
{
    const struct arg *a = step_arg(st, name);

    return a->n ? value_number(step_param(st, name), a->v[0].text) : otherwise;
}

uint32_t step_set(const struct step *st, const char *name)
{
    const struct arg *a = step_arg(st, name);
    uint32_t set = 0;

    for (size_t i = 0; i < a->n; i++)
        set |= (uint32_t)value_number(step_param(st, name), a->v[i].text);
    return set;
}

uint64_t step_bits(const struct step *st, const char *name)
{
    const struct arg *a = step_arg(st, name);
    uint64_t bits = 0;

    for (size_t i = 0; i < a->n; i++)
        bits |= UINT64_C(1) << value_number(step_param(st, name), a->v[i].text);
    return bits;
}

struct span step_span(const struct step *st, const char *name, size_t i)
{
    const struct arg *a = step_arg(st, name);

    return i < a->n ? a->v[i].at : st->at;
}

struct step *step_new(struct pool *p, const struct cmd *cmd, struct span at)
{
    struct step *st = pool_alloc(p, sizeof(*st));

    st->cmd = cmd;
    st->at = at;
    st->args = pool_alloc(p, (cmd->n_params + 1) * sizeof(*st->args));
    return st;
}

bool step_add(struct pool *p, struct step *st, size_t i, struct value v)
{
    struct arg *a = &st->args[i];

    if (a->n >= SCRIPT_LIST_MAX)
        return false;
    /* The array grows by doubling; the pool keeps the old ones until it is freed. */
    if ((a->n & (a->n - 1)) == 0) {
        struct value *more = pool_alloc(p, (a->n ? 2 * a->n : 1) * sizeof(*more));

        if (a->n)
            memcpy(more, a->v, a->n * sizeof(*more));
        a->v = more;
    }
    a->v[a->n++] = v;
    return true;
}

void step_put(struct pool *p, struct step *st, const char *name, const char *text)
{
    const size_t i = (size_t)(cmd_param(st->cmd, name) - st->cmd->params);

    st->args[i].n = 0;
    /* The first value of a list always fits. */
    (void)step_add(p, st, i, (struct value){pool_copy(p, text, strlen(text)), {0, 0}});
}

void step_put_number(struct pool *p, struct step *st, const char *name, uint64_t v)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%llu", (unsigned long long)v);
    step_put(p, st, name, buf);
}

const struct param *step_lacks(const struct step *st)
{
    const struct cmd *cmd = st->cmd;
    const struct param *one_of = NULL;
    bool has_one = false;

    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if ((p->flags & P_REQUIRED) && st->args[i].n == 0 && step_wants(st, i))
            return p;
        if (!(p->flags & P_ONE_OF))
            continue;
        one_of = one_of ? one_of : p;
        has_one = has_one || st->args[i].n > 0;
    }
    return has_one ? NULL : one_of;
}

/* Fails because @st lacks @p, from step_lacks(). */
static bool fail_lack(const struct step *st, const struct param *p, struct diag *d)
{
    const struct cmd *cmd = st->cmd;
    char names[DIAG_MESSAGE_BYTES / 2];
    struct text t = text_on(names, sizeof(names));

    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].flags & P_ONE_OF)
            text_addf(&t, t.len ? " or %s=" : "%s=", cmd->params[i].name);
    }
    if (!(p->flags & P_REQUIRED))
        diag_set(d, DIAG_VALUE, st->at, "%s needs %s", cmd->name, names);
    else
        diag_set(d, DIAG_VALUE, st->at,
                 p->flags & (P_OPERAND | P_REST) ? "%s needs \"%s\": %s" : "%s needs %s=: %s",
                 cmd->name, p->name, p->help);
    return diag_remedy(d, "for example: %s", cmd->example);
}

bool step_check(const struct step *st, bool first, size_t depth, struct diag *d)
{
    const struct cmd *cmd = st->cmd;
    const struct param *lacks = step_lacks(st);

    if (lacks)
        return fail_lack(st, lacks, d);
    if ((cmd->flags & CMD_HEADER) && (!first || depth > 0)) {
        diag_set(d, DIAG_VALUE, st->at, "%s must be the first line", cmd->name);
        return diag_remedy(d, "move it to the top; it is given once");
    }
    if (cmd == &cmd_table[CMD_macro] && depth > 0) {
        diag_set(d, DIAG_VALUE, st->at, "a macro is defined outside of all blocks");
        return diag_remedy(d, "move it in front of the block; calls may stand in it");
    }
    if (depth >= SCRIPT_DEPTH_MAX)
        return diag_set(d, DIAG_VALUE, st->at, "more than %u blocks in each other",
                        SCRIPT_DEPTH_MAX);
    return true;
}

bool script_has_steps(const struct step *first)
{
    /* Depth is bounded by SCRIPT_DEPTH_MAX. */
    for (const struct step *st = first; st; st = st->next) {
        if (st->cmd->flags & CMD_NOTE)
            continue;
        if (!(st->cmd->flags & CMD_BLOCK) || script_has_steps(st->body) ||
            script_has_steps(st->other))
            return true;
    }
    return false;
}

static struct value value_copy(struct pool *p, const struct value *v)
{
    return (struct value){pool_copy(p, v->text, strlen(v->text)), v->at};
}

struct step *step_copy_head(struct pool *p, const struct step *st)
{
    struct step *copy = step_new(p, st->cmd, st->at);

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        for (size_t k = 0; k < st->args[i].n; k++) {
            const bool added = step_add(p, copy, i, value_copy(p, &st->args[i].v[k]));

            RDL_ASSERT(added);
        }
    }
    if (st->as.text)
        copy->as = value_copy(p, &st->as);
    return copy;
}

struct step *steps_copy(struct pool *p, const struct step *first)
{
    struct step *copy = NULL, **tail = &copy;

    /* Depth is bounded by SCRIPT_DEPTH_MAX. */
    for (const struct step *st = first; st; st = st->next) {
        *tail = step_copy(p, st);
        tail = &(*tail)->next;
    }
    return copy;
}

struct step *step_copy(struct pool *p, const struct step *st)
{
    struct step *copy = step_copy_head(p, st);

    copy->body = steps_copy(p, st->body);
    copy->other = steps_copy(p, st->other);
    return copy;
}

const struct source *source_copy(struct pool *p, const struct source *src)
{
    struct source *copy = pool_alloc(p, sizeof(*copy));

    *copy = *src;
    copy->text = pool_copy(p, src->text, src->len);
    if (src->name)
        copy->name = pool_copy(p, src->name, strlen(src->name));
    if (src->home)
        copy->home = pool_copy(p, src->home, strlen(src->home));
    return copy;
}

static bool args_equal(const struct arg *a, const struct arg *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->v[i].text, b->v[i].text) != 0)
            return false;
    }
    return true;
}

/* Depth is bounded by SCRIPT_DEPTH_MAX. */
static bool lists_equal(const struct step *x, const struct step *y)
{
    while (x && y && step_equal(x, y)) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}

bool step_equal(const struct step *a, const struct step *b)
{
    if (a->cmd != b->cmd || !a->as.text != !b->as.text ||
        (a->as.text && strcmp(a->as.text, b->as.text) != 0))
        return false;
    for (size_t i = 0; i < a->cmd->n_params; i++) {
        if (!args_equal(&a->args[i], &b->args[i]))
            return false;
    }
    return lists_equal(a->body, b->body) && lists_equal(a->other, b->other);
}

void script_error(struct script_errors *e, struct diag *d, struct span lost)
{
    e->lost = must_grow(e->lost, e->n_lost, &e->room, sizeof(*e->lost));
    e->lost[e->n_lost++] = lost;
    if (d->kind != DIAG_NONE)
        e->found(e->ctx, d);
    *d = (struct diag){.kind = DIAG_NONE};
}

void script_errors_done(struct script_errors *e)
{
    free(e->lost);
    *e = (struct script_errors){0};
}

/* SPDX-License-Identifier: MIT */
#include "cli/lang/expand.h"

#include <ctype.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"

/* --- Variables in a text ---------------------------------------------------------------------- */

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static size_t name_bytes(const char *s)
{
    size_t n = 0;

    while (begins_name(s[0]) && (isalnum((unsigned char)s[n]) || s[n] == '_'))
        n++;
    return n;
}

/* Length of the $NAME or $(NAME) at the beginning of @s.  Returns 0 if there is none. */
static size_t var_bytes(const char *s, const char **ret_name, size_t *ret_bytes)
{
    const bool round = s[0] == '$' && s[1] == '(';

    if (s[0] != '$')
        return 0;
    *ret_name = s + 1 + round;
    *ret_bytes = name_bytes(*ret_name);
    if (*ret_bytes == 0 || (round && (*ret_name)[*ret_bytes] != ')'))
        return 0;
    return 1 + *ret_bytes + 2 * (size_t)round;
}

bool vars_in(const char *text)
{
    const char *name;
    size_t n;

    for (; *text; text++) {
        if (var_bytes(text, &name, &n))
            return true;
    }
    return false;
}

static const struct var *find_var(const struct var *known, const char *name, size_t n)
{
    for (; known; known = known->outer) {
        if (strlen(known->name) == n && memcmp(known->name, name, n) == 0)
            return known;
    }
    return NULL;
}

static bool no_var(const struct var *known, const char *name, size_t n, struct span at,
                   struct diag *d)
{
    char text[DIAG_REMEDY_BYTES];
    struct suggestion near;

    snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) ? n : sizeof(text) - 1), name);
    near = suggestion_for(text);
    diag_set(d, DIAG_VALUE, at, "there is no variable $%s here", text);
    for (const struct var *v = known; v; v = v->outer) {
        if (v->name[0])
            suggest_offer(&near, v->name);
    }
    if (near.best)
        return diag_remedy(d, "did you mean \"$%s\"?", near.best);
    return diag_remedy(d, "\"foreach NAME in ...\" and the parameters of a macro are variables, in "
                          "their block");
}

bool vars_check(const struct var *known, const char *text, struct span at, struct diag *d)
{
    const char *name;
    size_t n;

    for (; *text; text++) {
        if (var_bytes(text, &name, &n) && !find_var(known, name, n))
            return no_var(known, name, n, at, d);
    }
    return true;
}

/* Copies @text into @p and replaces its variables; those that are unknown or have no text yet stay.
 */
static const char *put_vars(const struct var *vars, const char *text, struct pool *p)
{
    const struct var *v;
    const char *name;
    size_t bytes = 0, n, used;
    char *out;

    for (const char *s = text; *s; s++)
        bytes += var_bytes(s, &name, &n) && (v = find_var(vars, name, n)) && v->text
                     ? strlen(v->text)
                     : 1;
    out = pool_alloc(p, bytes + strlen(text) + 1);
    for (bytes = 0; *text; text += used) {
        used = var_bytes(text, &name, &n);
        v = used ? find_var(vars, name, n) : NULL;
        if (v && v->text) {
            memcpy(out + bytes, v->text, strlen(v->text));
            bytes += strlen(v->text);
        } else {
            used = 1;
            out[bytes++] = *text;
        }
    }
    return out;
}

/* --- foreach ---------------------------------------------------------------------------------- */

/* Parses a range A..B. */
static bool read_range(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *dots = strstr(text, "..");
    char first[32];

    if (!dots || dots == text || (size_t)(dots - text) >= sizeof(first))
        return false;
    memcpy(first, text, (size_t)(dots - text));
    first[dots - text] = '\0';
    return isdigit((unsigned char)first[0]) && isdigit((unsigned char)dots[2]) &&
           !quantity_parse(QUANTITY_NUMBER, first, ret_first) &&
           !quantity_parse(QUANTITY_NUMBER, dots + 2, ret_last);
}

bool foreach_check(const struct step *st, const struct var *outer, struct diag *d)
{
    const struct arg *in = step_arg(st, "in");
    const char *name = step_text(st, "name");

    if (name_bytes(name) != strlen(name)) {
        diag_set(d, DIAG_VALUE, step_span(st, "name", 0), "\"%s\" is no name of a variable", name);
        return diag_remedy(d, "letters, digits and _, like my_x");
    }
    if (find_var(outer, name, strlen(name))) {
        diag_set(d, DIAG_VALUE, step_span(st, "name", 0), "$%s is a variable around this block",
                 name);
        return diag_remedy(d, "give it another name");
    }
    for (size_t i = 0; i < in->n; i++) {
        if (!vars_check(outer, in->v[i].text, in->v[i].at, d))
            return false;
    }
    return true;
}

struct rounds rounds_of(const struct step *st)
{
    return (struct rounds){.in = step_arg(st, "in")};
}

const char *rounds_next(struct rounds *r, struct pool *p)
{
    char text[24];

    if (!r->range) {
        if (r->i == r->in->n)
            return NULL;
        if (!read_range(r->in->v[r->i].text, &r->next, &r->last))
            return r->in->v[r->i++].text;
        r->range = true;
    }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)r->next);
    if (r->next == r->last) {
        r->range = false;
        r->i++;
    } else {
        r->next += r->next < r->last ? 1 : UINT64_MAX;
    }
    return pool_copy(p, text, strlen(text));
}

size_t rounds_count(const struct step *st)
{
    const struct arg *in = step_arg(st, "in");
    size_t n = 0;

    for (size_t i = 0; i < in->n && n <= FOREACH_ROUNDS_MAX; i++) {
        uint64_t first, last, more = 0;

        if (read_range(in->v[i].text, &first, &last))
            more = first < last ? last - first : first - last;
        n += more >= FOREACH_ROUNDS_MAX ? FOREACH_ROUNDS_MAX + 1 : more + 1;
    }
    return n > FOREACH_ROUNDS_MAX ? FOREACH_ROUNDS_MAX + 1 : n;
}

struct step *rounds_rest(const struct rounds *r, const struct step *st, struct pool *p)
{
    struct step *rest = step_copy_head(p, st);
    struct arg *in = &rest->args[cmd_param(st->cmd, "in") - st->cmd->params];
    char text[64];

    in->n -= r->i;
    in->v += r->i;
    if (r->range) {
        snprintf(text, sizeof(text), "%llu..%llu", (unsigned long long)r->next,
                 (unsigned long long)r->last);
        in->v[0].text = pool_copy(p, text, strlen(text));
    }
    return rest;
}

/* --- Macros ----------------------------------------------------------------------------------- */

const struct macro *macro_find(const struct macros *list, const char *name)
{
    for (const struct macro *m = list ? list->first : NULL; m; m = m->next) {
        if (strcmp(step_text(m->def, "name"), name) == 0)
            return m;
    }
    return NULL;
}

void macro_put(struct macros *list, struct pool *p, const struct step *def,
               const struct source *src)
{
    struct macro *m = pool_alloc(p, sizeof(*m));

    *m = (struct macro){.next = list->first, .def = def, .src = src};
    list->first = m;
}

/* Returns the NAME of a macro parameter or argument NAME=VALUE, and the value in *@ret_value.
 * Returns NULL if the text has no such form.
 */
static const char *key_of(const char *text, struct pool *p, const char **ret_value)
{
    const size_t n = name_bytes(text);

    if (n == 0 || text[n] != '=' || text[n + 1] == '=')
        return NULL;
    *ret_value = text + n + 1;
    return pool_copy(p, text, n);
}

static struct var *add_var(struct pool *p, const struct var *outer, const char *name)
{
    struct var *v = pool_alloc(p, sizeof(*v));

    *v = (struct var){outer, name, NULL};
    return v;
}

bool macro_check(const struct step *def, struct pool *p, const struct var **ret, struct diag *d)
{
    const struct arg *params = step_arg(def, "params");
    const char *name = step_text(def, "name");
    /* Not NULL even without parameters: it marks a block with variables. */
    const struct var *vars = add_var(p, NULL, "");

    if (cmd_find(name, false) || strcmp(name, "else") == 0) {
        diag_set(d, DIAG_VALUE, step_span(def, "name", 0), "%s means something already", name);
        return diag_remedy(d, "give the macro another name");
    }
    if (params->n > MACRO_PARAMS_MAX)
        return diag_set(d, DIAG_VALUE, params->v[MACRO_PARAMS_MAX].at,
                        "a macro has at most %u parameters", MACRO_PARAMS_MAX);
    for (size_t i = 0; i < params->n; i++) {
        const char *standard = "", *text = params->v[i].text, *key = key_of(text, p, &standard);

        key = key ? key : text;
        if (key[0] == '\0' || name_bytes(key) != strlen(key)) {
            diag_set(d, DIAG_VALUE, params->v[i].at, "\"%s\" is no parameter", text);
            return diag_remedy(d, "write a NAME, or NAME=VALUE if calls may leave it out");
        }
        if (find_var(vars, key, strlen(key)))
            return diag_set(d, DIAG_VALUE, params->v[i].at, "there are two parameters %s", key);
        if (!vars_check(NULL, standard, params->v[i].at, d))
            return false;
        vars = add_var(p, vars, key);
    }
    *ret = vars;
    return true;
}

static bool say_usage(const struct macro *m, struct diag *d)
{
    const struct arg *params = step_arg(m->def, "params");
    char usage[DIAG_REMEDY_BYTES] = "";
    size_t n = 0;

    for (size_t i = 0; i < params->n && n < sizeof(usage); i++)
        n += (size_t)snprintf(usage + n, sizeof(usage) - n, " %s", params->v[i].text);
    return diag_remedy(d, "it was defined as: macro %s%s", step_text(m->def, "name"), usage);
}

/* Returns the variable that argument @arg is for: the one called @key, or, without a key, the first
 * of the @n variables without text.  Returns NULL, with a message in @d, if there is none.
 */
static struct var *var_for(const struct macro *m, struct var *vars, size_t n,
                           const struct value *arg, const char *key, struct diag *d)
{
    for (size_t i = 0; i < n; i++) {
        if (key ? strcmp(vars[i].name, key) != 0 : vars[i].text != NULL)
            continue;
        if (!vars[i].text)
            return &vars[i];
        diag_set(d, DIAG_VALUE, arg->at, "%s is given twice", key);
        diag_remedy(d, "leave one of them");
        return NULL;
    }
    if (key)
        diag_set(d, DIAG_VALUE, arg->at, "%s has no parameter %s", step_text(m->def, "name"), key);
    else
        diag_set(d, DIAG_VALUE, arg->at, "%s takes no further word", step_text(m->def, "name"));
    say_usage(m, d);
    return NULL;
}

bool macro_bind(const struct macro *m, const struct step *st, struct pool *p,
                const struct var **ret, struct diag *d)
{
    const struct arg *params = step_arg(m->def, "params"), *args = step_arg(st, "args");
    struct var *vars = pool_alloc(p, (params->n + 1) * sizeof(*vars));

    for (size_t i = 0; i < params->n; i++) {
        const char *standard, *key = key_of(params->v[i].text, p, &standard);

        vars[i] = (struct var){i ? &vars[i - 1] : NULL, key ? key : params->v[i].text, NULL};
    }
    for (size_t i = 0; i < args->n; i++) {
        const char *text = args->v[i].text, *key = key_of(text, p, &text);
        struct var *v = var_for(m, vars, params->n, &args->v[i], key, d);

        if (!v)
            return false;
        v->text = text;
    }
    for (size_t i = 0; i < params->n; i++) {
        const char *standard = NULL;

        if (vars[i].text)
            continue;
        if (!key_of(params->v[i].text, p, &standard)) {
            diag_set(d, DIAG_VALUE, st->at, "%s needs %s", step_text(m->def, "name"), vars[i].name);
            return say_usage(m, d);
        }
        vars[i].text = standard;
    }
    *ret = params->n ? &vars[params->n - 1] : NULL;
    return true;
}

const struct macro *macro_called(const struct macros *own, const struct macros *known,
                                 const struct step *st, struct diag *d)
{
    const char *name = step_text(st, "macro");
    const struct macro *m = macro_find(own, name);
    struct suggestion near = suggestion_for(name);

    m = m ? m : macro_find(known, name);
    if (m)
        return m;
    diag_set(d, DIAG_VALUE, step_span(st, "macro", 0), "there is no macro \"%s\"", name);
    for (m = own ? own->first : NULL; m; m = m->next)
        suggest_offer(&near, step_text(m->def, "name"));
    for (m = known ? known->first : NULL; m; m = m->next)
        suggest_offer(&near, step_text(m->def, "name"));
    if (near.best)
        diag_remedy(d, "did you mean \"%s\"?", near.best);
    else
        diag_remedy(d, "define it first: macro %s { ... }", name);
    return NULL;
}

/* --- Expanding -------------------------------------------------------------------------------- */

struct macro_expansion {
    struct pool *p;
    struct diag *d;
};

/* Length of the list element at @s.  It ends at a comma outside quotes and brackets, or at the end
 * of the text.
 */
static size_t element_bytes(const char *s)
{
    size_t n = 0, depth = 0;
    bool quoted = false;

    for (; s[n] && (s[n] != ',' || quoted || depth > 0); n++) {
        quoted = quoted != (s[n] == '"');
        depth += !quoted && s[n] == '[';
        depth -= !quoted && s[n] == ']' && depth > 0;
    }
    return n;
}

/* Adds @text, in which all variables are replaced, to parameter @i of @st.  If @i is an optional
 * operand that does not accept @text, the next operand that does gets it, as in a line without
 * variables.
 */
static bool add_known(struct macro_expansion *x, struct step *st, size_t i, const char *text,
                      struct span at)
{
    const struct cmd *cmd = st->cmd;
    const bool moves = (cmd->params[i].flags & (P_OPERAND | P_REQUIRED)) == P_OPERAND &&
                       !param_is_list(&cmd->params[i]);

    if (value_check(&cmd->params[i], text, at, x->d))
        goto add;
    for (size_t k = i + 1; moves && k < cmd->n_params; k++) {
        if ((cmd->params[k].flags & P_OPERAND) && st->args[k].n == 0 && step_wants(st, k) &&
            value_check(&cmd->params[k], text, at, NULL)) {
            i = k;
            goto add;
        }
    }
    return false;
add:
    if (step_add(x->p, st, i, (struct value){text, at}))
        return true;
    return diag_set(x->d, DIAG_VALUE, at, "%s: more than %u values", cmd->params[i].name,
                    SCRIPT_LIST_MAX);
}

/* Adds value @v of parameter @i with its variables replaced.  A list value is split at its commas
 * after that.
 */
static bool add_value(struct macro_expansion *x, struct step *st, size_t i, const struct value *v,
                      const struct var *vars)
{
    const char *text;

    if ((st->cmd->flags & CMD_NOTE) || !vars_in(v->text)) {
        const bool added = step_add(x->p, st, i, *v);

        RDL_ASSERT(added);
        return true;
    }
    if (!vars_check(vars, v->text, v->at, x->d))
        return false;
    text = put_vars(vars, v->text, x->p);
    if (vars_in(text) && step_add(x->p, st, i, (struct value){text, v->at}))
        return true; /* the rest are variables of nested blocks */
    if (!param_is_list(&st->cmd->params[i]) ||
        ((st->cmd->flags & CMD_WORDS) && i + 1 == st->cmd->n_params))
        return add_known(x, st, i, text, v->at);
    for (;;) {
        const size_t n = element_bytes(text);

        if (!add_known(x, st, i, pool_copy(x->p, text, n), v->at))
            return false;
        if (text[n] == '\0')
            return true;
        text += n + 1;
    }
}

static bool expand_as(struct macro_expansion *x, struct step *st, const struct value *as,
                      const struct var *vars)
{
    if (!vars_check(vars, as->text, as->at, x->d))
        return false;
    st->as = (struct value){put_vars(vars, as->text, x->p), as->at};
    return vars_in(st->as.text) || value_check(&cmd_as, st->as.text, as->at, x->d);
}

/* Depth is bounded by SCRIPT_DEPTH_MAX. */
static bool expand_list(struct macro_expansion *x, const struct step *first, const struct var *vars,
                        struct step **ret)
{
    bool ok = true;

    for (const struct step *st = first; st && ok; st = st->next) {
        struct var own = {.outer = vars, .text = NULL};
        const struct var *inner = vars;
        struct step *copy = step_new(x->p, st->cmd, st->at);

        if (st->cmd == &cmd_table[CMD_foreach]) {
            own.name = step_text(st, "name");
            inner = &own;
        }
        for (size_t i = 0; i < st->cmd->n_params && ok; i++) {
            copy->args[i].key_at = st->args[i].key_at;
            for (size_t k = 0; k < st->args[i].n && ok; k++)
                ok = add_value(x, copy, i, &st->args[i].v[k], vars);
        }
        ok = ok && (!st->as.text || expand_as(x, copy, &st->as, vars)) &&
             expand_list(x, st->body, inner, &copy->body) &&
             expand_list(x, st->other, inner, &copy->other);
        *ret = copy;
        ret = &copy->next;
    }
    return ok;
}

bool expand_steps(const struct step *first, const struct var *vars, struct pool *p,
                  struct step **ret, struct diag *d)
{
    struct macro_expansion x = {p, d};
    struct step *steps = NULL;

    if (!expand_list(&x, first, vars, &steps))
        return false;
    *ret = steps;
    return true;
}

/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/expand.h"
#include "cli/lang/json.h"
#include "cli/lang/json_parts.h"
#include "cli/lang/lex.h"
#include "cli/lang/line.h"
#include "cli/lang/suggest.h"
#include "emu/facts/enum_table.h"
#include "process/must.h"

struct json_reading {
    struct script *s;
    struct diag *d;
    const struct var *vars; /* of the enclosing blocks */
};

const char *json_key(const struct param *p, size_t *ret_outer)
{
    const char *key = p->json ? p->json : p->name;
    const char *dot = strchr(key, '.');

    *ret_outer = dot ? (size_t)(dot - key) : 0;
    return dot ? dot + 1 : key;
}

static bool fail(struct json_reading *r, struct span at, const char *message, const char *remedy)
{
    diag_set(r->d, DIAG_VALUE, at, "%s", message);
    return diag_remedy(r->d, "%s", remedy);
}

/* Sets the remedy: the flag @name, as it is given in JSON.  Returns false. */
static bool suggest_flag(struct json_reading *r, const char *name)
{
    return diag_remedy(r->d, "did you mean \"flags\": [\"%s\"]?", name);
}

/* Sets the remedy: the key of parameter @p, in its object.  Returns false. */
static bool suggest_param(struct json_reading *r, const struct param *p)
{
    size_t outer;
    const char *key = json_key(p, &outer);

    if (p->kind == VAL_FLAG)
        return suggest_flag(r, p->name);
    if (outer)
        return diag_remedy(r->d, "did you mean \"%.*s\": {\"%s\": ...}?", (int)outer, p->json, key);
    return diag_remedy(r->d, "did you mean \"%s\"?", key);
}

/* Sets the remedy: all keys of @cmd.  Returns false. */
static bool list_keys(struct json_reading *r, const struct cmd *cmd)
{
    char keys[DIAG_REMEDY_BYTES / 2], flags[DIAG_REMEDY_BYTES / 2];
    struct text t = text_on(keys, sizeof(keys)), f = text_on(flags, sizeof(flags));

    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];
        struct text *to = p->kind == VAL_FLAG ? &f : &t;
        const char *key;
        size_t outer;

        text_add(to, to->len ? ", " : "");
        key = json_key(p, &outer);
        if (outer)
            text_addf(to, "\"%.*s\": {\"%s\"}", (int)outer, p->json, key);
        else
            text_addf(to, "\"%s\"", key);
    }
    if (cmd->flags & CMD_NAMES)
        text_addf(&t, t.len ? ", \"%s\"" : "\"%s\"", cmd_as.name);
    if (cmd->flags & CMD_HEADER)
        text_add(&t, ", \"steps\"");
    if (t.cut || f.cut)
        return diag_remedy(r->d, "\"rdmalab schema scenario\" has the keys of %s", cmd->name);
    if (!t.len && !f.len)
        return diag_remedy(r->d, "%s has no keys but \"do\"", cmd->name);
    return diag_remedy(r->d, "%s takes %s%s%s%s%s", cmd->name, keys, t.len && f.len ? ", " : "",
                       f.len ? "\"flags\": [" : "", flags, f.len ? "]" : "");
}

/* Sets the remedy: the example of @cmd, as JSON.  Returns false. */
static bool show_example(struct json_reading *r, const struct cmd *cmd)
{
    struct script s = {.src = source_typed(cmd->example)};
    struct diag ignored;
    char *text = NULL;
    size_t n = 0;
    FILE *f = must_memstream(&text, &n);

    if (line_read_script(&s, &ignored)) {
        for (const struct step *st = s.first; st && ftell(f) == 0; st = st->next) {
            if (st->cmd == cmd)
                json_write_step(f, st, 0);
        }
    }
    must_memstream_end(f, &text);
    if (n > 0 && !strchr(text, '\n'))
        diag_remedy(r->d, "for example %s", text);
    else
        list_keys(r, cmd);
    script_done(&s);
    free(text);
    return false;
}

/* Returns true if words of @t are numbers: all, as path MTUs, or some, as the rules of LNet. */
static bool has_number_words(const struct enum_table *t)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (isdigit((unsigned char)t->rows[i].name[0]))
            return true;
    }
    return false;
}

/* Converts a scalar to the text that a line would have.  Returns NULL, with a message, if @p has no
 * such values.
 */
static const char *scalar_text(struct json_reading *r, const struct param *p, struct json_value v)
{
    const char *text;

    if (cJSON_IsString(v.item)) {
        if (json_has_nul(&r->s->src, v.at)) {
            fail(r, v.at, "a string cannot contain \\u0000", "write the bytes in \"hex\"");
            return NULL;
        }
        text = v.item->valuestring;
        return pool_copy(&r->s->pool, text, strlen(text));
    }
    if (cJSON_IsNumber(v.item) && value_kinds[p->kind].number) {
        text = pool_copy(&r->s->pool, r->s->src.text + v.at.at, v.at.len);
        if (value_is_plain_integer(text))
            return text;
        diag_set(r->d, DIAG_VALUE, v.at, "%s: %s is not an exact integer", p->name, text);
        diag_remedy(r->d,
                    "numbers are digits only, up to 2^53; larger ones and others are strings");
        return NULL;
    }
    if (cJSON_IsNumber(v.item) && p->kind == VAL_WORD && has_number_words(p->words))
        return pool_copy(&r->s->pool, r->s->src.text + v.at.at, v.at.len);
    diag_set(r->d, DIAG_VALUE, v.at, "%s must be %s%s", p->name, value_kinds[p->kind].what,
             value_kinds[p->kind].number ? "" : ", as a string");
    return NULL;
}

/* Returns true if the expression @text, which has variables, could also be written in a line of
 * @cmd.
 */
static bool fits_into_line(const struct cmd *cmd, const char *text)
{
    const struct source src = source_of(NULL, text);
    struct diag ignored;
    struct token t = lex_next(&src, 0, &ignored);
    struct pool pool = {NULL};
    bool fits = true;

    for (; fits && t.kind == TOKEN_WORD; t = lex_next(&src, t.at.at + t.at.len, &ignored)) {
        const char *word = pool_copy(&pool, text + t.at.at, t.at.len);
        const size_t n = strcspn(word, "=");

        fits = strncmp(word, "--", 2) != 0 && strcmp(word, "do") != 0 && !cmd_param(cmd, word) &&
               (word[n] == '\0' || !cmd_param(cmd, pool_copy(&pool, word, n)));
    }
    pool_free(&pool);
    return fits && t.kind == TOKEN_END;
}

/* Checks that @text is a value of parameter @p of @cmd.  If it has variables of the enclosing
 * blocks, only those are checked; the value is checked when it is expanded.
 */
static bool check(struct json_reading *r, const struct cmd *cmd, const struct param *p,
                  const char *text, struct span at)
{
    const bool open = r->vars && vars_in(text) && !(cmd->flags & CMD_NOTE);
    bool ok = open ? vars_check(r->vars, text, at, r->d) : value_check(p, text, at, r->d);

    if (ok && open && p->kind == VAL_EXPR && !fits_into_line(cmd, text))
        ok = diag_set(r->d, DIAG_VALUE, at, "%s: this is no expression", p->name);
    if (!ok)
        r->d->kind = DIAG_VALUE; /* the JSON itself is in order */
    return ok;
}

static bool read_scalar(struct json_reading *r, struct step *st, size_t i, struct json_value v)
{
    const struct param *p = &st->cmd->params[i];
    const char *text = scalar_text(r, p, v);

    if (!text)
        return false;
    if (p->kind == VAL_EXPR)
        text = lex_one_line(&r->s->pool, text, strlen(text));
    if (cJSON_IsString(v.item))
        v.at = (struct span){v.at.at + 1, v.at.len - 2};
    if (!check(r, st->cmd, p, text, v.at))
        return false;
    if (!step_add(&r->s->pool, st, i, (struct value){text, v.at}))
        return fail(r, v.at, "too many values", "");
    return true;
}

static bool read_argument(struct json_reading *r, struct step *st, size_t i, struct json_value v)
{
    const struct param *p = &st->cmd->params[i];
    struct json_walk walk;
    struct json_member m;

    if (!param_is_list(p))
        return read_scalar(r, st, i, v);
    if (!cJSON_IsArray(v.item)) {
        diag_set(r->d, DIAG_VALUE, v.at, "%s must be an array", p->name);
        if (cJSON_IsObject(v.item))
            return diag_remedy(r->d, "for example \"%s\": [ ]", p->name);
        return diag_remedy(r->d, "write \"%s\": [%.*s]", p->name, (int)v.at.len,
                           r->s->src.text + v.at.at);
    }
    walk = json_walk(&r->s->src, v);
    while (json_next(&walk, &m)) {
        if (!read_scalar(r, st, i, m.value))
            return false;
    }
    return true;
}

static bool read_flags(struct json_reading *r, struct step *st, struct json_value v)
{
    struct json_walk walk;
    struct json_member m;

    if (!cJSON_IsArray(v.item)) {
        fail(r, v.at, "flags must be an array", "for example \"flags\": [ ]");
        return !cJSON_IsString(v.item) ? false
                                       : diag_remedy(r->d, "write \"flags\": [%.*s]", (int)v.at.len,
                                                     r->s->src.text + v.at.at);
    }
    walk = json_walk(&r->s->src, v);
    while (json_next(&walk, &m)) {
        const char *name = cJSON_GetStringValue(m.value.item);
        const struct param *p = name ? cmd_param(st->cmd, name) : NULL;
        struct suggestion near = suggestion_for(name ? name : "");

        if (p && p->kind == VAL_FLAG && st->args[p - st->cmd->params].n == 0) {
            /* The first value always fits. */
            (void)step_add(&r->s->pool, st, (size_t)(p - st->cmd->params),
                           (struct value){p->name, m.value.at});
            continue;
        }
        if (p && p->kind == VAL_FLAG)
            return fail(r, m.value.at, "this flag is given twice", "leave one of them");
        diag_set(r->d, DIAG_VALUE, m.value.at, "%s has no such flag", st->cmd->name);
        for (size_t i = 0; i < st->cmd->n_params; i++) {
            if (st->cmd->params[i].kind == VAL_FLAG)
                suggest_offer(&near, st->cmd->params[i].name);
        }
        if (near.best)
            return suggest_flag(r, near.best);
        return list_keys(r, st->cmd);
    }
    return true;
}

/* Returns the index of the parameter with the JSON key @outer.@key (@key alone if @outer is NULL).
 * Returns the number of parameters if there is none.
 */
static size_t find_key(const struct cmd *cmd, const char *outer, const char *key)
{
    for (size_t i = 0; i < cmd->n_params; i++) {
        size_t outer_bytes;
        const struct param *p = &cmd->params[i];
        const char *inner = json_key(p, &outer_bytes);
        const char *whole = p->json ? p->json : p->name;

        if (p->kind == VAL_FLAG || strcmp(inner, key) != 0 || (outer != NULL) != (outer_bytes > 0))
            continue;
        if (!outer || (strlen(outer) == outer_bytes && memcmp(outer, whole, outer_bytes) == 0))
            return i;
    }
    return cmd->n_params;
}

/* Returns true if @cmd has keys inside an object called @outer. */
static bool is_outer(const struct cmd *cmd, const char *outer)
{
    for (size_t i = 0; i < cmd->n_params; i++) {
        size_t n;

        json_key(&cmd->params[i], &n);
        if (n > 0 && strlen(outer) == n && memcmp(cmd->params[i].json, outer, n) == 0)
            return true;
    }
    return false;
}

static bool unknown_key(struct json_reading *r, const struct cmd *cmd, const struct json_member *m)
{
    struct suggestion near = suggestion_for(m->key);

    diag_set(r->d, DIAG_VALUE, m->key_at, "unknown key \"%s\" in %s", m->key, cmd->name);
    for (size_t i = 0; i < cmd->n_params; i++) {
        size_t outer;

        suggest_offer(&near, json_key(&cmd->params[i], &outer));
    }
    if (cmd->flags & CMD_HEADER) /* a step has its "do" already */
        suggest_offer(&near, "steps");
    if (cmd->flags & CMD_NAMES)
        suggest_offer(&near, cmd_as.name);
    for (size_t i = 0; near.best && i < cmd->n_params; i++) {
        size_t outer;

        if (strcmp(json_key(&cmd->params[i], &outer), near.best) == 0)
            return suggest_param(r, &cmd->params[i]);
    }
    if (near.best)
        return diag_remedy(r->d, "did you mean \"%s\"?", near.best);
    return list_keys(r, cmd);
}

static bool read_inner(struct json_reading *r, struct step *st, const char *outer,
                       struct json_value v)
{
    struct json_walk walk;
    struct json_member m;

    if (!cJSON_IsObject(v.item))
        return fail(r, v.at, "this must be an object", "for example \"limits\": {\"ticks\": 1000}");
    walk = json_walk(&r->s->src, v);
    while (json_next(&walk, &m)) {
        const size_t i = find_key(st->cmd, outer, m.key);

        if (i == st->cmd->n_params)
            return unknown_key(r, st->cmd, &m);
        if (st->args[i].n > 0)
            return fail(r, m.key_at, "this key is there twice", "leave one of them");
        if (!read_argument(r, st, i, m.value))
            return false;
    }
    return true;
}

/* Returns true if the object has an earlier member with the same key. */
static bool is_repeated(struct json_value object, const struct json_member *m)
{
    for (const cJSON *c = object.item->child; c && c != m->value.item; c = c->next) {
        if (strcmp(c->string, m->key) == 0)
            return true;
    }
    return false;
}

static bool read_as(struct json_reading *r, struct step *st, struct json_value v)
{
    const char *text = scalar_text(r, &cmd_as, v);

    if (!text || !check(r, st->cmd, &cmd_as, text, v.at))
        return false;
    st->as = (struct value){text, v.at};
    return true;
}

/* Reads a member of a step or a scenario, other than "do" and the blocks. */
static bool read_member(struct json_reading *r, struct step *st, const struct json_member *m)
{
    const size_t i = find_key(st->cmd, NULL, m->key);
    bool has_flags = false;

    for (size_t k = 0; k < st->cmd->n_params; k++)
        has_flags = has_flags || st->cmd->params[k].kind == VAL_FLAG;
    if (i < st->cmd->n_params)
        return read_argument(r, st, i, m->value);
    if (is_outer(st->cmd, m->key))
        return read_inner(r, st, m->key, m->value);
    if (has_flags && strcmp(m->key, "flags") == 0)
        return read_flags(r, st, m->value);
    if ((st->cmd->flags & CMD_NAMES) && strcmp(m->key, cmd_as.name) == 0)
        return read_as(r, st, m->value);
    return unknown_key(r, st->cmd, m);
}

static bool read_steps(struct json_reading *r, struct json_value v, size_t depth,
                       struct step **ret);

/* Returns the command that the member "do" names. */
static const struct cmd *read_do(struct json_reading *r, struct json_value v)
{
    struct json_walk walk = json_walk(&r->s->src, v);
    struct json_member m;
    const struct cmd *cmd;
    struct suggestion near;

    while (json_next(&walk, &m)) {
        if (strcmp(m.key, "do") != 0)
            continue;
        if (!cJSON_IsString(m.value.item)) {
            fail(r, m.value.at, "\"do\" must be the name of a command",
                 "for example {\"do\": \"run\"}");
            return NULL;
        }
        cmd = cmd_find(m.value.item->valuestring, false);
        if (cmd && !(cmd->flags & (CMD_HEADER | CMD_PROMPT_ONLY)))
            return cmd;
        near = suggestion_for(m.value.item->valuestring);
        diag_set(r->d, DIAG_VALUE, m.value.at,
                 cmd ? "%s cannot be part of a scenario" : "unknown command \"%s\"",
                 m.value.item->valuestring);
        for (size_t i = 0; i < N_CMDS && !cmd; i++)
            suggest_offer(&near, cmd_table[i].name);
        if (macro_find(&r->s->macros, m.value.item->valuestring))
            diag_remedy(r->d, "to call that macro: {\"do\": \"call\", \"macro\": \"%s\"}",
                        m.value.item->valuestring);
        else if (near.best)
            diag_remedy(r->d, "did you mean \"do\": \"%s\"?", near.best);
        return NULL;
    }
    fail(r, (struct span){v.at.at, 1}, "a step needs \"do\"", "for example {\"do\": \"run\"}");
    return NULL;
}

/* Returns true if @key is a block of @cmd. */
static bool is_block(const struct cmd *cmd, const char *key)
{
    return (cmd->flags & CMD_BLOCK) &&
           (strcmp(key, "steps") == 0 || (cmd == &cmd_table[CMD_if] && strcmp(key, "else") == 0));
}

/* Reads the blocks of @st, after its other members. */
static bool read_blocks(struct json_reading *r, struct step *st, struct json_value v, size_t depth)
{
    struct json_walk walk = json_walk(&r->s->src, v);
    struct json_member m;
    bool has_body = false;

    while (json_next(&walk, &m)) {
        const bool body = strcmp(m.key, "steps") == 0;

        if (!is_block(st->cmd, m.key))
            continue;
        has_body = has_body || body;
        if (depth + 1 >= SCRIPT_DEPTH_MAX)
            return fail(r, m.key_at, "too many blocks in each other", "");
        if (!read_steps(r, m.value, depth + 1, body ? &st->body : &st->other))
            return false;
    }
    return has_body || fail(r, st->at, "a block needs \"steps\"", "\"steps\": [ ]");
}

/* The same, with the variables that the block defines. */
static bool read_body(struct json_reading *r, struct step *st, struct json_value v, size_t depth)
{
    const struct var *outer = r->vars, *vars = NULL;
    struct var own = {.outer = outer};
    bool ok = true;

    if (st->cmd == &cmd_table[CMD_foreach]) {
        own.name = step_text(st, "name");
        ok = foreach_check(st, outer, r->d);
        r->vars = &own;
    } else if (st->cmd == &cmd_table[CMD_macro]) {
        ok = macro_check(st, &r->s->pool, &vars, r->d);
        r->vars = vars;
    }
    ok = ok && read_blocks(r, st, v, depth);
    r->vars = outer;
    return ok;
}

/* Fails because @st lacks a parameter. */
static bool lacks(struct json_reading *r, const struct step *st)
{
    const struct cmd *cmd = st->cmd;
    char keys[DIAG_MESSAGE_BYTES / 2];
    struct text t = text_on(keys, sizeof(keys));
    const struct param *p = step_lacks(st);
    size_t outer;

    for (size_t i = 0; i < cmd->n_params; i++) {
        if (!(p->flags & P_REQUIRED) && (cmd->params[i].flags & P_ONE_OF))
            text_addf(&t, t.len ? " or \"%s\"" : "\"%s\"", json_key(&cmd->params[i], &outer));
    }
    if (p->flags & P_REQUIRED)
        diag_set(r->d, DIAG_VALUE, st->at, "%s needs \"%s\": %s", cmd->name, json_key(p, &outer),
                 p->help);
    else
        diag_set(r->d, DIAG_VALUE, st->at, "%s needs %s", cmd->name, keys);
    return show_example(r, cmd);
}

/* After the error in @v: reports it and sets *@ret_bad if reading goes on.  Returns false if not.
 */
static bool goes_on(struct json_reading *r, struct json_value v, bool *ret_bad)
{
    if (!r->s->errors)
        return false;
    *ret_bad = true;
    script_error(r->s->errors, r->d, v.at);
    return true;
}

static bool read_step(struct json_reading *r, struct json_value v, size_t depth, struct step **ret)
{
    struct json_walk walk = json_walk(&r->s->src, v);
    const struct cmd *cmd;
    struct json_member m;
    struct step *st;
    bool bad = false;

    if (!cJSON_IsObject(v.item))
        return fail(r, v.at, "a step must be an object", "for example {\"do\": \"run\"}");
    cmd = read_do(r, v);
    if (!cmd)
        return false;
    st = step_new(&r->s->pool, cmd, (struct span){v.at.at, 1});
    while (json_next(&walk, &m)) {
        if (is_repeated(v, &m))
            return fail(r, m.key_at, "this key is there twice", "leave one of them");
        if (strcmp(m.key, "do") == 0)
            st->at = m.value.at;
        else if (!is_block(cmd, m.key) && !read_member(r, st, &m) && !goes_on(r, m.value, &bad))
            return false;
    }
    if (step_lacks(st))
        return !bad && lacks(r, st);
    if (!step_check(st, false, depth, r->d))
        return false;
    if ((cmd->flags & CMD_BLOCK) && !read_body(r, st, v, depth))
        return false;
    if (step_flags(st) & CMD_PROMPT_ONLY)
        return fail(r, st->at, SCRIPT_FOR_PROMPT, SCRIPT_FOR_PROMPT_REMEDY);
    if (bad)
        return false;
    *ret = st;
    return depth > 0 || expand_whole(r->s, st, r->d);
}

static bool read_steps(struct json_reading *r, struct json_value v, size_t depth, struct step **ret)
{
    struct json_walk walk;
    struct json_member m;
    bool bad = false;

    if (!cJSON_IsArray(v.item))
        return fail(r, v.at, "\"steps\" must be an array", "\"steps\": [ ]");
    walk = json_walk(&r->s->src, v);
    while (json_next(&walk, &m)) {
        if (read_step(r, m.value, depth, ret)) {
            ret = &(*ret)->next;
            continue;
        }
        *ret = NULL;
        if (!goes_on(r, m.value, &bad))
            return false;
    }
    return true;
}

/* Drops the "$schema" that files_write_script() writes where that file exists. */
static void forget_standard_schema(struct step *header)
{
    const struct param *p = step_param(header, "schema");
    struct arg *a = &header->args[p - header->cmd->params];

    if (a->n && strcmp(a->v[0].text, p->standard) == 0)
        a->n = 0;
}

/* @alone: a header without "steps". */
static bool read_scenario(struct json_reading *r, struct json_value v, bool alone)
{
    const struct cmd *cmd = &cmd_table[CMD_scenario];
    struct json_walk walk;
    struct json_member m;
    bool has_steps = false, bad = false;

    if (!cJSON_IsObject(v.item))
        return fail(r, v.at, "a scenario is an object", "{\"title\": ..., \"steps\": [ ]}");
    r->s->header = step_new(&r->s->pool, cmd, (struct span){v.at.at, 1});
    walk = json_walk(&r->s->src, v);
    while (json_next(&walk, &m)) {
        if (is_repeated(v, &m))
            return fail(r, m.key_at, "this key is there twice", "leave one of them");
        if (!alone && strcmp(m.key, "steps") == 0) {
            has_steps = true;
            if (!read_steps(r, m.value, 0, &r->s->first))
                return false;
        } else if (!read_member(r, r->s->header, &m) && !goes_on(r, m.value, &bad)) {
            return false;
        }
    }
    forget_standard_schema(r->s->header);
    return alone || has_steps ||
           fail(r, (struct span){v.at.at, 1}, "a scenario needs \"steps\"", "\"steps\": [ ]");
}

void json_use_memory(void)
{
    cJSON_Hooks hooks = {must_malloc, free};

    cJSON_InitHooks(&hooks);
}

/* Number of blanks in @src from @at on. */
static size_t blanks(const struct source *src, size_t at)
{
    return at < src->len ? strspn(src->text + at, " \t\r\n") : 0;
}

/* Offset of the last non-blank character of @src, which must have one. */
static size_t last_mark(const struct source *src)
{
    size_t at = src->len - 1;

    while (strchr(" \t\r\n", src->text[at]))
        at--;
    return at;
}

bool json_parse(const struct source *src, cJSON **ret, struct diag *d)
{
    size_t bad_at;
    const char *why = source_check_text(src, &bad_at);

    if (why)
        return diag_set(d, DIAG_SYNTAX, (struct span){bad_at, 1}, "%s", why);
    *ret = cJSON_ParseWithLengthOpts(src->text, src->len + 1, &why, 1);
    if (*ret)
        return true;
    bad_at = why ? (size_t)(why - src->text) : 0;
    if (json_is_too_deep(src, bad_at)) {
        diag_set(d, DIAG_SYNTAX, (struct span){bad_at, 1}, "this is nested too deeply");
        return diag_remedy(d, "objects and arrays may be nested %u deep", JSON_DEPTH_MAX);
    }
    if (bad_at + blanks(src, bad_at) < src->len)
        diag_set(d, DIAG_SYNTAX, (struct span){bad_at, 1}, "this is not JSON");
    else
        diag_set(d, DIAG_SYNTAX, (struct span){last_mark(src), 1},
                 "this is not JSON: it ends too early");
    return diag_remedy(d, "look for a missing comma, quote or bracket before this place");
}

bool json_read_step(struct script *s, struct json_value v, struct step **ret, struct diag *d)
{
    struct json_reading r = {s, d, NULL};

    const bool ok = read_step(&r, v, 0, ret);

    s->macros.first = NULL; /* the context of the step decides which macros exist */
    return ok;
}

bool json_read_header(struct script *s, struct json_value v, struct diag *d)
{
    struct json_reading r = {s, d, NULL};

    return read_scenario(&r, v, true);
}

bool json_read_script(struct script *s, struct diag *d)
{
    struct json_reading r = {s, d, NULL};
    cJSON *root = NULL;
    bool ok;

    if (s->src.len == blanks(&s->src, 0)) {
        diag_set(d, DIAG_SYNTAX, (struct span){0, 0}, SCRIPT_NO_STEPS);
        return diag_remedy(d, SCRIPT_NO_STEPS_REMEDY);
    }
    if (!json_parse(&s->src, &root, d))
        return false;
    ok = read_scenario(&r, json_root(&s->src, root), false);
    cJSON_Delete(root);
    return ok;
}

bool json_is_schema(const char *text)
{
    cJSON *root = cJSON_Parse(text);
    const bool is = cJSON_IsObject(root) && !cJSON_HasObjectItem(root, "steps") &&
                    (cJSON_HasObjectItem(root, "$id") || cJSON_HasObjectItem(root, "$defs"));

    cJSON_Delete(root);
    return is;
}

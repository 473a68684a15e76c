/* SPDX-License-Identifier: MIT */
/* Names are collected first, from all commands that make something.  A script that makes hosts
 * whose names are variables may have any host; then hosts are not judged.  Neither are the blocks
 * of `refused`, which may name what is not there, nor values with variables.
 *
 * SIMPLIFIED: a name that some host has is taken for one that every host has.
 */
#include "cli/lang/judge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/expand.h"
#include "cli/lang/expr.h"
#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/name.h"
#include "emu/base/text.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/leaf.h"
#include "process/must.h"

struct judge {
    const char **names; /* owned; the names are those of the script */
    size_t n, cap;
    const char **hosts; /* owned; of them, those of hosts */
    size_t n_hosts, hosts_cap;
    bool any_host;        /* hosts and objects may have other names */
    bool any_number;      /* a program or a file may make objects to which the lab gives names */
    bool in_where;        /* bare words of the expression may be fields of an event */
    bool unnamed[N_CMDS]; /* commands that make an object without a name */
    const struct script *script;
    struct pool pool;
    struct diag *d;
    judge_found *found; /* called with each error */
    void *ctx;
    size_t n_wrong;
};

/* --- Names ------------------------------------------------------------------------------------ */

static void add_name(struct judge *j, const struct cmd *by, const char *name)
{
    j->any_host = j->any_host || vars_in(name);
    j->names = must_grow(j->names, j->n, &j->cap, sizeof(*j->names));
    j->names[j->n++] = name;
    if (by != &cmd_table[CMD_host] && by != &cmd_table[CMD_setup])
        return;
    j->hosts = must_grow(j->hosts, j->n_hosts, &j->hosts_cap, sizeof(*j->hosts));
    j->hosts[j->n_hosts++] = name;
}

/* Names that commands give to objects without saying so. */
static const struct {
    enum cmd_id cmd;
    const char *names[5];
} implied[] = {
    {CMD_setup, {"pd", "mr", "cq", "qp"}},
    {CMD_dial, {"pd", "cq", "ch", "listener"}},
};

/* Collects the names that @first and the steps after it make, and those in their blocks. */
static void collect(struct judge *j, const struct step *first)
{
    for (const struct step *st = first; st; st = st->next) {
        if (st->as.text)
            add_name(j, NULL, st->as.text);
        else if (st->cmd->flags & CMD_NAMES)
            j->unnamed[st->cmd - cmd_table] = true;
        j->any_number = j->any_number || (st->cmd->flags & CMD_OUTSIDE) ||
                        st->cmd->class == CLASS_CM || st->cmd == &cmd_table[CMD_source] ||
                        st->cmd == &cmd_table[CMD_answer];
        for (size_t i = 0; i < st->cmd->n_params; i++) {
            const struct param *p = &st->cmd->params[i];

            if (p->kind == VAL_NEW_NAME && p->standard && st->args[i].n == 0)
                add_name(j, st->cmd, p->standard); /* setup makes h1 and h2 */
            for (size_t k = 0; p->kind == VAL_NEW_NAME && k < st->args[i].n; k++)
                add_name(j, st->cmd, st->args[i].v[k].text);
        }
        for (size_t i = 0; i < ARRAY_LEN(implied); i++) {
            for (size_t k = 0; st->cmd == &cmd_table[implied[i].cmd] && implied[i].names[k]; k++)
                add_name(j, NULL, implied[i].names[k]);
        }
        collect(j, st->body);
        collect(j, st->other);
    }
}

/* Returns true if @text has the word @name. */
static bool has_word(const char *text, size_t len, const char *name)
{
    const size_t n = strlen(name);

    for (size_t i = 0; i + n <= len; i++) {
        const bool begins = i == 0 || !(isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_');
        const bool ends =
            i + n == len || !(isalnum((unsigned char)text[i + n]) || text[i + n] == '_');

        if (begins && ends && memcmp(text + i, name, n) == 0)
            return true;
    }
    return false;
}

/* Returns true if @name stands in a statement that could not be read, or such a statement reads a
 * file, which may make any name.
 */
static bool is_lost(const struct judge *j, const char *name)
{
    const struct script_errors *e = j->script->errors;

    for (size_t i = 0; e && i < e->n_lost; i++) {
        const char *text = j->script->src.text + e->lost[i].at;
        const size_t len = e->lost[i].len;

        if (has_word(text, len, name) || has_word(text, len, cmd_table[CMD_source].name) ||
            has_word(text, len, cmd_table[CMD_answer].name))
            return true;
    }
    return false;
}

static bool is_known(const struct judge *j, const char *name)
{
    for (size_t i = 0; i < j->n; i++) {
        if (strcmp(j->names[i], name) == 0)
            return true;
    }
    return is_lost(j, name);
}

static bool is_host(const struct judge *j, const char *name)
{
    for (size_t i = 0; i < j->n_hosts; i++) {
        if (strcmp(j->hosts[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns true if @name is a word with a number behind it: cq1. */
static bool is_numbered(const char *name)
{
    const size_t n = strcspn(name, "0123456789");

    return n > 0 && name[n] && strspn(name + n, "0123456789") == strlen(name + n);
}

/* Returns true if a statement that could not be read may make an object with a name of the lab. */
static bool is_lost_maker(const struct judge *j)
{
    for (size_t i = 0; i < N_CMDS; i++) {
        if ((cmd_table[i].flags & CMD_NAMES) && is_lost(j, cmd_table[i].name))
            return true;
    }
    return false;
}

/* Returns true if the lab may give the numbered @name to an object that was given none: cq1 to that
 * of create_cq.  A word that no command makes may be anything of a host.
 */
static bool is_given_by_lab(struct judge *j, const char *name)
{
    const char *word = pool_copy(&j->pool, name, strcspn(name, "0123456789"));
    bool is_made = false;

    if (!is_numbered(name))
        return false;
    if (j->any_number || is_lost_maker(j))
        return true;
    for (size_t i = 0; i < N_CMDS; i++) {
        const bool makes = (cmd_table[i].flags & CMD_NAMES) && cmd_table[i].class != CLASS_CM &&
                           suggest_is_part(word, cmd_table[i].name);

        is_made = is_made || makes;
        if (makes && j->unnamed[i])
            return true;
    }
    return !is_made;
}

/* Returns true if something below a host has the name @name: what a command makes, or what every
 * host has, like its device.
 */
static bool is_of_host(struct judge *j, const char *name)
{
    if (is_known(j, name) || is_given_by_lab(j, name) || strncmp(name, "cm_", 3) == 0)
        return true;
    for (size_t i = 0; i < LEAF_COUNT; i++) {
        if (leaf_rows[i].node == NODE_host && leaf_rows[i].key &&
            strcmp(leaf_rows[i].key, name) == 0)
            return true;
    }
    for (size_t i = 0; i < CHILD_COUNT; i++) {
        if (child_rows[i].node == NODE_host && child_rows[i].key &&
            strcmp(child_rows[i].key, name) == 0)
            return true;
    }
    return false;
}

/* Fails unless a command makes @name, or something else may have it. */
static bool host_is_known(struct judge *j, const char *name, struct span at)
{
    struct suggestion near = suggestion_for(name);

    if (j->any_host || vars_in(name) || is_known(j, name))
        return true;
    diag_set(j->d, DIAG_VALUE, at, "no command makes \"%s\"", name);
    for (size_t i = 0; i < j->n; i++)
        suggest_offer(&near, j->names[i]);
    if (near.best)
        return diag_remedy(j->d, "did you mean %s?", SUGGESTED(&near));
    return diag_remedy(j->d, "a scenario makes its hosts: host %s", name);
}

/* --- Expressions ------------------------------------------------------------------------------ */

/* Returns true if @name is one that the lab gives to a fault: f1. */
static bool is_numbered_fault(const char *name)
{
    return name[0] == 'f' && is_numbered(name) && strcspn(name, "0123456789") == 1;
}

/* Fails unless an object of a host may have the name @name. */
static bool object_is_known(struct judge *j, const char *name, struct span at)
{
    struct suggestion near = suggestion_for(name);

    if (j->any_host || is_of_host(j, name))
        return true;
    diag_set(j->d, DIAG_VALUE, at, "no command makes \"%s\"", name);
    for (size_t i = 0; i < j->n; i++)
        suggest_offer(&near, j->names[i]);
    if (near.best)
        return diag_remedy(j->d, "did you mean %s?", SUGGESTED(&near));
    return diag_remedy(j->d, "\"as %s\" gives an object this name", name);
}

/* Checks the names of the path @path, which stands at @at: a host and what it has, or @bare the
 * name of what a host has.
 */
static bool names_are_known(struct judge *j, const char *path, struct span at, bool bare)
{
    const size_t n = strcspn(path, ".[");
    const char *name = pool_copy(&j->pool, path, n), *second;
    size_t m;

    /* Links and faults get names of their own: h1-h2, f1. */
    if (!name_is_valid(name) || strpbrk(name, "-$") || is_numbered_fault(name))
        return true;
    at.len = at.len < n ? at.len : n;
    if (bare && !is_known(j, name))
        return object_is_known(j, name, at);
    if (!host_is_known(j, name, at))
        return false;
    if (path[n] != '.')
        return true;
    m = strcspn(path + n + 1, ".[");
    second = pool_copy(&j->pool, path + n + 1, m);
    if (!is_host(j, name) || !name_is_valid(second) || strchr(second, '$'))
        return true;
    at.at += n + 1;
    at.len = m;
    return object_is_known(j, second, at);
}

/* Checks the names of the path @e.  @outside: it stands outside of all blocks. */
static bool path_is_known(struct judge *j, const struct expr *e, struct span from, bool outside)
{
    struct expr_program ignored;

    /* A bare word may be one of an enumeration. */
    return !strchr(e->text, '.') || expr_program_read(e->text, &ignored) ||
           names_are_known(j, e->text, expr_place(e, from), !outside);
}

/* The leaves to which a path may lead: their nodes, their key, and their types. */
struct leaves {
    struct node_set nodes;
    const char *key;
    bool found, has_words, has_texts;
};

static bool is_of(const struct leaves *l, const struct leaf_row *row)
{
    return row->key && node_set_has(&l->nodes, row->node) && strcmp(row->key, l->key) == 0;
}

static bool is_numeric(enum leaf_type type)
{
    const enum rdl_type t = leaf_types[type].type;

    return t == RDL_NUMBER || t == RDL_HEX || t == RDL_SIZE || t == RDL_RATE || t == RDL_TIME ||
           t == RDL_FLAG;
}

/* Finds the leaves to which the path @path may lead. */
static struct leaves leaves_of(struct judge *j, const char *path)
{
    const char *dot = strrchr(path, '.');
    struct leaves l = {.key = dot ? dot + 1 : path};
    struct leaf_places places;
    size_t off;

    if (!dot || strchr(dot, '[') ||
        !leaf_path_leads(pool_copy(&j->pool, path, (size_t)(dot - path)), &places, &off))
        return l;
    l.nodes = places.nodes;
    for (size_t i = 0; i < LEAF_COUNT; i++) {
        const struct leaf_row *row = &leaf_rows[i];

        if (!is_of(&l, row))
            continue;
        l.found = true;
        l.has_words = l.has_words || row->type == TYPE_WORD;
        l.has_texts = l.has_texts || (row->type != TYPE_WORD && !is_numeric(row->type));
    }
    return l;
}

/* Checks that the leaves @l may have the word @word. */
static bool may_have_word(struct judge *j, const struct leaves *l, const char *word, struct span at)
{
    struct suggestion near = suggestion_for(word);

    for (size_t i = 0; i < LEAF_COUNT; i++) {
        const struct leaf_row *row = &leaf_rows[i];

        if (!is_of(l, row) || row->type != TYPE_WORD)
            continue;
        if (enum_by_name(row->words, word))
            return true;
        for (size_t k = 0; k < row->words->n_rows; k++)
            suggest_offer(&near, row->words->rows[k].name);
    }
    diag_set(j->d, DIAG_VALUE, at, "%s is never \"%s\"", l->key, word);
    if (strcmp(l->key, "opcode") == 0 && suggest_completion_opcode(word))
        return diag_remedy(j->d, "%s", suggest_completion_opcode(word));
    if (near.best)
        return diag_remedy(j->d, "did you mean %s?", SUGGESTED(&near));
    return diag_remedy(j->d, "\"explain %s\" tells more", l->key);
}

/* Returns the name of @e if it is a number, whatever the lab is; NULL: it is not. */
static const char *number_of(const struct expr *e)
{
    if (e->kind == EXPR_COUNT)
        return "count";
    return e->kind == EXPR_PATH && (e->word == EXPR_WORD_TIME || e->word == EXPR_WORD_TICK)
               ? e->text
               : NULL;
}

/* Checks the comparison of @a with the constant @b. */
static bool may_be_equal(struct judge *j, const struct expr *a, const struct expr *b,
                         struct span from)
{
    const bool is_word = b->kind == EXPR_PATH && b->word == EXPR_WORD_NONE && b->text[0] &&
                         !strpbrk(b->text, ".[$") && !is_known(j, b->text);
    const bool is_text = b->kind == EXPR_STRING;
    struct leaves l;

    if ((is_text || (is_word && !j->in_where)) && number_of(a) && !vars_in(b->text)) {
        diag_set(j->d, DIAG_VALUE, expr_place(b, from), "%s is a number, and never \"%s\"",
                 number_of(a), b->text);
        return diag_remedy(j->d, "compare it with a number");
    }
    if (a->kind != EXPR_PATH || strchr(a->text, '$') || (!is_word && !is_text))
        return true;
    l = leaves_of(j, a->text);
    if (!l.found || l.has_texts || (is_text && vars_in(b->text)))
        return true;
    if (l.has_words)
        return may_have_word(j, &l, b->text, expr_place(b, from));
    diag_set(j->d, DIAG_VALUE, expr_place(b, from), "%s is a number, and never \"%s\"", l.key,
             b->text);
    return diag_remedy(j->d, "compare it with a number");
}

static void report(struct judge *j)
{
    if (j->n_wrong++ < JUDGE_ERRORS_MAX)
        j->found(j->ctx, j->d);
    *j->d = (struct diag){.kind = DIAG_NONE};
}

/* Reports all errors of @e.  Depth is bounded by the parser.  @outside: bare names are not those of
 * a host.
 */
static void judge_expr(struct judge *j, const struct expr *e, struct span from, bool outside)
{
    if (e->a)
        judge_expr(j, e->a, from, outside);
    if (e->b)
        judge_expr(j, e->b, from, outside);
    if (e->kind == EXPR_PATH && !path_is_known(j, e, from, outside))
        report(j);
    if (e->kind == EXPR_COMPARE &&
        (!may_be_equal(j, e->a, e->b, from) || !may_be_equal(j, e->b, e->a, from)))
        report(j);
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* Returns true if the path may begin with a host: a dot comes before any index. */
static bool has_host(const char *path)
{
    return path[strcspn(path, ".[")] == '.';
}

/* Checks the two nodes of the link @link, h1-h2. */
static bool link_is_known(struct judge *j, const char *link, struct span at)
{
    const char *dash = strchr(link, '-');
    const size_t n = dash ? (size_t)(dash - link) : 0;

    if (!dash || strchr(dash + 1, '-')) /* names may have dashes, too */
        return true;
    return host_is_known(j, pool_copy(&j->pool, link, n), (struct span){at.at, n}) &&
           host_is_known(j, dash + 1, (struct span){at.at + n + 1, strlen(dash + 1)});
}

static bool judge_value(struct judge *j, const struct param *p, const struct value *v, bool outside)
{
    struct diag ignored = {.kind = DIAG_NONE};
    const struct expr *e;

    if (vars_in(v->text))
        return true;
    switch (p->kind) {
    case VAL_HOST:
    case VAL_NODE:
    case VAL_SENDER:
        return host_is_known(j, v->text, v->at);
    case VAL_OBJECT:
    case VAL_QUEUE:
    case VAL_AT:
    case VAL_BYTES:
        /* A bare name may be one of the host of another operand. */
        return names_are_known(j, v->text, v->at, !outside || !has_host(v->text));
    case VAL_KEY:
    case VAL_QPN:
    case VAL_NUMBER:
        return !strchr(v->text, '.') || names_are_known(j, v->text, v->at, !outside);
    case VAL_LINK:
        return link_is_known(j, v->text, v->at);
    default:
        break;
    }
    if (p->kind != VAL_EXPR)
        return true;
    j->in_where = strcmp(p->name, "where") == 0;
    e = expr_parse(&j->pool, v->text, v->at, &ignored);
    if (e)
        judge_expr(j, e, v->at, outside); /* reports its errors itself */
    return true;
}

static void judge_steps(struct judge *j, const struct step *first, bool outside)
{
    for (const struct step *st = first; st; st = st->next) {
        const bool inner = outside && st->cmd != &cmd_table[CMD_on];

        for (size_t i = 0; i < st->cmd->n_params; i++) {
            for (size_t k = 0; k < st->args[i].n; k++) {
                if (!judge_value(j, &st->cmd->params[i], &st->args[i].v[k], outside))
                    report(j);
            }
        }
        if (st->cmd == &cmd_table[CMD_refused] || st->cmd == &cmd_table[CMD_macro])
            continue;
        judge_steps(j, st->body, inner);
        judge_steps(j, st->other, inner);
    }
}

size_t judge_script(const struct script *s, judge_found *found, void *ctx)
{
    struct diag d = {.kind = DIAG_NONE};
    struct judge j = {.script = s, .d = &d, .found = found, .ctx = ctx};

    collect(&j, s->first);
    judge_steps(&j, s->first, true);
    pool_free(&j.pool);
    free(j.names);
    free(j.hosts);
    return j.n_wrong;
}

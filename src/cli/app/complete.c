/* SPDX-License-Identifier: MIT */
#include "cli/app/complete.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/lang/values.h"
#include "cli/show/show.h"
#include "cli/tell/explain.h"
#include "cli/tree/tree.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

#define WORD_BYTES SESSION_PATH_BYTES
#define LINE_WORDS 64u

struct completion {
    struct session *s;
    complete_each *each;
    void *ctx;
    char kept[WORD_BYTES]; /* part of the word that stays: "send_cq=", "access=lw," */
    const char *typed;     /* the part that is completed */
    const char *before;    /* the word before it */
    enum node_kind kind;   /* of objects that are wanted; NODE_none: any */
    char parent[WORD_BYTES];
    bool is_file; /* the word is the name of one */
};

/* A candidate and what it means, "" if that goes without saying. */
static void offer_told(struct completion *c, const char *candidate, const char *meaning)
{
    char word[WORD_BYTES];
    struct text t = text_on(word, sizeof(word));

    if (strncmp(candidate, c->typed, strlen(c->typed)) != 0)
        return;
    text_addf(&t, "%s%s", c->kept, candidate);
    if (!t.cut)
        c->each(c->ctx, word, meaning);
}

static void offer(struct completion *c, const char *candidate)
{
    offer_told(c, candidate, "");
}

static void offer_explained(void *ctx, const char *word)
{
    offer(ctx, word);
}

static void offer_words(struct completion *c, const struct enum_table *words)
{
    for (size_t i = 0; i < words->n_rows; i++) {
        char word[VALUE_WORD_BYTES];

        /* A word is offered in the case in which it was begun, or each would be offered twice. */
        value_word_text(words, &words->rows[i], word);
        offer(c, isupper((unsigned char)c->typed[0]) ? words->rows[i].name : word);
    }
}

/* What is under @key of c->parent, or of the lab. */
static void offer_below(struct completion *c, const char *key, const char *meaning)
{
    char path[WORD_BYTES];
    struct text t = text_on(path, sizeof(path));

    tree_join(&t, c->parent, key);
    offer_told(c, path, meaning);
}

/* A child of the lab or of c->parent. */
static void offer_child(void *ctx, const char *key, const struct rdl_value *v)
{
    struct completion *c = ctx;

    if (c->kind == NODE_none || tree_value_is(v, c->kind))
        offer_below(c, key, v->type == RDL_NODE ? "" : leaf_rows[v->row].text);
}

/* False if there is no @parent. */
static bool offer_children(struct completion *c, const char *parent)
{
    struct text t = text_on(c->parent, sizeof(c->parent));
    size_t at;

    text_add(&t, parent);
    return rdl_inspect_list(c->s->lab, parent, offer_child, c, &at) == RDL_OK;
}

/* Children of the lab of these kinds, up to NODE_none. */
static void offer_kinds(struct completion *c, const enum node_kind *kinds)
{
    for (; *kinds != NODE_none; kinds++) {
        c->kind = *kinds;
        (void)offer_children(c, "");
    }
    c->kind = NODE_none;
}

/* Calls offer_children() for every host. */
static void each_host(void *ctx, const char *key, const struct rdl_value *v)
{
    if (tree_value_is(v, NODE_host))
        (void)offer_children(ctx, key);
}

static void offer_objects(struct completion *c, enum node_kind kind)
{
    size_t at;

    c->kind = kind;
    if (rdl_inspect_list(c->s->lab, "", each_host, c, &at) != RDL_OK)
        return;
    c->kind = NODE_none;
}

static void offer_key(void *ctx, enum node_kind node, const char *key, const char *meaning)
{
    (void)node;
    offer_below(ctx, key, meaning);
}

/* What c->parent will have when it is there: h1.cq.wc[5] is a completion, whatever comes. */
static void offer_keys(struct completion *c)
{
    struct leaf_places places;
    size_t at;

    if (leaf_path_leads(c->parent, &places, &at) && !places.lists &&
        (places.nodes & (places.nodes - 1)) == 0)
        leaf_each_key(&places, offer_key, c);
}

/* Everything below what is typed up to its last dot; @future: also of what may still come. */
static void offer_paths(struct completion *c, bool future)
{
    const char *dot = strrchr(c->typed, '.');
    char parent[WORD_BYTES];
    struct text t = text_on(parent, sizeof(parent));

    text_addn(&t, c->typed, dot ? (size_t)(dot - c->typed) : 0);
    c->kind = NODE_none;
    if (!offer_children(c, parent) && future)
        offer_keys(c);
}

/* The completion that @cq will have next: c->parent is its host. */
static void offer_next_completion(void *ctx, const char *key, const struct rdl_value *v)
{
    struct completion *c = ctx;
    char cq[WORD_BYTES], wc[WORD_BYTES];
    struct text t = text_on(cq, sizeof(cq)), w = text_on(wc, sizeof(wc));

    if (!tree_value_is(v, NODE_cq))
        return;
    tree_join(&t, c->parent, key);
    text_addf(&w, "%s.wc[%llu]", cq, (unsigned long long)tree_number(c->s->lab, cq, LEAF_cq_count));
    if (!t.cut && !w.cut)
        offer_told(c, wc, "the completion that comes next");
}

static void of_host(void *ctx, const char *key, const struct rdl_value *v)
{
    struct completion *c = ctx;
    struct text t = text_on(c->parent, sizeof(c->parent));
    size_t at;

    if (!tree_value_is(v, NODE_host))
        return;
    text_add(&t, key);
    if (rdl_inspect_list(c->s->lab, key, offer_next_completion, c, &at) != RDL_OK)
        c->parent[0] = '\0';
}

/* What one asks for most that is not there. */
static void offer_next_completions(struct completion *c)
{
    size_t at;

    if (rdl_inspect_list(c->s->lab, "", of_host, c, &at) != RDL_OK)
        c->parent[0] = '\0';
}

static void offer_values(struct completion *c, const struct param *p)
{
    switch (p->kind) {
    case VAL_WORD:
    case VAL_SET:
        offer_words(c, p->words);
        break;
    case VAL_HOST:
    case VAL_STATION:
        c->kind = NODE_host;
        (void)offer_children(c, "");
        break;
    case VAL_NODE:
        offer_kinds(
            c, (const enum node_kind[]){NODE_host, NODE_switch, NODE_external_port, NODE_none});
        break;
    case VAL_SENDER:
        offer_kinds(c, (const enum node_kind[]){NODE_host, NODE_external_port, NODE_none});
        break;
    case VAL_LINK:
        offer_kinds(c, (const enum node_kind[]){NODE_link, NODE_none});
        break;
    case VAL_FAULT:
        offer_kinds(c, (const enum node_kind[]){NODE_fault, NODE_none});
        break;
    case VAL_OBJECT:
        if (node_of_object(p->object) != NODE_none)
            offer_objects(c, node_of_object(p->object));
        break;
    case VAL_AT:
    case VAL_BYTES:
    case VAL_KEY:
        offer_objects(c, NODE_mr);
        break;
    case VAL_QPN:
        offer_objects(c, NODE_qp);
        break;
    case VAL_QUEUE:
    case VAL_PATH:
    case VAL_EXPR:
        offer_paths(c, p->kind == VAL_EXPR);
        if (p->flags & P_NAMED)
            offer_next_completions(c);
        for (unsigned kind = 0; kind < EV_COUNT && (p->flags & P_MOMENT); kind++)
            offer(c, ev_schema((enum ev_kind)kind)->name);
        break;
    case VAL_TOPIC:
        for (size_t i = 0; i < N_CMDS; i++)
            offer(c, cmd_table[i].name);
        if (c->typed[0] || strcmp(p->name, "topic") != 0)
            explain_each(offer_explained, c);
        break;
    case VAL_FILE:
        c->is_file = true;
        break;
    default:
        break;
    }
    c->kind = NODE_none;
}

static void offer_subjects(struct completion *c)
{
    for (size_t i = 0; show_subject(i); i++)
        offer(c, show_subject(i));
}

static void offer_stops(struct completion *c)
{
    for (const struct stop *stop = c->s->stops.first; stop; stop = stop->next) {
        char number[16];
        struct text t = text_on(number, sizeof(number));

        text_addf(&t, "%lu", (unsigned long)stop->id);
        if (stop->owner == STOP_OF_PROMPT)
            offer_told(c, number, stop->text);
    }
}

static void offer_places(struct completion *c)
{
    const struct marks *marks = &c->s->futures.marks;

    offer(c, "start");
    offer(c, "end");
    for (size_t i = 0; i < marks->n; i++)
        offer(c, marks->v[i].name);
}

/* The futures, but the one where the lab is only if it is @any. */
static void offer_futures(struct completion *c, bool any)
{
    const struct futures *all = &c->s->futures;

    if (any)
        offer(c, futures_current(all));
    for (size_t i = 0; i < all->n; i++)
        offer(c, all->v[i].name);
}

/* What has its name from the session, and not from the lab. */
static void offer_of_session(struct completion *c, const struct cmd *cmd)
{
    switch (cmd - cmd_table) {
    case CMD_delete:
    case CMD_enable:
    case CMD_disable:
        offer_stops(c);
        break;
    case CMD_goto:
        offer_places(c);
        break;
    case CMD_future:
    case CMD_diff:
        offer_futures(c, cmd == &cmd_table[CMD_diff]);
        break;
    default:
        break;
    }
}

static bool is_flag(const struct cmd *cmd, const char *word)
{
    const struct param *p = cmd_param(cmd, word);

    return p && p->kind == VAL_FLAG;
}

/* The parameter that the operand behind these words is for: as they are read, each is for the next
 * one that takes it.
 */
static size_t next_operand(const struct cmd *cmd, char words[][WORD_BYTES], size_t n)
{
    struct span nowhere = {0, 0};
    size_t next = 0;

    for (size_t w = 0; w < n; w++) {
        size_t i = next;

        if (strchr(words[w], '=') || is_flag(cmd, words[w]))
            continue;
        while (i < cmd->n_params && cmd->params[i].kind != VAL_EXPR &&
               (!(cmd->params[i].flags & P_OPERAND) ||
                !value_check(&cmd->params[i], words[w], nowhere, NULL)))
            i++;
        if (i < cmd->n_params)
            next = cmd->params[i].kind == VAL_EXPR || (cmd->params[i].flags & P_MANY) ? i : i + 1;
    }
    return next;
}

/* May the word be for the operand behind @p, too?  Numbers nobody offers. */
static bool may_be_left_out(const struct param *p)
{
    return value_is_quantity(p->kind) && !(p->flags & P_REQUIRED);
}

/* What may stand in the place of a word that has no `=`: the @next operand, keys, flags. */
static void offer_arguments(struct completion *c, const struct cmd *cmd, size_t next)
{
    bool offered = false;

    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];
        char key[WORD_BYTES];
        struct text t = text_on(key, sizeof(key));

        if (p->after && strcasecmp(p->after, c->before) != 0)
            continue;
        if (p->flags & P_OPERAND) {
            if (i < next || offered)
                continue;
            offer_values(c, p);
            offer_of_session(c, cmd);
            if ((p->flags & P_SUBJECT) && next == 0)
                offer_subjects(c);
            offered = !may_be_left_out(p);
            continue;
        }
        text_add(&t, p->name);
        if (p->kind != VAL_FLAG && !(p->flags & P_NAMED))
            text_add(&t, "=");
        offer(c, key);
    }
    if (cmd->flags & CMD_NAMES)
        offer(c, "as");
}

/* Behind the last `;` or brace outside quotes: where the last statement begins. */
static const char *last_statement(const char *line)
{
    const char *start = line;
    bool quoted = false;

    for (const char *s = line; *s; s++) {
        if (*s == '"')
            quoted = !quoted;
        else if (!quoted && strchr(";{}\n", *s))
            start = s + 1;
    }
    return start;
}

/* Does @word of the line begin an expression that goes on to its end? */
static const struct param *named_by(const struct cmd *cmd, const char *word)
{
    const struct param *p = cmd_param(cmd, word);

    return p && (p->flags & P_NAMED) ? p : NULL;
}

/* Cuts a KEY= and the finished elements of a list off the last word. */
static const struct param *take_key(struct completion *c, const struct cmd *cmd)
{
    const char *equals = strchr(c->typed, '=');
    char key[WORD_BYTES];
    struct text t = text_on(key, sizeof(key)), kept = text_on(c->kept, sizeof(c->kept));
    const struct param *p;
    const char *from;

    if (!equals)
        return NULL;
    text_addn(&t, c->typed, (size_t)(equals - c->typed));
    p = cmd_param(cmd, key);
    from = equals + 1;
    if (p && param_is_list(p) && strrchr(from, ','))
        from = strrchr(from, ',') + 1;
    text_addn(&kept, c->typed, (size_t)(from - c->typed));
    c->typed = from;
    return p;
}

bool complete_line(struct session *s, const char *line, complete_each *each, void *ctx)
{
    struct completion c = {.s = s, .each = each, .ctx = ctx};
    char words[LINE_WORDS][WORD_BYTES];
    const char *at = last_statement(line);
    const struct param *p = NULL;
    const struct cmd *cmd;
    size_t n = 0;

    for (at += strspn(at, " \t"); *at && n < LINE_WORDS - 1; at += strspn(at, " \t")) {
        const size_t len = strcspn(at, " \t");
        struct text t = text_on(words[n], WORD_BYTES);

        text_addn(&t, at, len);
        if (t.cut || at[len] == '\0')
            break;
        n++;
        at += len;
    }
    c.typed = *at ? words[n] : "";
    if (n == 0) {
        for (size_t i = 0; i < N_CMDS; i++)
            offer(&c, cmd_table[i].name);
        return false;
    }
    cmd = cmd_find(words[0], true);
    if (!cmd)
        return false;
    c.before = words[n - 1];
    for (size_t i = 1; i < n && !p; i++)
        p = named_by(cmd, words[i]);
    p = p ? p : take_key(&c, cmd);
    if (p)
        offer_values(&c, p);
    else if (!c.kept[0])
        offer_arguments(&c, cmd, next_operand(cmd, words + 1, n - 1));
    return c.is_file;
}

/* SPDX-License-Identifier: MIT */
/* Parses the statement that is being typed. */
#include <string.h>
#include <strings.h>

#include "cli/complete/completion.h"
#include "cli/lang/values.h"
#include "emu/facts/enum/object.h"

/* The open blocks and their hosts. */
struct blocks {
    char host[BLOCKS_MAX][RDL_NAME_BYTES];
    const char *begin[BLOCKS_MAX];
    size_t depth;
};

static void block_host(const char *begin, const char *end, char ret[RDL_NAME_BYTES])
{
    struct text t = text_on(ret, RDL_NAME_BYTES);

    ret[0] = '\0';
    while (begin < end && strchr(" \t\n", *begin))
        begin++;
    if (end - begin < 3 || strncmp(begin, "on", 2) != 0 || !strchr(" \t", begin[2]))
        return;
    begin += 2 + strspn(begin + 2, " \t");
    text_addn(&t, begin, strcspn(begin, " \t,{"));
    if (t.cut)
        ret[0] = '\0';
}

/* Returns the beginning of the last statement: after the last `;` or brace outside quotes.  Sets
 * the host and the open blocks of @ret.
 */
static const char *last_statement(const char *line, struct statement *ret)
{
    const char *start = line;
    struct blocks open = {.depth = 0};
    bool quoted = false;

    for (const char *s = line; *s; s++) {
        if (*s == '"')
            quoted = !quoted;
        if (*s == '\n')
            quoted = false;
        if (quoted || !strchr(";{}\n", *s))
            continue;
        if (*s == '{' && open.depth < BLOCKS_MAX) {
            open.begin[open.depth] = start;
            block_host(start, s, open.host[open.depth++]);
        } else if (*s == '}' && open.depth > 0)
            open.depth--;
        start = s + 1;
    }
    for (size_t i = open.depth; i-- > 0;) {
        if (open.host[i][0]) {
            memcpy(ret->host, open.host[i], RDL_NAME_BYTES);
            break;
        }
    }
    memcpy(ret->blocks, open.begin, open.depth * sizeof(ret->blocks[0]));
    ret->n_blocks = open.depth;
    return start;
}

/* Resolves the object that the first operand names. */
static void read_home(struct session *s, struct statement *st)
{
    const struct scope in = {.lab = s->lab, .host = st->host};

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const enum value_kind kind = st->cmd->params[i].kind;

        if (!(st->cmd->params[i].flags & P_OPERAND))
            continue;
        if (st->n < 2 || strchr(st->words[1], '=') || (kind != VAL_OBJECT && kind != VAL_HOST))
            return;
        resolve_path(&in, st->words[1], st->object);
        resolve_host_name(st->object, st->home);
        if (!tree_is(s->lab, st->home, NODE_host))
            st->home[0] = '\0';
        return;
    }
}

void statement_read(struct session *s, const char *line, struct statement *ret)
{
    const char *at;

    memset(ret, 0, sizeof(*ret));
    memcpy(ret->host, s->prompt.host, sizeof(ret->host));
    at = last_statement(line, ret);
    for (at += strspn(at, " \t"); *at && ret->n < LINE_WORDS - 1; at += strspn(at, " \t")) {
        const size_t len = strcspn(at, " \t");
        struct text t = text_on(ret->words[ret->n], WORD_BYTES);

        ret->at[ret->n] = at;
        text_addn(&t, at, len);
        if (t.cut || at[len] == '\0')
            break;
        ret->n++;
        at += len;
    }
    if (!ret->at[ret->n]) /* no word has begun, or there are too many */
        ret->at[ret->n] = at + strlen(at);
    if (ret->n > 0)
        ret->cmd = cmd_find(ret->words[0], true);
    if (ret->cmd)
        read_home(s, ret);
}

static bool is_flag(const struct cmd *cmd, const char *word)
{
    const struct param *p = cmd_param(cmd, word);

    return p && p->kind == VAL_FLAG;
}

const struct param *statement_key(const struct cmd *cmd, const char *word, const char **ret_value)
{
    const char *equals = strchr(word, '=');
    char key[WORD_BYTES];
    struct text t = text_on(key, sizeof(key));
    const struct param *p;

    if (!equals)
        return NULL;
    text_addn(&t, word, (size_t)(equals - word));
    p = cmd_param(cmd, key);
    if (!p || p->kind == VAL_FLAG)
        return NULL;
    *ret_value = equals + 1;
    return p;
}

bool statement_gives(const struct statement *st, const struct param *p)
{
    const bool alone = p->kind == VAL_FLAG || (p->flags & (P_NAMED | P_REST));
    const size_t n = strlen(p->name);

    for (size_t i = 1; i < st->n; i++) {
        const char *word = st->words[i];

        if (strncmp(word, p->name, n) == 0 &&
            ((alone && word[n] == '\0') || (p->kind != VAL_FLAG && word[n] == '=')))
            return true;
    }
    return false;
}

/* Returns true if the word is KEY=VALUE.  `==` in an expression does not count. */
static bool is_keyed(const char *word)
{
    const char *equals = word + strcspn(word, "=(<>!");

    return equals[0] == '=' && equals[1] != '=';
}

bool statement_wants(const struct statement *st, const struct param *p)
{
    for (size_t w = 1; p->after && w < st->n; w++) {
        if (strcasecmp(st->words[w], p->after) == 0)
            return true;
    }
    return !p->after;
}

size_t statement_operand(const struct statement *st, size_t *ret_word)
{
    const struct cmd *cmd = st->cmd;
    struct span nowhere = {0, 0};
    size_t next = 0;

    *ret_word = st->n;
    for (size_t w = 1; w < st->n; w++) {
        size_t i = next;

        if (is_keyed(st->words[w]) || is_flag(cmd, st->words[w]))
            continue;
        while (i < cmd->n_params && cmd->params[i].kind != VAL_EXPR &&
               (!(cmd->params[i].flags & P_OPERAND) || !statement_wants(st, &cmd->params[i]) ||
                !value_check(&cmd->params[i], st->words[w], nowhere, NULL)))
            i++;
        if (i == cmd->n_params)
            continue;
        if (cmd->params[i].kind == VAL_EXPR || (cmd->params[i].flags & P_MANY)) {
            if (*ret_word == st->n || next != i)
                *ret_word = w;
            next = i;
        } else {
            next = i + 1;
            *ret_word = st->n;
        }
    }
    return next;
}

const struct param *statement_named(const struct statement *st, size_t *ret_word)
{
    for (size_t w = 1; w < st->n; w++) {
        const struct param *p = cmd_param(st->cmd, st->words[w]);

        if (p && (p->flags & P_NAMED)) {
            *ret_word = w + 1;
            return p;
        }
    }
    return NULL;
}

const struct param *statement_rest(const struct statement *st)
{
    const struct param *p = st->n > 1 ? cmd_param(st->cmd, st->words[st->n - 1]) : NULL;

    return p && (p->flags & P_REST) ? p : NULL;
}

bool statement_qp(struct session *s, const struct statement *st, struct rdl_qp_info *ret)
{
    rdl_qp qp = {0};

    return st->object[0] && rdl_find(s->lab, st->object, OBJ_QP, &qp.raw) == RDL_OK &&
           rdl_qp_info(s->lab, qp, ret) == RDL_OK;
}

/* SPDX-License-Identifier: MIT */
/* Hints: the remaining parameters of a command, with their current values. */
#include <ctype.h>
#include <string.h>

#include "cli/complete/completion.h"
#include "cli/lang/values.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"

#define WORDS_SHOWN_MAX 8u
#define SET_SHOWN       3u
#define PSN_MAX         16777215u

struct hinting {
    struct session *s;
    const struct statement *st;
    struct text *t;
    enum node_kind kind; /* of the object that the first operand names; NODE_none: none */
};

static enum node_kind kind_of_object(const struct hinting *h)
{
    struct rdl_value v;
    size_t at;

    if (!h->st->object[0] || rdl_inspect(h->s->lab, h->st->object, &v, &at) != RDL_OK ||
        v.type != RDL_NODE)
        return NODE_none;
    return (enum node_kind)v.row;
}

/* Appends some words of a set, as an example. */
static void add_some(struct hinting *h, const struct param *p)
{
    for (size_t i = 0; i < p->words->n_rows && i < SET_SHOWN; i++) {
        char word[VALUE_WORD_BYTES];

        value_word_text(p->words, &p->words->rows[i], word);
        text_addf(h->t, "%s,", word);
    }
    text_add(h->t, "...");
}

/* Appends the words that the lab would accept. */
static void add_words(struct hinting *h, const struct param *p)
{
    const struct complete_request c = {.s = h->s, .st = h->st, .param = p};
    const char *between = "";

    if (p->kind == VAL_SET) {
        add_some(h, p);
        return;
    }
    if (p->words->n_rows > WORDS_SHOWN_MAX) {
        text_add(h->t, value_kinds[p->kind].placeholder);
        return;
    }
    for (size_t i = 0; i < p->words->n_rows; i++) {
        char word[VALUE_WORD_BYTES], why[WORD_BYTES];
        struct text t = text_on(why, sizeof(why));
        bool barred = false;

        bar_word(&c, &p->words->rows[i], &t, &barred);
        value_word_text(p->words, &p->words->rows[i], word);
        if (barred)
            continue;
        text_addf(h->t, "%s%s", between, word);
        between = "|";
    }
}

static void add_form(struct hinting *h, const struct param *p)
{
    if (p->words)
        add_words(h, p);
    else if ((p->kind == VAL_INT || p->kind == VAL_NUMBER) && p->max == PSN_MAX)
        text_add(h->t, "24-bit");
    else
        text_add(h->t, p->shown ? p->shown : value_kinds[p->kind].placeholder);
}

/* Appends the current value of the object's leaf called like @p.  Returns false if there is none.
 */
static bool add_now(struct hinting *h, const struct param *p)
{
    const enum leaf_id leaf =
        h->kind == NODE_none ? LEAF_none : leaf_find(h->kind, p->name, strlen(p->name));
    struct rdl_value v;

    if (leaf == LEAF_none || !tree_leaf(h->s->lab, h->st->object, leaf, &v))
        return false;
    text_add(h->t, ", now ");
    tree_add_value(h->t, &v);
    return true;
}

static void add_operand(struct hinting *h, const struct param *p)
{
    char name[RDL_NAME_BYTES];
    struct text t = text_on(name, sizeof(name));

    text_add(&t, p->name);
    for (char *s = name; *s; s++)
        *s = (char)toupper((unsigned char)*s);
    text_addf(h->t, p->flags & P_REQUIRED ? "%s%s " : "[%s%s] ", name,
              p->flags & P_MANY ? "..." : "");
}

static void add_key(struct hinting *h, const struct param *p, bool needed)
{
    text_addf(h->t, "%s%s", needed ? "" : "[", p->name);
    if (p->kind != VAL_FLAG && !(p->flags & P_NAMED)) {
        text_add(h->t, "=");
        if (p->standard && !needed)
            text_add(h->t, p->standard);
        else
            add_form(h, p);
        if (!needed)
            (void)add_now(h, p);
    }
    text_add(h->t, needed ? " " : "] ");
}

/* Returns the attributes that the move of the queue pair to the typed state needs, as a set. */
static unsigned needed_by_move(const struct hinting *h)
{
    struct rdl_qp_info qp;
    unsigned missing = 0, extra = 0;

    if (h->st->cmd != &cmd_table[CMD_modify_qp] || !statement_qp(h->s, h->st, &qp))
        return 0;
    for (size_t i = 2; i < h->st->n; i++) {
        const struct enum_row *to = strncmp(h->st->words[i], "state=", 6) == 0
                                        ? enum_by_name(&enum_qp_state, h->st->words[i] + 6)
                                        : NULL;

        if (to && qp_fsm_check((enum qp_type)qp.type, (enum qp_state)qp.attr.state,
                               (enum qp_state)to->value, 0, &missing, &extra) == RDL_ERR_INVAL)
            return missing;
    }
    return 0;
}

static bool is_needed(const struct param *p, unsigned attributes)
{
    for (size_t i = 0; i < enum_qp_attr.n_rows && attributes; i++) {
        if ((attributes & enum_qp_attr.rows[i].value) &&
            strcmp(enum_qp_attr.rows[i].text, p->name) == 0)
            return true;
    }
    return (p->flags & P_REQUIRED) != 0;
}

/* Returns true if `as` is given. */
static bool is_named(const struct hinting *h)
{
    for (size_t i = 1; i < h->st->n; i++) {
        if (strcmp(h->st->words[i], cmd_as.name) == 0)
            return true;
    }
    return false;
}

/* Appends operands, then keys, the required ones first. */
static void add_arguments(struct hinting *h)
{
    const struct cmd *cmd = h->st->cmd;
    const unsigned attributes = needed_by_move(h);
    size_t word;
    const size_t next = statement_operand(h->st, &word);

    for (size_t i = next; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if ((p->flags & P_OPERAND) && statement_wants(h->st, p) &&
            !(p->kind == VAL_EXPR && word < h->st->n))
            add_operand(h, p);
    }
    for (int needed = 1; needed >= 0; needed--) {
        for (size_t i = 0; i < cmd->n_params; i++) {
            const struct param *p = &cmd->params[i];

            if (!(p->flags & P_OPERAND) && is_needed(p, attributes) == (needed == 1) &&
                statement_wants(h->st, p) && !statement_gives(h->st, p))
                add_key(h, p, needed == 1);
        }
    }
    if ((cmd->flags & CMD_BLOCK) && !(cmd->flags & CMD_AT_ONCE && cmd->n_params == 0))
        text_add(h->t, "{ ... }");
    if ((cmd->flags & CMD_NAMES) && !is_named(h))
        text_add(h->t, "[as NAME]");
}

/* Appends the form of the value after KEY=, or after the name of a P_REST parameter and a blank.
 * Returns false if nothing like that stands before the cursor.
 */
static bool add_value(struct hinting *h)
{
    const char *value = h->st->words[h->st->n];
    const struct param *rest = statement_rest(h->st),
                       *p = rest ? rest : statement_key(h->st->cmd, value, &value);

    if (!p || value[0])
        return false;
    add_form(h, p);
    if (!add_now(h, p) && p->standard)
        text_addf(h->t, ", %s if it is not said", p->standard);
    return true;
}

static void trim(struct text *t)
{
    while (t->len > 0 && t->buf[t->len - 1] == ' ')
        t->buf[--t->len] = '\0';
}

/* Returns true if a ( is open.  Inside parentheses other words are expected. */
static bool is_in_parentheses(const char *line)
{
    size_t depth = 0;

    for (const char *s = line; *s; s++) {
        if (*s == '(')
            depth++;
        else if (*s == '\n' || *s == ';')
            depth = 0;
        else if (*s == ')' && depth > 0)
            depth--;
    }
    return depth > 0;
}

void complete_hint(struct session *s, const char *line, struct text *ret)
{
    const size_t n = strlen(line);
    char whole[1024];
    struct text t = text_on(whole, sizeof(whole));
    struct statement st;
    struct hinting h = {.s = s, .st = &st, .t = ret};
    size_t word;

    if (n == 0 || is_in_parentheses(line))
        return;
    statement_read(s, line, &st);
    h.kind = kind_of_object(&h);
    if (st.cmd && add_value(&h))
        return;
    if (strchr(" \t;{}\n", line[n - 1])) {
        text_add(&t, line);
    } else {
        text_addf(&t, "%s ", line);
        text_add(ret, " ");
    }
    if (!t.cut) {
        const size_t before = st.cmd ? statement_operand(&st, &word) : 0;
        const bool whole_word = strchr(" \t;{}\n", line[n - 1]) || strchr(st.words[st.n], '=');

        statement_read(s, whole, &st);
        /* No hint for half a word: TAB completes it. */
        if (st.cmd && (st.n > 1 ? whole_word || statement_operand(&st, &word) > before
                                : strcmp(st.cmd->name, st.words[0]) == 0)) {
            h.kind = kind_of_object(&h);
            add_arguments(&h);
        }
    }
    trim(ret);
}

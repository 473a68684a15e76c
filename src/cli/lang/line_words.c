/* SPDX-License-Identifier: MIT */
#include "cli/lang/line_words.h"

#include <ctype.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"

/* Returns true if @text has variables of the enclosing blocks.  Such a value is checked when it is
 * expanded.
 */
static bool is_open(const struct reading *rd, const char *text)
{
    return rd->r->vars && vars_in(text) && !(rd->st && (rd->st->cmd->flags & CMD_NOTE));
}

static bool check(struct reading *rd, const struct param *p, const char *text, struct span at)
{
    return is_open(rd, text) ? vars_check(rd->r->vars, text, at, rd->d)
                             : value_check(p, text, at, rd->d);
}

struct token line_look(struct line_reader *r, struct diag *d)
{
    const struct tokens *tokens = r->tokens;

    if (!tokens || tokens->v[r->i].kind == TOKEN_BAD) /* scan it again, for the message in @d */
        return lex_next(&r->script->src, r->at, d);
    return tokens->v[r->i];
}

struct token line_take(struct line_reader *r, struct diag *d)
{
    const struct token t = line_look(r, d);

    r->at = t.at.at + t.at.len;
    if (r->tokens && r->i + 1 < r->tokens->n)
        r->i++;
    return t;
}

struct token reading_next(struct reading *rd)
{
    return line_take(rd->r, rd->d);
}

struct token reading_look(struct reading *rd)
{
    return line_look(rd->r, rd->d);
}

bool reading_is_text(const struct reading *rd, struct span at, const char *text)
{
    return at.len == strlen(text) && memcmp(rd->src->text + at.at, text, at.len) == 0;
}

const char *reading_raw(const struct reading *rd, struct span at)
{
    return pool_copy(rd->pool, rd->src->text + at.at, at.len);
}

/* Length of KEY in a word KEY=...  Returns 0 if the word has no such form. */
static size_t key_bytes(const struct reading *rd, struct span word)
{
    const char *s = rd->src->text + word.at;
    size_t n = 0;

    while (n < word.len && (isalnum((unsigned char)s[n]) || s[n] == '_'))
        n++;
    return n > 0 && n + 1 <= word.len && s[n] == '=' && (n + 1 == word.len || s[n + 1] != '=') ? n
                                                                                               : 0;
}

static bool unknown_key(struct reading *rd, struct span at, const char *what)
{
    const struct cmd *cmd = rd->st->cmd;
    const char *name = reading_raw(rd, at);
    struct suggestion near = suggestion_for(name);

    diag_set(rd->d, DIAG_VALUE, at, "%s takes no %s \"%s\"", cmd->name, what, name);
    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if (strcmp(p->name, name) == 0 && p->kind == VAL_FLAG)
            return diag_remedy(rd->d, "it is a flag: write \"%s\" alone", name);
        if (strcmp(p->name, name) == 0 && !(p->flags & P_OPERAND))
            return diag_remedy(rd->d, "it needs a value: %s=...", name);
        suggest_offer(&near, p->name);
    }
    if (near.best)
        return diag_remedy(rd->d, "did you mean \"%s\"?", near.best);
    return diag_remedy(rd->d, "\"help %s\" lists what it takes", cmd->name);
}

static bool take_value(struct reading *rd, size_t i, struct span at)
{
    const struct param *p = &rd->st->cmd->params[i];
    const char *text = lex_unquote(rd->pool, rd->src, at, rd->d);

    if (!text || !check(rd, p, text, at))
        return false;
    if (step_add(rd->pool, rd->st, i, (struct value){text, at}))
        return true;
    diag_set(rd->d, DIAG_VALUE, at, "%s: more than %u values", p->name, SCRIPT_LIST_MAX);
    return diag_remedy(rd->d, "give the rest to another %s", rd->st->cmd->name);
}

/* Returns the end of the list element that begins at @from: a comma outside quotes and brackets, or
 * @end.
 */
static size_t element_end(const struct reading *rd, size_t from, size_t end)
{
    const char *s = rd->src->text;
    bool quoted = false;
    size_t depth = 0;

    for (; from < end; from++) {
        if (s[from] == '"')
            quoted = !quoted;
        else if (quoted && s[from] == '\\' && from + 1 < end)
            from++;
        else if (!quoted && s[from] == '[')
            depth++;
        else if (!quoted && s[from] == ']' && depth > 0)
            depth--;
        else if (!quoted && depth == 0 && s[from] == ',')
            break;
    }
    return from;
}

/* Adds the values in @at, separated by commas, to parameter @i. */
static bool take_elements(struct reading *rd, size_t i, struct span at)
{
    const size_t end = at.at + at.len;
    size_t from = at.at;

    for (;;) {
        const size_t stop = element_end(rd, from, end);

        if (!take_value(rd, i, (struct span){from, stop - from}))
            return false;
        if (stop == end)
            return true;
        from = stop + 1;
    }
}

static bool take_values(struct reading *rd, size_t i, struct span at)
{
    const struct param *p = &rd->st->cmd->params[i];

    if (rd->st->args[i].n > 0 && !(p->flags & P_MANY)) {
        diag_set(rd->d, DIAG_VALUE, at, "%s is given twice", p->name);
        return diag_remedy(rd->d, "leave one of them");
    }
    return !param_is_list(p) || (p->flags & P_MANY) ? take_value(rd, i, at)
                                                    : take_elements(rd, i, at);
}

/* Reads the value after the name of parameter @i; of a list the values up to the end of the
 * statement, separated by commas or blanks.
 */
static bool take_rest(struct reading *rd, size_t i)
{
    const bool list = param_is_list(&rd->st->cmd->params[i]);
    struct token t;

    for (t = reading_look(rd); t.kind == TOKEN_WORD; t = reading_look(rd)) {
        reading_next(rd);
        if (!take_elements(rd, i, t.at))
            return false;
        if (!list)
            return true;
    }
    return t.kind != TOKEN_BAD;
}

/* Returns true if the word could be a value of the parameter.  Used only to skip optional operands.
 */
static bool fits(struct reading *rd, const struct param *p, struct span at)
{
    struct diag ignored;
    const char *text = lex_unquote(rd->pool, rd->src, at, &ignored);

    return text && (is_open(rd, text) || value_check(p, text, at, &ignored));
}

/* Returns true if the word has the form of the parameter's values: a number if it takes numbers. */
static bool resembles(const struct reading *rd, const struct param *p, struct span at)
{
    const char *s = rd->src->text + at.at;
    const bool number =
        isdigit((unsigned char)s[0]) || (at.len > 1 && s[0] == '-' && isdigit((unsigned char)s[1]));

    return number == value_is_quantity(p->kind);
}

/* Returns the index of the parameter that the operand in @at is for, or the number of parameters if
 * there is none.  If no optional operand accepts the word, returns the first one that it resembles,
 * else the first of all.  The error message is then about that one.
 */
static size_t operand_for(struct reading *rd, struct span at)
{
    const struct cmd *cmd = rd->st->cmd;
    size_t first = cmd->n_params;

    for (size_t i = rd->next_operand; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if (!(p->flags & P_OPERAND) || p->kind == VAL_EXPR || !step_wants(rd->st, i) ||
            (rd->st->args[i].n > 0 && !(p->flags & P_MANY)))
            continue;
        if ((p->flags & P_REQUIRED) || fits(rd, p, at))
            return i;
        if (first == cmd->n_params ||
            (!resembles(rd, &cmd->params[first], at) && resembles(rd, p, at)))
            first = i;
    }
    return first;
}

/* Reports a word that no operand accepts.  If a key that the command still needs would accept it as
 * its value, the message suggests that key.
 */
static bool too_many(struct reading *rd, struct span at)
{
    const struct cmd *cmd = rd->st->cmd;

    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];

        if (!(p->flags & P_REQUIRED) || (p->flags & P_OPERAND) || rd->st->args[i].n > 0 ||
            !fits(rd, p, at))
            continue;
        diag_set(rd->d, DIAG_VALUE, at, "%s needs the key %s=", cmd->name, p->name);
        return diag_remedy(rd->d, "did you mean \"%s=%s\"?", p->name, reading_raw(rd, at));
    }
    unknown_key(rd, at, "flag or further operand");
    for (size_t i = 0; i < cmd->n_params; i++) {
        if ((cmd->params[i].flags & P_OPERAND) && cmd->params[i].kind == VAL_TEXT &&
            rd->st->args[i].n > 0)
            return diag_remedy(rd->d, "a text with blanks stands in quotes: \"%s %s\"",
                               rd->st->args[i].v[0].text, reading_raw(rd, at));
    }
    return false;
}

static bool take_operand(struct reading *rd, struct span at)
{
    const size_t i = operand_for(rd, at);

    if (i == rd->st->cmd->n_params)
        return too_many(rd, at);
    rd->next_operand = rd->st->cmd->params[i].flags & P_MANY ? i : i + 1;
    return take_values(rd, i, at);
}

/* Returns the flag that the word names, as NAME or --NAME.  Returns NULL if it is none. */
static const struct param *flag_of(const struct reading *rd, struct span at)
{
    const char *name = reading_raw(rd, at);
    const bool dashed = strncmp(name, "--", 2) == 0;
    const struct param *p = cmd_param(rd->st->cmd, dashed ? name + 2 : name);

    if (!p || p->kind != VAL_FLAG)
        return NULL;
    return (p->flags & P_BEHIND) && !dashed && rd->next_operand == 0 ? NULL : p;
}

bool reading_begins_block(const struct reading *rd, struct span at)
{
    return (rd->st->cmd->flags & CMD_MAY_BLOCK) && reading_is_text(rd, at, "do");
}

/* Returns true if the expression in @at ends where a term must follow: `syndrome ==`, `not`. */
static bool wants_term(const struct reading *rd, struct span at)
{
    static const char *const words[] = {"and", "or", "not"};
    const char *from = rd->src->text + at.at, *end = from + at.len, *s = end;

    if (at.len == 0)
        return false;
    if (strchr("=!<>(", end[-1]))
        return true;
    while (s > from && isalpha((unsigned char)s[-1]))
        s--;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if ((size_t)(end - s) == strlen(words[i]) && memcmp(s, words[i], (size_t)(end - s)) == 0)
            return s == from || s[-1] == ' ' || s[-1] == '(' || s[-1] == ')';
    }
    return false;
}

/* Reads an expression: it ends at the end of the statement, at KEY=, a flag or a block.  A word
 * that must be a term is part of it even if a flag has the same name: where syndrome == ack.
 */
static bool take_expression(struct reading *rd, size_t i)
{
    struct span at = {reading_look(rd).at.at, 0};

    for (;;) {
        const struct token t = reading_look(rd);
        const size_t key = t.kind == TOKEN_WORD ? key_bytes(rd, t.at) : 0;

        if (t.kind == TOKEN_BAD)
            return false;
        if (t.kind != TOKEN_WORD || (!wants_term(rd, at) && flag_of(rd, t.at)) ||
            reading_begins_block(rd, t.at) ||
            ((rd->st->cmd->flags & CMD_NAMES) && reading_is_text(rd, t.at, cmd_as.name)) ||
            (key && cmd_param(rd->st->cmd, reading_raw(rd, (struct span){t.at.at, key}))))
            break;
        reading_next(rd);
        at.len = t.at.at + t.at.len - at.at;
    }
    if (at.len > 0) {
        const char *text = lex_one_line(rd->pool, rd->src->text + at.at, at.len);

        return check(rd, &rd->st->cmd->params[i], text, at) &&
               step_add(rd->pool, rd->st, i, (struct value){text, at});
    }
    return true;
}

static bool take_as(struct reading *rd, struct span as)
{
    const struct token t = reading_next(rd);
    const char *text;

    if (t.kind == TOKEN_BAD)
        return false;
    if (t.kind != TOKEN_WORD)
        return diag_set(rd->d, DIAG_SYNTAX, as, "a name must follow as");
    if (!(rd->st->cmd->flags & CMD_NAMES)) {
        diag_set(rd->d, DIAG_VALUE, as, "%s makes nothing that could be named", rd->st->cmd->name);
        return diag_remedy(rd->d, "leave out \"as\"");
    }
    text = lex_unquote(rd->pool, rd->src, t.at, rd->d);
    if (!text || !check(rd, &cmd_as, text, t.at))
        return false;
    rd->st->as = (struct value){text, t.at};
    return true;
}

/* Reads the expression after the name of parameter @p, which is at @at. */
static bool take_named(struct reading *rd, const struct param *p, struct span at)
{
    const size_t i = (size_t)(p - rd->st->cmd->params);

    if (rd->st->args[i].n > 0 && (rd->st->cmd->flags & CMD_SENTENCE)) {
        diag_set(rd->d, DIAG_VALUE, at, "%s is given twice", p->name);
        return diag_remedy(rd->d, "this says %s already: join both with \"and\"",
                           rd->st->args[i].v[0].text);
    }
    if (rd->st->args[i].n > 0)
        return take_operand(rd, at);
    if (!take_expression(rd, i))
        return false;
    /* The first value always fits. */
    if (rd->st->args[i].n == 0)
        (void)step_add(rd->pool, rd->st, i, (struct value){"", at});
    return true;
}

/* Reads an option like `-s 64`, as the program itself takes it.  A flag has no value. */
static bool take_letter(struct reading *rd, const struct param *p, struct span at)
{
    const size_t i = (size_t)(p - rd->st->cmd->params);
    struct token t = {.at = at};

    if (p->kind != VAL_FLAG) {
        t = reading_next(rd);
        if (t.kind == TOKEN_BAD)
            return false;
        if (t.kind != TOKEN_WORD) {
            diag_set(rd->d, DIAG_SYNTAX, at, "-%c needs a value", p->letter);
            return diag_remedy(rd->d, "%s", p->help);
        }
    }
    rd->st->args[i].key_at = at;
    return take_values(rd, i, t.at);
}

/* Returns true for a word like "-s" or "-s64" if the command has such options. */
static bool is_letter(const struct reading *rd, struct span at)
{
    const char *s = rd->src->text + at.at;

    return at.len >= 2 && s[0] == '-' && !isdigit((unsigned char)s[1]) &&
           cmd_has_letters(rd->st->cmd);
}

/* Reads the word as part of a sentence.  Returns SENTENCE_NOT if it is a flag, or no word of
 * sentences.
 */
static enum sentence_take take_of_sentence(struct reading *rd, struct span at)
{
    struct sentence *s = &rd->sentence;
    const struct cmd *cmd = rd->st->cmd;
    const char *text;

    if (!(cmd->flags & CMD_SENTENCE))
        return SENTENCE_NOT;
    if (!s->want && !s->begun && flag_of(rd, at) && !reading_is_text(rd, at, "next"))
        return SENTENCE_NOT;
    text = lex_unquote(rd->pool, rd->src, at, rd->d);
    return text ? sentence_take(s, rd->pool, rd->st, text, at, rd->d) : SENTENCE_BAD;
}

static bool take_word(struct reading *rd, struct span at)
{
    const struct cmd *cmd = rd->st->cmd;
    const size_t key = key_bytes(rd, at);
    enum sentence_take of_sentence = SENTENCE_NOT;
    const struct param *p;

    if (rd->sentence.want ||
        (!key && !reading_is_text(rd, at, cmd_as.name) && !reading_is_text(rd, at, "where")))
        of_sentence = take_of_sentence(rd, at);
    if (of_sentence != SENTENCE_NOT)
        return of_sentence == SENTENCE_TOOK;
    if (is_letter(rd, at)) {
        p = at.len == 2 ? cmd_param_of_letter(cmd, rd->src->text[at.at + 1]) : NULL;
        return p ? take_letter(rd, p, at) : unknown_key(rd, at, "option");
    }
    if (reading_is_text(rd, at, cmd_as.name))
        return take_as(rd, at);
    if (key) {
        const struct span key_at = {at.at, key};

        p = cmd_param(cmd, reading_raw(rd, key_at));
        if (!p || p->kind == VAL_FLAG)
            return unknown_key(rd, key_at, "key");
        rd->st->args[p - cmd->params].key_at = key_at;
        return take_values(rd, (size_t)(p - cmd->params),
                           (struct span){at.at + key + 1, at.len - key - 1});
    }
    p = flag_of(rd, at);
    if (p) {
        const size_t dashes = at.len - strlen(p->name);

        return take_values(rd, (size_t)(p - cmd->params),
                           (struct span){at.at + dashes, at.len - dashes});
    }
    p = cmd_param(cmd, reading_raw(rd, at));
    if (p && (p->flags & P_REST) && rd->st->args[p - cmd->params].n == 0)
        return take_rest(rd, (size_t)(p - cmd->params));
    if (p && (p->flags & P_NAMED))
        return take_named(rd, p, at);
    if (cmd->flags & CMD_SENTENCE)
        return sentence_unknown(rd->st, reading_raw(rd, at), at, rd->d);
    return take_operand(rd, at);
}

/* Returns true if the next operand is an expression, which may take several words. */
static bool wants_expression(const struct reading *rd)
{
    const struct cmd *cmd = rd->st->cmd;
    const size_t i = rd->next_operand;

    return i < cmd->n_params && cmd->params[i].kind == VAL_EXPR &&
           (cmd->params[i].flags & P_OPERAND) && rd->st->args[i].n == 0;
}

/* Returns the index of the parameter that the word KEY=VALUE of a CMD_WORDS command is for, with
 * the bytes of KEY; 0: it is a plain word.  Such words stand before the plain ones.
 */
static size_t keyed_parameter(const struct reading *rd, struct span at, size_t *ret_bytes)
{
    const struct cmd *cmd = rd->st->cmd;
    const size_t last = cmd->n_params - 1;
    const size_t key = rd->st->args[0].n > 0 && rd->st->args[last].n == 0 ? key_bytes(rd, at) : 0;
    const struct param *p = key ? cmd_param(cmd, reading_raw(rd, (struct span){at.at, key})) : NULL;

    *ret_bytes = key;
    return p && p < &cmd->params[last] ? (size_t)(p - cmd->params) : 0;
}

/* Takes every word as a value, whatever it looks like: the first for the first operand, the others
 * for the last parameter, except for the parameters in between.
 */
static bool read_plain_words(struct reading *rd)
{
    const size_t last = rd->st->cmd->n_params - 1;
    struct token t;

    for (t = reading_look(rd); t.kind == TOKEN_WORD; t = reading_look(rd)) {
        size_t key;
        const size_t keyed = keyed_parameter(rd, t.at, &key);
        const struct span value = {t.at.at + key + 1, t.at.len - key - 1};

        reading_next(rd);
        if (keyed)
            rd->st->args[keyed].key_at = (struct span){t.at.at, key};
        if (keyed ? !take_values(rd, keyed, value)
                  : !take_value(rd, rd->st->args[0].n > 0 ? last : 0, t.at))
            return false;
    }
    return t.kind != TOKEN_BAD;
}

/* Reports the wrong value in rd->d if errors are collected, so that the next word can be read.
 * Sets *@wrong then.  Behind other errors the rest of the statement has no certain meaning.
 */
static bool go_on_behind(struct reading *rd, bool *wrong)
{
    const struct script_errors *e = rd->r->script->errors;

    if (!e || rd->d->kind != DIAG_VALUE || (rd->st->cmd->flags & CMD_SENTENCE))
        return false;
    e->found(e->ctx, rd->d);
    *rd->d = (struct diag){.kind = DIAG_NONE};
    *wrong = true;
    return true;
}

bool reading_words(struct reading *rd)
{
    bool wrong = false;

    if (rd->st->cmd->flags & CMD_WORDS)
        return read_plain_words(rd);
    for (;;) {
        struct token t = reading_look(rd);

        if (t.kind == TOKEN_WORD && wants_expression(rd) && !take_expression(rd, rd->next_operand))
            return false;
        t = reading_look(rd);
        if (t.kind == TOKEN_BAD)
            return false;
        if (t.kind != TOKEN_WORD || reading_begins_block(rd, t.at))
            return !wrong;
        reading_next(rd);
        if (!take_word(rd, t.at) && !go_on_behind(rd, &wrong))
            return false;
    }
}

/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "cli/lang/lex.h"
#include "cli/lang/line.h"
#include "cli/lang/sentence.h"
#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"

/* One statement while it is read. */
struct reading {
    struct line_reader *r;
    const struct source *src;
    struct pool *pool;
    struct diag *d;
    struct step *st;
    size_t next_operand; /* index of the parameter */
    struct sentence sentence;
};

/* The next token, which stays the next. */
static struct token look_at(struct line_reader *r, struct diag *d)
{
    const struct tokens *tokens = r->tokens;

    if (!tokens || tokens->v[r->i].kind == TOKEN_BAD) /* @d is to say what is bad */
        return lex_next(&r->script->src, r->at, d);
    return tokens->v[r->i];
}

static struct token take(struct line_reader *r, struct diag *d)
{
    const struct token t = look_at(r, d);

    r->at = t.at.at + t.at.len;
    if (r->tokens && r->i + 1 < r->tokens->n)
        r->i++;
    return t;
}

static struct token next(struct reading *rd)
{
    return take(rd->r, rd->d);
}

static struct token look(struct reading *rd)
{
    return look_at(rd->r, rd->d);
}

static bool is_text(const struct reading *rd, struct span at, const char *text)
{
    return at.len == strlen(text) && memcmp(rd->src->text + at.at, text, at.len) == 0;
}

static const char *raw(const struct reading *rd, struct span at)
{
    return pool_copy(rd->pool, rd->src->text + at.at, at.len);
}

/* The length of KEY in a word KEY=...; 0 if it has no such form. */
static size_t key_bytes(const struct reading *rd, struct span word)
{
    const char *s = rd->src->text + word.at;
    size_t n = 0;

    while (n < word.len && (isalnum((unsigned char)s[n]) || s[n] == '_'))
        n++;
    return n > 0 && n + 1 <= word.len && s[n] == '=' && (n + 1 == word.len || s[n + 1] != '=') ? n
                                                                                               : 0;
}

/* An abbreviation of several commands. */
static bool ambiguous(struct reading *rd, struct span at, const char *name)
{
    char buf[DIAG_REMEDY_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (size_t i = 0; i < N_CMDS; i++) {
        if (strncmp(cmd_table[i].name, name, strlen(name)) == 0)
            text_addf(&t, t.len ? ", %s" : "%s", cmd_table[i].name);
    }
    if (t.len == 0)
        return false;
    diag_set(rd->d, DIAG_VALUE, at, "\"%s\" is short for several commands", name);
    diag_remedy(rd->d, "%s", buf);
    return true;
}

static bool unknown_command(struct reading *rd, struct span at)
{
    const char *name = raw(rd, at);
    struct suggestion near = suggestion_for(name);

    if (rd->r->abbreviated && ambiguous(rd, at, name))
        return false;
    diag_set(rd->d, DIAG_VALUE, at, "unknown command \"%s\"", name);
    if (suggest_other_word(name))
        return diag_remedy(rd->d, "%s", suggest_other_word(name));
    if (strncmp(name, "ibv_", 4) == 0 && cmd_find(name + 4, false))
        return diag_remedy(rd->d, "%s is called %s here: \"help %s\" tells more", name, name + 4,
                           name + 4);
    for (size_t i = 0; i < N_CMDS; i++)
        suggest_offer(&near, cmd_table[i].name);
    if (near.best)
        return diag_remedy(rd->d, "did you mean \"%s\"?", near.best);
    return diag_remedy(rd->d, "\"help\" lists the commands");
}

static bool unknown_key(struct reading *rd, struct span at, const char *what)
{
    const struct cmd *cmd = rd->st->cmd;
    const char *name = raw(rd, at);
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

/* Takes one value of parameter @i. */
static bool take_value(struct reading *rd, size_t i, struct span at)
{
    const struct param *p = &rd->st->cmd->params[i];
    const char *text = lex_unquote(rd->pool, rd->src, at, rd->d);

    if (!text || !value_check(p, text, at, rd->d))
        return false;
    if (step_add(rd->pool, rd->st, i, (struct value){text, at}))
        return true;
    diag_set(rd->d, DIAG_VALUE, at, "%s: more than %u values", p->name, SCRIPT_LIST_MAX);
    return diag_remedy(rd->d, "give the rest to another %s", rd->st->cmd->name);
}

/* The end of the list element that begins at @from: a comma outside quotes and brackets, or @end.
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

/* Takes the value or values in @at for parameter @i. */
static bool take_values(struct reading *rd, size_t i, struct span at)
{
    const struct param *p = &rd->st->cmd->params[i];
    const size_t end = at.at + at.len;
    size_t from = at.at;

    if (rd->st->args[i].n > 0 && !(p->flags & P_MANY)) {
        diag_set(rd->d, DIAG_VALUE, at, "%s is given twice", p->name);
        return diag_remedy(rd->d, "leave one of them");
    }
    if (!param_is_list(p) || (p->flags & P_MANY))
        return take_value(rd, i, at);
    for (;;) {
        const size_t stop = element_end(rd, from, end);

        if (!take_value(rd, i, (struct span){from, stop - from}))
            return false;
        if (stop == end)
            return true;
        from = stop + 1;
    }
}

/* Could the word be a value of the parameter?  Only asked to skip optional operands. */
static bool fits(struct reading *rd, const struct param *p, struct span at)
{
    struct diag ignored;
    const char *text = lex_unquote(rd->pool, rd->src, at, &ignored);

    return text && value_check(p, text, at, &ignored);
}

/* Is the word written as values of the parameter are, as a number where it takes numbers? */
static bool resembles(const struct reading *rd, const struct param *p, struct span at)
{
    const char *s = rd->src->text + at.at;
    const bool number =
        isdigit((unsigned char)s[0]) || (at.len > 1 && s[0] == '-' && isdigit((unsigned char)s[1]));

    return number == value_is_quantity(p->kind);
}

/* The parameter that the operand in @at is for; N parameters if there is none.  If no optional one
 * takes it, it is a wrong value of the first that it resembles, or of the first of all.
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

/* No operand takes the word: it may be the value of a key that the command still needs, without the
 * key.
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
        return diag_remedy(rd->d, "did you mean \"%s=%s\"?", p->name, raw(rd, at));
    }
    return unknown_key(rd, at, "flag or further operand");
}

static bool take_operand(struct reading *rd, struct span at)
{
    const size_t i = operand_for(rd, at);

    if (i == rd->st->cmd->n_params)
        return too_many(rd, at);
    rd->next_operand = rd->st->cmd->params[i].flags & P_MANY ? i : i + 1;
    return take_values(rd, i, at);
}

/* The flag that the word is: NAME or, as shells have it, --NAME.  NULL: it is none. */
static const struct param *flag_of(const struct reading *rd, struct span at)
{
    const char *name = raw(rd, at);
    const bool dashed = strncmp(name, "--", 2) == 0;
    const struct param *p = cmd_param(rd->st->cmd, dashed ? name + 2 : name);

    if (!p || p->kind != VAL_FLAG)
        return NULL;
    return (p->flags & P_BEHIND) && !dashed && rd->next_operand == 0 ? NULL : p;
}

/* Is the word the `do` of a block that the command may have? */
static bool begins_block(const struct reading *rd, struct span at)
{
    return (rd->st->cmd->flags & CMD_MAY_BLOCK) && is_text(rd, at, "do");
}

/* An expression runs to the end of the statement, to a KEY=, a flag or a block. */
static bool take_expression(struct reading *rd, size_t i)
{
    struct span at = {look(rd).at.at, 0};

    for (;;) {
        const struct token t = look(rd);
        const size_t key = t.kind == TOKEN_WORD ? key_bytes(rd, t.at) : 0;

        if (t.kind == TOKEN_BAD)
            return false;
        if (t.kind != TOKEN_WORD || flag_of(rd, t.at) || begins_block(rd, t.at) ||
            ((rd->st->cmd->flags & CMD_NAMES) && is_text(rd, t.at, "as")) ||
            (key && cmd_param(rd->st->cmd, raw(rd, (struct span){t.at.at, key}))))
            break;
        next(rd);
        at.len = t.at.at + t.at.len - at.at;
    }
    if (at.len > 0) {
        const char *text = lex_one_line(rd->pool, rd->src->text + at.at, at.len);

        return value_check(&rd->st->cmd->params[i], text, at, rd->d) &&
               step_add(rd->pool, rd->st, i, (struct value){text, at});
    }
    return true;
}

static bool take_as(struct reading *rd, struct span as)
{
    static const struct param name = {.name = "as", .kind = VAL_NEW_NAME};
    const struct token t = next(rd);
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
    if (!text || !value_check(&name, text, t.at, rd->d))
        return false;
    rd->st->as = (struct value){text, t.at};
    return true;
}

/* The expression behind the name of parameter @p, which stands at @at. */
static bool take_named(struct reading *rd, const struct param *p, struct span at)
{
    const size_t i = (size_t)(p - rd->st->cmd->params);

    if (rd->st->args[i].n > 0)
        return take_operand(rd, at);
    if (!take_expression(rd, i))
        return false;
    /* The first value always fits. */
    if (rd->st->args[i].n == 0)
        (void)step_add(rd->pool, rd->st, i, (struct value){"", at});
    return true;
}

/* `-s 64`, as the program itself takes it; a flag has no value. */
static bool take_letter(struct reading *rd, const struct param *p, struct span at)
{
    const size_t i = (size_t)(p - rd->st->cmd->params);
    struct token t = {.at = at};

    if (p->kind != VAL_FLAG) {
        t = next(rd);
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

/* A word like "-s" or "-s64", for a command that takes such words. */
static bool is_letter(const struct reading *rd, struct span at)
{
    const char *s = rd->src->text + at.at;

    return at.len >= 2 && s[0] == '-' && !isdigit((unsigned char)s[1]) &&
           cmd_has_letters(rd->st->cmd);
}

/* The word as one of a sentence.  SENTENCE_NOT: it is a flag, or none of them. */
static enum sentence_take take_of_sentence(struct reading *rd, struct span at)
{
    struct sentence *s = &rd->sentence;
    const struct cmd *cmd = rd->st->cmd;
    const char *text;

    if (!(cmd->flags & CMD_SENTENCE))
        return SENTENCE_NOT;
    if (!s->want && !s->begun && flag_of(rd, at) && !is_text(rd, at, "next"))
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

    if (rd->sentence.want || (!key && !is_text(rd, at, "as") && !is_text(rd, at, "where")))
        of_sentence = take_of_sentence(rd, at);
    if (of_sentence != SENTENCE_NOT)
        return of_sentence == SENTENCE_TOOK;
    if (is_letter(rd, at)) {
        p = at.len == 2 ? cmd_param_of_letter(cmd, rd->src->text[at.at + 1]) : NULL;
        return p ? take_letter(rd, p, at) : unknown_key(rd, at, "option");
    }
    if (is_text(rd, at, "as"))
        return take_as(rd, at);
    if (key) {
        const struct span key_at = {at.at, key};

        p = cmd_param(cmd, raw(rd, key_at));
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
    p = cmd_param(cmd, raw(rd, at));
    if (p && (p->flags & P_NAMED))
        return take_named(rd, p, at);
    if (cmd->flags & CMD_SENTENCE)
        return sentence_unknown(rd->st, raw(rd, at), at, rd->d);
    return take_operand(rd, at);
}

/* Is the next operand an expression, which may be many words?  It has not been given yet. */
static bool wants_expression(const struct reading *rd)
{
    const struct cmd *cmd = rd->st->cmd;
    const size_t i = rd->next_operand;

    return i < cmd->n_params && cmd->params[i].kind == VAL_EXPR &&
           (cmd->params[i].flags & P_OPERAND) && rd->st->args[i].n == 0;
}

/* Everything behind the verb, up to what ends the statement. */
static bool read_words(struct reading *rd)
{
    for (;;) {
        struct token t = look(rd);

        if (t.kind == TOKEN_WORD && wants_expression(rd) && !take_expression(rd, rd->next_operand))
            return false;
        t = look(rd);
        if (t.kind == TOKEN_BAD)
            return false;
        if (t.kind != TOKEN_WORD || begins_block(rd, t.at))
            return true;
        next(rd);
        if (!take_word(rd, t.at))
            return false;
    }
}

static bool read_statement(struct line_reader *r, struct token verb, size_t depth, struct diag *d,
                           struct step **ret);

/* The statements of a block, behind its brace, up to and with the closing one. */
static bool read_block(struct line_reader *r, struct span open, size_t depth, struct diag *d,
                       struct step **ret)
{
    struct step **tail = ret;

    for (;;) {
        const struct token t = take(r, d);

        switch (t.kind) {
        case TOKEN_SEPARATOR:
            continue;
        case TOKEN_CLOSE:
            return true;
        case TOKEN_BAD:
            return false;
        case TOKEN_END:
            diag_set(d, DIAG_SYNTAX, open, "this block does not end");
            return diag_remedy(d, "close it with }");
        case TOKEN_OPEN:
        case TOKEN_WORD:
        case TOKEN_COMMENT:
            if (!read_statement(r, t, depth, d, tail))
                return false;
            tail = &(*tail)->next;
        }
    }
}

/* A comment becomes a note. */
static struct step *comment(struct line_reader *r, struct span at)
{
    struct step *st = step_new(&r->script->pool, &cmd_table[CMD_note], at);
    const char *text = r->script->src.text + at.at + 1;
    size_t n = at.len - 1;

    if (n > 0 && *text == ' ') {
        text++;
        n--;
    }
    /* The first value always fits. */
    (void)step_add(&r->script->pool, st, 0,
                   (struct value){pool_copy(&r->script->pool, text, n), at});
    return st;
}

/* What must follow a statement; a closing brace and a comment stay where they are. */
static bool read_end(struct reading *rd)
{
    const struct token t = look(rd);

    switch (t.kind) {
    case TOKEN_SEPARATOR:
        next(rd);
        return true;
    case TOKEN_END:
    case TOKEN_CLOSE:
    case TOKEN_COMMENT:
        return true;
    case TOKEN_BAD:
        return false;
    case TOKEN_OPEN:
    case TOKEN_WORD:
        break;
    }
    diag_set(rd->d, DIAG_SYNTAX, t.at, "%s",
             t.kind == TOKEN_OPEN ? "no block belongs here" : "one command ends here");
    return diag_remedy(rd->d, "%s",
                       t.kind == TOKEN_OPEN
                           ? "blocks follow \"on HOSTS\", \"repeat N\" and \"break EVENT do\""
                           : "put ; or a line end between commands");
}

static bool read_statement(struct line_reader *r, struct token verb, size_t depth, struct diag *d,
                           struct step **ret)
{
    struct reading rd = {.r = r, .src = &r->script->src, .pool = &r->script->pool, .d = d};
    const struct cmd *cmd;
    struct token t;

    if (verb.kind == TOKEN_COMMENT) {
        *ret = comment(r, verb.at);
        return true;
    }
    if (verb.kind != TOKEN_WORD) {
        diag_set(d, DIAG_SYNTAX, verb.at, "a command is needed here");
        return diag_remedy(d, "a block belongs to \"on HOSTS\" or \"repeat N\"");
    }
    cmd = cmd_find(raw(&rd, verb.at), r->abbreviated);
    if (!cmd)
        return unknown_command(&rd, verb.at);
    if (r->scenario && (cmd->flags & CMD_PROMPT_ONLY)) {
        diag_set(d, DIAG_VALUE, verb.at, "%s cannot be part of a scenario", cmd->name);
        return diag_remedy(d, SCRIPT_FOR_PROMPT_REMEDY);
    }
    rd.st = step_new(rd.pool, cmd, verb.at);
    if (!read_words(&rd) || !sentence_end(&rd.sentence, rd.pool, rd.st, d) ||
        !step_check(rd.st, !r->begun, depth, d))
        return false;
    if (r->scenario && (step_flags(rd.st) & CMD_PROMPT_ONLY)) {
        diag_set(d, DIAG_VALUE, verb.at, SCRIPT_FOR_PROMPT);
        return diag_remedy(d, SCRIPT_FOR_PROMPT_REMEDY);
    }
    r->begun = r->begun || !(cmd->flags & CMD_NOTE);
    t = look(&rd);
    if ((cmd->flags & CMD_BLOCK) || (t.kind == TOKEN_WORD && begins_block(&rd, t.at))) {
        t = next(&rd);
        if (!(cmd->flags & CMD_BLOCK))
            t = next(&rd); /* behind do */
        if (t.kind == TOKEN_BAD)
            return false;
        if (t.kind != TOKEN_OPEN) {
            diag_set(d, DIAG_SYNTAX, t.at, "%s needs a block",
                     cmd->flags & CMD_BLOCK ? cmd->name : "do");
            return diag_remedy(d, "for example: %s", cmd->example);
        }
        if (!read_block(r, t.at, depth + 1, d, &rd.st->body))
            return false;
    }
    *ret = rd.st;
    return read_end(&rd);
}

enum line_result line_next(struct line_reader *r, struct step **ret, struct diag *d)
{
    struct token t;

    do {
        t = take(r, d);
    } while (t.kind == TOKEN_SEPARATOR);
    if (t.kind == TOKEN_BAD)
        return LINE_BAD;
    if (t.kind == TOKEN_END)
        return LINE_END;
    if (t.kind == TOKEN_CLOSE) {
        diag_set(d, DIAG_SYNTAX, t.at, "no block is open here");
        diag_remedy(d, "remove the }");
        return LINE_BAD;
    }
    return read_statement(r, t, 0, d, ret) ? LINE_STEP : LINE_BAD;
}

void line_read_rest(struct line_reader *r, struct lines *l)
{
    struct step **tail = &l->script.first;
    enum line_result result;

    while ((result = line_next(r, tail, &l->wrong)) == LINE_STEP)
        tail = &(*tail)->next;
    *tail = NULL; /* the one that is wrong is not among them */
    l->whole = result == LINE_END;
}

bool line_read_script(struct script *s, struct diag *d)
{
    struct line_reader r = {.script = s, .scenario = true};
    struct step **tail = &s->first;
    size_t bad_at;
    const char *why = source_check_text(&s->src, &bad_at);

    if (why)
        return diag_set(d, DIAG_SYNTAX, (struct span){bad_at, 1}, "%s", why);
    for (;;) {
        struct step *st = NULL;

        switch (line_next(&r, &st, d)) {
        case LINE_END:
            return true;
        case LINE_BAD:
            return false;
        case LINE_STEP:
            break;
        }
        RDL_ASSERT(st);
        if (st->cmd->flags & CMD_HEADER) {
            s->header = st;
            continue;
        }
        *tail = st;
        tail = &st->next;
    }
}

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/lang/line_words.h"
#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"

static bool read_statement(struct line_reader *r, struct token verb, size_t depth, struct diag *d,
                           struct step **ret);

/* Skips the rest of the statement that begins at @from, with its block, after the error in @d,
 * which it reports.  Returns false at the end of the text.
 */
static bool go_on(struct line_reader *r, size_t from, struct diag *d)
{
    struct diag ignored;
    size_t depth = 0;

    script_error(r->script->errors, d, (struct span){from, 0});
    for (;;) {
        const struct token t = line_look(r, &ignored);
        struct span *lost = &r->script->errors->lost[r->script->errors->n_lost - 1];

        lost->len = t.at.at - from;
        if (t.kind == TOKEN_END || t.kind == TOKEN_BAD)
            return false;
        if (depth == 0 && (t.kind == TOKEN_SEPARATOR || t.kind == TOKEN_CLOSE))
            return true;
        depth += t.kind == TOKEN_OPEN;
        depth -= t.kind == TOKEN_CLOSE;
        line_take(r, &ignored);
    }
}

/* Skips the rest of a block of which the opening brace was read. */
static void skip_block(struct line_reader *r)
{
    struct diag ignored;
    size_t depth = 1;

    while (depth > 0) {
        const struct token t = line_take(r, &ignored);

        if (t.kind == TOKEN_END || t.kind == TOKEN_BAD)
            return;
        depth += t.kind == TOKEN_OPEN;
        depth -= t.kind == TOKEN_CLOSE;
    }
}

/* Reads the statements of a block after its opening brace, and the closing brace. */
static bool read_block(struct line_reader *r, struct span open, size_t depth, struct diag *d,
                       struct step **ret)
{
    struct step **tail = ret;

    for (;;) {
        const struct token t = line_take(r, d);

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
            if (read_statement(r, t, depth, d, tail)) {
                tail = &(*tail)->next;
                continue;
            }
            *tail = NULL;
            if (!r->script->errors || !go_on(r, t.at.at, d))
                return false;
        }
    }
}

/* Converts a comment to a `note` step. */
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

/* Checks the token after a statement.  It does not consume a closing brace or a comment. */
static bool read_end(struct reading *rd)
{
    const struct token t = reading_look(rd);

    switch (t.kind) {
    case TOKEN_SEPARATOR:
        reading_next(rd);
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
                           ? "blocks follow on, repeat, foreach, if, macro, and \"break EVENT do\""
                           : "put ; or a line end between commands");
}

/* Returns true if @name is a defined macro, or the one being defined. */
static bool is_macro(const struct line_reader *r, const char *name)
{
    return macro_find(&r->script->macros, name) || macro_find(r->script->known, name) ||
           (r->defines && strcmp(r->defines, name) == 0);
}

/* Reports an abbreviation that fits several commands.  Returns false if it does not. */
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
    const char *name = reading_raw(rd, at);
    struct suggestion near = suggestion_for(name);

    if (rd->r->abbreviated && ambiguous(rd, at, name))
        return false;
    diag_set(rd->d, DIAG_VALUE, at, "unknown command \"%s\"", name);
    if (reading_is_text(rd, reading_look(rd).at, "="))
        return diag_remedy(rd->d, "what a command makes gets its name by \"as\": alloc_pd as %s",
                           name);
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

/* Finds the command that @verb names.  A macro's name alone is a call. */
static bool read_verb(struct reading *rd, struct token verb)
{
    const char *name = reading_raw(rd, verb.at);
    const struct cmd *cmd = cmd_find(name, false);
    const bool macro = !cmd && is_macro(rd->r, name);

    if (macro)
        cmd = &cmd_table[CMD_call];
    else if (!cmd)
        cmd = cmd_find(name, rd->r->abbreviated);
    if (!cmd)
        return unknown_command(rd, verb.at);
    if (rd->r->scenario && (cmd->flags & CMD_PROMPT_ONLY)) {
        diag_set(rd->d, DIAG_VALUE, verb.at, "%s cannot be part of a scenario", cmd->name);
        return diag_remedy(rd->d, SCRIPT_FOR_PROMPT_REMEDY);
    }
    rd->st = step_new(rd->pool, cmd, verb.at);
    return !macro || step_add(rd->pool, rd->st, 0, (struct value){name, verb.at});
}

/* Reads the opening brace of a block, which must follow the word @behind. */
static bool read_open(struct reading *rd, const char *behind, struct span *ret)
{
    const struct token t = reading_next(rd);

    if (t.kind == TOKEN_BAD)
        return false;
    *ret = t.at;
    if (t.kind == TOKEN_OPEN)
        return true;
    diag_set(rd->d, DIAG_SYNTAX, t.at, "%s needs a block", behind);
    return diag_remedy(rd->d, "for example: %s", rd->st->cmd->example);
}

static bool read_command(struct line_reader *r, struct token verb, size_t depth, struct diag *d,
                         struct step **ret);

/* Reads `else { ... }` or `else if ...`, if it follows. */
static bool read_else(struct reading *rd, size_t depth)
{
    struct token t = reading_look(rd);
    struct span open;

    if (rd->st->cmd != &cmd_table[CMD_if] || t.kind != TOKEN_WORD ||
        !reading_is_text(rd, t.at, "else"))
        return true;
    reading_next(rd);
    t = reading_look(rd);
    if (t.kind == TOKEN_WORD && reading_is_text(rd, t.at, "if"))
        return read_command(rd->r, reading_next(rd), depth + 1, rd->d, &rd->st->other);
    return read_open(rd, "else", &open) &&
           read_block(rd->r, open, depth + 1, rd->d, &rd->st->other);
}

/* Reads the block of a command, with the variables that it defines. */
static bool read_body(struct reading *rd, struct span open, size_t depth)
{
    struct line_reader *r = rd->r;
    const struct var *outer = r->vars, *vars = NULL;
    struct var own = {.outer = outer};
    bool ok = true;

    if (rd->st->cmd == &cmd_table[CMD_foreach]) {
        own.name = step_text(rd->st, "name");
        ok = foreach_check(rd->st, outer, rd->d);
        r->vars = &own;
    } else if (rd->st->cmd == &cmd_table[CMD_macro]) {
        ok = macro_check(rd->st, rd->pool, &vars, rd->d);
        r->vars = vars;
        r->defines = step_text(rd->st, "name");
    }
    if (!ok && r->script->errors)
        skip_block(r);
    ok = ok && read_block(r, open, depth + 1, rd->d, &rd->st->body);
    r->vars = outer;
    if (rd->st->cmd == &cmd_table[CMD_macro])
        r->defines = NULL;
    return ok && read_else(rd, depth);
}

/* Reads the block that the command must or may have. */
static bool read_blocks(struct reading *rd, size_t depth)
{
    const bool must = (rd->st->cmd->flags & CMD_BLOCK) != 0;
    const struct token t = reading_look(rd);
    struct span open;

    if (!must && !(t.kind == TOKEN_WORD && reading_begins_block(rd, t.at)))
        return true;
    if (!must)
        reading_next(rd); /* do */
    return read_open(rd, must ? rd->st->cmd->name : "do", &open) && read_body(rd, open, depth);
}

/* Reads what stands behind the verb.  A word that belongs to another command has a remedy of its
 * own, whether it was refused itself or what followed it.
 */
static bool read_operands(struct reading *rd)
{
    const struct step *st = rd->st;
    const char *leads;

    if (reading_words(rd))
        return true;
    leads = suggest_operand(st->cmd->name, reading_raw(rd, rd->d->at));
    if (!leads && st->cmd->n_params > 0 && st->args[0].n > 0)
        leads = suggest_operand(st->cmd->name, st->args[0].v[0].text);
    return leads && diag_remedy(rd->d, "%s", leads);
}

/* Reads one statement without the separator after it. */
static bool read_command(struct line_reader *r, struct token verb, size_t depth, struct diag *d,
                         struct step **ret)
{
    struct reading rd = {.r = r, .src = &r->script->src, .pool = &r->script->pool, .d = d};

    if (verb.kind == TOKEN_COMMENT) {
        *ret = comment(r, verb.at);
        return true;
    }
    if (verb.kind != TOKEN_WORD) {
        diag_set(d, DIAG_SYNTAX, verb.at, "a command is needed here");
        return diag_remedy(d, "a block belongs to \"on HOSTS\" or \"repeat N\"");
    }
    if (reading_is_text(&rd, verb.at, "else")) {
        diag_set(d, DIAG_SYNTAX, verb.at, "no if is here that this else could belong to");
        return diag_remedy(d, "it stands in the line of the brace that ends the if: } else {");
    }
    if (!read_verb(&rd, verb) || !read_operands(&rd) ||
        !sentence_end(&rd.sentence, rd.pool, rd.st, d) || !step_check(rd.st, !r->begun, depth, d))
        return false;
    if (r->scenario && (step_flags(rd.st) & CMD_PROMPT_ONLY)) {
        diag_set(d, DIAG_VALUE, verb.at, SCRIPT_FOR_PROMPT);
        return diag_remedy(d, SCRIPT_FOR_PROMPT_REMEDY);
    }
    r->begun = r->begun || !(rd.st->cmd->flags & CMD_NOTE);
    if (!read_blocks(&rd, depth))
        return false;
    *ret = rd.st;
    return depth > 0 || expand_whole(r->script, rd.st, d);
}

static bool read_statement(struct line_reader *r, struct token verb, size_t depth, struct diag *d,
                           struct step **ret)
{
    struct reading rd = {.r = r, .src = &r->script->src, .pool = &r->script->pool, .d = d};

    return read_command(r, verb, depth, d, ret) && read_end(&rd);
}

enum line_result line_next(struct line_reader *r, struct step **ret, struct diag *d)
{
    struct token t;

    do {
        t = line_take(r, d);
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
    *tail = NULL; /* drop the invalid statement */
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
        const size_t from = r.at;
        struct step *st = NULL;

        switch (line_next(&r, &st, d)) {
        case LINE_END:
            return true;
        case LINE_BAD:
            if (!s->errors)
                return false;
            if (!go_on(&r, from, d))
                return true;
            continue;
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

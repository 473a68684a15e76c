/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/lang/lex.h"
#include "cli/lang/line.h"

#define INDENT 4u

/* Returns true if the reader would take the word for a flag, or for the name of what follows it. */
static bool looks_like_flag(const struct cmd *cmd, const char *text)
{
    const struct param *p = cmd_param(cmd, text);

    return p && (p->kind == VAL_FLAG || (p->flags & (P_NAMED | P_REST)));
}

static void write_value(FILE *out, const struct cmd *cmd, const struct param *p, const char *text)
{
    if (p->kind != VAL_EXPR && ((p->kind == VAL_TEXT && !(p->flags & P_REST)) ||
                                lex_needs_quotes(text) || looks_like_flag(cmd, text)))
        lex_write_quoted(out, text);
    else
        fputs(text, out);
}

static void write_list(FILE *out, const struct step *st, size_t i, char separator)
{
    const struct arg *a = &st->args[i];

    for (size_t k = 0; k < a->n; k++) {
        if (k)
            fputc(separator, out);
        write_value(out, st->cmd, &st->cmd->params[i], a->v[k].text);
    }
}

/* Returns true if @s must be quoted in a CMD_WORDS command, where every word is a value. */
static bool word_needs_quotes(const char *s)
{
    bool needs = *s == '\0' || *s == '#';

    for (; *s && !needs; s++)
        needs = (unsigned char)*s <= 0x20 || (unsigned char)*s >= 0x7f || strchr(";{}\"\\", *s);
    return needs;
}

/* Writes a word of a call or of a macro's parameters: VALUE, or KEY=VALUE. */
static void write_word(FILE *out, const char *text)
{
    const size_t key =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const char *value = text[key] == '=' && key > 0 ? text + key + 1 : text;

    fprintf(out, " %.*s", (int)(value - text), text);
    if (word_needs_quotes(value))
        lex_write_quoted(out, value);
    else
        fputs(value, out);
}

/* Returns true if @word, unless it is quoted, is KEY=VALUE for a parameter before the words. */
static bool is_keyed(const struct cmd *cmd, const char *word)
{
    const size_t n = strcspn(word, "=");

    for (size_t i = 1; i < cmd->n_params - 1 && word[n]; i++) {
        if (strlen(cmd->params[i].name) == n && memcmp(cmd->params[i].name, word, n) == 0)
            return true;
    }
    return false;
}

/* Writes the words of a CMD_WORDS command.  A call is written as the name of its macro, without
 * `call`.
 */
static void write_words(FILE *out, const struct step *st)
{
    const size_t last = st->cmd->n_params - 1;
    const struct arg *words = &st->args[last];

    if (st->cmd != &cmd_table[CMD_call] || strchr(st->args[0].v[0].text, '$'))
        fprintf(out, "%s ", st->cmd->name);
    fputs(st->args[0].v[0].text, out);
    for (size_t i = 1; i < last; i++) {
        if (st->args[i].n == 0)
            continue;
        fprintf(out, " %s=", st->cmd->params[i].name);
        write_list(out, st, i, ',');
    }
    for (size_t k = 0; k < words->n; k++) {
        if (k == 0 && is_keyed(st->cmd, words->v[k].text)) {
            fputc(' ', out);
            lex_write_quoted(out, words->v[k].text);
        } else {
            write_word(out, words->v[k].text);
        }
    }
}

/* Writes operands by position up to the first optional one that is missing, the others as
 * KEY=VALUE.
 */
static void write_operands(FILE *out, const struct step *st)
{
    bool by_place = true;

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];

        if (!(p->flags & P_OPERAND))
            continue;
        if (st->args[i].n == 0) {
            by_place = by_place && !step_wants(st, i);
            continue;
        }
        by_place = by_place && step_wants(st, i);
        fputc(' ', out);
        if (!by_place)
            fprintf(out, "%s=", p->name);
        write_list(out, st, i, p->flags & P_MANY ? ' ' : ',');
    }
}

/* A P_BEHIND flag without operands before it is written as --NAME, so that it is not read as an
 * operand.
 */
static void write_flags(FILE *out, const struct step *st)
{
    bool operands = false;

    for (size_t i = 0; i < st->cmd->n_params; i++)
        operands = operands || ((st->cmd->params[i].flags & P_OPERAND) && st->args[i].n > 0);
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];

        if (p->kind == VAL_FLAG && st->args[i].n)
            fprintf(out, " %s%s", (p->flags & P_BEHIND) && !operands ? "--" : "", p->name);
    }
}

static void write_note(FILE *out, const struct step *st)
{
    const char *text = step_text(st, "text");

    /* A note of several lines cannot be a comment; an editor could remove blanks at its end. */
    if (strpbrk(text, "\n\r") || (*text && text[strlen(text) - 1] == ' ')) {
        fputs("note ", out);
        lex_write_quoted(out, text);
    } else {
        fputs(*text ? "# " : "#", out);
        fputs(text, out);
    }
}

static void write_steps(FILE *out, const struct step *first, const char *lead, size_t depth);

static void write_block(FILE *out, const struct step *first, const char *lead, size_t depth)
{
    fputs(" {\n", out);
    write_steps(out, first, lead, depth + 1);
    fprintf(out, "%s%*s}", lead, (int)(depth * INDENT), "");
}

/* Writes the block of @st and its `else` blocks. */
static void write_blocks(FILE *out, const struct step *st, const char *lead, size_t depth)
{
    const struct step *other = st->other;

    if (st->cmd->flags & CMD_BLOCK)
        write_block(out, st->body, lead, depth);
    if (!other)
        return;
    fputs(" else", out);
    if (other->next || other->cmd != &cmd_table[CMD_if]) {
        write_block(out, other, lead, depth);
        return;
    }
    fprintf(out, " if %s", step_text(other, "that"));
    write_blocks(out, other, lead, depth);
}

/* Writes one step without its line end.  A block takes several lines, each after @lead. */
static void write_step(FILE *out, const struct step *st, const char *lead, size_t depth)
{
    fprintf(out, "%s%*s", lead, (int)(depth * INDENT), "");
    if (st->cmd->flags & CMD_NOTE) {
        write_note(out, st);
        return;
    }
    if (st->cmd->flags & CMD_WORDS) {
        write_words(out, st);
        write_blocks(out, st, lead, depth);
        return;
    }
    fputs(st->cmd->name, out);
    write_operands(out, st);
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];

        if ((p->flags & P_OPERAND) || p->kind == VAL_FLAG || st->args[i].n == 0)
            continue;
        fprintf(out, p->flags & (P_NAMED | P_REST) ? " %s" : " %s=", p->name);
        if ((p->flags & P_REST) || ((p->flags & P_NAMED) && st->args[i].v[0].text[0]))
            fputc(' ', out);
        write_list(out, st, i, ',');
    }
    write_flags(out, st);
    if (st->as.text) {
        fputs(" as ", out);
        if (lex_needs_quotes(st->as.text)) /* it has a variable */
            lex_write_quoted(out, st->as.text);
        else
            fputs(st->as.text, out);
    }
    write_blocks(out, st, lead, depth);
}

/* Writes each step on a line, indented by @depth blocks. */
static void write_steps(FILE *out, const struct step *first, const char *lead, size_t depth)
{
    for (const struct step *st = first; st; st = st->next) {
        write_step(out, st, lead, depth);
        fputc('\n', out);
    }
}

static bool is_empty(const struct step *header)
{
    for (size_t i = 0; i < header->cmd->n_params; i++) {
        if (header->args[i].n > 0)
            return false;
    }
    return true;
}

void line_write_step(FILE *out, const struct step *st, const char *lead)
{
    write_step(out, st, lead, 0);
    fputc('\n', out);
}

void line_write_script(FILE *out, const struct script *s)
{
    if (s->header && !is_empty(s->header))
        line_write_step(out, s->header, "");
    write_steps(out, s->first, "", 0);
}

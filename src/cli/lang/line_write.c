/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/lang/lex.h"
#include "cli/lang/line.h"

#define INDENT 4u

/* Would the word be taken for a flag of its command, or the name of an expression? */
static bool looks_like_flag(const struct cmd *cmd, const char *text)
{
    const struct param *p = cmd_param(cmd, text);

    return p && (p->kind == VAL_FLAG || (p->flags & P_NAMED));
}

static void write_value(FILE *out, const struct cmd *cmd, const struct param *p, const char *text)
{
    if (p->kind != VAL_EXPR &&
        (p->kind == VAL_TEXT || lex_needs_quotes(text) || looks_like_flag(cmd, text)))
        lex_write_quoted(out, text);
    else
        fputs(text, out);
}

/* The values of parameter @i. */
static void write_list(FILE *out, const struct step *st, size_t i, char separator)
{
    const struct arg *a = &st->args[i];

    for (size_t k = 0; k < a->n; k++) {
        if (k)
            fputc(separator, out);
        write_value(out, st->cmd, &st->cmd->params[i], a->v[k].text);
    }
}

/* Operands go by place until an optional one is missing; from there on they need their keys. */
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

/* One that stands behind operands would be taken for one where there are none. */
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

    /* A comment has one line; blanks at its end would get lost in an editor. */
    if (strpbrk(text, "\n\r") || (*text && text[strlen(text) - 1] == ' ')) {
        fputs("note ", out);
        lex_write_quoted(out, text);
    } else {
        fputs(*text ? "# " : "#", out);
        fputs(text, out);
    }
}

static void write_steps(FILE *out, const struct step *first, const char *lead, size_t depth);

/* One step without its line end; a block gets several lines, each behind @lead. */
static void write_step(FILE *out, const struct step *st, const char *lead, size_t depth)
{
    fprintf(out, "%s%*s", lead, (int)(depth * INDENT), "");
    if (st->cmd->flags & CMD_NOTE) {
        write_note(out, st);
        return;
    }
    fputs(st->cmd->name, out);
    write_operands(out, st);
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];

        if ((p->flags & P_OPERAND) || p->kind == VAL_FLAG || st->args[i].n == 0)
            continue;
        fprintf(out, p->flags & P_NAMED ? " %s" : " %s=", p->name);
        if ((p->flags & P_NAMED) && st->args[i].v[0].text[0])
            fputc(' ', out);
        write_list(out, st, i, ',');
    }
    write_flags(out, st);
    if (st->as.text)
        fprintf(out, " as %s", st->as.text);
    if (st->cmd->flags & CMD_BLOCK) {
        fputs(" {\n", out);
        write_steps(out, st->body, lead, depth + 1);
        fprintf(out, "%s%*s}", lead, (int)(depth * INDENT), "");
    }
}

/* Each on a line, indented by @depth blocks. */
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

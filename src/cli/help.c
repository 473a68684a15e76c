/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

#include "cli/suggest.h"
#include "emu/base/quantity.h"

#define NAME_COLUMN 14
#define KEY_COLUMN  20

/* What stands for a value in a usage line: "SIZE", "rc|uc|...", "PD". */
static void add_placeholder(struct text *t, const struct param *p)
{
    const char *object;

    switch (p->kind) {
    case VAL_OBJECT:
        object = enum_name(&enum_object, p->object);
        text_add(t, object);
        break;
    case VAL_WORD:
        for (size_t i = 0; i < p->words->n_rows && p->words->n_rows <= 6; i++) {
            char word[VALUE_WORD_BYTES];

            value_word_text(p->words, &p->words->rows[i], word);
            text_addf(t, i ? "|%s" : "%s", word);
        }
        if (p->words->n_rows > 6)
            for (const char *s = p->name; *s; s++)
                text_addf(t, "%c", toupper((unsigned char)*s));
        break;
    default:
        text_add(t, value_kinds[p->kind].placeholder);
        break;
    }
    if (p->flags & P_MANY)
        text_add(t, "...");
    else if (p->flags & P_LIST)
        text_add(t, ",...");
}

static void add_param(struct text *t, const struct param *p)
{
    const bool optional = !(p->flags & P_REQUIRED);

    text_add(t, optional ? " [" : " ");
    if (p->kind == VAL_FLAG) {
        text_add(t, p->name);
    } else {
        if (!(p->flags & P_OPERAND))
            text_addf(t, "%s=", p->name);
        add_placeholder(t, p);
    }
    text_add(t, optional ? "]" : "");
}

void help_usage(FILE *out, const struct cmd *cmd)
{
    char buf[2048];
    struct text t = text_on(buf, sizeof(buf));

    text_add(&t, cmd->name);
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].flags & P_OPERAND)
            add_param(&t, &cmd->params[i]);
    }
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (!(cmd->params[i].flags & P_OPERAND))
            add_param(&t, &cmd->params[i]);
    }
    if (cmd->flags & CMD_NAMES)
        text_add(&t, " [as NAME]");
    if (cmd->flags & CMD_BLOCK)
        text_add(&t, " { ... }");
    fprintf(out, "%s\n", buf);
}

static void print_words(FILE *out, const struct enum_table *words)
{
    for (size_t i = 0; i < words->n_rows; i++) {
        char word[VALUE_WORD_BYTES];

        value_word_text(words, &words->rows[i], word);
        fprintf(out, "%s%s", i ? ", " : "", word);
    }
}

static void print_range(FILE *out, const struct param *p)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));
    const enum quantity q = p->kind == VAL_SIZE   ? QUANTITY_SIZE
                            : p->kind == VAL_TIME ? QUANTITY_TIME
                            : p->kind == VAL_RATE ? QUANTITY_RATE
                                                  : QUANTITY_NUMBER;

    if (p->max == 0)
        return;
    quantity_add(&t, q, p->min);
    text_add(&t, " .. ");
    quantity_add(&t, q, p->max);
    fprintf(out, " (%s)", buf);
}

static void print_param(FILE *out, const struct param *p)
{
    char buf[256];
    struct text t = text_on(buf, sizeof(buf));

    add_param(&t, p);
    fprintf(out, "  %-*s %s", KEY_COLUMN, buf + 1, p->help);
    print_range(out, p);
    if (p->standard)
        fprintf(out, "; default %s", p->standard);
    fputc('\n', out);
    if ((p->kind == VAL_WORD && p->words->n_rows > 6) || p->kind == VAL_SET) {
        fprintf(out, "  %-*s   ", KEY_COLUMN, "");
        print_words(out, p->words);
        fputc('\n', out);
    }
}

void help_command(FILE *out, const struct cmd *cmd)
{
    fprintf(out, "%s: %s\n\n", cmd->name, cmd->summary);
    fputs("usage: ", out);
    help_usage(out, cmd);
    for (size_t i = 0; i < cmd->n_params; i++)
        print_param(out, &cmd->params[i]);
    fprintf(out, "\nexample: %s\n", cmd->example);
    if (cmd->before != BEFORE_NOTHING)
        fprintf(out, "after:\n%s", examples_before[cmd->before]);
}

void help_class(FILE *out, enum cmd_class class)
{
    fprintf(out, "%s: %s\n", cmd_classes[class].name, cmd_classes[class].what);
    for (size_t i = 0; i < N_CMDS; i++) {
        if (cmd_table[i].class == class)
            fprintf(out, "  %-*s %s\n", NAME_COLUMN, cmd_table[i].name, cmd_table[i].summary);
    }
}

void help_overview(FILE *out)
{
    for (unsigned c = 0; c < N_CLASSES; c++) {
        size_t column = NAME_COLUMN;

        fprintf(out, "%-*s", NAME_COLUMN, cmd_classes[c].name);
        for (size_t i = 0; i < N_CMDS; i++) {
            if (cmd_table[i].class != c)
                continue;
            if (column + strlen(cmd_table[i].name) > 90) {
                fprintf(out, "\n%-*s", NAME_COLUMN, "");
                column = NAME_COLUMN;
            }
            fprintf(out, " %s", cmd_table[i].name);
            column += strlen(cmd_table[i].name) + 1;
        }
        fputc('\n', out);
    }
    fputs("\"help CLASS\" or \"help COMMAND\" tells more, \"explain WORD\" what a word of RDMA "
          "means\n",
          out);
}

bool help_topic(FILE *out, const char *topic)
{
    const struct cmd *cmd = cmd_find(topic, false);
    bool known = cmd != NULL;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (strcmp(cmd_classes[c].name, topic) != 0)
            continue;
        help_class(out, (enum cmd_class)c);
        if (known)
            fputc('\n', out);
        known = true;
    }
    if (cmd)
        help_command(out, cmd);
    return known;
}

const char *help_suggest(const char *topic)
{
    struct suggestion near = suggestion_for(topic);

    for (size_t i = 0; i < N_CMDS; i++)
        suggest_offer(&near, cmd_table[i].name);
    for (unsigned c = 0; c < N_CLASSES; c++)
        suggest_offer(&near, cmd_classes[c].name);
    return near.best;
}

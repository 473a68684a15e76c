/* SPDX-License-Identifier: MIT */
#include "cli/help/help.h"

#include <string.h>

#include "cli/lang/json_parts.h"
#include "cli/lang/line.h"
#include "cli/lang/suggest.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "print/show_text.h"

#define FIRST_COLUMN   42u /* of the texts of the commands to begin with */
#define NAME_COLUMN    14
#define KEY_COLUMN     20
#define WORDS_IN_USAGE 6u /* longer enumerations are listed below the usage */

static void add_choice(struct text *t, const struct enum_table *words)
{
    for (size_t i = 0; i < words->n_rows; i++) {
        char word[VALUE_WORD_BYTES];

        value_word_text(words, &words->rows[i], word);
        text_addf(t, i ? "|%s" : "%s", word);
    }
}

/* Appends the placeholder of a value in a usage line: "SIZE", "rc|uc|...", "PD". */
static void add_placeholder(struct text *t, const struct param *p)
{
    if (p->shown) {
        text_add(t, p->shown);
        return;
    }
    if (p->kind == VAL_OBJECT)
        text_add(t, enum_name(&enum_object, p->object));
    else if (p->kind == VAL_WORD && p->words->n_rows <= WORDS_IN_USAGE)
        add_choice(t, p->words);
    else
        text_add(t, value_kinds[p->kind].placeholder);
    if (p->flags & P_MANY)
        text_add(t, "...");
    else if (p->flags & P_LIST)
        text_add(t, ",...");
}

static void add_param(struct text *t, const struct param *p)
{
    const bool optional = !(p->flags & P_REQUIRED) || p->after;

    text_add(t, optional ? " [" : " ");
    if (p->kind == VAL_FLAG) {
        text_add(t, p->name);
    } else {
        if (!(p->flags & P_OPERAND))
            text_addf(t, p->flags & (P_NAMED | P_REST) ? "%s " : "%s=", p->name);
        add_placeholder(t, p);
    }
    text_add(t, optional ? "]" : "");
}

/* Prints @s in lines wrapped at blanks. */
static void print_wrapped(FILE *out, const char *s)
{
    const size_t columns = show_columns(out);
    size_t column = strlen("usage: ");

    while (*s) {
        const size_t n = strcspn(s + 1, " ") + 1; /* a word and the blank before it */

        if (column + n > columns) {
            fputs("\n      ", out);
            column = 6;
        }
        fprintf(out, "%.*s", (int)n, s);
        column += n;
        s += n;
    }
    fputc('\n', out);
}

/* Returns true if @p is a parameter of every host, and @cmd, which adds hosts of another kind, has
 * it only because of that.  "help host" describes it.
 */
static bool is_of_every_host(const struct cmd *cmd, const struct param *p)
{
    const struct param *same = cmd_param(&cmd_table[CMD_host], p->name);

    return (cmd == &cmd_table[CMD_machine] || cmd == &cmd_table[CMD_guest]) && same &&
           strcmp(same->help, p->help) == 0;
}

/* Returns true if @cmd has parameters that "help host" describes. */
static bool has_those_of_hosts(const struct cmd *cmd)
{
    size_t i = 0;

    while (i < cmd->n_params && !is_of_every_host(cmd, &cmd->params[i]))
        i++;
    return i < cmd->n_params;
}

/* Prints a usage line: "post_send QP [wr_id=N] ... [as NAME]". */
static void print_usage(FILE *out, const struct cmd *cmd)
{
    char buf[2048];
    struct text t = text_on(buf, sizeof(buf));

    text_add(&t, cmd->name);
    for (size_t i = 0; i < cmd->n_params; i++) {
        if ((cmd->params[i].flags & P_OPERAND) || (cmd->flags & CMD_WORDS))
            add_param(&t, &cmd->params[i]);
    }
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (!(cmd->params[i].flags & P_OPERAND) && !(cmd->flags & CMD_WORDS) &&
            !is_of_every_host(cmd, &cmd->params[i]))
            add_param(&t, &cmd->params[i]);
    }
    if (has_those_of_hosts(cmd))
        text_add(&t, " [KEY=VALUE of a host]...");
    if (cmd->flags & CMD_NAMES)
        text_add(&t, " [as NAME]");
    if (cmd->flags & CMD_BLOCK)
        text_add(&t, cmd == &cmd_table[CMD_if] ? " { ... } [else { ... }]" : " { ... }");
    if (cmd->flags & CMD_MAY_BLOCK)
        text_add(&t, " [do { ... }]");
    print_wrapped(out, buf);
}

/* Prints all words of an enumeration, indented below the parameter's description. */
static void print_words(FILE *out, const struct enum_table *words)
{
    const size_t indent = KEY_COLUMN + 5, columns = show_columns(out);
    size_t column = indent;

    fprintf(out, "%*s", (int)indent, "");
    for (size_t i = 0; i < words->n_rows; i++) {
        char word[VALUE_WORD_BYTES];

        value_word_text(words, &words->rows[i], word);
        if (i > 0 && column + strlen(word) + 3 > columns) {
            fprintf(out, ",\n%*s", (int)indent, "");
            column = indent;
        } else if (i > 0) {
            fputs(", ", out);
            column += 2;
        }
        fputs(word, out);
        column += strlen(word);
    }
    fputc('\n', out);
}

static void add_range(struct text *t, const struct param *p)
{
    if (p->max == 0)
        return;
    text_add(t, " (");
    value_add_bound(t, p, p->min);
    text_add(t, " .. ");
    value_add_bound(t, p, p->max);
    text_add(t, ")");
}

/* Returns true if scenarios in JSON have steps of @cmd. */
static bool is_in_json(const struct cmd *cmd)
{
    return !(cmd->flags & (CMD_PROMPT_ONLY | CMD_HEADER));
}

/* Prints @p; @in_json: also the key of an operand, of which a line shows only the kind of value. */
static void print_param(FILE *out, const struct param *p, bool in_json)
{
    char lead[128], buf[512];
    struct text l = text_on(lead, sizeof(lead)), t = text_on(buf, sizeof(buf));

    text_add(&l, " ");
    add_param(&l, p);
    text_add(&l, " ");
    if (p->letter)
        text_addf(&t, "-%c: ", p->letter);
    if (p->after)
        text_addf(&t, "behind %s: ", p->after);
    text_add(&t, p->help);
    add_range(&t, p);
    if (p->standard || p->otherwise)
        text_addf(&t, "; default %s", p->standard ? p->standard : p->otherwise);
    if (in_json && (p->flags & P_OPERAND))
        text_addf(&t, "; in JSON \"%s\"", p->json ? p->json : p->name);
    show_wrap_behind(out, lead, KEY_COLUMN + 3, buf);
    if ((p->kind == VAL_WORD && p->words->n_rows > WORDS_IN_USAGE) || p->kind == VAL_SET)
        print_words(out, p->words);
}

/* Appends the words of the permissions in @set: "programs,ports". */
static void add_permissions(struct text *t, unsigned set)
{
    for (unsigned p = 0; p < N_PERMITS; p++) {
        if (set >> p & 1)
            text_addf(t, "%s%s", set & ((1u << p) - 1) ? "," : "", permit_word((enum permit)p));
    }
}

/* Prints the permissions that @cmd needs in a script, if it opens something outside of the lab. */
static void print_permissions(FILE *out, const struct cmd *cmd)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    unsigned set = 0;

    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].opens != OPENS_NOTHING)
            set |= 1u << opening_permit(cmd->params[i].opens);
    }
    if (set == 0)
        return;
    text_add(&t, "In a script ");
    if (set & ~PERMIT_BIT(FILES)) {
        text_add(&t, "it needs --allow ");
        add_permissions(&t, set & ~PERMIT_BIT(FILES));
    }
    if (set & PERMIT_BIT(FILES))
        text_addf(&t, "%sfiles outside of the script's directory need --allow %s",
                  set & ~PERMIT_BIT(FILES) ? ", and " : "", permit_word(PERMIT_FILES));
    text_add(&t, "; book/sandbox.md tells more.");
    show_wrap(out, 0, buf);
    fputc('\n', out);
}

/* Returns the first step of @cmd in the list @st or its blocks, whose depth is bounded, or NULL. */
static const struct step *find_step(const struct step *st, const struct cmd *cmd)
{
    const struct step *found = NULL;

    for (; st && !found; st = st->next)
        found = st->cmd == cmd ? st : find_step(st->body, cmd);
    return found;
}

/* Prints the first step of @cmd in its example as JSON. */
static void print_json_example(FILE *out, const struct cmd *cmd)
{
    struct script s = {.src = source_typed(cmd->example)};
    struct line_reader r = {.script = &s};
    const struct step *found = NULL;
    struct step *st = NULL;
    struct diag ignored;

    while (!found && line_next(&r, &st, &ignored) == LINE_STEP)
        found = find_step(st, cmd);
    if (found) {
        fputs("in JSON: ", out);
        json_write_step(out, found, 0);
        fputc('\n', out);
    }
    script_done(&s);
}

/* Prints the whole help of a command: usage, parameters, example. */
static void print_command(FILE *out, const struct cmd *cmd)
{
    const bool in_json = is_in_json(cmd);
    char lead[VALUE_WORD_BYTES + 2];
    struct text t = text_on(lead, sizeof(lead));

    text_addf(&t, "%s: ", cmd->name);
    show_wrap_behind(out, lead, 2, cmd->summary);
    fputc('\n', out);
    fputs("usage: ", out);
    print_usage(out, cmd);
    if ((cmd->flags & CMD_SENTENCE) && cmd_param(cmd, "queue"))
        fputs("or a sentence, as in the example; \"explain sentence\"\n", out);
    else if (cmd->flags & CMD_SENTENCE)
        fprintf(out, "or a sentence: %s the 2nd READ response of h1.qp; \"explain sentence\"\n",
                cmd->name);
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (!is_of_every_host(cmd, &cmd->params[i]))
            print_param(out, &cmd->params[i], in_json);
    }
    if (has_those_of_hosts(cmd))
        show_wrap(out, 0,
                  "Its addresses, its device and its driver are those of any host: \"help host\" "
                  "lists them.");
    fputc('\n', out);
    if (cmd->flags & CMD_ALONE)
        fputs("It works neither in a block nor in a sourced file: it is a line of its own.\n\n",
              out);
    print_permissions(out, cmd);
    if (cmd->before != BEFORE_NOTHING)
        fprintf(out, "after:\n%s", examples_before[cmd->before]);
    fprintf(out, "example: %s\n", cmd->example);
    if (in_json)
        print_json_example(out, cmd);
}

/* Column of the summaries: after the longest name of the class. */
static unsigned summary_column(enum cmd_class class)
{
    size_t longest = 0;

    for (size_t i = 0; i < N_CMDS; i++) {
        const size_t n = strlen(cmd_table[i].name);

        if (cmd_table[i].class == class && n > longest)
            longest = n;
    }
    return (unsigned)(strlen("  ") + longest + strlen(" "));
}

static void print_class(FILE *out, enum cmd_class class)
{
    const unsigned column = summary_column(class);
    char head[SHOW_LINE_BYTES];
    struct text h = text_on(head, sizeof(head));

    text_addf(&h, "%s: %s", cmd_classes[class].name, cmd_classes[class].what);
    show_hanging(out, 2, head);
    for (size_t i = 0; i < N_CMDS; i++) {
        char lead[SHOW_LINE_BYTES];
        struct text t = text_on(lead, sizeof(lead));

        if (cmd_table[i].class != class)
            continue;
        text_addf(&t, "  %s", cmd_table[i].name);
        show_wrap_behind(out, lead, column, cmd_table[i].summary);
    }
}

/* Prints the commands to begin with, which a long list hides. */
static void print_first(FILE *out)
{
    static const struct {
        const char *line, *what;
    } rows[] = {
        {"setup", "two hosts that can exchange messages at once"},
        {"post_recv h2.qp sge=mr[0:1k]", "a buffer for a message"},
        {"post_send h1.qp sge=mr[0:64] signaled", "a message"},
        {"run", "lets time pass until nothing is left to do"},
        {"why", "tells what led to the last failure; \"why not\" what is missing"},
        {"show", "the lab now; \"show h1.qp\" one object"},
        {"tour", "lessons at the prompt"},
    };

    fputs("To begin with:\n", out);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char lead[SHOW_LINE_BYTES];
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %s", rows[i].line);
        show_wrap_behind(out, lead, FIRST_COLUMN, rows[i].what);
    }
    fputs("All commands:\n", out);
}

void help_overview(FILE *out)
{
    const size_t columns = show_columns(out);

    print_first(out);
    for (unsigned c = 0; c < N_CLASSES; c++) {
        size_t column = NAME_COLUMN;

        fprintf(out, "%-*s", NAME_COLUMN, cmd_classes[c].name);
        for (size_t i = 0; i < N_CMDS; i++) {
            if (cmd_table[i].class != c)
                continue;
            if (column + strlen(cmd_table[i].name) + 1 > columns) {
                fprintf(out, "\n%-*s", NAME_COLUMN, "");
                column = NAME_COLUMN;
            }
            fprintf(out, " %s", cmd_table[i].name);
            column += strlen(cmd_table[i].name) + 1;
        }
        fputc('\n', out);
    }
    show_wrap(out, 0,
              "\"help CLASS\" or \"help COMMAND\" tells more, \"explain WORD\" what a word of RDMA "
              "means");
}

bool help_topic(FILE *out, const char *topic)
{
    const struct cmd *cmd = cmd_find(topic, false);
    bool known = cmd != NULL;

    for (unsigned c = 0; c < N_CLASSES; c++) {
        if (strcmp(cmd_classes[c].name, topic) != 0)
            continue;
        print_class(out, (enum cmd_class)c);
        if (known)
            fputc('\n', out);
        known = true;
    }
    if (cmd)
        print_command(out, cmd);
    return known;
}

bool help_part(FILE *out, const char *topic, const char *part)
{
    const struct cmd *cmd = cmd_find(topic, false);
    const struct param *p = cmd ? cmd_param(cmd, part) : NULL;

    if (p)
        print_param(out, p, is_in_json(cmd));
    return p != NULL;
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

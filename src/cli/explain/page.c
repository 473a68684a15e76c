/* SPDX-License-Identifier: MIT */
#include "cli/explain/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/see_here.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/cite.h"
#include "print/show_text.h"
#include "process/must.h"

#define ASK_COLUMN   60u /* of a named thing: the column of the command that prints it */
#define FIRST_COLUMN 18u /* of the first cell of a table */
#define TOGETHER_MAX 2u  /* of more things one is printed, and the others are named */
#define NAMES_LEAST  3u  /* things are named where at least so many lines are left */

enum page_row_kind {
    ROW_THING,
    ROW_FIELDS,
    ROW_MEANING,
    ROW_LINE,
    ROW_WRAP,
    ROW_COLUMNS,
    ROW_SEE,
    ROW_EXAMPLE
};

struct page_row {
    enum page_row_kind kind;
    char *text; /* of a thing: what to ask for it */
    char *lead; /* at the left of the first line, NULL: the line is not indented */
    char *others[PAGE_COLUMNS_MAX - 1]; /* of a table: the cells behind @text */
    size_t n_others;
    unsigned indent;
    uint32_t before; /* of an example: enum before */
};

/* A part of a page: rows @from to @to - 1, the first of which begins a thing. */
struct thing {
    size_t from, to;
    size_t lines;
};

void page_init(struct answer_page *p)
{
    *p = (struct answer_page){NULL, 0, 0, 0};
}

void page_done(struct answer_page *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->v[i].text);
        free(p->v[i].lead);
        for (size_t k = 0; k < p->v[i].n_others; k++)
            free(p->v[i].others[k]);
    }
    free(p->v);
}

static char *copy(const char *s)
{
    const size_t bytes = strlen(s) + 1;

    return memcpy(must_malloc(bytes), s, bytes);
}

static struct page_row *add_row(struct answer_page *p, enum page_row_kind kind, const char *text)
{
    struct page_row *row;

    p->v = must_grow(p->v, p->n, &p->room, sizeof(p->v[0]));
    row = &p->v[p->n++];
    *row = (struct page_row){.kind = kind, .text = copy(text)};
    return row;
}

static void add_formatted(struct answer_page *p, enum page_row_kind kind, const char *format,
                          va_list args)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addv(&t, format, args);
    add_row(p, kind, buf);
}

void page_thing(struct answer_page *p, const char *ask, ...)
{
    va_list args;

    va_start(args, ask);
    add_formatted(p, ROW_THING, ask, args);
    va_end(args);
    p->n_things++;
}

void page_fields(struct answer_page *p, const char *ask, ...)
{
    va_list args;

    va_start(args, ask);
    add_formatted(p, ROW_FIELDS, ask, args);
    va_end(args);
    p->n_things++;
}

void page_meaning(struct answer_page *p, const char *word)
{
    add_row(p, ROW_MEANING, word);
    p->n_things++;
}

bool page_has_fields(const struct answer_page *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i].kind == ROW_FIELDS)
            return true;
    }
    return false;
}

void page_line(struct answer_page *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_formatted(p, ROW_LINE, format, args);
    va_end(args);
}

void page_wrap_behind(struct answer_page *p, const char *lead, unsigned indent, const char *s)
{
    struct page_row *row = add_row(p, ROW_WRAP, s);

    row->lead = copy(lead);
    row->indent = indent;
}

void page_wrap(struct answer_page *p, unsigned indent, const char *s)
{
    char lead[SHOW_COLUMNS + 1];
    struct text t = text_on(lead, sizeof(lead));

    text_pad_to(&t, indent);
    page_wrap_behind(p, lead, indent, s);
}

void page_hanging(struct answer_page *p, unsigned indent, const char *s)
{
    add_row(p, ROW_WRAP, s)->indent = indent;
}

void page_cite_behind(struct answer_page *p, const char *lead, unsigned indent, const char *s,
                      bool source)
{
    char buf[CITE_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    cite_add(&t, s, source);
    page_wrap_behind(p, lead, indent, buf);
}

void page_cite(struct answer_page *p, unsigned indent, const char *s, bool source)
{
    char lead[SHOW_COLUMNS + 1];
    struct text t = text_on(lead, sizeof(lead));

    text_pad_to(&t, indent);
    if (s[0])
        page_cite_behind(p, lead, indent, s, source);
}

void page_columns(struct answer_page *p, const char *label, const char *const *cells, size_t n)
{
    struct page_row *row = add_row(p, ROW_COLUMNS, cells[0]);

    row->lead = copy(label);
    row->n_others = n - 1;
    for (size_t i = 1; i < n; i++)
        row->others[i - 1] = copy(cells[i]);
}

void page_see(struct answer_page *p, const char *see)
{
    if (see[0])
        add_row(p, ROW_SEE, see);
}

void page_example(struct answer_page *p, uint32_t before, const char *example)
{
    if (example[0])
        add_row(p, ROW_EXAMPLE, example)->before = before;
}

/* Appends as many words of *@s as fit into @columns, or as much of a longer word.  A line end in
 * *@s ends the line.  Moves *@s behind the words and what separates them from the next ones.
 */
static void add_fitting(struct text *t, const char **s, size_t columns)
{
    size_t n = strcspn(*s, "\n");

    if (n > columns) {
        for (n = columns; n > 0 && (*s)[n] != ' ';)
            n--;
        if (n == 0)
            n = columns;
    }
    text_addn(t, *s, n);
    *s += n;
    *s += strspn(*s, " ");
    *s += **s == '\n';
}

static void print_columns(FILE *out, const struct page_row *row)
{
    const size_t n = row->n_others + 1, columns = (show_columns(out) - FIRST_COLUMN) / n;
    const char *left[PAGE_COLUMNS_MAX] = {row->text};
    char line[SHOW_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));
    bool more = true;

    for (size_t i = 1; i < n; i++)
        left[i] = row->others[i - 1];
    text_addf(&t, "  %s", row->lead);
    while (more) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            text_pad_to(&t, FIRST_COLUMN + i * columns);
            add_fitting(&t, &left[i], columns - (i + 1 < n));
            more = more || *left[i];
        }
        show_line(out, &t);
        t = text_on(line, sizeof(line));
    }
}

/* The lab in which the reader stands. */
struct standing {
    const struct rdl_lab *lab;
    bool known;
};

static void print_see(FILE *out, const char *see, const struct standing *at)
{
    char buf[SEE_HERE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (at->known)
        see_here(&t, at->lab, see);
    else
        text_add(&t, see);
    if (buf[0])
        show_wrap_behind(out, "  see it: ", 10, buf);
}

/* Prints commands, indented.  A line ends between two of them, so that each line can be copied. */
static void print_commands(FILE *out, const char *commands)
{
    const size_t columns = show_columns(out);
    size_t used = 0;

    while (*commands) {
        const char *end = strstr(commands, "; ");
        const size_t n = end ? (size_t)(end - commands) + 1 : strlen(commands);

        if (used > 0 && used + 1 + n > columns) {
            fputc('\n', out);
            used = 0;
        }
        used += (size_t)fprintf(out, "%s%.*s", used ? " " : "    ", (int)n, commands);
        commands += n + (end ? 1 : 0);
    }
    fputc('\n', out);
}

static void print_example(FILE *out, const struct page_row *row, const struct standing *at)
{
    const char *lines = examples_before[row->before];

    if (at->known && !see_is_empty(at->lab)) {
        print_see(out, row->text, at);
        return;
    }
    fputs("  for example, in an empty lab:\n", out);
    while (*lines) {
        const size_t n = strcspn(lines, "\n");
        char line[SHOW_LINE_BYTES];
        struct text t = text_on(line, sizeof(line));

        text_addn(&t, lines, n);
        print_commands(out, line);
        lines += n + (lines[n] == '\n');
    }
    print_commands(out, row->text);
}

static void print_row(FILE *out, const struct page_row *row, const struct standing *at)
{
    switch (row->kind) {
    case ROW_THING:
    case ROW_FIELDS:
    case ROW_MEANING:
        break;
    case ROW_LINE:
        fprintf(out, "%s\n", row->text);
        break;
    case ROW_WRAP:
        if (row->lead)
            show_wrap_behind(out, row->lead, row->indent, row->text);
        else
            show_hanging(out, row->indent, row->text);
        break;
    case ROW_COLUMNS:
        print_columns(out, row);
        break;
    case ROW_SEE:
        print_see(out, row->text, at);
        break;
    case ROW_EXAMPLE:
        print_example(out, row, at);
        break;
    }
}

static bool begins_thing(const struct page_row *row)
{
    return row->kind == ROW_THING || row->kind == ROW_FIELDS || row->kind == ROW_MEANING;
}

/* Returns how many lines of @columns a row takes, as far as it can be told without printing. */
static size_t n_lines(const struct page_row *row, size_t columns, const struct standing *at)
{
    char *text;
    size_t bytes, n = 0;
    FILE *f = must_memstream(&text, &bytes);

    print_row(f, row, at);
    must_memstream_end(f, &text);
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    /* Paragraphs were printed for the widest terminal. */
    if (row->kind != ROW_LINE && n > 0)
        n += bytes / columns - bytes / SHOW_COLUMNS;
    free(text);
    return n;
}

static struct thing next_thing(const struct answer_page *p, size_t from, size_t columns,
                               const struct standing *at)
{
    struct thing t = {.from = from, .to = from + 1};

    RDL_ASSERT(begins_thing(&p->v[from]));
    while (t.to < p->n && !begins_thing(&p->v[t.to])) {
        t.lines += n_lines(&p->v[t.to], columns, at);
        t.to++;
    }
    return t;
}

static void print_thing(FILE *out, const struct answer_page *p, const struct thing *t,
                        const struct standing *at)
{
    for (size_t i = t->from; i < t->to; i++)
        print_row(out, &p->v[i], at);
}

/* Prints the beginning of a thing that is too long, and how to see the rest.  Commands to try are
 * printed in any case: they are its last row.
 */
static size_t print_begin(FILE *out, const struct answer_page *p, const struct thing *t,
                          size_t lines, const struct standing *at)
{
    const size_t columns = show_columns(out);
    size_t used = 0, i = t->from, end = t->to;

    while (end > t->from && p->v[end - 1].kind == ROW_SEE)
        used += n_lines(&p->v[--end], columns, at);
    for (; i < end; i++) {
        const size_t n = n_lines(&p->v[i], columns, at);

        if (used + n > lines && i > t->from + 1)
            break;
        print_row(out, &p->v[i], at);
        used += n;
    }
    if (i < end) {
        fprintf(out, "  ... and more: \"explain %s more\" prints all of it\n", p->v[t->from].text);
        used++;
    }
    for (i = end; i < t->to; i++)
        print_row(out, &p->v[i], at);
    return used;
}

/* Appends the command that prints the thing at row @from. */
static void add_command(struct text *t, const struct answer_page *p, size_t from)
{
    const char *ask = p->v[from].text;

    if (strncmp(ask, "help ", strlen("help ")) == 0)
        text_add(t, ask);
    else
        text_addf(t, "explain %s%s", ask, strcmp(ask, p->v[0].text) == 0 ? " more" : "");
}

/* Appends the beginning of @what: no more than a clause, without the number of an enumeration's
 * row, which says nothing to a reader who chooses.
 */
static void add_short(struct text *t, const char *what)
{
    const size_t room = ASK_COLUMN - 10;
    size_t n = strcspn(what, ":;.,"), blank;

    if (n > room) {
        for (n = room; n > 0 && what[n] != ' ';)
            n--;
        text_addn(t, what, n);
        text_add(t, " ...");
        return;
    }
    for (blank = n; blank > 0 && what[blank - 1] != ' ';)
        blank--;
    if (blank > 1 && what[blank] >= '0' && what[blank] <= '9')
        n = blank - 1;
    text_addn(t, what, n);
}

/* Prints one line about a thing: what it is, and the command that prints it. */
static void print_choice(FILE *out, const char *what, const char *command)
{
    char line[SHOW_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    text_add(&t, "    ");
    add_short(&t, what);
    if (ASK_COLUMN + strlen(command) <= show_columns(out)) {
        text_pad_to(&t, ASK_COLUMN);
        fprintf(out, "%s%s\n", line, command);
    } else {
        text_addf(&t, ": %s", command);
        show_hanging(out, 8, line);
    }
}

/* Prints the line about the thing that begins at row @from. */
static void print_name(FILE *out, const struct answer_page *p, size_t from)
{
    const struct page_row *head = &p->v[from + 1];
    const char *what = strstr(head->text, "   ");
    char command[SHOW_LINE_BYTES];
    struct text c = text_on(command, sizeof(command));

    add_command(&c, p, from);
    if (!what && from + 2 < p->n && p->v[from + 2].kind == ROW_WRAP)
        what = p->v[from + 2].text;
    else
        what = what ? what + 3 : head->text;
    print_choice(out, what, command);
}

/* Prints one line about all things that page_fields() began. */
static void print_fields(FILE *out, const struct answer_page *p)
{
    char command[SHOW_LINE_BYTES];
    struct text c = text_on(command, sizeof(command));

    text_add(&c, "explain ");
    text_addn(&c, p->v[0].text, strcspn(p->v[0].text, " "));
    text_add(&c, " fields");
    print_choice(out, "values and fields of this name", command);
}

/* Names the things from row @from on, in at most @lines lines. */
static void print_names(FILE *out, const struct answer_page *p, size_t from, size_t lines)
{
    size_t n = 0, left = 0, fields = 0;

    for (size_t i = from; i < p->n; i++) {
        left += begins_thing(&p->v[i]);
        fields += p->v[i].kind == ROW_FIELDS;
    }
    if (left == 0)
        return;
    fputs("  also:\n", out);
    if (fields > 1)
        left -= fields - 1;
    for (size_t i = from; i < p->n; i++) {
        if (!begins_thing(&p->v[i]))
            continue;
        if (fields > 1 && p->v[i].kind == ROW_FIELDS)
            continue;
        if (n + 1 >= lines && left > 1)
            break;
        print_name(out, p, i);
        n++;
        left--;
    }
    if (fields > 1) {
        print_fields(out, p);
        left--;
    }
    if (left)
        fprintf(out, "    and %zu more\n", left);
}

static void print_first(FILE *out, const struct answer_page *p, const struct standing *at)
{
    const size_t columns = show_columns(out);
    struct thing t = {0};
    size_t used = 0, all = 0;
    const char *word = p->v[0].text;

    for (size_t i = 0; i < p->n; i = t.to) {
        t = next_thing(p, i, columns, at);
        all += t.lines;
    }
    if (all < PAGE_SCREEN_LINES && p->n_things <= TOGETHER_MAX && p->v[0].kind != ROW_MEANING) {
        for (size_t i = 0; i < p->n; i++)
            print_row(out, &p->v[i], at);
        return;
    }
    t = next_thing(p, 0, columns, at);
    if (p->n_things == 1) {
        print_begin(out, p, &t, PAGE_SCREEN_LINES - NAMES_LEAST, at);
        return;
    }
    used = print_begin(out, p, &t, PAGE_SCREEN_LINES / 2 + NAMES_LEAST, at);
    used = used + NAMES_LEAST < PAGE_SCREEN_LINES ? PAGE_SCREEN_LINES - used - 2 : NAMES_LEAST;
    print_names(out, p, t.to, used);
    if (p->v[0].kind == ROW_MEANING)
        fprintf(out, "  \"explain %s more\" prints all of it\n", word);
}

void page_print(FILE *out, const struct answer_page *p, enum page_part part,
                const struct rdl_lab *lab, bool lab_known)
{
    const struct standing at = {lab, lab_known};
    struct thing t = {0};

    if (p->n == 0)
        return;
    if (part == PAGE_FIRST) {
        print_first(out, p, &at);
        return;
    }
    for (size_t i = 0; i < p->n; i = t.to) {
        t = next_thing(p, i, SHOW_COLUMNS, &at);
        if (part == PAGE_ALL || p->v[i].kind == ROW_FIELDS)
            print_thing(out, p, &t, &at);
    }
}

/* SPDX-License-Identifier: MIT */
#include "print/show_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/must.h"

#define INDENT_MORE 10u /* of the rest of a line that is too long for the terminal */

unsigned show_columns(FILE *out)
{
    const int fd = fileno(out); /* -1: a memory stream */
    struct winsize size;

    if (fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ||
        size.ws_col > SHOW_COLUMNS)
        return SHOW_COLUMNS;
    return size.ws_col < SHOW_COLUMNS_MIN ? SHOW_COLUMNS_MIN : size.ws_col;
}

unsigned show_columns_of_terminal(FILE *out, unsigned otherwise)
{
    const int fd = fileno(out);
    struct winsize size;

    return fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ? otherwise
                                                                           : size.ws_col;
}

unsigned show_lines_of_terminal(FILE *out)
{
    const int fd = fileno(out);
    struct winsize size;

    return fd < 0 || ioctl(fd, TIOCGWINSZ, &size) != 0 ? 0 : size.ws_row;
}

/* Returns how many bytes of @s fit into a line of @room columns, up to a blank if possible. */
static size_t line_bytes(const char *s, size_t room)
{
    const char *end = strchr(s, '\n');
    size_t n = end ? (size_t)(end - s) : strlen(s);

    if (n <= room)
        return n;
    for (size_t i = room; i > 0; i--) {
        if (s[i] == ' ')
            return i;
    }
    n = strcspn(s, " \n"); /* a word that is longer than the line */
    return n;
}

/* Prints @s in lines.  The first has @taken columns in use already, the others are indented. */
static void wrap(FILE *out, size_t taken, unsigned indent, const char *s)
{
    const size_t columns = show_columns(out);
    size_t room = columns > taken ? columns - taken : 0;

    for (bool first = true; *s || first; first = false) {
        const size_t n = line_bytes(s, room);

        if (!first && n)
            fprintf(out, "%*s", (int)indent, "");
        if (n > 0 && utf8_begins_command(s, true)) {
            fprintf(out, "\\x%02x", (unsigned char)*s);
            fprintf(out, "%.*s\n", (int)n - 1, s + 1);
        } else {
            fprintf(out, "%.*s\n", (int)n, s);
        }
        s += n;
        if (*s == '\n')
            s++;
        else
            s += strspn(s, " ");
        room = columns - indent;
    }
}

void show_wrap_behind(FILE *out, const char *lead, unsigned indent, const char *s)
{
    size_t taken = strlen(lead);

    fputs(lead, out);
    for (; taken < indent && s[0]; taken++)
        fputc(' ', out);
    wrap(out, taken, indent, s);
}

void show_hanging(FILE *out, unsigned indent, const char *s)
{
    wrap(out, 0, indent, s);
}

void show_wrap(FILE *out, unsigned indent, const char *s)
{
    show_wrap_behind(out, "", indent, s);
}

void show_long(FILE *out, unsigned indent, const char *s)
{
    const unsigned columns = show_columns_of_terminal(out, 0);
    size_t room = columns;

    if (columns < SHOW_COLUMNS_MIN) {
        fputs(s, out);
        return;
    }
    for (;;) {
        const size_t n = line_bytes(s, room);

        fprintf(out, "%.*s", (int)n, s);
        s += n;
        s += strspn(s, " ");
        if (!*s)
            return;
        fprintf(out, "\n%*s", (int)indent, "");
        room = columns - indent;
    }
}

void show_line(FILE *out, const struct text *t)
{
    char *line;
    size_t n = t->len;

    while (n > 0 && t->buf[n - 1] == ' ')
        n--;
    line = must_malloc(n + 1);
    memcpy(line, t->buf, n);
    line[n] = '\0';
    show_long(out, INDENT_MORE, line);
    fputc('\n', out);
    free(line);
}

void grid_init(struct grid *t, unsigned columns, uint32_t right)
{
    RDL_ASSERT(columns > 0 && columns <= GRID_COLUMNS_MAX);
    *t = (struct grid){.columns = columns, .right = right};
}

void grid_done(struct grid *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i]);
    free(t->cells);
}

void grid_cell(struct grid *t, const char *s)
{
    const size_t bytes = strlen(s) + 1;
    char *copy = must_malloc(bytes);

    t->cells = must_grow(t->cells, t->n, &t->cap, sizeof(*t->cells));
    memcpy(copy, s, bytes);
    t->cells[t->n++] = copy;
}

void grid_cellf(struct grid *t, const char *fmt, ...)
{
    char buf[SHOW_LINE_BYTES];
    struct text text = text_on(buf, sizeof(buf));
    va_list args;

    va_start(args, fmt);
    text_addv(&text, fmt, args);
    va_end(args);
    grid_cell(t, buf);
}

/* A grid that is being printed. */
struct grid_printing {
    const struct grid *grid;
    FILE *out;
    unsigned indent;
    size_t room; /* columns of the terminal; SIZE_MAX: the output is none */
    size_t width[GRID_COLUMNS_MAX];
};

static void add_cell(const struct grid_printing *p, struct text *line, size_t row, unsigned column)
{
    const bool right = (p->grid->right >> column & 1u) != 0;

    text_addf(line, right ? "%*s" : "%-*s", (int)p->width[column], p->grid->cells[row + column]);
    text_add(line, "  ");
}

/* Returns the width of the columns from @from to before @to. */
static size_t width_of(const struct grid_printing *p, unsigned from, unsigned to)
{
    size_t n = 0;

    for (unsigned c = from; c < to; c++)
        n += p->width[c] + 2;
    return n;
}

/* Prints the first column, and those from @from to before @to. */
static void print_block(const struct grid_printing *p, unsigned from, unsigned to)
{
    for (size_t i = 0; i + p->grid->columns <= p->grid->n; i += p->grid->columns) {
        char buf[SHOW_LINE_BYTES];
        struct text line = text_on(buf, sizeof(buf));

        text_addf(&line, "%*s", (int)p->indent, "");
        add_cell(p, &line, i, 0);
        for (unsigned c = from; c < to; c++)
            add_cell(p, &line, i, c);
        show_line(p->out, &line);
    }
}

/* Returns true if each word of the last column fits behind the other columns. */
static bool last_fits(const struct grid_printing *p)
{
    const unsigned last = p->grid->columns - 1;
    const size_t before = p->indent + width_of(p, 0, last);

    for (size_t i = last; i < p->grid->n; i += p->grid->columns) {
        for (const char *s = p->grid->cells[i]; *s; s += strspn(s, " ")) {
            const size_t n = strcspn(s, " ");

            if (before + n > p->room)
                return false;
            s += n;
        }
    }
    return true;
}

/* Prints the last column with its lines below each other. */
static void print_hanging(const struct grid_printing *p)
{
    const unsigned last = p->grid->columns - 1;
    const size_t before = p->indent + width_of(p, 0, last);

    for (size_t i = 0; i + p->grid->columns <= p->grid->n; i += p->grid->columns) {
        char buf[SHOW_LINE_BYTES];
        struct text line = text_on(buf, sizeof(buf));

        text_addf(&line, "%*s", (int)p->indent, "");
        for (unsigned c = 0; c < last; c++)
            add_cell(p, &line, i, c);
        if (p->grid->cells[i + last][0])
            show_wrap_behind(p->out, buf, (unsigned)before, p->grid->cells[i + last]);
        else
            show_line(p->out, &line);
    }
}

/* Prints as many columns as fit, and below them the others, each time behind the first column. */
static void print_blocks(const struct grid_printing *p)
{
    for (unsigned from = 1, to; from < p->grid->columns; from = to) {
        size_t used = p->indent + p->width[0];

        for (to = from; to < p->grid->columns; to++) {
            if (to > from && used + 2 + p->width[to] > p->room)
                break;
            used += 2 + p->width[to];
        }
        if (from > 1)
            fputc('\n', p->out);
        print_block(p, from, to);
    }
}

void grid_print(const struct grid *t, FILE *out, unsigned indent)
{
    struct grid_printing p = {.grid = t, .out = out, .indent = indent};
    const unsigned columns = show_columns_of_terminal(out, UINT32_MAX);

    p.room = columns < SHOW_COLUMNS_MIN ? SHOW_COLUMNS_MIN : columns;
    for (size_t i = 0; i < t->n; i++) {
        const size_t n = strlen(t->cells[i]);

        if (n > p.width[i % t->columns])
            p.width[i % t->columns] = n;
    }
    if (t->columns == 1 || indent + width_of(&p, 0, t->columns) - 2 <= p.room)
        print_block(&p, 1, t->columns);
    else if (last_fits(&p))
        print_hanging(&p);
    else
        print_blocks(&p);
}

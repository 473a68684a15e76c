/* SPDX-License-Identifier: MIT */
#include "print/show_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/must.h"

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

void show_line(FILE *out, const struct text *t)
{
    size_t n = t->len;

    while (n > 0 && t->buf[n - 1] == ' ')
        n--;
    fwrite(t->buf, 1, n, out);
    fputc('\n', out);
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

void grid_print(const struct grid *t, FILE *out, unsigned indent)
{
    size_t width[GRID_COLUMNS_MAX] = {0};

    for (size_t i = 0; i < t->n; i++) {
        const size_t n = strlen(t->cells[i]);

        if (n > width[i % t->columns])
            width[i % t->columns] = n;
    }
    for (size_t i = 0; i + t->columns <= t->n; i += t->columns) {
        char buf[SHOW_LINE_BYTES];
        struct text line = text_on(buf, sizeof(buf));

        text_addf(&line, "%*s", (int)indent, "");
        for (unsigned c = 0; c < t->columns; c++) {
            const bool right = (t->right >> c & 1u) != 0;
            const int w = (int)width[c];

            text_addf(&line, right ? "%*s" : "%-*s", w, t->cells[i + c]);
            text_add(&line, "  ");
        }
        show_line(out, &line);
    }
}

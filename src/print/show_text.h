/* SPDX-License-Identifier: MIT */
/* Prints lines, wrapped paragraphs and aligned grids.  Paragraphs are wrapped to the width of the
 * terminal, at most SHOW_COLUMNS.  A longer word is not broken.
 */
#ifndef PRINT_SHOW_TEXT_H
#define PRINT_SHOW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/text.h"

#define SHOW_COLUMNS     100u
#define SHOW_COLUMNS_MIN 60u  /* a narrower terminal breaks lines itself */
#define SHOW_LINE_BYTES  640u /* more than the longest line, with wide names */

/* Returns the line width for @out: that of its terminal, limited to SHOW_COLUMNS_MIN ..
 * SHOW_COLUMNS, or SHOW_COLUMNS if it is no terminal.
 */
unsigned show_columns(FILE *out);

/* Returns the real number of columns of @out's terminal, or @otherwise if it is no terminal. */
unsigned show_columns_of_terminal(FILE *out, unsigned otherwise);

/* Returns the number of lines of @out's terminal, or 0 if it is no terminal. */
unsigned show_lines_of_terminal(FILE *out);

/* Prints @t without trailing blanks, as show_long() does, and a line end. */
void show_line(FILE *out, const struct text *t);

/* Prints @s wrapped to show_columns(), each line indented by @indent blanks.  Blanks at a line
 * break are not printed.
 */
void show_wrap(FILE *out, unsigned indent, const char *s);

/* Like show_wrap(), with @lead at the left of the first line.  The text follows @lead, but does not
 * begin before column @indent.
 */
void show_wrap_behind(FILE *out, const char *lead, unsigned indent, const char *s);

/* Like show_wrap(), but the first line is not indented. */
void show_hanging(FILE *out, unsigned indent, const char *s);

/* Prints @s, one line without its line end.  On a terminal that is narrower than the line it is
 * broken between words, with the continuation indented by @indent.  Elsewhere it is printed as it
 * is.
 */
void show_long(FILE *out, unsigned indent, const char *s);

#define GRID_COLUMNS_MAX 16u

/* A grid of text cells, filled row by row.  A column is as wide as its widest cell. */
struct grid {
    unsigned columns;
    uint32_t right; /* set of columns (1 << i) that are right-aligned */
    char **cells;   /* owned */
    size_t n, cap;
};

/* Initializes a grid with @columns columns, at most GRID_COLUMNS_MAX.  grid_done() frees the grid.
 */
void grid_init(struct grid *t, unsigned columns, uint32_t right);
void grid_done(struct grid *t);
/* Add the next cell of the row; the cell after the last column begins a new row. */
void grid_cell(struct grid *t, const char *s);
void grid_cellf(struct grid *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the grid, each line behind @indent blanks.  On a terminal that is too narrow the last
 * column is wrapped; if its words do not fit, columns that do not fit are printed below, behind the
 * first one again.  What is no terminal has room for all.
 */
void grid_print(const struct grid *t, FILE *out, unsigned indent);

#endif

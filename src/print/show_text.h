/* SPDX-License-Identifier: MIT */
/* Lines, wrapped paragraphs and aligned grids.  Paragraphs are as wide as the terminal, but at most
 * SHOW_COLUMNS, where words allow it.
 */
#ifndef PRINT_SHOW_TEXT_H
#define PRINT_SHOW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/text.h"

#define SHOW_COLUMNS     100u
#define SHOW_COLUMNS_MIN 60u  /* a terminal that is narrower breaks lines itself */
#define SHOW_LINE_BYTES  640u /* more than any line, for wide names */

/* How wide lines to @out may be: as the terminal that it is, SHOW_COLUMNS_MIN to SHOW_COLUMNS, or
 * SHOW_COLUMNS if it is none.
 */
unsigned show_columns(FILE *out);

/* How many columns the terminal of @out really has, for what stands side by side; @otherwise, if it
 * is none.
 */
unsigned show_columns_of_terminal(FILE *out, unsigned otherwise);

/* How many lines the terminal of @out has; 0, if it is none. */
unsigned show_lines_of_terminal(FILE *out);

/* Prints @t without blanks at its end, and a line end. */
void show_line(FILE *out, const struct text *t);

/* Prints @s in lines of show_columns(), each indented by @indent blanks; blanks at which a line is
 * broken are not printed.
 */
void show_wrap(FILE *out, unsigned indent, const char *s);

/* The same, behind @lead, which stands at the left of the first line; @s begins behind it, or where
 * the other lines do.
 */
void show_wrap_behind(FILE *out, const char *lead, unsigned indent, const char *s);

/* The same with the first line at the left. */
void show_hanging(FILE *out, unsigned indent, const char *s);

#define GRID_COLUMNS_MAX 16u

/* A grid fills row by row; columns get as wide as their widest cell. */
struct grid {
    unsigned columns;
    uint32_t right; /* set of columns (1 << i) that are aligned to the right */
    char **cells;   /* owned */
    size_t n, cap;
};

/* @columns is at most GRID_COLUMNS_MAX; release with grid_done(). */
void grid_init(struct grid *t, unsigned columns, uint32_t right);
void grid_done(struct grid *t);
void grid_cell(struct grid *t, const char *s);
void grid_cellf(struct grid *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Every line begins with @indent blanks. */
void grid_print(const struct grid *t, FILE *out, unsigned indent);

#endif

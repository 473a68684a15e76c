/* SPDX-License-Identifier: MIT */
/* Rows with named columns, written in any form that `show` has: a table for people, a JSON array of
 * objects, one JSON object per line (NDJSON), CSV as in RFC 4180, or a Markdown table.
 *
 * Programs get numbers, times in nanoseconds and sizes in bytes as plain numbers; people get them
 * with units.  An absent value is null in JSON, an empty field in CSV, and "-" for people.
 */
#ifndef CLI_SHOW_SHOW_ROWS_H
#define CLI_SHOW_SHOW_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/base/quantity.h"
#include "emu/facts/leaf.h"
#include "print/show_text.h"
#include "rdmalab/inspect.h"

/* A column. */
struct row_column {
    const char *name; /* the heading; also the key, with '-' for blanks */
    bool right;       /* aligned to the right, for numbers */
    bool flag;        /* the values are true or false */
    bool data;        /* only the forms for programs have it */
    /* Key if it differs from the name, because it contains the unit; NULL: the name. */
    const char *key;
};

/* A table that is being written. */
struct rows {
    FILE *out;
    enum show_form form;
    const struct row_column *columns;
    unsigned n_columns;
    unsigned at;    /* index of the column of the next cell */
    bool is_inside; /* the JSON array is a part of a larger text: it gets no line end */
    size_t n;       /* number of rows so far */
    struct grid grid;
};

/* Begins the output.  Then call one of the next functions for each cell, row by row, and at the end
 * rows_end().  rows_text() writes a text cell, rows_number() a number cell, rows_time() a time in
 * ns, and rows_none() an absent cell.
 */
void rows_begin(struct rows *r, FILE *out, enum show_form form, const struct row_column *columns,
                unsigned n_columns);
void rows_text(struct rows *r, const char *s);
/* Writes a text cell: @raw for programs, @text for people. */
void rows_text_as(struct rows *r, const char *raw, const char *text);
void rows_number(struct rows *r, uint64_t v);
void rows_hex(struct rows *r, uint64_t v); /* a number cell, hexadecimal for people */
void rows_time(struct rows *r, uint64_t ns);
void rows_none(struct rows *r);

/* Writes a number cell: @v for programs, @text for people. */
void rows_number_as(struct rows *r, uint64_t v, const char *text);

/* Writes a cell with a value of the inspect tree. */
void rows_value(struct rows *r, const struct rdl_value *v);

/* Writes a cell with the value of @leaf of @node; if @node has no such leaf, the cell is absent.
 * Unless @unit is QUANTITY_NUMBER, people see the number in that unit.
 */
void rows_leaf(struct rows *r, const struct rdl_lab *lab, const char *node, enum leaf_id leaf,
               enum quantity unit);

/* Ends the table.  If it has no rows, people see the text @none; NULL: nothing. */
void rows_end(struct rows *r, const char *none);

/* Writes the key that the column has in JSON and CSV to @ret, which has RDL_NAME_BYTES bytes. */
void rows_key(const struct row_column *c, char *ret);

/* Returns true for NDJSON, CSV and Markdown, whose rows cannot contain a tree. */
bool rows_are_flat(enum show_form form);

/* Prints @s as a field of CSV, quoted if needed. */
void print_csv_field(FILE *out, const char *s);

#endif

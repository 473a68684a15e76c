/* SPDX-License-Identifier: MIT */
/* Rows with named columns, in each form that `show` knows: a table for people, a JSON array of
 * objects, one object a line (NDJSON), CSV of RFC 4180, and a table of Markdown.
 *
 * A number, a time in nanoseconds and a size in bytes are plain numbers for programs, and have
 * their units for people.  What is not there is null, an empty field of CSV, and "-" for people.
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

struct row_column {
    const char *name; /* the heading, and with '-' for blanks the key */
    bool right;       /* aligned to the right: numbers */
    bool flag;        /* true or false */
    bool data;        /* only in the forms for programs */
    const char *key; /* where it is another one: of a number whose unit is in it.  NULL: the name */
};

struct rows {
    FILE *out;
    enum show_form form;
    const struct row_column *columns;
    unsigned n_columns;
    unsigned at;    /* the column of the next cell */
    bool is_inside; /* the array is a part of a larger JSON text, and ends no line */
    size_t n;       /* rows so far */
    struct grid grid;
};

/* Until rows_end() there is a call for each cell, row by row. */
void rows_begin(struct rows *r, FILE *out, enum show_form form, const struct row_column *columns,
                unsigned n_columns);
void rows_text(struct rows *r, const char *s);
void rows_text_as(struct rows *r, const char *raw, const char *text); /* for people as @text */
void rows_number(struct rows *r, uint64_t v);
void rows_hex(struct rows *r, uint64_t v); /* a number, for people in hexadecimal */
void rows_time(struct rows *r, uint64_t ns);
void rows_none(struct rows *r);

/* A number that people read as @text. */
void rows_number_as(struct rows *r, uint64_t v, const char *text);

/* A value of the inspect tree. */
void rows_value(struct rows *r, const struct rdl_value *v);

/* A leaf of @node, which may be absent.  If @unit is not QUANTITY_NUMBER it is a number that people
 * read so.
 */
void rows_leaf(struct rows *r, const struct rdl_lab *lab, const char *node, enum leaf_id leaf,
               enum quantity unit);

/* Without a row people read @none, or nothing if it is NULL. */
void rows_end(struct rows *r, const char *none);

/* The key of a column in the forms for programs.  @ret has RDL_NAME_BYTES. */
void rows_key(const struct row_column *c, char *ret);

/* Is @form one in which each row stands for itself, without the tree that it is from? */
bool rows_are_flat(enum show_form form);

/* Prints @s as a field of CSV: in quotes where it must be. */
void print_csv_field(FILE *out, const char *s);

#endif

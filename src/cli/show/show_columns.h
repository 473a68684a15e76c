/* SPDX-License-Identifier: MIT */
/* The tables of `show` that are no tables of objects, and the JSON Schema of all tables. */
#ifndef CLI_SHOW_SHOW_COLUMNS_H
#define CLI_SHOW_SHOW_COLUMNS_H

#include "cli/show/show_rows.h"

enum table_id {
    TABLE_LIFE,
    TABLE_MEMORY,
    TABLE_VQ,
    TABLE_DUE,
    TABLE_COUNTERS,
    TABLE_DUMP,
    TABLE_DEVICE,
    TABLE_LAYOUT,
    N_TABLES
};

struct row_table {
    const char *subject; /* `show SUBJECT json` */
    const struct row_column *columns;
    unsigned n_columns;
};
extern const struct row_table row_tables[N_TABLES];

/* rows_begin() of such a table. */
void rows_begin_table(struct rows *r, FILE *out, enum show_form form, enum table_id id);

/* Prints a JSON Schema with a definition for each subject whose JSON is an array of rows. */
void show_write_schema(FILE *out);

#endif

/* SPDX-License-Identifier: MIT */
#include "cli/show/show_columns.h"

#include "cli/show/show_objects.h"
#include "emu/base/assert.h"
#include "print/print_json.h"

#define TEXT(heading)                 {.name = (heading)},
#define NUMBER(heading)               {.name = (heading), .right = true},
#define FLAG(heading)                 {.name = (heading), .flag = true},
#define COLUMNS(nm, subject, columns) static const struct row_column columns_##nm[] = {columns};
SHOW_TABLES(COLUMNS, TEXT, NUMBER, FLAG)

#define NO_COLUMN(heading)
#define TABLE(nm, subject, columns) {(subject), columns_##nm, ARRAY_LEN(columns_##nm)},
const struct row_table row_tables[N_TABLES] = {SHOW_TABLES(TABLE, NO_COLUMN, NO_COLUMN, NO_COLUMN)};

void rows_begin_table(struct rows *r, FILE *out, enum show_form form, enum table_id id)
{
    rows_begin(r, out, form, row_tables[id].columns, row_tables[id].n_columns);
}

/* A number beyond 2^53 is a string, so that no JSON reader rounds it.  The schema therefore allows
 * both.
 */
static void write_column(FILE *out, const struct row_column *c)
{
    char key[RDL_NAME_BYTES];

    rows_key(c, key);
    print_json_string(out, key);
    if (c->flag)
        fputs(": {\"type\": [\"boolean\", \"null\"]}", out);
    else if (c->right)
        fputs(": {\"type\": [\"integer\", \"string\", \"null\"], \"minimum\": 0, \"pattern\": "
              "\"^([0-9]+|any)$\"}",
              out);
    else
        fputs(": {\"type\": [\"string\", \"null\"]}", out);
}

static void write_definition(FILE *out, const char *subject, const struct row_column *columns,
                             unsigned n, bool first)
{
    char key[RDL_NAME_BYTES];

    fputs(first ? "\n    " : ",\n    ", out);
    print_json_string(out, subject);
    fputs(": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"additionalProperties\": "
          "false,\n      \"properties\": {",
          out);
    for (unsigned i = 0; i < n; i++) {
        fputs(i ? ", " : "", out);
        write_column(out, &columns[i]);
    }
    fputs("},\n      \"required\": [", out);
    for (unsigned i = 0; i < n; i++) {
        fputs(i ? ", " : "", out);
        rows_key(&columns[i], key);
        print_json_string(out, key);
    }
    fputs("]}}", out);
}

void show_write_schema(FILE *out)
{
    static const struct {
        const char *subject;
        enum node_kind kind;
    } objects[] = {
        {"hosts", NODE_host},   {"switches", NODE_switch}, {"links", NODE_link},
        {"faults", NODE_fault}, {"qp", NODE_qp},           {"cq", NODE_cq},
        {"mr", NODE_mr},        {"mw", NODE_mw},           {"pd", NODE_pd},
        {"ah", NODE_ah},        {"srq", NODE_srq},
    };

    fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          "  \"title\": \"what show SUBJECT json prints\",\n"
          "  \"description\": \"#/$defs/SUBJECT is the schema of the answer; the same keys are the "
          "columns of csv and markdown\",\n  \"$defs\": {",
          out);
    for (unsigned i = 0; i < N_TABLES; i++)
        write_definition(out, row_tables[i].subject, row_tables[i].columns, row_tables[i].n_columns,
                         i == 0);
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct row_column columns[GRID_COLUMNS_MAX];
        const unsigned n = show_columns_of_kind(objects[i].kind, columns);

        write_definition(out, objects[i].subject, columns, n, false);
    }
    fputs("\n  }\n}\n", out);
}

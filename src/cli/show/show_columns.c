/* SPDX-License-Identifier: MIT */
#include "cli/show/show_columns.h"

#include "cli/show/show_objects.h"
#include "emu/base/assert.h"
#include "print/print_json.h"

static const struct row_column life[] = {
    {.name = "step"},
    {.name = "event"},
    {.name = "time", .right = true},
    {.name = "later by", .right = true},
    {.name = "what"},
};

static const struct row_column memory[] = {
    {.name = "what"},
    {.name = "from", .right = true},
    {.name = "to", .right = true},
    {.name = "mrlen", .right = true},
    {.name = "lkey", .right = true},
    {.name = "rkey", .right = true},
    {.name = "access"},
    {.name = "state"},
    {.name = "of"},
};

static const struct row_column vq[] = {
    {.name = "queue"},
    {.name = "entry"},
    {.name = "owner"},
    {.name = "changed", .flag = true},
    {.name = "addr", .right = true},
    {.name = "bytes", .right = true},
    {.name = "device"},
    {.name = "what"},
    {.name = "not free"},
};

static const struct row_column due[] = {
    {.name = "at", .right = true},
    {.name = "frame", .flag = true},
    {.name = "what"},
};

static const struct row_column counters[] = {
    {.name = "counter"},
    {.name = "value", .right = true},
};

static const struct row_column dump[] = {
    {.name = "offset", .right = true},
    {.name = "bytes"},
    {.name = "name"},
    {.name = "value"},
};

static const struct row_column device[] = {
    {.name = "host"},  {.name = "offset", .right = true},
    {.name = "field"}, {.name = "value"},
    {.name = "means"}, {.name = "kept"},
};

static const struct row_column layout[] = {
    {.name = "spec", .right = true}, {.name = "spec bytes"}, {.name = "demo", .right = true},
    {.name = "demo bytes"},          {.name = "name"},       {.name = "value"},
};

const struct row_table row_tables[N_TABLES] = {
    [TABLE_LIFE] = {"life", life, ARRAY_LEN(life)},
    [TABLE_MEMORY] = {"memory", memory, ARRAY_LEN(memory)},
    [TABLE_VQ] = {"vq", vq, ARRAY_LEN(vq)},
    [TABLE_DUE] = {"due", due, ARRAY_LEN(due)},
    [TABLE_DUMP] = {"dump", dump, ARRAY_LEN(dump)},
    [TABLE_DEVICE] = {"device", device, ARRAY_LEN(device)},
    [TABLE_LAYOUT] = {"wqe", layout, ARRAY_LEN(layout)},
    [TABLE_COUNTERS] = {"counters", counters, ARRAY_LEN(counters)},
};

void rows_begin_table(struct rows *r, FILE *out, enum show_form form, enum table_id id)
{
    rows_begin(r, out, form, row_tables[id].columns, row_tables[id].n_columns);
}

/* A number beyond 2^53 is a string, so that no reader rounds it; a fault may be for any number. */
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

/* SPDX-License-Identifier: MIT */
/* The columns of tables of `show` other than those of objects, and the JSON Schema of all tables.
 */
#ifndef CLI_SHOW_SHOW_COLUMNS_H
#define CLI_SHOW_SHOW_COLUMNS_H

#include "cli/show/show_rows.h"

/* TABLE(NAME, subject, column ...) for each table; @subject is the word after `show`.  A column is
 * TEXT, NUMBER or FLAG with its heading; a NUMBER is aligned to the right.
 */
#define SHOW_TABLES(TABLE, TEXT, NUMBER, FLAG)                                                     \
    TABLE(LIFE, "life", TEXT("step") TEXT("event") NUMBER("time") NUMBER("later by") TEXT("what")) \
    TABLE(MEMORY, "memory",                                                                        \
          TEXT("what") NUMBER("from") NUMBER("to") NUMBER("mrlen") NUMBER("lkey") NUMBER("rkey")   \
              TEXT("access") TEXT("state") TEXT("of"))                                             \
    TABLE(VQ, "vq",                                                                                \
          TEXT("queue") TEXT("entry") TEXT("owner") FLAG("changed") NUMBER("addr") NUMBER("bytes") \
              TEXT("device") TEXT("what") TEXT("not free"))                                        \
    TABLE(DUE, "due", NUMBER("at") FLAG("frame") TEXT("what"))                                     \
    TABLE(MAP, "map",                                                                              \
          TEXT("object") TEXT("kind") TEXT("what") TEXT("of") TEXT("uses") TEXT("peer")            \
              TEXT("cannot be destroyed"))                                                         \
    TABLE(STATES, "states",                                                                        \
          TEXT("from") TEXT("to") FLAG("legal") NUMBER("taken") TEXT("last") NUMBER("refused"))    \
    TABLE(CENTRE, "centre",                                                                        \
          TEXT("guest") NUMBER("group") TEXT("may reach") TEXT("vgid") TEXT("wire")                \
              TEXT("machine") NUMBER("vf"))                                                        \
    TABLE(RDMA_LINK, "rdma link",                                                                  \
          TEXT("link") NUMBER("port") TEXT("state") TEXT("physical state") TEXT("netdev")          \
              TEXT("machine") NUMBER("vf"))                                                        \
    TABLE(RDMA_DEV, "rdma dev",                                                                    \
          NUMBER("index") TEXT("device") TEXT("node type") TEXT("node guid")                       \
              TEXT("sys image guid") TEXT("machine") NUMBER("vf"))                                 \
    TABLE(RDMA_RESOURCE, "rdma resource",                                                          \
          NUMBER("index") TEXT("device") NUMBER("pd") NUMBER("cq") NUMBER("qp") NUMBER("cm id")    \
              NUMBER("mr") NUMBER("srq") TEXT("machine") NUMBER("vf"))                             \
    TABLE(COUNTERS, "counters", TEXT("counter") NUMBER("value"))                                   \
    TABLE(DUMP, "dump", NUMBER("offset") TEXT("bytes") TEXT("name") TEXT("value"))                 \
    TABLE(RING, "ring", NUMBER("slot") TEXT("state") NUMBER("addr") TEXT("what"))                  \
    TABLE(UAR, "uar",                                                                              \
          NUMBER("handle") NUMBER("page") NUMBER("addr") NUMBER("users") TEXT("whose"))            \
    TABLE(DEVICE, "device",                                                                        \
          TEXT("host") NUMBER("offset") TEXT("field") TEXT("value") TEXT("means") TEXT("kept"))    \
    TABLE(LAYOUT, "wqe",                                                                           \
          NUMBER("spec") TEXT("spec bytes") NUMBER("demo") TEXT("demo bytes") TEXT("name")         \
              TEXT("value"))

enum table_id {
#define TABLE(nm, subject, columns) TABLE_##nm,
#define COLUMN(heading)
    SHOW_TABLES(TABLE, COLUMN, COLUMN, COLUMN) N_TABLES
#undef COLUMN
#undef TABLE
};

/* A table: a row of SHOW_TABLES. */
struct row_table {
    const char *subject; /* `show SUBJECT` prints the table */
    const struct row_column *columns;
    unsigned n_columns;
};
extern const struct row_table row_tables[N_TABLES];

/* Begins the output of the table @id: calls rows_begin() with its columns. */
void rows_begin_table(struct rows *r, FILE *out, enum show_form form, enum table_id id);

/* Prints a JSON Schema with a definition for each word after `show` whose JSON is an array of rows.
 */
void show_write_schema(FILE *out);

#endif

/* SPDX-License-Identifier: MIT */
/* Tables of enumerations that have names outside the code.
 *
 * Each enumeration is one list of rows X(prefix, NAME, value, text) in a header of its own, in
 * emu/facts/enum, virtio or virtio_rdma.  The C enum, the name printed in traces and JSON, the
 * words that commands accept, the schema and the help are made from the rows.
 *
 * This header has no rows: a file that prints or looks up names includes it alone, and is not
 * compiled again when a table gets another row.
 */
#ifndef EMU_FACTS_ENUM_TABLE_H
#define EMU_FACTS_ENUM_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Makes an enumeration constant from a row. */
#define ENUM_MEMBER(prefix, name, value, text) prefix##_##name = (value),

/* One row of an enumeration as data. */
struct enum_row {
    const char *name;
    uint32_t value;
    const char *text;
};

struct enum_table {
    const char *name; /* "wc_status" */
    const char *what; /* noun for error messages: "completion status" */
    const struct enum_row *rows;
    size_t n_rows;
};

#define TABLE(id, ...)     extern const struct enum_table enum_##id;
#define UNLISTED(id, ...)  extern const struct enum_table enum_##id;
#define OTHER(id)          extern const struct enum_table enum_##id;
#define UNLISTED_OTHER(id) extern const struct enum_table enum_##id;
#include "emu/facts/enums.def"
#undef TABLE
#undef UNLISTED
#undef OTHER
#undef UNLISTED_OTHER

/* All tables, terminated by NULL.  `explain WORD` and the tests walk them. */
extern const struct enum_table *const enum_tables[];

/* Return the row with @value, or with @name in upper or lower case.  Return NULL if the table has
 * no such row.
 */
const struct enum_row *enum_by_value(const struct enum_table *t, uint32_t value);
const struct enum_row *enum_by_name(const struct enum_table *t, const char *name);

/* enum_name() returns the name of @value, or "?" if the table has no such row.  enum_text() returns
 * its text, or "".
 */
const char *enum_name(const struct enum_table *t, uint32_t value);
const char *enum_text(const struct enum_table *t, uint32_t value);

#endif

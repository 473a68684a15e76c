/* SPDX-License-Identifier: MIT */
/* Prints one row of an enumeration with all that is known about it. */
#ifndef CLI_EXPLAIN_EXPLAIN_ROW_H
#define CLI_EXPLAIN_EXPLAIN_ROW_H

#include <stdbool.h>

struct enum_row;
struct enum_table;
struct answer_page;

/* Prints the part of explain() about @row of @table.  @source: as of explain(). */
void explain_row(struct answer_page *out, const struct enum_table *table,
                 const struct enum_row *row, bool source);

#endif

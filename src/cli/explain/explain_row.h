/* SPDX-License-Identifier: MIT */
/* One row of an enumeration, at length. */
#ifndef CLI_EXPLAIN_EXPLAIN_ROW_H
#define CLI_EXPLAIN_EXPLAIN_ROW_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/facts/enums.h"

/* Prints all that explain() prints of @row, which is one of @table. */
void explain_row(FILE *out, const struct enum_table *table, const struct enum_row *row,
                 bool source);

#endif

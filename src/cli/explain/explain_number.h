/* SPDX-License-Identifier: MIT */
/* What a number means: as a status, an opcode, a syndrome, a timer code. */
#ifndef CLI_EXPLAIN_EXPLAIN_NUMBER_H
#define CLI_EXPLAIN_EXPLAIN_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/facts/enums.h"

/* Is @subject a word for what @table is about: "status", "wc_status", "completion"? */
bool explain_is_about(const char *subject, const struct enum_table *table);

/* Prints what @number means, by subject: of those that @subject is a word for, if it is not NULL.
 * False, and nothing is printed, if it means nothing.  @source: as of explain().
 */
bool explain_number(FILE *out, const char *subject, uint64_t number, bool source);

#endif

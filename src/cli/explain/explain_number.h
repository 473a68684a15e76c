/* SPDX-License-Identifier: MIT */
/* The meanings of a number: as a status, an opcode, a syndrome, a timer code. */
#ifndef CLI_EXPLAIN_EXPLAIN_NUMBER_H
#define CLI_EXPLAIN_EXPLAIN_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct enum_table;
struct answer_page;

/* Returns true if @subject names @table: "status", "wc_status", "completion". */
bool explain_is_about(const char *subject, const struct enum_table *table);

/* Prints the meanings of @number, one per subject.  @subject selects one; NULL: all.  Returns
 * false, and prints nothing, if it has no meaning.  @source: as of explain().
 */
bool explain_number(struct answer_page *out, const char *subject, uint64_t number, bool source);

#endif

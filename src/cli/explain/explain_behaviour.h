/* SPDX-License-Identifier: MIT */
/* The source of a behaviour, and the scenarios and tests that show it. */
#ifndef CLI_EXPLAIN_EXPLAIN_BEHAVIOUR_H
#define CLI_EXPLAIN_EXPLAIN_BEHAVIOUR_H

#include <stdbool.h>

struct enum_row;
struct answer_page;

/* Prints the source and the examples of @row, a row of enum_behaviour.  @source: as of explain().
 */
void explain_behaviour(struct answer_page *out, const struct enum_row *row, bool source);

#endif

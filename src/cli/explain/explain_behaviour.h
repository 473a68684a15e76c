/* SPDX-License-Identifier: MIT */
/* Where a behaviour comes from, and which scenarios and tests show it. */
#ifndef CLI_EXPLAIN_EXPLAIN_BEHAVIOUR_H
#define CLI_EXPLAIN_EXPLAIN_BEHAVIOUR_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/facts/enums.h"

/* Prints what stands behind the text of @row, one of enum_behaviour.
 * @source: with the sections that nobody has verified.
 */
void explain_behaviour(FILE *out, const struct enum_row *row, bool source);

#endif

/* SPDX-License-Identifier: MIT */
/* count(...) of an expression, answered by a saved trace. */
#ifndef CLI_SAVED_COUNT_H
#define CLI_SAVED_COUNT_H

#include "cli/expr.h"
#include "cli/show_past.h"

/* How many events of @p the EXPR_COUNT @e counts. */
uint64_t saved_count(const struct past *p, const struct expr *e);

#endif

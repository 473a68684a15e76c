/* SPDX-License-Identifier: MIT */
/* count() and what happens in expressions: a tally of the lab for each. */
#ifndef CLI_SESSION_EXPR_COUNT_H
#define CLI_SESSION_EXPR_COUNT_H

#include "cli/session/expr_eval.h"
#include "cli/session/operand.h"

/* Begins to listen in @lab for what each count() of @e, which stands at @at, asks for, and for what
 * is to happen; without this they cannot be evaluated.  False: @reterr says why, for example that
 * it is too late.
 */
bool expr_attach(struct rdl_lab *lab, struct expr *e, struct span at, struct diag *reterr);

/* How many events the count() @e, which has been attached, has counted. */
bool expr_count(const struct question *q, const struct expr *e, uint64_t *ret);

/* The last event of the kind that @e, an EXPR_HAPPENS which has been attached, is about, if that
 * was since the scope's @since; 0: there was none.
 */
bool expr_happened(const struct question *q, const struct expr *e, uint64_t *ret);

#endif

/* SPDX-License-Identifier: MIT */
/* count() and occurrences in expressions: each has a tally of events in the lab. */
#ifndef CLI_SESSION_EXPR_COUNT_H
#define CLI_SESSION_EXPR_COUNT_H

#include "cli/session/expr_eval.h"
#include "cli/session/operand.h"

/* Starts a tally in @lab for each count() with a filter in @e and for each occurrence
 * (EXPR_HAPPENS). expr_count() and expr_happened() need it.  @at is the place of @e in its line.
 * Returns false with the error in @reterr, for example because events that should be counted were
 * forgotten.
 */
bool expr_attach(struct rdl_lab *lab, struct expr *e, struct span at, struct diag *reterr);

/* *@ret is the number of events that the count() @e has counted; expr_attach() has attached it.
 * Returns false, with the error in q->reterr, if a name in it is unknown or its events were
 * forgotten.
 */
bool expr_count(const struct question *q, const struct expr *e, uint64_t *ret);

/* *@ret is the last event that the EXPR_HAPPENS @e matches, if its tick is later than q->in->since;
 * 0: there is none.  expr_attach() has attached @e.  Returns false, with the error in q->reterr, if
 * the scope has no @since or a name in @e is unknown.
 */
bool expr_happened(const struct question *q, const struct expr *e, uint64_t *ret);

#endif

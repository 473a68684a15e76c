/* SPDX-License-Identifier: MIT */
/* Evaluates the parts of expressions that are about events: count() (EXPR_COUNT), and events that
 * happen (EXPR_HAPPENS).  The lab counts these events in tallies.
 */
#ifndef CLI_SESSION_EXPR_COUNT_H
#define CLI_SESSION_EXPR_COUNT_H

#include "cli/session/expr_eval.h"
#include "cli/session/operand.h"

/* Starts a tally in @lab for each EXPR_HAPPENS in @e, and for each count() with conditions.  Call
 * it before expr_count() and expr_happened().  @at is the position of @e in its line.  Returns
 * false with the error in @reterr, for example because the record has forgotten events that should
 * be counted.
 */
bool expr_attach(struct rdl_lab *lab, struct expr *e, struct span at, struct diag *reterr);

/* Sets *@ret to the number of events that match @e, an EXPR_COUNT.  Returns false, with the error
 * in q->reterr, if a name in @e is unknown, or if the record has forgotten events that should be
 * counted.
 */
bool expr_count(const struct question *q, const struct expr *e, uint64_t *ret);

/* Sets *@ret to the id of the last event that matches @e, an EXPR_HAPPENS.  Sets it to 0 if no
 * event after tick *q->in->since matches.  Returns false, with the error in q->reterr, if
 * q->in->since is NULL or a name in @e is unknown.
 */
bool expr_happened(const struct question *q, const struct expr *e, uint64_t *ret);

#endif

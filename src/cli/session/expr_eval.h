/* SPDX-License-Identifier: MIT */
/* Evaluates expressions.  What one means depends on the scope and on the state of its lab alone. */
#ifndef CLI_SESSION_EXPR_EVAL_H
#define CLI_SESSION_EXPR_EVAL_H

#include "cli/lang/expr.h"
#include "cli/session/resolve.h"
#include "emu/base/text.h"

/* Does @e, which stands at @at, hold now?  False: it cannot be evaluated, and @reterr says why.  An
 * element of a list that is not there (yet) makes its comparison false.
 */
bool expr_holds(const struct scope *in, const struct expr *e, struct span at, bool *ret,
                struct diag *reterr);

/* Appends why it does not hold: "it is 3". */
void expr_add_actual(const struct scope *in, const struct expr *e, struct text *t);

#endif

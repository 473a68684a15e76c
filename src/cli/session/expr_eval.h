/* SPDX-License-Identifier: MIT */
/* Evaluates expressions.  What one means depends on the scope and on the state of its lab alone. */
#ifndef CLI_SESSION_EXPR_EVAL_H
#define CLI_SESSION_EXPR_EVAL_H

#include "cli/lang/expr.h"
#include "cli/session/resolve.h"
#include "emu/base/text.h"

/* Does @e, which stands at @at, hold now?  False: it cannot be evaluated, and @reterr, which may be
 * NULL, says why.  An element of a list that is not there (yet) makes its comparison false.
 */
bool expr_holds(const struct scope *in, const struct expr *e, struct span at, bool *ret,
                struct diag *reterr);

#define EXPR_TERMS_MAX 16u

/* A part of an expression that is true or false by itself. */
struct expr_term {
    const struct expr *e;
    bool holds;
};

/* Terms that decide whether an expression holds: of `and` those that do not hold, of `or` those
 * that do, and all of them where they agree.  Of more than EXPR_TERMS_MAX the first are told.
 */
struct expr_terms {
    struct expr_term v[EXPR_TERMS_MAX];
    size_t n;
    bool alone; /* the expression has no other */
};

/* Which decide that @e, as expr_holds() has found, is now @value. */
void expr_decide(const struct scope *in, const struct expr *e, bool value, struct expr_terms *ret);

/* Leaves out the terms of which nothing is to be said but that they hold: a == 3. */
void expr_leave_out_plain(struct expr_terms *terms);

/* Appends what was found: "it is 3", and where there are other terms, in which of them.  @text is
 * that of the expression.
 */
void expr_add_terms(const struct scope *in, const struct expr_terms *terms, const char *text,
                    struct text *t);

#endif

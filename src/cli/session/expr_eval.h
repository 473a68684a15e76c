/* SPDX-License-Identifier: MIT */
/* Evaluates expressions.  The value of an expression depends only on the scope and on the state of
 * the scope's lab.
 */
#ifndef CLI_SESSION_EXPR_EVAL_H
#define CLI_SESSION_EXPR_EVAL_H

#include "cli/lang/expr.h"
#include "cli/session/resolve.h"
#include "emu/base/text.h"

/* Sets *@ret to true if @e holds in the present state of the lab, otherwise to false.  @at is the
 * position of @e in its line.  A comparison with a list element that does not exist (yet) does not
 * hold.  Returns false, with the error in @reterr (may be NULL), if @e cannot be evaluated.
 */
bool expr_holds(const struct scope *in, const struct expr *e, struct span at, bool *ret,
                struct diag *reterr);

#define EXPR_TERMS_MAX 16u /* most terms that are collected */

/* A part of an expression with a truth value of its own: not `and`, `or` or `not`. */
struct expr_term {
    const struct expr *e;
    bool holds;
};

/* The terms that decide the value of an expression: of a true `and` and a false `or` all terms, of
 * a false `and` the false ones, of a true `or` the true ones.  Terms beyond EXPR_TERMS_MAX are left
 * out.
 */
struct expr_terms {
    struct expr_term v[EXPR_TERMS_MAX];
    size_t n;
    bool alone; /* the expression is this single term */
};

/* Collects in @ret the terms that decide that @e has the value @value, which expr_holds() has
 * found.
 */
void expr_decide(const struct scope *in, const struct expr *e, bool value, struct expr_terms *ret);

/* Removes the terms whose value is clear from their text: "a == 3" that holds, "a != 3" that does
 * not.
 */
void expr_leave_out_plain(struct expr_terms *terms);

/* Appends to @t the present value of each term: "it is 3".  Unless terms->alone, the text of the
 * term comes first: "a > 4 does not hold, it is 3"; the value is left out if it is clear from that.
 * @text is the text of the whole expression.
 */
void expr_add_terms(const struct scope *in, const struct expr_terms *terms, const char *text,
                    struct text *t);

#endif

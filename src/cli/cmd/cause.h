/* SPDX-License-Identifier: MIT */
/* The causes of a failed expectation: what `why` or `why not` answer about its subjects. */
#ifndef CLI_CMD_CAUSE_H
#define CLI_CMD_CAUSE_H

#include "cli/session/expr_eval.h"
#include "cli/session/session.h"

/* Adds to the notes of s->diag the answers about the subjects of @terms, which decide that an
 * expectation does not hold.  @text is the text of the whole expectation.  A subject is a
 * completion, the state of a queue pair, a count of events and so on; it is a node of the
 * expression.  Each answer follows the command that prints it:
 *
 *	count(cqe) == 1, found 0    why not count(cqe) == 1
 *	count(lost) == 0, found 2   why of the first event that should not have happened
 *	h1.cq.wc[0].status          why h1.cq.wc[0]; why not, if there is no such completion
 *	h1.qp.state                 why of the last change of the state, or why not
 *	h1.mr[0:16]                 why h1.mr[0:16]: who wrote these bytes, and from where
 *
 * A subject of another kind adds nothing.  At the end comes `why` of the first failed completion
 * or, without one, of the first queue pair that an error stopped, unless an answer is about it.
 */
void cause_note(struct session *s, const struct scope *in, const struct expr_terms *terms,
                const char *text);

#endif

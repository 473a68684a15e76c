/* SPDX-License-Identifier: MIT */
/* Notes of a failed expectation: the events that its count()s counted. */
#ifndef CLI_SESSION_EXPR_NOTES_H
#define CLI_SESSION_EXPR_NOTES_H

#include "cli/session/expr_eval.h"

/* Adds to the notes of @d the events that the count()s in @terms counted, and whether each packet
 * among them arrived, was lost or was dropped.
 */
void expr_note_events(const struct scope *in, const struct expr_terms *terms, struct diag *d);

#endif

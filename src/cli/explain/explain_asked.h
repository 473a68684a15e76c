/* SPDX-License-Identifier: MIT */
/* Interprets the argument of `explain`: a word, a number, a C name, or a question. */
#ifndef CLI_EXPLAIN_EXPLAIN_ASKED_H
#define CLI_EXPLAIN_EXPLAIN_ASKED_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/text.h"

struct rdl_lab;

#define EXPLAIN_ASKED_BYTES 256u

/* Prints what is known about @asked, which may be
 *
 *	- a command, or a word of explain(),
 *	- a C name (IBV_WC_RETRY_EXC_ERR, ibv_post_send, ibv_sge),
 *	- a number (12, 0x60),
 *	- a subject, and a word or number of it ("status 12", "event key", "struct sge"),
 *	- two words to compare ("RC vs UD"),
 *	- a question with one of these ("what is a slot?").
 *
 * Prints what fits on one screen; "fields" or "more" behind the word asks for the rest.  @lab is
 * where the reader stands, NULL: outside a lab.  Returns false, and prints nothing, if nothing is
 * known.  @source: as of explain().
 */
bool explain_asked(FILE *out, const struct rdl_lab *lab, const char *asked, bool source);

/* Appends the known words similar to @asked, as a remedy.  Appends EXPLAIN_WORDS (explain.h) if
 * there are none.
 */
void explain_near(struct text *t, const char *asked);

#endif

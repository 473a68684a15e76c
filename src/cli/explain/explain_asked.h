/* SPDX-License-Identifier: MIT */
/* Interprets the argument of `explain`: a word, a number, a C name, or a question. */
#ifndef CLI_EXPLAIN_EXPLAIN_ASKED_H
#define CLI_EXPLAIN_EXPLAIN_ASKED_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/text.h"

#define EXPLAIN_ASKED_BYTES 256u

/* Prints what is known about @asked, which may be
 *
 *	- a command, or a word of explain(),
 *	- a C name (IBV_WC_RETRY_EXC_ERR, ibv_post_send),
 *	- a number (12, 0x60),
 *	- a subject, and a word or number of it ("status 12"),
 *	- a question with one of these ("what is a slot?").
 *
 * Returns false, and prints nothing, if nothing is known.  @source: as of explain().
 */
bool explain_asked(FILE *out, const char *asked, bool source);

/* Appends the known words similar to @asked, as a remedy.  Appends EXPLAIN_WORDS (explain.h) if
 * there are none.
 */
void explain_near(struct text *t, const char *asked);

#endif

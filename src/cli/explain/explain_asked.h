/* SPDX-License-Identifier: MIT */
/* What somebody typed behind `explain`: a word, a number, a name of C, a question. */
#ifndef CLI_EXPLAIN_EXPLAIN_ASKED_H
#define CLI_EXPLAIN_EXPLAIN_ASKED_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/text.h"

#define EXPLAIN_ASKED_BYTES 256u

/* Prints what is known of @asked: as a command and a word (explain()), by the name that C has for
 * it (IBV_WC_RETRY_EXC_ERR, ibv_post_send), as a number (12, 0x60), as a word or number of one
 * subject ("status 12"), or without the words that say nothing ("what is a slot?").  False, and
 * nothing is printed, if that is nothing.  @source: as of explain().
 */
bool explain_asked(FILE *out, const char *asked, bool source);

/* Appends what to do when that was nothing: the known words that are near @asked. */
void explain_near(struct text *t, const char *asked);

#endif

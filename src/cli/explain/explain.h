/* SPDX-License-Identifier: MIT */
/* The command `explain`: what a word of RDMA, virtio or this program means, and how to see it. */
#ifndef CLI_EXPLAIN_EXPLAIN_H
#define CLI_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/facts/enums.h"

/* Prints all that is known of @word, as explain_same() knows it; false if that is nothing.
 * @source: with the sections that nobody has verified.
 */
bool explain(FILE *out, const char *word, bool source);

/* Are @a and @b the same word?  Case does not matter, nor which of "-_. " stands where. */
bool explain_same(const char *a, const char *b);

/* What helps where no known word comes near. */
#define EXPLAIN_WORDS                                                                              \
    "words of statuses, states, opcodes, rules, registers are known; \"explain\" alone lists some"

/* Is @row, of @table, something of which "scenarios ROW" finds one: a completion that failed, or an
 * asynchronous event?  Not all of them happen here.
 */
bool explain_has_scenario(const struct enum_table *table, const struct enum_row *row);

/* Prints words to begin with, by subject. */
void explain_subjects(FILE *out);

/* Calls @each for every known word, in the order of the tables; some words come twice. */
void explain_each(void (*each)(void *ctx, const char *word), void *ctx);

/* Calls @each for every known word of which something is said in a sentence, with what it is and
 * that sentence.
 */
typedef void explain_text(void *ctx, const char *kind, const char *word, const char *text);
void explain_each_text(explain_text *each, void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/* What there is about a word: commands, their parameters, the words, statuses, enumerations and
 * events that `explain` knows, and the scenarios of a collection.
 */
#ifndef CLI_EXPLAIN_APROPOS_H
#define CLI_EXPLAIN_APROPOS_H

#include <stdbool.h>
#include <stdio.h>

/* Takes one thing that may be about the word: which @kind it is of, how it is called, and a text
 * about it, which stays until all is printed.  One that has several texts is offered once for each,
 * one behind the other, and told once, with the text that fits best.
 */
typedef void apropos_offer(void *search, const char *kind, const char *name, const char *text);

/* Where there is more to look at than this layer knows. */
struct apropos_more {
    void (*each)(const void *ctx, apropos_offer *offer, void *search);
    const void *ctx;
};

/* Prints what has @word in its name or in what is said of it, what fits best first; @more may be
 * NULL.  False: that is nothing.
 */
bool apropos(FILE *out, const char *word, const struct apropos_more *more);

#endif

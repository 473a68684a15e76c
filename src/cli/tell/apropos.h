/* SPDX-License-Identifier: MIT */
/* What there is about a word: commands, their parameters, and the words, statuses, enumerations and
 * events that `explain` knows.
 */
#ifndef CLI_TELL_APROPOS_H
#define CLI_TELL_APROPOS_H

#include <stdbool.h>
#include <stdio.h>

/* Prints what has @word in its name or in what is said of it, what fits best first.  False: that is
 * nothing.
 */
bool apropos(FILE *out, const char *word);

#endif

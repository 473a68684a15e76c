/* SPDX-License-Identifier: MIT */
/* Searches commands, parameters, all words that `explain` knows, and a collection of scenarios for
 * a word.
 */
#ifndef CLI_EXPLAIN_APROPOS_H
#define CLI_EXPLAIN_APROPOS_H

#include <stdbool.h>
#include <stdio.h>

/* Offers an item to the search: its kind, its name, and a text about it, which must live until
 * apropos() returns.  An item with several texts is offered once per text, in succession.  It is
 * printed once, with the text that matches best.
 */
typedef void apropos_offer(void *search, const char *kind, const char *name, const char *text);

/* A callback of a higher layer that offers further items. */
struct apropos_more {
    void (*each)(const void *ctx, apropos_offer *offer, void *search);
    const void *ctx;
};

/* Prints the 40 best of the items with @word in their name or text, best match first, and how many
 * more there are.  @more may be NULL.  Returns false if no item matches.
 */
bool apropos(FILE *out, const char *word, const struct apropos_more *more);

#endif

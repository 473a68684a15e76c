/* SPDX-License-Identifier: MIT */
/* "Did you mean": the known word that looks most like a mistyped one. */
#ifndef CLI_LANG_SUGGEST_H
#define CLI_LANG_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#define SUGGEST_WORD_BYTES 64u

/* How far two words are from each other is how many insertions, deletions, replacements and swaps
 * of neighbours make one of the other; letter case is ignored, and words that do not fit into
 * SUGGEST_WORD_BYTES are never near.
 *
 * Offer every candidate, then ask.  @best is NULL while nothing comes near; it points to a
 * candidate, which must live as long.
 */
struct suggestion {
    const char *typed;
    const char *best;
    size_t distance;
};

struct suggestion suggestion_for(const char *typed);
void suggest_offer(struct suggestion *s, const char *candidate);

/* Offers a candidate that lives only during this call.  True: it is the best so far, and what is in
 * @keep stands for it.
 */
bool suggest_offer_copy(struct suggestion *s, const char *candidate, char keep[SUGGEST_WORD_BYTES]);

/* Is @part one of the words that @name has between its underscores, in either case? */
bool suggest_is_part(const char *part, const char *name);

/* The kind of event that @word, which many use for it, means: "irq" for "interrupt"; or NULL. */
const char *suggest_event(const char *word);

/* Where @word leads, which people type for a command and is none, as a sentence; or NULL. */
const char *suggest_other_word(const char *word);

#endif

/* SPDX-License-Identifier: MIT */
/* "Did you mean": the known word that looks most like a mistyped one. */
#ifndef CLI_LANG_SUGGEST_H
#define CLI_LANG_SUGGEST_H

#include <stddef.h>

/* How far two words are from each other is how many insertions, deletions, replacements and swaps
 * of neighbours make one of the other; letter case is ignored, and words of more than 63 bytes are
 * never near.
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

#endif

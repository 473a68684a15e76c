/* SPDX-License-Identifier: MIT */
/* "Did you mean": the known word that looks most like a mistyped one. */
#ifndef CLI_LANG_SUGGEST_H
#define CLI_LANG_SUGGEST_H

#include <stddef.h>

/* Offer every candidate, then ask.  @best is NULL while nothing comes near; it points to a
 * candidate, which must live as long.
 */
struct suggestion {
    const char *typed;
    const char *best;
    size_t distance;
};

struct suggestion suggestion_for(const char *typed);
void suggest_offer(struct suggestion *s, const char *candidate);

/* Insertions, deletions, replacements and swaps of neighbours that make @b of @a, letter case
 * ignored; words of more than 63 bytes are never near.
 */
size_t suggest_distance(const char *a, const char *b);

#endif

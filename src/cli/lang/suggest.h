/* SPDX-License-Identifier: MIT */
/* "Did you mean": finds the known word most similar to a mistyped one. */
#ifndef CLI_LANG_SUGGEST_H
#define CLI_LANG_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

#define SUGGEST_WORD_BYTES 64u

/* The candidate nearest to a typed word.  The distance is the number of insertions, deletions,
 * replacements and swaps of neighbours that turn one word into the other.  Letter case is ignored.
 * A candidate is near if its distance is at most a third of the letters of the typed word (at least
 * 1), and less than its own length.  Words that do not fit into SUGGEST_WORD_BYTES are never near.
 *
 * Begin with suggestion_for(), offer every candidate with suggest_offer(), then read @best.
 */
struct suggestion {
    const char *typed;
    const char *best; /* the nearest candidate, not copied; NULL: none is near */
    size_t distance;  /* distance of @best; a better candidate has a smaller one */
    const char *also; /* another candidate, as near as @best; NULL: there is none */
};

struct suggestion suggestion_for(const char *typed);
void suggest_offer(struct suggestion *s, const char *candidate);

/* Offers a candidate that lives only during this call.  Returns true if it is the best so far;
 * @best then points to its copy in @keep.
 */
bool suggest_offer_copy(struct suggestion *s, const char *candidate, char keep[SUGGEST_WORD_BYTES]);

/* Writes the nearest candidates in quotes to @ret, and returns it: "RTR" or "RTS", with their
 * quotes.  There must be one.
 */
#define SUGGEST_BOTH_BYTES (2 * SUGGEST_WORD_BYTES + 16)
const char *suggest_both(const struct suggestion *s, char ret[SUGGEST_BOTH_BYTES]);
#define SUGGESTED(s) suggest_both(s, (char[SUGGEST_BOTH_BYTES]){0})

/* Returns true if @part is one of the words between the underscores of @name.  Letter case is
 * ignored.
 */
bool suggest_is_part(const char *part, const char *name);

/* Returns the event kind for a common synonym: "interrupt" for "irq".  Returns NULL if there is
 * none.
 */
const char *suggest_event(const char *word);

/* Returns a sentence for a word that people type as a command but that is none, such as "tutorial":
 * it names the right command.  Returns NULL if the word is not known.
 */
const char *suggest_other_word(const char *word);

/* The same for a word that people type behind @command, which does not take it: "run until". */
const char *suggest_operand(const char *command, const char *word);

/* Returns a remedy for @word, an opcode of a work request in place of that of its completion.
 * Returns NULL if it is none.
 */
const char *suggest_completion_opcode(const char *word);

#endif

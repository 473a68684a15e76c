/* SPDX-License-Identifier: MIT */
/* One line of a verbs_peer script, split into words: docs/verbs_peer.md.
 *
 * Two programs read such lines: `program h1 verbs_peer` in the lab, and verbs_peer on libibverbs
 * (tests/interop/verbs_peer).  So this file needs only libc.
 */
#ifndef CLI_PROGRAMS_PEER_LINE_H
#define CLI_PROGRAMS_PEER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PEER_LINE_BYTES     512u
#define PEER_LINE_WORDS_MAX 32u

/* A line and its words.  All pointers are into @text. */
struct peer_line {
    char text[PEER_LINE_BYTES];
    char *word[PEER_LINE_WORDS_MAX];
    size_t words;   /* number of words, without a final "as NAME" */
    const char *as; /* the name after "as"; NULL: none */
};

/* Splits @l->text, which the caller has filled, into words at blanks, up to '#' or the end of the
 * line.  A final "as NAME" becomes @l->as.  Returns false if there are too many words.
 */
bool peer_line_cut(struct peer_line *l);

/* The result of peer_line_next(). */
enum peer_line_found {
    PEER_LINE_READ, /* a line was read */
    PEER_LINE_END,  /* the file has no further line for this side, or cannot be read: ferror() */
    PEER_LINE_TOO_LONG, /* a line exceeds PEER_LINE_BYTES or has no end */
    PEER_LINE_TOO_MANY_WORDS
};

/* Reads the next line of @file that has words and is for side @side, 'a' or 'b'.  A line that
 * begins with "a:" or "b:" is for that side alone, any other line for both.  *@number counts the
 * lines of the file that were read so far; begin with 0.
 */
enum peer_line_found peer_line_next(FILE *file, char side, struct peer_line *l, unsigned *number);

/* Returns the text after the "=" of the word "@key=...", or NULL if there is no such word. */
const char *peer_line_value(const struct peer_line *l, const char *key);

/* Returns true if @flag is one of the words after the command. */
bool peer_line_has(const struct peer_line *l, const char *flag);

/* Parses a number, decimal or hexadecimal after 0x.  *@ret_rest is the text after it.  Returns
 * false if @text does not begin with a number.
 */
bool peer_line_read_number(const char *text, uint64_t *ret, const char **ret_rest);

/* Parses the number in the word "@key=NUMBER".  Returns false if there is no such word or its value
 * is not just a number.
 */
bool peer_line_number(const struct peer_line *l, const char *key, uint64_t *ret);

#endif

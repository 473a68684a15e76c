/* SPDX-License-Identifier: MIT */
/* One line of verbs_peer, cut into words: docs/verbs_peer.md.
 *
 * Two programs read such lines: `program h1 verbs_peer` in the lab, and verbs_peer on libibverbs
 * (tests/interop/verbs_peer).  So this file needs libc alone.
 */
#ifndef CLI_PROGRAMS_PEER_LINE_H
#define CLI_PROGRAMS_PEER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PEER_LINE_BYTES     512u
#define PEER_LINE_WORDS_MAX 32u

/* The words and @as point into @text. */
struct peer_line {
    char text[PEER_LINE_BYTES];
    char *word[PEER_LINE_WORDS_MAX];
    size_t words;
    const char *as; /* the name after "as", or NULL */
};

/* Cuts @l->text at its blanks, up to '#' or the end of the line.  A final "as NAME" becomes @l->as.
 * Returns false if there are too many words.
 */
bool peer_line_cut(struct peer_line *l);

/* The result of peer_line_next(). */
enum peer_line_found {
    PEER_LINE_READ,
    PEER_LINE_END, /* the file has no further line for this side, or cannot be read: ferror() */
    PEER_LINE_TOO_LONG, /* or it does not end */
    PEER_LINE_TOO_MANY_WORDS
};

/* Reads the next line of @file that has words and is for side @side, 'a' or 'b': a line that begins
 * with "a:" or "b:" is for that side alone.  *@number is the number of the last line read.
 */
enum peer_line_found peer_line_next(FILE *file, char side, struct peer_line *l, unsigned *number);

/* The text after "KEY=", or NULL. */
const char *peer_line_value(const struct peer_line *l, const char *key);

/* Is @flag one of the words after the command? */
bool peer_line_has(const struct peer_line *l, const char *flag);

/* Reads a number, decimal or hexadecimal after 0x.  *@ret_rest is the text after it. */
bool peer_line_read_number(const char *text, uint64_t *ret, const char **ret_rest);

/* Reads the number after "KEY=", which must be the whole value. */
bool peer_line_number(const struct peer_line *l, const char *key, uint64_t *ret);

#endif

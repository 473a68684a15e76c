/* SPDX-License-Identifier: MIT */
/* Reads the words of one statement and assigns them to the parameters of its command. */
#ifndef CLI_LANG_LINE_WORDS_H
#define CLI_LANG_LINE_WORDS_H

#include "cli/lang/line.h"
#include "cli/lang/sentence.h"

/* State while one statement is read. */
struct reading {
    struct line_reader *r;
    const struct source *src;
    struct pool *pool;
    struct diag *d;
    struct step *st;
    size_t next_operand; /* index of the parameter that the next operand is for */
    struct sentence sentence;
};

/* Return the next token of the reader.  The _look functions leave it there, line_take() and
 * reading_next() move to the token after it.
 */
struct token line_look(struct line_reader *r, struct diag *d);
struct token line_take(struct line_reader *r, struct diag *d);
struct token reading_look(struct reading *rd);
struct token reading_next(struct reading *rd);

/* reading_is_text() returns true if the word at @at is @text.  reading_raw() returns a copy of the
 * word at @at, in rd->pool.
 */
bool reading_is_text(const struct reading *rd, struct span at, const char *text);
const char *reading_raw(const struct reading *rd, struct span at);

/* Returns true if the word at @at is `do` and the command may have a block (CMD_MAY_BLOCK). */
bool reading_begins_block(const struct reading *rd, struct span at);

/* Reads the words after the verb into rd->st, up to the end of the statement or the beginning of
 * its block.  Returns false with the error in rd->d.
 */
bool reading_words(struct reading *rd);

#endif

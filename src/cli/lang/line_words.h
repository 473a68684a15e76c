/* SPDX-License-Identifier: MIT */
/* A statement while it is read: its words, and what they are values of. */
#ifndef CLI_LANG_LINE_WORDS_H
#define CLI_LANG_LINE_WORDS_H

#include "cli/lang/line.h"
#include "cli/lang/sentence.h"

/* One statement while it is read. */
struct reading {
    struct line_reader *r;
    const struct source *src;
    struct pool *pool;
    struct diag *d;
    struct step *st;
    size_t next_operand; /* index of the parameter */
    struct sentence sentence;
};

/* The next token, which stays the next; and the same, but what follows it is the next then. */
struct token line_look(struct line_reader *r, struct diag *d);
struct token line_take(struct line_reader *r, struct diag *d);
struct token reading_look(struct reading *rd);
struct token reading_next(struct reading *rd);

/* Is @at the word @text?  A copy of what is there. */
bool reading_is_text(const struct reading *rd, struct span at, const char *text);
const char *reading_raw(const struct reading *rd, struct span at);

/* Is the word the `do` of a block that the command may have? */
bool reading_begins_block(const struct reading *rd, struct span at);

/* Reads everything behind the verb, up to what ends the statement. */
bool reading_words(struct reading *rd);

#endif

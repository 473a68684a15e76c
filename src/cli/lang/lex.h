/* SPDX-License-Identifier: MIT */
/* Lexer: splits the text of a script into words and punctuation.
 *
 * A word ends at a blank, `;`, `{`, `}` or the end of the line, outside double quotes.  Quotes may
 * begin inside a word (text="a b").  `\` at the end of a line joins it to the next one.  `#` before
 * a digit begins a word that names an event; any other `#` begins a comment that runs to the end of
 * the line.
 */
#ifndef CLI_LANG_LEX_H
#define CLI_LANG_LEX_H

#include "cli/lang/pool.h"
#include "cli/lang/source.h"

enum token_kind {
    TOKEN_WORD,
    TOKEN_COMMENT,   /* from the # to the end of the line */
    TOKEN_SEPARATOR, /* ; or the end of a line */
    TOKEN_OPEN,      /* { */
    TOKEN_CLOSE,     /* } */
    TOKEN_END,       /* the end of the text */
    TOKEN_BAD        /* invalid; the diag has the message */
};

struct token {
    enum token_kind kind;
    struct span at;
};

/* Returns the first token at or after byte @from.  To get the next one, call again with the end of
 * this token's span as @from.  For a TOKEN_BAD, @d has the message.
 */
struct token lex_next(const struct source *src, size_t from, struct diag *d);

/* The tokens of a text that may grow line by line.  Free with lex_free(). */
struct tokens {
    struct token *v;
    size_t n, room;
    size_t depth; /* number of blocks that are open at the end of the text */
};

/* Appends the tokens of the text that was added to @src since the last call; earlier lines are not
 * scanned again.  The last token is always TOKEN_END or TOKEN_BAD.  After TOKEN_BAD, more text adds
 * no tokens.
 */
void lex_rest(struct tokens *tokens, const struct source *src);
void lex_free(struct tokens *tokens);

/* Returns true if the text of @tokens is incomplete: it ends inside a block or after a `\`. */
bool lex_wants_more(const struct tokens *tokens, const struct source *src);

/* Returns the characters that a word, or a part of one, stands for: without quotes, and with the
 * escapes (\" \\ \n \t \r \xHH) replaced.  Returns NULL, with a message in @d, if an escape is
 * invalid.
 */
const char *lex_unquote(struct pool *p, const struct source *src, struct span word, struct diag *d);

/* Writes @s in quotes; lex_unquote() is the inverse. */
void lex_write_quoted(FILE *out, const char *s);

/* Returns a copy of the @n characters of an expression in one line, without blanks at either end.
 * White space and line joints become blanks, except inside strings.
 */
const char *lex_one_line(struct pool *p, const char *s, size_t n);

/* Returns true if @s must be written in quotes to be read as one word. */
bool lex_needs_quotes(const char *s);

#endif

/* SPDX-License-Identifier: MIT */
/* Cuts the text of a script into words and punctuation.
 *
 * A word runs to the next blank, `;`, `{`, `}` or line end outside double quotes; quotes may begin
 * inside it (text="a b").  `\` at the end of a line joins it to the next.  `#` before a digit
 * begins a word that names an event, otherwise a comment that runs to the end of the line.
 */
#ifndef CLI_LANG_LEX_H
#define CLI_LANG_LEX_H

#include "cli/lang/pool.h"
#include "cli/lang/source.h"

enum token_kind {
    TOKEN_WORD,
    TOKEN_COMMENT,   /* from the # to the end of the line */
    TOKEN_SEPARATOR, /* ; or the end of a line */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_END,
    TOKEN_BAD /* the diag says why */
};

struct token {
    enum token_kind kind;
    struct span at;
};

/* The token at or behind byte @from; the next one begins at the end of its span. */
struct token lex_next(const struct source *src, size_t from, struct diag *d);

/* The tokens of a text that may grow line by line.  Release with lex_free(). */
struct tokens {
    struct token *v;
    size_t n, room;
    size_t depth; /* blocks that are open at the end */
};

/* Adds the tokens of the lines that @src has got since it was cut last, and looks at these lines
 * alone: the work for a text that grows line by line is the work for the whole of it.  The last
 * token is TOKEN_END, or TOKEN_BAD, to which more lines add nothing.
 */
void lex_rest(struct tokens *tokens, const struct source *src);
void lex_free(struct tokens *tokens);

/* Does the text that was cut into @tokens end inside a block, or after a `\`, so that more lines
 * must come?  Looks at its last line alone.
 */
bool lex_wants_more(const struct tokens *tokens, const struct source *src);

/* The characters that a word, or a part of one, stands for: quotes are taken off and escapes
 * (\" \\ \n \t \r \xHH) replaced.  NULL: an escape is wrong, and @d says which.
 */
const char *lex_unquote(struct pool *p, const struct source *src, struct span word, struct diag *d);

/* Writes @s in quotes, so that lex_unquote() gives it back. */
void lex_write_quoted(FILE *out, const char *s);

/* The @n characters of an expression as it is kept: one line, without blanks around it.  White
 * space and line joints become blanks, but not in strings, where all stays as it is.
 */
const char *lex_one_line(struct pool *p, const char *s, size_t n);

/* Must @s be written in quotes to be one word with the same characters? */
bool lex_needs_quotes(const char *s);

#endif

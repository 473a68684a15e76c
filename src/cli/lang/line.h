/* SPDX-License-Identifier: MIT */
/* Reads and writes the command language: `verb operand* key=value* flag* [as NAME]`. */
#ifndef CLI_LANG_LINE_H
#define CLI_LANG_LINE_H

#include "cli/lang/expand.h"
#include "cli/lang/lex.h"
#include "cli/lang/script.h"

/* Reads a script statement by statement. */
struct line_reader {
    /* Provides source, pool and macros.  line_next() changes only its macros. */
    struct script *script;
    size_t at;        /* offset in the source of the next byte to read */
    bool abbreviated; /* accept a unique prefix of a command */
    bool scenario;    /* refuse commands that only make sense at a prompt */
    bool begun;       /* a statement other than a note was read */
    /* All tokens of the source, if they exist already.  NULL: each token is scanned when it is
     * read.
     */
    const struct tokens *tokens;
    size_t i;               /* index of the next token in @tokens */
    const struct var *vars; /* variables of the enclosing blocks; NULL: none */
    const char *defines;    /* name of the macro that is being read; NULL: none */
};

enum line_result { LINE_STEP, LINE_END, LINE_BAD };

/* Reads the next statement, including its whole block.  Returns LINE_STEP with the statement in
 * *@ret, LINE_END at the end of the source, or LINE_BAD with the error in @d.
 */
enum line_result line_next(struct line_reader *r, struct step **ret, struct diag *d);

/* The statements that were read from the rest of a source. */
struct lines {
    struct script script; /* the statements before the first invalid one */
    bool whole;           /* there was no invalid statement */
    struct diag wrong;    /* the error in the invalid statement */
};

/* Reads statements with @r until the end or the first error.  @r->script must be &@l->script.  Free
 * with script_done(&l->script).
 */
void line_read_rest(struct line_reader *r, struct lines *l);

/* Reads all of @s->src as a scenario.  Returns false with the error in @d; @s then has the
 * statements before the error.
 */
bool line_read_script(struct script *s, struct diag *d);

/* Writes one step as a line in *canonical form*: full names, then the values in the order of the
 * command's parameters.  A block takes several lines.  @lead is written at the beginning of each
 * line.
 */
void line_write_step(FILE *out, const struct step *st, const char *lead);

/* Writes a script, each step in canonical form. */
void line_write_script(FILE *out, const struct script *s);

#endif

/* SPDX-License-Identifier: MIT */
/* The line language: `verb operand* key=value* flag* [as NAME]`, read and written. */
#ifndef CLI_LANG_LINE_H
#define CLI_LANG_LINE_H

#include "cli/lang/expand.h"
#include "cli/lang/lex.h"
#include "cli/lang/script.h"

/* Reads a script statement by statement. */
struct line_reader {
    struct script *script; /* its source is read, its pool used; header and first are not set */
    size_t at;             /* next byte */
    bool abbreviated;      /* a unique prefix of a command is taken for it */
    bool scenario;         /* commands that only make sense at a prompt are errors */
    bool begun;            /* a statement that is no note was read */
    /* Of the whole source, if somebody has cut it already; NULL: it is cut as it is read. */
    const struct tokens *tokens;
    size_t i;               /* the next of them */
    const struct var *vars; /* of the blocks around what is read; NULL: there are none */
    const char *defines;    /* the macro that is being read; NULL: none is */
};

enum line_result { LINE_STEP, LINE_END, LINE_BAD };

/* The next statement, a block as a whole.  LINE_BAD: @d says what is wrong. */
enum line_result line_next(struct line_reader *r, struct step **ret, struct diag *d);

/* The statements that were read from the rest of a source, one after the other. */
struct lines {
    struct script script; /* those before the first that is wrong */
    bool whole;           /* none is */
    struct diag wrong;    /* what is wrong with it */
};

/* Reads them with @r, whose script and pool are those of @l.  Free with script_done(&l->script). */
void line_read_rest(struct line_reader *r, struct lines *l);

/* Reads all of @s->src, as a scenario.  On failure @s holds what was read before. */
bool line_read_script(struct script *s, struct diag *d);

/* Writes one step in the form that it has in a written script, a block in several lines; @lead
 * stands at the beginning of each.
 */
void line_write_step(FILE *out, const struct step *st, const char *lead);

/* Writes a script in its one written form. */
void line_write_script(FILE *out, const struct script *s);

#endif

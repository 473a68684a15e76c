/* SPDX-License-Identifier: MIT */
/* A parsed script: the representation that the line language and JSON share. */
#ifndef CLI_LANG_SCRIPT_H
#define CLI_LANG_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/source.h"
#include "cli/lang/table.h"

#define SCRIPT_DEPTH_MAX 8u    /* maximum depth of nested blocks */
#define SCRIPT_LIST_MAX  1024u /* maximum number of values of one parameter */

/* A value of a parameter, written as in a line but without quotes.  It was checked, unless it has a
 * variable.
 */
struct value {
    const char *text;
    struct span at; /* its position in the source */
};

/* The values given for one parameter; n is 0 if it was not given. */
struct arg {
    size_t n;
    struct value *v;
    struct span key_at; /* position of KEY in KEY=VALUE; len 0: there was no key */
};

/* One command. */
struct step {
    const struct cmd *cmd;
    struct span at;     /* position of the verb */
    struct arg *args;   /* one per parameter of the command, in their order */
    struct value as;    /* the name after `as`; text NULL: none */
    struct step *body;  /* first step of the block; NULL: none */
    struct step *other; /* of `if`: first step of the `else` block */
    struct step *next;  /* next step of the list; NULL: none */
};

/* A macro: a named block with parameters, whose values each call gives. */
struct macro {
    struct macro *next;
    const struct step *def;   /* the `macro` command */
    const struct source *src; /* the source that @def came from */
};

struct macros {
    struct macro *first; /* the one defined last; the list goes on to the first one */
};

/* The errors of a script that is read to its end in spite of them. */
struct script_errors {
    void (*found)(void *ctx, const struct diag *d); /* called with each error */
    void *ctx;
    struct span *lost; /* the statements that could not be read; owned */
    size_t n_lost, room;
};

/* A whole script.  Its steps are in its pool; spans refer to its source. */
struct script {
    struct source src; /* the text belongs to the caller */
    struct pool pool;
    struct step *header; /* the `scenario` command; NULL: none */
    struct step *first;
    struct macros macros;       /* macros that the script defines */
    const struct macros *known; /* further macros that it may call; NULL: none */
    /* Receives the errors, behind which reading goes on.  NULL: it ends at the first one. */
    struct script_errors *errors;
};

/* Reports the error in @d, unless that is reported already, and clears it.  The statement at @lost
 * is left out.
 */
void script_error(struct script_errors *e, struct diag *d, struct span lost);

/* Frees what @e owns. */
void script_errors_done(struct script_errors *e);

/* Frees the steps, not the source. */
void script_done(struct script *s);

/* step_arg() returns the argument of @st for its parameter @name, and step_param() the row of that
 * parameter.  The command must have such a parameter, also in the functions below.
 */
const struct arg *step_arg(const struct step *st, const char *name);
const struct param *step_param(const struct step *st, const char *name);

/* Returns true if the parameter, which may be a flag, was given. */
bool step_has(const struct step *st, const char *name);

/* Returns true if parameter @i, an operand, may be given after the operands that @st has: see
 * member after of struct param.
 */
bool step_wants(const struct step *st, size_t i);

/* Returns true if no parameter was given. */
bool step_is_bare(const struct step *st);

/* Returns the properties of @st, a set of enum cmd_bit.  These are the flags of its command.  A
 * `set` command that changes only the session, not the lab, has CMD_LOOKS and CMD_PROMPT_ONLY, too.
 */
unsigned step_flags(const struct step *st);

/* Returns the first step that has one of the properties @flags: @st itself, or a step of its
 * blocks, at any depth.  Returns NULL if there is none.
 */
const struct step *step_with(const struct step *st, unsigned flags);

/* Returns the text of the (first) value of parameter @name, or NULL if it was not given. */
const char *step_text(const struct step *st, const char *name);

/* The same, but if it was not given, returns the default of its row, which must have one. */
const char *step_text_or_standard(const struct step *st, const char *name);

/* Returns the number that the (first) value of @name stands for.  If it was not given, returns the
 * default of its row, which must have one.
 */
uint64_t step_number(const struct step *st, const char *name);

/* Returns the number of @name like step_number(), or @otherwise if it was not given. */
uint64_t step_number_or(const struct step *st, const char *name, uint64_t otherwise);

/* Returns the bitwise OR of the values of a set. */
uint32_t step_set(const struct step *st, const char *name);

/* Returns a bit mask made of the values of a list: a value that stands for the number n sets bit n.
 */
uint64_t step_bits(const struct step *st, const char *name);

/* Returns the position of value @i, from 0, of parameter @name, or that of the verb if there is no
 * such value.
 */
struct span step_span(const struct step *st, const char *name, size_t i);

/* Returns a new step of @cmd without arguments, for the parsers. */
struct step *step_new(struct pool *p, const struct cmd *cmd, struct span at);

/* Appends the value @v for parameter @i, from 0, of the command.  Returns false if it has
 * SCRIPT_LIST_MAX values already.
 */
bool step_add(struct pool *p, struct step *st, size_t i, struct value v);

/* step_put() sets parameter @name to a copy of @text, as its only value.  step_put_number() does
 * the same with the number @v as text.  Both allocate in @p.
 */
void step_put(struct pool *p, struct step *st, const char *name, const char *text);
void step_put_number(struct pool *p, struct step *st, const char *name, uint64_t v);

/* Returns a parameter that @st must have and has not: a required one, or else the first of those of
 * which one must be given.  NULL: none is missing.
 */
const struct param *step_lacks(const struct step *st);

/* Checks that @st has all required parameters and is allowed at its place.  @first: no command
 * other than notes comes before @st.  @depth: number of blocks around @st.  Returns false with the
 * error in @d.
 */
bool step_check(const struct step *st, bool first, size_t depth, struct diag *d);

/* Returns true if the list that begins with @first, or a block in it, contains a command other than
 * a note.  Commands with an empty block do not count.
 */
bool script_has_steps(const struct step *first);

/* Error message and remedy for a CMD_PROMPT_ONLY step in a scenario. */
#define SCRIPT_FOR_PROMPT        "this changes the session, and cannot be part of a scenario"
#define SCRIPT_FOR_PROMPT_REMEDY "it is for the prompt, and for scripts that are run line by line"

/* Error message and remedy for a script without steps. */
#define SCRIPT_NO_STEPS "there is nothing to run: the file has no steps"
#define SCRIPT_NO_STEPS_REMEDY                                                                     \
    "write a command into it, for example \"host h1\" or {\"do\": \"host\", \"names\": [\"h1\"]}"

/* Return copies in @p.  step_copy() copies a step with its blocks, steps_copy() a whole list of
 * steps with their blocks, and step_copy_head() a step without its blocks.
 */
struct step *step_copy(struct pool *p, const struct step *st);
struct step *steps_copy(struct pool *p, const struct step *first);
struct step *step_copy_head(struct pool *p, const struct step *st);

/* Returns a copy of @src and its text in @p. */
const struct source *source_copy(struct pool *p, const struct source *src);

/* Returns true if both steps have the same command, arguments, name and blocks. */
bool step_equal(const struct step *a, const struct step *b);

#endif

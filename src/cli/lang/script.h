/* SPDX-License-Identifier: MIT */
/* A parsed script: the one form that lines and JSON have in common. */
#ifndef CLI_LANG_SCRIPT_H
#define CLI_LANG_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/source.h"
#include "cli/lang/table.h"

#define SCRIPT_DEPTH_MAX 8u    /* blocks in blocks */
#define SCRIPT_LIST_MAX  1024u /* values of one parameter */

/* A checked value, as it is written in a line but without quotes. */
struct value {
    const char *text;
    struct span at; /* where it came from */
};

/* The values given for one parameter; none: it was not given. */
struct arg {
    size_t n;
    struct value *v;
    struct span key_at; /* of KEY in KEY=VALUE; len 0: there was none */
};

/* One command. */
struct step {
    const struct cmd *cmd;
    struct span at;     /* of the verb */
    struct arg *args;   /* as many as the command has parameters, in their order */
    struct value as;    /* text NULL: not named */
    struct step *body;  /* of a block */
    struct step *other; /* of an `if`: what is done where its expression does not hold */
    struct step *next;
};

/* A macro: a block with a name, and words in it that each call says. */
struct macro {
    struct macro *next;
    const struct step *def;   /* the `macro` command */
    const struct source *src; /* where it was written */
};

struct macros {
    struct macro *first; /* the one that was defined last */
};

/* A whole script.  Its steps live in its pool; spans refer to its source. */
struct script {
    struct source src; /* text belongs to the caller */
    struct pool pool;
    struct step *header; /* the scenario line; NULL: there is none */
    struct step *first;
    struct macros macros;       /* that it defines */
    const struct macros *known; /* that may be called, too; NULL: none */
};

/* Frees the steps, not the source. */
void script_done(struct script *s);

/* The argument for the parameter called @name, which @st's command must have. */
const struct arg *step_arg(const struct step *st, const char *name);
const struct param *step_param(const struct step *st, const char *name);

/* Was it given?  For flags too. */
bool step_has(const struct step *st, const char *name);

/* May parameter @i, an operand, follow the operands before it?  See struct param, after. */
bool step_wants(const struct step *st, size_t i);

/* Was nothing given? */
bool step_is_bare(const struct step *st);

/* The properties of what @st does, a set of enum cmd_bit: those of its command, but that to set
 * what belongs to the session changes nothing.
 */
unsigned step_flags(const struct step *st);

/* @st, or the first step of its block, in blocks too, that has one of the properties @flags; NULL:
 * none has.
 */
const struct step *step_with(const struct step *st, unsigned flags);

/* The text of a single value; NULL if it was not given. */
const char *step_text(const struct step *st, const char *name);

/* The number of a single value; if it was not given, that of the row's standard, which must be
 * there.
 */
uint64_t step_number(const struct step *st, const char *name);

/* The same, with @otherwise in the place of a standard. */
uint64_t step_number_or(const struct step *st, const char *name, uint64_t otherwise);

/* The values of a set, or-ed. */
uint32_t step_set(const struct step *st, const char *name);

/* The bits whose numbers the values of a set are. */
uint64_t step_bits(const struct step *st, const char *name);

/* Where value @i of the argument is, or the verb if it was not given. */
struct span step_span(const struct step *st, const char *name, size_t i);

/* Lays @st open for the parsers: a step of @cmd without arguments. */
struct step *step_new(struct pool *p, const struct cmd *cmd, struct span at);

/* Adds a value for parameter @i of the command.  The list may have SCRIPT_LIST_MAX of them; false
 * if it is full.
 */
bool step_add(struct pool *p, struct step *st, size_t i, struct value v);

/* Gives parameter @name of the command this value alone, which is copied. */
void step_put(struct pool *p, struct step *st, const char *name, const char *text);
void step_put_number(struct pool *p, struct step *st, const char *name, uint64_t v);

/* Are all required parameters there, and does the step fit its place?  @first: nothing but notes is
 * before it, @depth: blocks around it.
 */
bool step_check(const struct step *st, bool first, size_t depth, struct diag *d);

/* Is there a command in the list, or in a block of it, that does something? */
bool script_has_steps(const struct step *first);

/* What is said of a step of a scenario that is CMD_PROMPT_ONLY in this form of it. */
#define SCRIPT_FOR_PROMPT        "this changes the session, and cannot be part of a scenario"
#define SCRIPT_FOR_PROMPT_REMEDY "it is for the prompt, and for scripts that are run line by line"

/* What is said of a script that has none where it would be run. */
#define SCRIPT_NO_STEPS "there is nothing to run: the file has no steps"
#define SCRIPT_NO_STEPS_REMEDY                                                                     \
    "write a command into it, for example \"host h1\" or {\"do\": \"host\", \"names\": [\"h1\"]}"

/* A deep copy in @p; one without its body. */
struct step *step_copy(struct pool *p, const struct step *st);
struct step *steps_copy(struct pool *p, const struct step *first); /* of a list */
struct step *step_copy_head(struct pool *p, const struct step *st);

/* A copy of @src and its text in @p. */
const struct source *source_copy(struct pool *p, const struct source *src);

/* Do they say the same, word for word? */
bool step_equal(const struct step *a, const struct step *b);

#endif

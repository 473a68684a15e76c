/* SPDX-License-Identifier: MIT */
/* Parser for the expressions of `expect`, `until`, --until, `break`, `watch` and `back to`:
 * comparisons combined with and, or and not; counts of events; and events that happen.
 *
 *	condition  := all { "or" all }
 *	all        := one { "and" one }
 *	one        := "not" one | "(" condition ")" | term [ OP term ] | happens
 *	happens    := KIND [ ( [ FIELD OP VALUE { , FIELD OP VALUE } ] ) ]
 *	term       := NUMBER | "STRING" | PATH | #EVENT | count(KIND { , FIELD OP VALUE })
 *	OP         := == != < <= > >=
 *
 * A number may have a unit of the value that it is compared with.  Comparing values that can never
 * be equal is an error.  Both sides of `and` and `or` are always evaluated, so that such an error
 * is found.  A PATH without a dot is a word of an enumeration if the other side takes one.  `t` is
 * the time in nanoseconds, `tick` the number of the last tick.  #EVENT is true from the tick of
 * that event on.  A `happens` term is true at the end of the tick in which the event happened.  It
 * is evaluated only where every tick is looked at; see struct scope.
 *
 * A PATH may name an object that does not exist yet.  It is refused before anything runs if no row
 * of the inspect tree matches it, that is, if no lab could have it.
 */
#ifndef CLI_LANG_EXPR_H
#define CLI_LANG_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/source.h"
#include "emu/trace/filter.h"

#define EXPR_DEPTH_MAX  32u /* most levels of nested parentheses and `not` */
#define EXPR_FIELDS_MAX 16u /* most conditions FIELD OP VALUE of one event */

/* The values of programs, which are not part of the lab, so that the inspect tree has no rows for
 * them: identifier, name.
 */
#define EXPR_PROGRAM_FIELDS(X)                                                                     \
    X(DONE, "done")         /* it has ended, without a failure */                                  \
    X(FAILED, "failed")     /* it has ended with a failure */                                      \
    X(STATUS, "status")     /* of a program of the machine that has ended: its exit status */      \
    X(SENT, "sent")         /* messages, of a program of the lab */                                \
    X(RECEIVED, "received") /* the same */

enum expr_program_field {
#define EXPR_PROGRAM_ID(id, name) EXPR_PROGRAM_##id,
    EXPR_PROGRAM_FIELDS(EXPR_PROGRAM_ID)
#undef EXPR_PROGRAM_ID
        EXPR_PROGRAM_NONE
};

/* A path to a value of a program: HOST.program.NAME for the one that was started last on the host,
 * programNUMBER.NAME for any.
 */
struct expr_program {
    size_t host_bytes; /* of HOST; 0: @number counts */
    uint32_t number;
    const char *name;              /* in the path */
    enum expr_program_field field; /* EXPR_PROGRAM_NONE: no program has @name */
};

/* Returns true if @path has one of these forms. */
bool expr_program_read(const char *path, struct expr_program *ret);

/* Fills @d with an error at @at: no program has a value with the name of @program.  Returns false.
 */
bool expr_program_unknown(const struct expr_program *program, struct span at, struct diag *d);

struct rdl_tally;

enum expr_kind {
    EXPR_OR,
    EXPR_AND,
    EXPR_NOT,
    EXPR_COMPARE,
    EXPR_NUMBER,
    EXPR_STRING,
    EXPR_PATH,
    EXPR_EVENT,
    EXPR_COUNT,
    EXPR_HAPPENS
};

/* The words that are no path: `t`, `tick`, `true`, `false`; EXPR_WORD_NONE: any other. */
enum expr_word { EXPR_WORD_NONE, EXPR_WORD_TIME, EXPR_WORD_TICK, EXPR_WORD_TRUE, EXPR_WORD_FALSE };

struct expr {
    enum expr_kind kind;
    /* Facts about a path that follow from its text.  They are cached because the path is evaluated
     * at each tick.
     */
    enum expr_word word;
    bool may_be_memory, may_be_program;
    /* @leads: some lab can have the path @text.  @leads_from_host: some lab can have HOST.@text. */
    bool leads, leads_from_host;
    struct span at;           /* position in the text of the expression */
    struct expr *a, *b;       /* operands of EXPR_OR, EXPR_AND, EXPR_COMPARE; of EXPR_NOT only @a */
    enum compare op;          /* of EXPR_COMPARE */
    const char *text;         /* the number as written, the string without quotes, or the path */
    uint64_t number;          /* EXPR_EVENT: the tick of the event */
    struct ev_filter *filter; /* filter of EXPR_COUNT and EXPR_HAPPENS */
    /* Running count for @filter, set when the expression is attached to a lab.  NULL before that,
     * and for an EXPR_COUNT without conditions.
     */
    struct rdl_tally *tally;
};

/* Parses @text, which stands at @at in its source.  The nodes are in @p.  Returns NULL, with a
 * message in @d, on failure.
 */
struct expr *expr_parse(struct pool *p, const char *text, struct span at, struct diag *d);

/* Returns true if @e contains an EXPR_HAPPENS. */
bool expr_has_happening(const struct expr *e);

/* Returns the position of the node @e in the source, if the whole expression is at @from there.
 * Returns @from itself if that has no room for the node: the source text is another one.
 */
struct span expr_place(const struct expr *e, struct span from);

/* Returns true if some lab can have @path.  Otherwise returns false, with an error at @at in @d
 * that suggests a similar path.
 */
bool expr_path_leads(const char *path, struct span at, struct diag *d);

/* Returns true if for each path of @e some lab can have it.  Otherwise returns false with the error
 * in @d.  @from is the position of the whole expression in the source.
 */
bool expr_paths_lead(const struct expr *e, struct span from, struct diag *d);

/* Parses @text and checks its paths, without keeping the result.  Returns false with the error in
 * @d.
 */
bool expr_check(const char *text, struct span at, struct diag *d);

/* Returns the operator as text: "==". */
const char *expr_op_text(enum compare op);

/* Parses a number with an optional unit.  With @time, the unit must be one of time, and *@ret is in
 * nanoseconds; otherwise the unit may be any other one.  Returns false if @text is not such a
 * number.
 */
bool expr_number(bool time, const char *text, uint64_t *ret);

#endif

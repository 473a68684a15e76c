/* SPDX-License-Identifier: MIT */
/* Expressions of `expect`, `until`, --until, `break`, `watch` and `back to`: comparisons, and, or,
 * not, count(), and that an event happens.
 *
 *	condition  := all { "or" all }
 *	all        := one { "and" one }
 *	one        := "not" one | "(" condition ")" | term [ OP term ] | happens
 *	happens    := KIND [ ( [ FIELD OP VALUE { , FIELD OP VALUE } ] ) ]
 *	term       := NUMBER | "STRING" | PATH | #EVENT | count(KIND { , FIELD OP VALUE })
 *	OP         := == != < <= > >=
 *
 * Numbers may have units, of what they are compared with.  What can never be equal is not compared,
 * and both sides of `and` and `or` are asked: a mistake is no answer.  A PATH without a dot is a
 * word of an enumeration where its neighbour is one; `t` is the time, `tick` the number of the last
 * tick.  #EVENT holds from that tick on.  What happens holds at the end of its tick, and only where
 * somebody looks at each of them; see struct scope.
 *
 * What a PATH names need not be there yet, but some lab must be able to have it: what no row of the
 * inspect tree has is refused before anything runs.
 */
#ifndef CLI_LANG_EXPR_H
#define CLI_LANG_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/source.h"
#include "emu/trace/filter.h"

#define EXPR_DEPTH_MAX  32u
#define EXPR_FIELDS_MAX 16u

/* What paths of programs have behind the name of the host: programs are outside the lab, and not in
 * its tree.
 */
#define EXPR_PROGRAM ".program."

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

/* What a path means that is no name of anything. */
enum expr_word { EXPR_WORD_NONE, EXPR_WORD_TIME, EXPR_WORD_TICK, EXPR_WORD_TRUE, EXPR_WORD_FALSE };

struct expr {
    enum expr_kind kind;
    /* Of a path, by its text alone: it is asked again at each tick. */
    enum expr_word word;
    bool may_be_memory, may_be_program;
    bool leads, leads_from_host; /* somewhere, in some lab: as it is, or below a host */
    struct span at;              /* in the text of the expression */
    struct expr *a, *b;
    enum compare op;
    const char *text;         /* number as written, string without quotes, path */
    uint64_t number;          /* the tick of #EVENT */
    struct ev_filter *filter; /* of a count(), and of what happens */
    struct rdl_tally *tally;  /* the same, once the expression belongs to a lab; NULL: not yet, or
                                 it counts all events of the kind */
};

/* Parses @text, which came from @at of a source.  NULL on failure, and @d says what is wrong. */
struct expr *expr_parse(struct pool *p, const char *text, struct span at, struct diag *d);

/* Does it say that something happens, and not only how things are? */
bool expr_has_happening(const struct expr *e);

/* Where @e stands if the whole expression came from @from; all of that if it has no room for it. */
struct span expr_place(const struct expr *e, struct span from);

/* Can @path lead somewhere, in some lab?  If not, @d says so of @at, and what comes near. */
bool expr_path_leads(const char *path, struct span at, struct diag *d);

/* Can all paths of @e, which came from @from? */
bool expr_paths_lead(const struct expr *e, struct span from, struct diag *d);

/* Only checks it, and its paths. */
bool expr_check(const char *text, struct span at, struct diag *d);

const char *expr_op_text(enum compare op);

/* Reads a time in nanoseconds, or a number with any unit but those of time; a plain number is both.
 * False if @text is none.
 */
bool expr_number(bool time, const char *text, uint64_t *ret);

#endif

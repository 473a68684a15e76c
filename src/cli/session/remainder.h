/* SPDX-License-Identifier: MIT */
/* What of a line was not done because a stop was hit in it, so that it can be gone on with.
 *
 * While the blocks around the stop end, the innermost first, each says what of it is left: the
 * commands behind the one that was stopped, the rounds that were to come.  In this order they are
 * the rest of the line: lists of commands, each with the host of bare names and the text that it is
 * from.  It is a copy, so that nothing of the line has to stay.
 *
 * A rest belongs to the end of what was done in the future in which it was stopped.  Where that is
 * left, it is given up.
 */
#ifndef CLI_SESSION_REMAINDER_H
#define CLI_SESSION_REMAINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/script.h"

struct session;
struct block;

#define REMAINDERS_MAX       8u /* that wait; of more the oldest are given up */
#define REMAINDER_LINE_BYTES 48u

struct remainder_part {
    struct remainder_part *next;
    const struct source *src;
    const char *host; /* where bare names are looked up; "": nowhere */
    const struct step *steps;
};

struct remainder {
    struct remainder *next; /* what was stopped before it */
    struct pool pool;
    struct remainder_part *first, *last;
    const char *src_text;            /* of the part that was added last, before it was copied */
    char line[REMAINDER_LINE_BYTES]; /* that was stopped */
};

struct remainders {
    struct remainder *waiting; /* the last one first */
    size_t n;                  /* number of those */
    struct remainder *current; /* of the line that is being stopped; NULL: nothing yet */
    struct remainder *resumed; /* the last one that `continue` took: errors may be about its text */
};

/* Adds the list from @first up to @end (NULL: all of it) to what is left; it stands in @in. */
void remainder_add(struct session *s, const struct block *in, const struct step *first,
                   const struct step *end);

/* Adds @part and what is behind it. */
void remainder_add_parts(struct session *s, const struct remainder_part *part);

/* Adds what is left of @st, which stands in @in, began at @began_ns and was stopped in its middle.
 */
void remainder_add_command(struct session *s, const struct block *in, const struct step *st,
                           uint64_t began_ns);

/* What was added since @last was the last part is not to be done. */
struct remainder_part *remainder_last(const struct session *s);
void remainder_forget_since(struct session *s, struct remainder_part *last);

/* The line that begins with @st, in @in, is over: what is left of it waits. */
void remainder_settle(struct session *s, const struct block *in, const struct step *st);

/* The last one that waits, which waits no more; it stays until the next one is taken. */
const struct remainder *remainder_take(struct session *s);

/* Gives up all that waits, and says so. */
void remainders_abandon(struct session *s);
void remainders_free(struct remainders *all);

#endif

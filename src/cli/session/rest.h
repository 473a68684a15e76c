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
#ifndef CLI_SESSION_REST_H
#define CLI_SESSION_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/script.h"

struct session;
struct block;

#define RESTS_MAX       8u /* that wait; of more the oldest are given up */
#define REST_LINE_BYTES 48u

struct rest_part {
    struct rest_part *next;
    const struct source *src;
    const char *host; /* where bare names are looked up; "": nowhere */
    const struct step *steps;
};

struct rest {
    struct rest *next; /* what was stopped before it */
    struct pool pool;
    struct rest_part *first, *last;
    const char *src_text;       /* of the part that was added last, before it was copied */
    char line[REST_LINE_BYTES]; /* that was stopped */
};

struct rests {
    struct rest *first;    /* what waits, the last one first */
    size_t n;              /* of them */
    struct rest *now;      /* of the line that is being stopped; NULL: nothing yet */
    struct rest *finished; /* the one that was gone on with last, which errors may speak of */
};

/* Adds the list from @first up to @end (NULL: all of it) to what is left; it stands in @in. */
void rest_add(struct session *s, const struct block *in, const struct step *first,
              const struct step *end);

/* Adds @part and what is behind it. */
void rest_add_parts(struct session *s, const struct rest_part *part);

/* Adds what is left of @st, which stands in @in, began at @began_ns and was stopped in its middle.
 */
void rest_add_command(struct session *s, const struct block *in, const struct step *st,
                      uint64_t began_ns);

/* What was added since @last was the last part is not to be done. */
struct rest_part *rest_last(const struct session *s);
void rest_forget_since(struct session *s, struct rest_part *last);

/* The line that begins with @st, in @in, is over: what is left of it waits. */
void rest_settle(struct session *s, const struct block *in, const struct step *st);

/* The last one that waits, which waits no more; it stays until the next one is taken. */
const struct rest *rest_take(struct session *s);

/* Gives up all that waits, and says so. */
void rests_give_up(struct session *s);
void rests_free(struct rests *all);

#endif

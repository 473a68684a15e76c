/* SPDX-License-Identifier: MIT */
/* The remainder of a command line after a stop ended it.  `continue` carries it out.
 *
 * While the blocks around the stop end, the innermost first, each adds its remaining part: the
 * commands after the stopped one, and the remaining rounds.  In this order they are a list of lists
 * of commands.  Each list has its host for bare names and its source text.  Everything is copied,
 * so that the line can be freed.
 *
 * A remainder belongs to the end of the future in which the line was stopped.  It is dropped when
 * that future is left.
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

#define REMAINDERS_MAX       8u /* waiting; beyond that the oldest is dropped */
#define REMAINDER_LINE_BYTES 48u

struct remainder_part {
    struct remainder_part *next;
    const struct source *src;
    const char *host; /* bare names are looked up on this host; "": nowhere */
    const struct step *steps;
};

struct remainder {
    struct remainder *next; /* an older one */
    struct pool pool;       /* of all that it points to */
    struct remainder_part *first, *last;
    const char *src_text;            /* the text of @last, before it was copied */
    char line[REMAINDER_LINE_BYTES]; /* how the stopped line begins */
};

struct remainders {
    struct remainder *waiting; /* the last one first */
    size_t n;                  /* number of those */
    struct remainder *current; /* of the line that is being stopped; NULL: nothing yet */
    struct remainder *resumed; /* the last one that `continue` took: errors may be about its text */
};

/* Adds the steps from @first up to @end, which excludes it; NULL: to the end of the list.  They
 * stand in the block @in.
 */
void remainder_add(struct session *s, const struct block *in, const struct step *first,
                   const struct step *end);

/* Adds @part and the parts after it. */
void remainder_add_parts(struct session *s, const struct remainder_part *part);

/* Adds the remaining part of the command @st, which stands in @in, began at @began_ns and was
 * stopped in its middle.
 */
void remainder_add_command(struct session *s, const struct block *in, const struct step *st,
                           uint64_t began_ns);

/* remainder_last() returns the last part so far.  remainder_forget_since() drops the parts that
 * were added after it.
 */
struct remainder_part *remainder_last(const struct session *s);
void remainder_forget_since(struct session *s, struct remainder_part *last);

/* The line that begins with @st, in @in, is over: its remainder waits for `continue` now. */
void remainder_settle(struct session *s, const struct block *in, const struct step *st);

/* Takes the newest waiting remainder; NULL: none waits.  It is valid until the next call. */
const struct remainder *remainder_take(struct session *s);

/* Drops all waiting remainders, with a message for each. */
void remainders_abandon(struct session *s);

void remainders_free(struct remainders *all);

#endif

/* SPDX-License-Identifier: MIT */
/* The remainder of a command line that a stop ended.  `continue` executes it.
 *
 * The blocks around the stop end, the innermost first.  Each block adds its remaining part: the
 * commands after the stopped one, and the remaining rounds.  The result is a list of parts.  Each
 * part has a list of commands, the host for their bare names, and their source text.  Everything is
 * copied, so that the line can be freed.
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

#define REMAINDERS_MAX       8u /* most remainders that wait; beyond it the oldest is dropped */
#define REMAINDER_LINE_BYTES 48u

/* One part, with the parts after it. */

struct remainder_part {
    struct remainder_part *next;
    const struct source *src;
    const char *host; /* host for bare names; "": none */
    const struct step *steps;
};

struct remainder {
    struct remainder *next; /* the next older one */
    struct pool pool;       /* memory of everything in it */
    struct remainder_part *first, *last;
    /* Address of the text that last->src is a copy of: if the next part has the same text, it is
     * not copied again.
     */
    const char *src_text;
    char line[REMAINDER_LINE_BYTES]; /* beginning of the stopped line */
};

struct remainders {
    struct remainder *waiting; /* waiting for `continue`, the newest first */
    size_t n;                  /* number of waiting remainders */
    struct remainder *current; /* of the line that a stop is ending; NULL: no part yet */
    struct remainder *resumed; /* the last one that `continue` took; kept for error messages */
};

/* Adds the steps from @first up to but excluding @end to the current remainder.  @end NULL: up to
 * the end of the list.  The steps stand in the block @in.  No function of this file adds anything
 * during a replay, while the steps of a stop run, or after `quit`.
 */
void remainder_add(struct session *s, const struct block *in, const struct step *first,
                   const struct step *end);

/* Adds @part and the parts after it to the current remainder. */
void remainder_add_parts(struct session *s, const struct remainder_part *part);

/* Adds the remaining part of the command @st, which stands in @in, began at simulated time
 * @began_ns and was stopped in its middle.  Adds nothing if no part remains.  Only `run`, `until`,
 * `finish` and `step` have a remaining part.
 */
void remainder_add_command(struct session *s, const struct block *in, const struct step *st,
                           uint64_t began_ns);

/* remainder_last() returns the last part of the current remainder, or NULL if there is none.
 * remainder_forget_since() drops the parts of the current remainder after @last (NULL: all parts),
 * and prints a message if there were any.
 */
struct remainder_part *remainder_last(const struct session *s);
void remainder_forget_since(struct session *s, struct remainder_part *last);

/* Ends the current remainder: it now waits for `continue`, and a message is printed.  Does nothing
 * if there is none.  The oldest remainder beyond REMAINDERS_MAX is dropped.  @st is the first
 * command of the line, in the block @in.
 */
void remainder_settle(struct session *s, const struct block *in, const struct step *st);

/* Removes the newest waiting remainder from the list and returns it, or NULL if none waits.  It is
 * valid until the next call of this function.
 */
const struct remainder *remainder_take(struct session *s);

/* Drops all waiting remainders, with a message for each. */
void remainders_abandon(struct session *s);

void remainders_free(struct remainders *all);

#endif

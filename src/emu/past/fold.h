/* SPDX-License-Identifier: MIT */
/* Folds repetitions in a sequence of events, for whoever prints or draws them: of rounds of equal
 * events it hands on the first and the last one, and tells how many there are between them.
 *
 * Two events are equal if they are of the same kind, and all fields are equal but times, events and
 * counts of attempts (VARIES in ftypes.def).  A round is up to FOLD_LINES_MAX events.  Fewer rounds
 * than fold_rounds_min() are not folded.
 *
 * An event is handed on at once unless it may belong to a second round.  Then it is kept until that
 * is known, at most for FOLD_KEPT_MAX events, or until fold_flush().
 */
#ifndef EMU_PAST_FOLD_H
#define EMU_PAST_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/trace/id.h"

#define FOLD_LINES_MAX 32u  /* most events in a round */
#define FOLD_KEPT_MAX  128u /* most events that are kept */

struct ev;
struct fold;
struct text;

/* The rounds between the first and the last one. */
struct folded {
    uint64_t n_rounds;
    uint32_t n_lines;  /* events in a round */
    ev_id from, to;    /* first and last event of them */
    uint64_t until_ns; /* time of the last one */
};

/* Receives the events in their order, and in place of those in the folded rounds one call of
 * @folded.
 */
struct fold_sink {
    void (*event)(void *ctx, const struct ev *e);
    void (*folded)(void *ctx, const struct folded *f);
    void *ctx;
};

/* Returns a fold that hands on to @sink, or NULL if there is no memory.  fold_free() accepts NULL,
 * and hands on nothing more.
 */
struct fold *fold_new(const struct fold_sink *sink);
void fold_free(struct fold *f);

/* Takes the next event. */
void fold_put(struct fold *f, const struct ev *e);

/* Hands on all events that are kept.  A repetition ends there: the next event begins anew. */
void fold_flush(struct fold *f);

/* Returns the number of rounds of @n_lines events from which on they are folded. */
uint32_t fold_rounds_min(uint32_t n_lines);

/* Returns true if the events are equal as above. */
bool fold_equal(const struct ev *a, const struct ev *b);

/* Appends "38026 more rounds of these 4 lines, until t=1.58s". */
void fold_add(struct text *t, const struct folded *f);

#endif

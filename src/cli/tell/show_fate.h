/* SPDX-License-Identifier: MIT */
/* What became of a transmission, in words. */
#ifndef CLI_TELL_SHOW_FATE_H
#define CLI_TELL_SHOW_FATE_H

#include "emu/past/fate.h"

/* The index of @p; when there is no memory for it says so and exits, as must_malloc().  Free with
 * past_index_free().
 */
struct past_index *fate_index(const struct past *p);

/* Appends the fate of tx event @tx as a clause: "was lost in #35.1, by f1"; a delivered one goes on
 * with the fate of its answer.
 */
void fate_add(struct text *t, const struct past_index *x, const struct ev *tx);

/* The same for what is to be answered with @psn before event @before: of a READ, it may be a later
 * response than the first that did not come.
 */
void fate_add_at(struct text *t, const struct past_index *x, const struct ev *tx, uint32_t psn,
                 ev_id before);

/* Event @e, rx or drop, is of an answer that shows that a response to a READ or an atomic is
 * missing. Appends what became of that.  False: nobody knows.
 */
bool fate_add_missing(struct text *t, const struct past_index *x, const struct ev *e);

/* The number of a transmission, from 1. */
uint32_t tx_attempt(const struct ev *tx);

#endif

/* SPDX-License-Identifier: MIT */
/* What became of a transmission, in words. */
#ifndef CLI_WHY_FATE_TEXT_H
#define CLI_WHY_FATE_TEXT_H

#include "emu/past/fate.h"

/* The index of @p; when there is no memory for it says so and exits, as must_malloc().  Free with
 * past_index_free().
 */
struct past_index *fate_index(const struct past *p);

/* Appends the fate of tx event @tx as a clause: "was lost in #35.1, by f1"; a delivered one goes on
 * with the fate of its answer, or of the first one behind it that covers its PSN.
 */
void fate_add(struct text *t, const struct past_index *x, const struct ev *tx);

/* The same for what is to be answered with @psn before event @before: of a READ, it may be a later
 * response than the first that did not come.  What ends after @before came too late.
 */
void fate_add_at(struct text *t, const struct past_index *x, const struct ev *tx, uint32_t psn,
                 ev_id before);

/* Appends tx event @answer, an acknowledge or a response, and what became of it until event @before
 * (0: at all): "the ACK #50.4 was lost in #51.1, by f1".
 */
void fate_add_answer(struct text *t, const struct past_index *x, const struct ev *answer,
                     ev_id before);

/* Appends what faults did to the frame of tx event @tx, each behind a comma: ", delayed by 40us, by
 * f1", ", duplicated by f1", ", corrupted by f1".  Nothing if none did, or if it was lost only.
 */
void fate_add_faults(struct text *t, const struct past_index *x, const struct ev *tx);

/* Event @e, rx or drop, is of an answer that shows that a response to a READ or an atomic is
 * missing. Appends what became of that.  False: nobody knows.
 */
bool fate_add_missing(struct text *t, const struct past_index *x, const struct ev *e);

/* The number of a transmission, from 1. */
uint32_t tx_attempt(const struct ev *tx);

#endif

/* SPDX-License-Identifier: MIT */
/* Text about the fate of a transmission: whether it arrived, was lost or dropped, and how it was
 * answered.
 */
#ifndef CLI_WHY_FATE_TEXT_H
#define CLI_WHY_FATE_TEXT_H

#include "emu/past/fate.h"

/* Builds the index of @p.  Like must_malloc(), prints an error and exits if there is no memory.
 * Free with past_index_free().
 */
struct past_index *fate_index(const struct past *p);

/* Appends the fate of tx event @tx as a clause: "was lost in #35.1, by f1".  If the packet arrived,
 * the fate of its answer follows, or else of the first later answer that acknowledges its PSN.
 */
void fate_add(struct text *t, const struct past_index *x, const struct ev *tx);

/* Like fate_add(), but for the answer with PSN @psn alone, and with what was known at event
 * @before.  For a READ, @psn may be that of a later response than the first.  An arrival after
 * @before is reported as too late.  If another packet of the same queue pair is the reason, the
 * fate of that one follows.
 */
void fate_add_at(struct text *t, const struct past_index *x, const struct ev *tx, uint32_t psn,
                 ev_id before);

/* Appends @end, the end of a copy of the datagram @tx at one receiver, as a clause: "was dropped by
 * h2 in #78.1: BAD_QKEY, expected 0x1, found 0x2".  @end is a rx, drop or lost event; NULL: not
 * recorded.  The faults that the frame met follow.
 */
void fate_add_end(struct text *t, const struct past_index *x, const struct ev *tx,
                  const struct ev *end);

/* If the send of the successful completion @cqe went to an unreliable queue pair, appends the fate
 * of its first packet that was not accepted: "psn=100, #76.3, was lost in #78.1, by f1".  Returns
 * false, and appends nothing, if there is none.
 */
bool fate_add_unheard(struct text *t, const struct past_index *x, const struct ev *cqe);

/* Appends tx event @answer, an acknowledge or a response, and its fate as of event @before (0: no
 * limit): "the ACK #50.4 was lost in #51.1, by f1".
 */
void fate_add_answer(struct text *t, const struct past_index *x, const struct ev *answer,
                     ev_id before);

/* Appends the effects of faults on the frame of tx event @tx, each after a comma: ", delayed by
 * 40us, by f1", ", duplicated by f1", ", corrupted by f1".  A loss is not among them.
 */
void fate_add_faults(struct text *t, const struct past_index *x, const struct ev *tx);

/* Appends the fate of a missing response to a READ or an atomic.  Event @e, rx or drop, is a later
 * answer, whose arrival shows that the response is missing.  Returns false, and appends nothing, if
 * the missing response is not known.
 */
bool fate_add_missing(struct text *t, const struct past_index *x, const struct ev *e);

/* Returns the number of this transmission of its packet; 1 is the first. */
uint32_t tx_attempt(const struct ev *tx);

#endif

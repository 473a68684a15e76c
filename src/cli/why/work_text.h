/* SPDX-License-Identifier: MIT */
/* Phrases about a work request, and about why one was refused or failed. */
#ifndef CLI_WHY_WORK_TEXT_H
#define CLI_WHY_WORK_TEXT_H

#include "emu/past/past_index.h"

/* Returns the fetch event of the work request whose packet tx event @tx sent, or NULL. */
const struct ev *work_of_packet(const struct past_index *x, const struct ev *tx);

/* Appends "h1.qp's RDMA_WRITE_WITH_IMM wr_id=7" for the packet of tx event @tx; if its work request
 * is not recorded, "h1.qp's RC_RDMA_WRITE_ONLY psn=5".
 */
void work_add_of_packet(struct text *t, const struct past_index *x, const struct ev *tx);

/* Appends the reason why a responder refused a request in rx event @rx: "its qp_access_flags allow
 * the peer nothing".
 */
void work_add_refusal(struct text *t, const struct past_index *x, const struct ev *rx);

/* Returns the rx event in which a responder refused a request for good: @e itself, or the event
 * that led to @e, a failed completion or a change of the state.  Returns NULL if there is none.
 */
const struct ev *work_refusal_behind(const struct past_index *x, const struct ev *e);

/* The beginning of the sentence of work_add_failure(), without the reason. */
void work_add_error(struct text *t, const struct past_index *x, const struct ev *e);

/* Appends one sentence, without a full stop, about the failed completion, or the change of a queue
 * pair to ERR or SQE, @e: "h2.qp3 went to ERR in #70.3: it refused h1.qp's RDMA_WRITE wr_id=7: ..."
 */
void work_add_failure(struct text *t, const struct past_index *x, const struct ev *e);

#endif

/* SPDX-License-Identifier: MIT */
/* What belongs together in a past, found in one pass over its events.
 *
 * Events of the same thing are on one thread, oldest first:
 *
 *	thread         of                    its events
 *	frame          what sent it          what faults did to it; rx, drop, lost, port_out
 *	packet         host, QPN, PSN        tx of a request
 *	response       host, QPN, PSN        tx of what a READ or an atomic brings back
 *	answers        host, QPN             tx of an acknowledge
 *	work request   host, QPN, wr_id      fetch of what is to be sent
 *	descriptor     host, queue, number   post_send, post_recv, post_srq_recv
 *	refused keys   host, QPN             key with a rule
 *	errors         host, QPN             qp_state to ERR
 *	failures       host, QPN             cqe that failed, and was not flushed
 *
 * No event is on two of them.  What leads from one to another is noted beside them: a fetch is
 * about its post, an rx about its answer, a failed cqe about the newest packet of its request.
 *
 * The index knows the whole past, and nothing else.  Of what is forgotten there is no event, and a
 * thread may begin in its middle (the attempt of a tx tells).  Where recording was off between two
 * events there may have been a third: functions that ask for the newest before another answer NULL
 * then, and not with an older one.
 */
#ifndef EMU_PAST_PAST_INDEX_H
#define EMU_PAST_PAST_INDEX_H

#include "emu/past/past.h"
#include "rdmalab/status.h"

#define PAST_NONE UINT32_MAX /* no event */

struct past_thread;

/* Events are called by their number, their index in the past.  before[after[i]] == i, and
 * after[i] > i.  Only past_index.c writes it; to go along a thread others read it:
 *
 *	for (uint32_t i = past_first_of_frame(x, tx->id); i != PAST_NONE; i = x->after[i])
 */
struct past_index {
    const struct past *past;       /* must stay as it is */
    uint32_t *before;              /* the event before this one on its thread, or PAST_NONE */
    uint32_t *after;               /* the event behind it */
    uint32_t *about;               /* the event that this one is about: see above */
    struct past_thread *threads;   /* a hash table: how a thread is found */
    size_t n_threads, cap_threads; /* used, and places: a power of two, at least twice that */
};

/**
 * past_index_new() - Find what belongs together
 * @p:		Must outlive the index, and not change
 * @ret:	Free with past_index_free()
 *
 * Time and memory grow with the number of events: 12 bytes for each, and 16 to 32 for each thread.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status past_index_new(const struct past *p, struct past_index **ret);
void past_index_free(struct past_index *x);

/* The first event about the frame that event @sent sent, which may not be there itself. */
uint32_t past_first_of_frame(const struct past_index *x, ev_id sent);

/* The number of the event before @e on its thread, or PAST_NONE. */
uint32_t past_before(const struct past_index *x, const struct ev *e);

/* The first transmission of the packet that tx event @tx sent. */
uint32_t past_first_tx(const struct past_index *x, const struct ev *tx);

/* The functions below give an event, or NULL: it is not there, or nobody knows. */

/* The last transmission of a packet before event @before. */
const struct ev *past_last_tx(const struct past_index *x, uint32_t host, uint32_t qpn, uint32_t psn,
                              ev_id before);

/* The last packet before event @before that asks for an answer to @psn: that has this PSN, or is a
 * READ whose responses go beyond it.
 */
const struct ev *past_last_asked(const struct past_index *x, uint32_t host, uint32_t qpn,
                                 uint32_t psn, ev_id before);

/* The last time before event @before that queue pair @qpn of @host sent what a READ or an atomic
 * brings back with @psn.
 */
const struct ev *past_last_response(const struct past_index *x, uint32_t host, uint32_t qpn,
                                    uint32_t psn, ev_id before);

/* What the receiver sent back because of @rx: at once, or as soon as its port was free; of the
 * responses to a READ the first.
 */
const struct ev *past_answer_to(const struct past_index *x, const struct ev *rx);

/* The first thing that the receiver of @rx, a request that it took, sent back behind it and that
 * covers its PSN, before event @before (0: ever): an acknowledge, a NAK of a later PSN, a response.
 */
const struct ev *past_covering(const struct past_index *x, const struct ev *rx, ev_id before);

/* The posting of the work request that @fetch is about. */
const struct ev *past_post_of(const struct past_index *x, const struct ev *fetch);

/* The last packet of the request that completed with an error in @cqe. */
const struct ev *past_last_tx_of_request(const struct past_index *x, const struct ev *cqe);

/* The fetching of the request that completed in @cqe. */
const struct ev *past_fetch_of(const struct past_index *x, const struct ev *cqe);

/* The last key check before event @before that refused something of a queue pair; @tick: only in
 * the tick of @before, where it may be told after the packet that it refused.
 */
const struct ev *past_refused_key(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before, bool tick);

/* The last move to ERR or SQE of a queue pair before event @before. */
const struct ev *past_error_state(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before);

/* The completion whose failure moved a queue pair to ERR or SQE in qp_state event @state: it is
 * told before that, in the same tick.
 */
const struct ev *past_failure_of(const struct past_index *x, const struct ev *state);

#endif

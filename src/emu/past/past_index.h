/* SPDX-License-Identifier: MIT */
/* An index of related events of a past, built in one pass.
 *
 * Related events form a *thread*, in order of time:
 *
 *	thread         key                   events
 *	frame          its tx event          fault, rx, eth_rx, drop, lost, port_out
 *	packet         host, QPN, PSN        tx of a request
 *	response       host, QPN, PSN        tx of a response to a READ or an atomic
 *	answers        host, QPN             tx of an acknowledge
 *	work request   host, QPN, wr_id      fetch of a send request
 *	descriptor     host, queue, number   post_send, post_recv, post_srq_recv
 *	refused keys   host, QPN             key with a rule
 *	errors         host, QPN             qp_state to ERR or SQE
 *	failures       host, QPN             cqe with an error, except flushes
 *
 * Each event is on at most one thread.  about[] links threads: a fetch to its post, an rx to its
 * answer, a failed cqe to the newest packet of its request.
 *
 * Only recorded events are indexed, so a thread may begin in the middle (the attempt field of a tx
 * shows it).  If recording was off between two events, another event may be missing there.
 * Functions that look for the newest event before another then return NULL instead of an older one.
 */
#ifndef EMU_PAST_PAST_INDEX_H
#define EMU_PAST_PAST_INDEX_H

#include "emu/past/past.h"
#include "rdmalab/status.h"

#define PAST_NONE UINT32_MAX /* no event */

struct past_thread;

/* Events are identified by their index in the past.  before[after[i]] == i, and after[i] > i.
 * Other files only read it, to walk along a thread:
 *
 *	for (uint32_t i = past_first_of_frame(x, tx->id); i != PAST_NONE; i = x->after[i])
 */
struct past_index {
    const struct past *past;       /* must not change */
    uint32_t *before;              /* previous event on the same thread, or PAST_NONE */
    uint32_t *after;               /* next event on the same thread, or PAST_NONE */
    uint32_t *about;               /* linked event of another thread, or PAST_NONE */
    struct past_thread *threads;   /* hash table of threads with cap_threads entries */
    size_t n_threads, cap_threads; /* n: used entries; cap: a power of two, >= 2 * n_threads */
};

/**
 * past_index_new() - Build the index of a past
 * @p:		Must outlive the index, and not change
 * @ret:	Free with past_index_free()
 *
 * Time and memory grow with the number of events: 12 bytes for each, and 16 to 32 for each thread.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status past_index_new(const struct past *p, struct past_index **ret);
void past_index_free(struct past_index *x);

/* Returns the first event about the frame of event @sent, or PAST_NONE.  Event @sent itself need
 * not be recorded.
 */
uint32_t past_first_of_frame(const struct past_index *x, ev_id sent);

/* Returns the event before @e on the thread of @e, or PAST_NONE if @e is the first event or not
 * recorded.
 */
uint32_t past_before(const struct past_index *x, const struct ev *e);

/* Returns the first recorded transmission of the packet that tx event @tx sent, or PAST_NONE. */
uint32_t past_first_tx(const struct past_index *x, const struct ev *tx);

/* The functions below return an event, or NULL if it is not recorded or not certain. */

/* Returns the last transmission before event @before of the request packet with @psn. */
const struct ev *past_last_tx(const struct past_index *x, uint32_t host, uint32_t qpn, uint32_t psn,
                              ev_id before);

/* Returns the tx event of the request to which a response with @psn belongs, the last one before
 * event @before.  @host and @qpn are the requester.  If no packet with this PSN was sent, it is the
 * newest READ with an earlier PSN, whose responses may include @psn.
 */
const struct ev *past_last_asked(const struct past_index *x, uint32_t host, uint32_t qpn,
                                 uint32_t psn, ev_id before);

/* Returns the last tx event before event @before in which queue pair @qpn of @host sent the
 * response @psn to a READ or an atomic.
 */
const struct ev *past_last_response(const struct past_index *x, uint32_t host, uint32_t qpn,
                                    uint32_t psn, ev_id before);

/* Returns the receiver's answer to the packet of event @rx: an acknowledge or NAK, sent at once or
 * when the port was free.  For a READ or an atomic it is the first response.
 */
const struct ev *past_answer_to(const struct past_index *x, const struct ev *rx);

/* Returns the receiver's first answer with the PSN of the accepted request @rx or a later one: an
 * acknowledge, a NAK or a response after @rx and before event @before (0: no limit).
 */
const struct ev *past_covering(const struct past_index *x, const struct ev *rx, ev_id before);

/* Returns the post event of the work request that event @fetch fetched. */
const struct ev *past_post_of(const struct past_index *x, const struct ev *fetch);

/* Returns the last tx event of the request that completed with an error in @cqe. */
const struct ev *past_last_tx_of_request(const struct past_index *x, const struct ev *cqe);

/* Returns the fetch event of the send request that completed in @cqe: the newest one before it with
 * the same host, QP and wr_id.  @cqe must not be the completion of a receive.
 */
const struct ev *past_fetch_of(const struct past_index *x, const struct ev *cqe);

/* Returns the newest fetch event before event @before of a send request with @wr_id. */
const struct ev *past_fetch_before(const struct past_index *x, uint32_t host, uint32_t qpn,
                                   uint64_t wr_id, ev_id before);

/* Returns the last refused key check of a queue pair before event @before.  With @tick it considers
 * only checks in the same tick as @before, but also those after @before: the check may follow the
 * packet that it refused.
 */
const struct ev *past_refused_key(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before, bool tick);

/* Returns the last qp_state event before event @before that moved the queue pair to ERR or SQE. */
const struct ev *past_error_state(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before);

/* Returns the failed completion that moved a queue pair to ERR or SQE in qp_state event @state.  It
 * comes before that event, in the same tick.
 */
const struct ev *past_failure_of(const struct past_index *x, const struct ev *state);

#endif

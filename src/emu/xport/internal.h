/* SPDX-License-Identifier: MIT */
/* Functions shared between the files of the transport. */
#ifndef EMU_XPORT_INTERNAL_H
#define EMU_XPORT_INTERNAL_H

#include "emu/base/cold.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/timer.h"
#include "emu/xport/resp.h"
#include "emu/xport/whole.h"
#include "emu/xport/xport_qp.h"

/* xport.c */

/* Emits `drop` for the packet @p.  @values are the values that the check compared. */
RDL_COLD void xport_drop(const struct xport *x, const struct packet *p, const struct rx_info *info,
                         enum drop_reason reason, const struct compared *values);

/* Calls ops->ready() if @xqp has something to send and ops->ready() was not called already.  Also
 * ends draining if it is complete.
 */
void xport_wake(struct xport_qp *xqp);

/* Emits `key` for the check of the key of @s for @access.  @rule is the result of key_check(). */
void xport_trace_key(const struct xport_qp *xqp, const struct sge *s, enum rule rule,
                     unsigned access);

/* Like xport_trace_key(), for a key user @who.  For a shared receive @who is not the user that
 * key_user_of() returns for the queue pair.
 */
void xport_trace_key_of(const struct xport_qp *xqp, const struct key_user *who, const struct sge *s,
                        enum rule rule, unsigned access);

/* Copies the payload of xqp->out from position *@at of the list @l into @frame at @room, and adds
 * the ICRC.  Returns RULE_NONE, or the rule that refuses a key, with the refused piece in
 * *@reterr_bad; the frame is then incomplete.
 */
enum rule xport_fill(const struct xport_qp *xqp, uint8_t *frame, const struct packet_room *room,
                     const struct sg_list *l, struct sge_cur *at, struct sge *reterr_bad);

/* Sets the headers in xqp->out and xqp->path, and xqp->peer, for packets to @dest_qpn along @av. */
void xport_set_path(struct xport_qp *xqp, const struct av *av, uint32_t dest_qpn);

/* For the packet that was just built: the number of packets that it stands for, and the length of
 * its frame for `tx`, which is 0 if it travels whole.
 */
static inline uint32_t xport_built_pkts(const struct xport_qp *xqp)
{
    return xqp->x->whole ? xqp->x->whole->n_pkts : 1;
}
static inline uint32_t xport_built_bytes(const struct xport_qp *xqp, size_t frame_bytes)
{
    return xqp->x->whole ? 0 : (uint32_t)frame_bytes + xqp->x->tag_bytes;
}

/* req.c: the cursors and completions of the send queue.  Request @next is entry req.next. */

/* Returns true if every fetched request was sent and no kick is left to process.  A fast test for
 * queue pairs that only receive.
 */
static inline bool req_is_idle(const struct requester *r)
{
    return r->next == r->fetched && !r->kicked;
}

/* Returns true if the requester can send a packet now, or fetch a work request that it might send.
 */
bool req_may_send(const struct xport_qp *xqp);

/* Returns true if the first packet of request @next can be sent now: the request was not refused
 * and does not have to wait.  Only valid for a request that was just fetched, when req_may_send()
 * was true.
 */
bool req_may_start(const struct xport_qp *xqp);

/* Fetches the next work request and checks it.  A refused one stays in the ring (req_refuse()).  A
 * datagram that is longer than the MTU completes without being sent.  Returns false if there is no
 * work request.
 */
bool req_fetch(struct xport_qp *xqp);

/* Returns the number of the next transmission of the packet at nxt, 1 for the first. */
uint32_t req_attempt(const struct requester *r);

/* Advances the cursor after the packet at nxt was sent.  The packet takes @n_psns PSNs; @asks is
 * true if it requests an acknowledge.  The payload of the next packet starts at @next_sge.
 */
void req_sent(struct xport_qp *xqp, uint32_t n_psns, bool asks, struct sge_cur next_sge);

/* Go-back-N: moves the cursor to una, so that everything outstanding is retransmitted because of
 * event @cause.
 */
RDL_COLD void req_go_back(struct xport_qp *xqp, ev_id cause);

/* Acknowledges the next @n PSNs from una on, and completes the requests that are finished by this.
 * Stops at a request that was refused; call req_settle() afterwards.
 */
void req_acked(struct xport_qp *xqp, uint32_t n);

/* The oldest request, a READ, was answered with @n PSNs less than it takes.  The PSNs of all
 * requests behind it move down, because the responder expects them there.
 */
RDL_COLD void req_shorten_oldest(struct xport_qp *xqp, uint32_t n);

/* Refuses request @next because of @by: it completes with @status when all earlier requests are
 * complete.
 */
RDL_COLD void req_refuse(struct xport_qp *xqp, enum wc_status status, struct objection by);

/* Completes the oldest request with @status because of @by, and ends the send queue or the queue
 * pair with service->send_failed().
 */
RDL_COLD void req_fail(struct xport_qp *xqp, enum wc_status status, struct objection by);

/* Marks request @next, which has no packets, as executed and advances the cursor.  The request
 * completes when it is the oldest.
 */
void req_carried_out(struct xport_qp *xqp);

/* Completes the oldest request with its error (req_fail()) if it was refused. */
void req_settle(struct xport_qp *xqp);

/* Checks request @next again when the send queue continues after SQD, because attributes may have
 * changed: with max_rd_atomic 0 a READ that was fetched before is refused.
 */
RDL_COLD void req_judge_waiting(struct xport_qp *xqp);

/* Completes the send work request @w, with a completion unless it succeeded unsignaled.  @filled is
 * the number of bytes that a READ or atomic has stored, otherwise 0.  @by is the rule that caused
 * an error status.
 */
void req_complete(struct xport_qp *xqp, const struct send_wqe *w, uint32_t filled,
                  enum wc_status status, struct objection by);

/* Returns an objection of @rule without compared values. */
static inline struct objection by_rule(enum rule rule)
{
    return (struct objection){rule, {0}};
}

/* Returns the ring entry, cleared, for the work request that will be fetched next: number
 * req.fetched, which does not change.  Allocates the ring for the first one.  Returns NULL if the
 * arena is full.
 */
struct req_wqe *req_fetch_place(struct xport_qp *xqp);

/* req_build.c: builds the packet at nxt, emits its tx event with the number in *@ret_tx, and
 * advances the cursor.  Returns the length of the frame.  Returns 0 if the request was refused:
 * call req_settle() then.
 */
size_t req_build(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx);

/* req_local.c */

/* Executes request @next, which has no packets and may start: marks it as executed, or refuses it.
 */
void req_local_run(struct xport_qp *xqp);

/* Invalidates the key of @q, a READ with invalidate that has all its data.  If the key cannot be
 * invalidated, refuses @q and returns false.
 */
bool req_invalidate(struct xport_qp *xqp, struct req_wqe *q);

/* Invalidates @key on behalf of the queue pair or its peer.  Emits `invalidate`, with the event's
 * number in *@ret_id.  Returns RULE_NONE, or the rule that forbids it; the key is then unchanged.
 */
struct objection xport_invalidate(struct xport_qp *xqp, uint32_t key, ev_id *ret_id);

/* retry.c: the timers of a requester.
 *
 * retry_timer_arm() starts a timer, which must be off; it expires in @delay_ns.  retry_timer_stop()
 * stops a timer, and does nothing if it is off.  retry_sent() arms the ACK timer, caused by @tx, if
 * an acknowledge is outstanding and the timer is off.  retry_progress() is called when PSNs were
 * acknowledged: resets the retry counters, stops the RNR timer, and restarts the ACK timer, or
 * stops it if no acknowledge is outstanding.  retry_timeout() carries out an expired timer:
 * retransmits, or fails the oldest request if no retry is left.  It extends an ACK timer once if
 * that expires late.  While bus mastering is off, retry_hold() delays the effect of an expired
 * timer until retry_go_on().
 */
void retry_timer_arm(struct xport_qp *xqp, enum timer_kind kind, uint64_t delay_ns);
void retry_timer_stop(struct xport_qp *xqp, enum timer_kind kind);
void retry_sent(struct xport_qp *xqp, ev_id tx);
void retry_progress(struct xport_qp *xqp);
void retry_timeout(struct xport_qp *xqp, enum timer_kind kind);
void retry_hold(struct xport_qp *xqp, enum timer_kind kind);
void retry_go_on(struct xport_qp *xqp);

/* comp_apply.c, resp_apply.c: process a packet that admit() has accepted for @xqp.  Return
 * DROP_NONE, or the reason why the packet was dropped.
 */
enum drop_reason comp_receive(struct xport_qp *xqp, const struct packet *p,
                              const struct rx_info *info);
enum drop_reason resp_receive(struct xport_qp *xqp, const struct packet *p,
                              const struct rx_info *info);

/* resp_answer.c */

/* Queues the answer @syndrome for @psn, caused by event @rx, in place of the queued one.  A queued
 * NAK stays if the new answer is an acknowledge, and so does an RNR NAK if the new answer is a
 * sequence NAK for the same PSN.
 */
void resp_answer(struct xport_qp *xqp, uint8_t syndrome, struct psn psn, ev_id rx);

/* Queues an acknowledge of the last SEND or WRITE packet taken, caused by event @rx.  With credits
 * it acknowledges the last PSN taken, of any kind.
 */
void resp_acknowledge(struct xport_qp *xqp, ev_id rx);

/* Queues a sequence NAK for the expected PSN, caused by event @rx. */
RDL_COLD void resp_nak_sequence(struct xport_qp *xqp, ev_id rx);

/* Records in the queued answer that a packet ahead of the expected PSN was dropped.  @psn is the
 * PSN of the packet, @rx its event.  Only the highest such PSN is kept.  Does nothing if no answer
 * is queued.
 */
RDL_COLD void resp_note_thrown_away(struct xport_qp *xqp, struct psn psn, ev_id rx);

/* Withdraws the queued NAK after the packet that it asked for was accepted in event @rx.  If later
 * packets were dropped, queues a sequence NAK for the new expected PSN.  Otherwise queues an
 * acknowledge if the NAK had replaced one.  Does nothing if no NAK is queued.
 */
void resp_reconsider(struct xport_qp *xqp, ev_id rx);

/* Discards the queued acknowledge, because a response that follows acknowledges the same PSNs.
 * Does nothing if no answer or a NAK is queued.
 */
void resp_absorb_ack(struct xport_qp *xqp);

/* Builds the responder's next frame: a response to a READ or atomic, or else the queued answer.
 * resp_owes_answer() must be true.  Moves the queue pair to ERR after the answer of a closing
 * responder.  Returns the length of the frame, with the number of its tx event in *@ret_tx.
 */
size_t resp_build(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx);

/* Used for acknowledges, NAKs and responses.  resp_headers() sets the BTH and payload_bytes of
 * xqp->out; the caller sets aeth and atomic_ack.  resp_sent() emits `tx` for the complete frame and
 * counts it.
 */
void resp_headers(struct xport_qp *xqp, uint8_t opcode, struct psn psn, uint32_t payload_bytes);
void resp_sent(struct xport_qp *xqp, size_t frame_bytes, ev_id *ret_tx);

/* resp_rd.c: READs and atomics */

/* Accepts the READ or atomic @p, whose event is @rx: adds it to the ring of READs and atomics, and
 * executes an atomic.
 */
void resp_take_rd(struct xport_qp *xqp, const struct packet *p, ev_id rx);

/* Returns the verdict on a duplicate READ or atomic: REPLAY, DROP if its request is not in the ring
 * any more, or NAK_ACCESS if the key of the READ is no longer valid.  Changes nothing.
 */
RDL_COLD struct resp_verdict resp_decide_again(const struct xport_qp *xqp, const struct packet *p);
/* Makes the responder send again the responses that the duplicate READ or atomic @p asks for,
 * because of event @rx.  Does nothing if the first of these responses was not sent yet.
 * resp_decide_again() must have returned REPLAY.
 */
RDL_COLD void resp_replay(struct xport_qp *xqp, const struct packet *p, ev_id rx);

/* Builds the next response.  Returns the length of the frame.  Returns 0 if the key of its READ is
 * no longer valid: a NAK is queued and the responder is closing then.
 */
size_t resp_build_rd(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx);

/* Discards all READs and atomics, and a queued acknowledge of PSNs after an unsent response. */
void resp_forget_rds(struct xport_qp *xqp);

/* resp_inv.c: the key of a SEND with invalidate */

/* Returns the verdict on the key that @p names: ACCEPT if it can be invalidated, otherwise
 * TAKE_AND_FAIL.  Changes nothing.
 */
struct resp_verdict resp_decide_inv(const struct xport_qp *xqp, const struct packet *p);

/* Invalidates the key that @p names if that is possible, and emits `invalidate` in any case. */
void resp_invalidate(struct xport_qp *xqp, const struct packet *p);

/* resp_apply.c: common to the responders of all services */

/* resp_view_of() returns the responder's state as the input of the checks.  resp_judge() checks a
 * request packet in the order of resp.h and sets *@ret.  It may fetch a receive for the packet.
 */
struct resp_view resp_view_of(const struct xport_qp *xqp);
void resp_judge(struct xport_qp *xqp, const struct packet *p, const struct resp_view *v,
                struct resp_verdict *ret);

/* Executes a SEND or WRITE packet that resp_judge() has accepted.  Returns false if the completion
 * of the message was lost.
 */
bool resp_deliver(struct xport_qp *xqp, const struct packet *p);

/* Emit `key` for the keys checked for @p: resp_trace_key() for the memory named by the first packet
 * of a message, resp_trace_refused_key() for the key that was refused.  Emit nothing if there is no
 * such key.
 */
void resp_trace_key(const struct xport_qp *xqp, const struct packet *p);
RDL_COLD void resp_trace_refused_key(const struct xport_qp *xqp, const struct packet *p,
                                     const struct resp_verdict *d);

/* Emits the `rx` event of a request with the verdict @d.  Returns the id of the event. */
ev_id resp_trace_rx(const struct xport_qp *xqp, const struct packet *p, const struct rx_info *info,
                    const struct resp_verdict *d);

/* Returns the completion of the held receive for the verdict @d. */
struct completion resp_error(const struct xport_qp *xqp, const struct resp_verdict *d);

/* Refuses a request because of the verdict @d: queues the NAK for @psn and closes the responder.
 * When the NAK has been sent, the queue pair moves to ERR and the held receive completes with
 * d->status, or is flushed if that is SUCCESS.  @rx is the event of the packet.
 */
RDL_COLD void resp_refuse(struct xport_qp *xqp, const struct resp_verdict *d, struct psn psn,
                          ev_id rx);

/* Completes the held receive, which must exist, with @wc, or without a completion if @wc is NULL.
 * Returns false if the completion was lost.
 */
bool resp_complete(struct xport_qp *xqp, const struct completion *wc);

/* resp_unreliable.c: processes a packet of UC or UD that admit() has accepted.  Returns DROP_NONE,
 * or the reason why the packet was dropped.
 */
enum drop_reason resp_receive_unreliable(struct xport_qp *xqp, const struct packet *p,
                                         const struct rx_info *info);

/* events.c */

/* Reports asynchronous event @type of the queue pair to the guest. */
RDL_COLD void xport_event(const struct xport_qp *xqp, enum async_event type);

/* Raises the asynchronous event for a request that was refused because of @why and has no
 * completion.
 */
RDL_COLD void xport_event_refused(const struct xport_qp *xqp, const struct refusal *why);

/* Raises COMM_EST for the first packet that arrives in RTR, otherwise does nothing.  Call it for
 * each packet.
 */
void xport_event_arrival(struct xport_qp *xqp);

/* flush.c */

/* Moves @xqp to SQE and flushes the send queue; receives continue.  [IBTA1 10.3.1] */
RDL_COLD void xport_fail_sends(struct xport_qp *xqp);

/* xport_fail() moves @xqp to ERR, if it is not there yet, stops its timers and flushes both queues.
 * xport_flush() flushes one queue: completes all that is posted there with WR_FLUSH_ERR.
 */
RDL_COLD void xport_fail(struct xport_qp *xqp);
RDL_COLD void xport_flush(struct xport_qp *xqp, enum wq wq);

/* Returns all posted work requests to the driver without completions, and clears the state of the
 * connection.
 */
void xport_reset(struct xport_qp *xqp);

#endif

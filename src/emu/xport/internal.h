/* SPDX-License-Identifier: MIT */
/* What the files of the transport offer each other. */
#ifndef EMU_XPORT_INTERNAL_H
#define EMU_XPORT_INTERNAL_H

#include "emu/base/cold.h"
#include "emu/xport/resp.h"
#include "emu/xport/xport_qp.h"

/* xport.c */

/* The event `drop`: @p, which was for the QPN that it names, is thrown away.  @values are what the
 * check compared.
 */
RDL_COLD void xport_drop(const struct xport *x, const struct packet *p, const struct rx_info *info,
                         enum drop_reason reason, const struct compared *values);

/* Calls ops->ready() if @xqp has something to send and the device does not know; and ends draining
 * if that is done.
 */
void xport_wake(struct xport_qp *xqp);

/* The event `key`: key_check() for @access answered @rule for an element. */
void xport_trace_key(const struct xport_qp *xqp, const struct sge *s, enum rule rule,
                     unsigned access);

/* The same where @who comes with the key: of a receive it may be another than the queue pair. */
void xport_trace_key_of(const struct xport_qp *xqp, const struct key_user *who, const struct sge *s,
                        enum rule rule, unsigned access);

/* Copies the payload of xqp->out, which is at place *@at of the list @l, to where @room has it in
 * @frame, and adds the ICRC.  As sge_copy_out().
 */
enum rule xport_fill(const struct xport_qp *xqp, uint8_t *frame, const struct packet_room *room,
                     const struct sg_list *l, struct sge_cur *at, struct sge *reterr_bad);

/* The headers of packets along @av to @dest_qpn, in xqp->out and xqp->path. */
void xport_set_path(struct xport_qp *xqp, const struct av *av, uint32_t dest_qpn);

/* req.c: the send queue's cursors and completions */

/* Has the send queue nothing that was not sent, and no reason to look for more?  Most that receive
 * are told so, without asking what may be sent.
 */
static inline bool req_is_idle(const struct requester *r)
{
    return r->next == r->fetched && !r->kicked;
}

/* Can the requester send a packet now, or fetch a work request that it might send? */
bool req_may_send(const struct xport_qp *xqp);

/* It may send, and has just fetched request @next: can that one go?  Not if it was refused, or has
 * to wait for something.
 */
bool req_may_start(const struct xport_qp *xqp);

/* Fetches the next work request, and judges it.  False: there is none. */
bool req_fetch(struct xport_qp *xqp);

/* How many times the packet at nxt will have been sent when it is sent now. */
uint32_t req_attempt(const struct requester *r);

/* The packet at nxt was sent, takes @n_psns, and @asks for an answer; the payload of the next one
 * starts at @next_sge.
 */
void req_sent(struct xport_qp *xqp, uint32_t n_psns, bool asks, struct sge_cur next_sge);

/* Sends everything from una on again, because of @cause. */
RDL_COLD void req_go_back(struct xport_qp *xqp, ev_id cause);

/* The next @n PSNs from una on are acknowledged: completes what they were the last of.  Stops
 * before a request that was refused: call req_settle() then.
 */
void req_acked(struct xport_qp *xqp, uint32_t n);

/* Request @next cannot be sent: it will end with @status once the earlier ones are done. */
RDL_COLD void req_refuse(struct xport_qp *xqp, enum wc_status status, struct objection by);

/* Ends the oldest request with @status, and the queue pair with it. */
RDL_COLD void req_fail(struct xport_qp *xqp, enum wc_status status, struct objection by);

/* Request @next, which has no packets, was carried out: completes it when it is the oldest. */
void req_carried_out(struct xport_qp *xqp);

/* Ends the queue pair if the oldest request was refused. */
void req_settle(struct xport_qp *xqp);

/* The send queue goes on after SQD, and attributes may be others: max_rd_atomic 0 lets no READ
 * begin that was fetched before.
 */
RDL_COLD void req_judge_waiting(struct xport_qp *xqp);

/* Completes a work request of the send queue, of which @filled bytes came back. */
void req_complete(struct xport_qp *xqp, const struct send_wqe *w, uint32_t filled,
                  enum wc_status status, struct objection by);

/* An objection of @rule that compared nothing, or whose values are told by another event. */
static inline struct objection by_rule(enum rule rule)
{
    return (struct objection){rule, {0}};
}

/* Where fetch_send() may put the next work request.  NULL: the arena is full. */
struct req_wqe *req_fetch_place(struct xport_qp *xqp);

/* req_build.c: builds the packet at nxt.  0: the request was refused, see req_settle(). */
size_t req_build(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx);

/* req_local.c */

/* Carries out request @next, which has no packets and may start. */
void req_local_run(struct xport_qp *xqp);

/* Makes the key invalid that @q names, a READ that has all its data.  False: it cannot be, and @q
 * is refused.
 */
bool req_invalidate(struct xport_qp *xqp, struct req_wqe *q);

/* Makes @key invalid for the queue pair or its peer; the event `invalidate` is in @ret_id.  An
 * objection: it stays as it was.
 */
struct objection xport_invalidate(struct xport_qp *xqp, uint32_t key, ev_id *ret_id);

/* retry.c: timers and what runs out */
void retry_timer_arm(struct xport_qp *xqp, enum timer_kind kind, uint64_t delay_ns);
void retry_timer_stop(struct xport_qp *xqp, enum timer_kind kind);
void retry_sent(struct xport_qp *xqp, ev_id tx);
void retry_progress(struct xport_qp *xqp);
void retry_timeout(struct xport_qp *xqp, enum timer_kind kind);
void retry_hold(struct xport_qp *xqp, enum timer_kind kind);
void retry_go_on(struct xport_qp *xqp);

/* comp_apply.c, resp_apply.c: a packet for @xqp that admit() let in */
enum drop_reason comp_receive(struct xport_qp *xqp, const struct packet *p,
                              const struct rx_info *info);
enum drop_reason resp_receive(struct xport_qp *xqp, const struct packet *p,
                              const struct rx_info *info);

/* resp_answer.c */

/* The answer @syndrome for @psn is to be sent, because of @rx, unless what waits says more. */
void resp_answer(struct xport_qp *xqp, uint8_t syndrome, struct psn psn, ev_id rx);

/* Acknowledges every SEND and WRITE that was received in order. */
void resp_acknowledge(struct xport_qp *xqp, ev_id rx);

/* A sequence NAK for the PSN that is expected. */
RDL_COLD void resp_nak_sequence(struct xport_qp *xqp, ev_id rx);

/* The packet @psn is ahead of the one that is expected, and thrown away: a NAK that waits knows. */
RDL_COLD void resp_note_thrown_away(struct xport_qp *xqp, struct psn psn, ev_id rx);

/* The expected packet came and was taken. */
void resp_reconsider(struct xport_qp *xqp, ev_id rx);

/* A response that is to come says what an acknowledge that waits would say. */
void resp_absorb_ack(struct xport_qp *xqp);

/* What the responder has to send next: a response, or the answer that waits.  0: nothing. */
size_t resp_build(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx);

/* The two ends of building an answer: its headers in xqp->out, and, once the frame is there, what
 * is told and counted of it.
 */
void resp_headers(struct xport_qp *xqp, uint8_t opcode, struct psn psn, uint32_t payload_bytes);
void resp_sent(struct xport_qp *xqp, size_t frame_bytes, ev_id *ret_tx);

/* resp_rd.c: READs and atomics */

/* Takes the request @p, which may be executed, and is caused by @rx. */
void resp_take_rd(struct xport_qp *xqp, const struct packet *p, ev_id rx);

/* A duplicate READ or atomic: REPLAY, DROP, or NAK_ACCESS as its key is gone.  Changes nothing. */
RDL_COLD struct resp_verdict resp_decide_again(const struct xport_qp *xqp, const struct packet *p);
RDL_COLD void resp_replay(struct xport_qp *xqp, const struct packet *p, ev_id rx);

/* The next response; 0: the key of its READ is gone, and the responder is closing. */
size_t resp_build_rd(struct xport_qp *xqp, uint8_t *frame, ev_id *ret_tx);

/* Forgets them all, and the acknowledge that waits behind one which was not sent. */
void resp_forget_rds(struct xport_qp *xqp);

/* resp_inv.c: the key that a SEND with invalidate names */

/* May the responder make it invalid?  ACCEPT, or TAKE_AND_FAIL.  Changes nothing. */
struct resp_verdict resp_decide_inv(const struct xport_qp *xqp, const struct packet *p);

/* Does so, or says why not. */
void resp_invalidate(struct xport_qp *xqp, const struct packet *p);

/* resp_apply.c: what the responders of all services do alike */

/* What is asked of a request packet, in the order of resp.h, for a responder that sees @v of it; a
 * receive may be fetched for it.
 */
struct resp_view resp_view_of(const struct xport_qp *xqp);
void resp_judge(struct xport_qp *xqp, const struct packet *p, const struct resp_view *v,
                struct resp_verdict *ret);

/* Carries out a SEND or WRITE that was judged.  False: its completion is lost. */
bool resp_deliver(struct xport_qp *xqp, const struct packet *p);

/* The keys that @p was judged by: of what it names, if it starts a message; the one that was
 * refused.
 */
void resp_trace_key(const struct xport_qp *xqp, const struct packet *p);
RDL_COLD void resp_trace_refused_key(const struct xport_qp *xqp, const struct packet *p,
                                     const struct resp_verdict *d);

/* The event `rx` of a request. */
ev_id resp_trace_rx(const struct xport_qp *xqp, const struct packet *p, const struct rx_info *info,
                    const struct resp_verdict *d);

/* How the receive that is held ends because of @d. */
struct completion resp_error(const struct xport_qp *xqp, const struct resp_verdict *d);

/* A request is refused for good, by @d: the NAK for @psn waits, and when it has left, the receive
 * ends if @d says how, and the queue pair.  @rx is the event of its packet.
 */
RDL_COLD void resp_refuse(struct xport_qp *xqp, const struct resp_verdict *d, struct psn psn,
                          ev_id rx);

/* Completes the receive that is held, which must be there.  False: the completion is lost. */
bool resp_complete(struct xport_qp *xqp, const struct completion *wc);

/* resp_unreliable.c: a packet of UC or UD */
enum drop_reason resp_receive_unreliable(struct xport_qp *xqp, const struct packet *p,
                                         const struct rx_info *info);

/* events.c */

/* Tells the guest of @type. */
RDL_COLD void xport_event(const struct xport_qp *xqp, enum async_event type);

/* A request was refused because of @why, and no completion tells of it. */
RDL_COLD void xport_event_refused(const struct xport_qp *xqp, const struct refusal *why);

/* A packet has come. */
void xport_event_arrival(struct xport_qp *xqp);

/* flush.c */

/* Moves @xqp to SQE and flushes the send queue; receives go on.  [IBTA1 10.3.1] */
RDL_COLD void xport_fail_sends(struct xport_qp *xqp);

/* Moves @xqp to ERR, if it is not there, and flushes both queues. */
RDL_COLD void xport_fail(struct xport_qp *xqp);
RDL_COLD void xport_flush(struct xport_qp *xqp, enum wq wq);

/* Returns what is posted without completions, and forgets the connection. */
void xport_reset(struct xport_qp *xqp);

#endif

/* SPDX-License-Identifier: MIT */
/* End-to-end credits of a reliable connection: the responder announces the number of its receives
 * in each acknowledge, and the requester limits messages that need one.  [IBTA1 9.7.7.2]
 *
 * The announcement is the MSN of the acknowledge and a number of credits.  Their sum is the last
 * send sequence number (SSN) that has a receive.  At that limit the requester sends the first
 * packet of one more message as a probe.  For a WRITE with immediate data the probe is the whole
 * message, because only its last packet needs a receive.  The probe recovers from a lost
 * announcement.  A responder without credits announces AETH_NO_CREDITS, and the requester is not
 * limited.
 *
 * Both sides use credits only if the attribute `credits` was set.  RoCE adapters do not use them.
 */
#ifndef EMU_XPORT_CREDIT_H
#define EMU_XPORT_CREDIT_H

#include "emu/xport/xport_qp.h"

/* Returns the credit field for an acknowledge that is sent now: the number of posted receives, or
 * AETH_NO_CREDITS if the responder does not announce them.
 */
uint8_t credit_code(struct xport_qp *xqp);

/* Returns true if credits allow sending the next packet of @q.  @sent is the number of PSNs of @q
 * already sent.
 */
bool credit_allows(const struct xport_qp *xqp, const struct req_wqe *q, uint32_t sent);

/* Returns true if the first packet of @q, which is about to be sent or retransmitted, is a probe:
 * no other message that needs a receive can follow until the responder announces more.
 */
bool credit_would_end(const struct xport_qp *xqp, const struct req_wqe *q);

/* Assigns the SSN of @q, whose first packet is sent for the first time.  Emits `probe` if the
 * packet is a probe.
 */
void credit_begin(struct xport_qp *xqp, struct req_wqe *q);

/* Updates the requester's limit from an acknowledge with @msn and credit field @code.  Emits
 * `credits` if the limit increases.  AETH_NO_CREDITS removes the limit.
 */
void credit_learn(struct xport_qp *xqp, uint32_t msn, uint8_t code);

/* Queues an acknowledge that announces a receive which was just posted.  Does nothing if the queue
 * pair does not use credits, or is closing.
 */
void credit_posted(struct xport_qp *xqp);

#endif

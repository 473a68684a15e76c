/* SPDX-License-Identifier: MIT */
/* End-to-end credits of a reliable connection: the responder says in each acknowledge how many
 * receives it has, and the requester sends no more messages that need one.  [IBTA1 9.7.7.2]
 *
 * The responder's word is the MSN of the acknowledge and a number of credits; together they are the
 * last send sequence number (SSN) that has a receive.  At that limit the requester sends the first
 * packet of one more message, as a probe, or all of a WRITE with immediate data, whose last packet
 * alone needs a receive: whoever lost the word about new receives learns of them that way.  A
 * responder that counts no credits says so with a code of its own, and nothing is limited.
 *
 * Both sides keep to it only where the attribute `credits` was given; adapters for RoCE do not.
 */
#ifndef EMU_XPORT_CREDIT_H
#define EMU_XPORT_CREDIT_H

#include "emu/xport/xport_qp.h"

/* The credit field of an acknowledge that @xqp sends now. */
uint8_t credit_code(struct xport_qp *xqp);

/* May the next packet of @q leave, @sent PSNs of which were sent? */
bool credit_allows(const struct xport_qp *xqp, const struct req_wqe *q, uint32_t sent);

/* Will nothing that needs a receive follow the first packet of @q, which is about to leave, perhaps
 * again, until the far side says more?
 */
bool credit_would_end(const struct xport_qp *xqp, const struct req_wqe *q);

/* Request @q begins. */
void credit_begin(struct xport_qp *xqp, struct req_wqe *q);

/* An acknowledge says @msn and the credit field @code. */
void credit_learn(struct xport_qp *xqp, uint32_t msn, uint8_t code);

/* A receive was posted: the far side may learn of it. */
void credit_posted(struct xport_qp *xqp);

#endif

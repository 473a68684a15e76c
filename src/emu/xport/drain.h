/* SPDX-License-Identifier: MIT */
/* State SQD: draining of the send queue.  Work requests that were started finish; others wait.
 * When the last started one is complete, the queue is drained, and the event SQ_DRAINED is raised
 * if the move to SQD requested it.  Until then the queue pair can only be moved to RESET or ERR.
 * Linux rxe refuses RESET, too (rxe_qp_chk_attr()).  [IBTA1 10.3.1]
 */
#ifndef EMU_XPORT_DRAIN_H
#define EMU_XPORT_DRAIN_H

#include "emu/facts/enum/qp_state.h"
#include "emu/xport/xport_qp.h"

/* Returns true if the queue pair is draining and this MODIFY_QP request would not move it to RESET
 * or ERR.
 */
bool drain_refuses(const struct xport_qp *xqp, uint32_t mask, const struct qp_attr *attr);

/* Starts draining on a move to SQD and ends it on a move away.  Call it after each MODIFY_QP; @from
 * is the state before the request, @mask the set of enum qp_attr_bit in it.
 */
void drain_moved(struct xport_qp *xqp, enum qp_state from, uint32_t mask);

/* Ends draining if all started requests are complete, and raises SQ_DRAINED if that was requested.
 * The queue pair must be draining.
 */
void drain_settle(struct xport_qp *xqp);

#endif

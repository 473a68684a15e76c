/* SPDX-License-Identifier: MIT */
/* SQD: the send queue is drained.  Work requests that were started finish, others wait; when the
 * last one that was started is done, the queue is drained, and an event says so if that was asked
 * for with the move to SQD.  Until then nothing about the queue pair can be changed, but it can be
 * moved to RESET or ERR; Linux rxe refuses RESET, too (rxe_qp_chk_attr()).  [IBTA1 10.3.1]
 */
#ifndef EMU_XPORT_DRAIN_H
#define EMU_XPORT_DRAIN_H

#include "emu/xport/xport_qp.h"

/* Does draining forbid this move, or change of attributes? */
bool drain_refuses(const struct xport_qp *xqp, uint32_t mask, const struct qp_attr *attr);

/* @xqp was modified, so; it came from state @from. */
void drain_moved(struct xport_qp *xqp, enum qp_state from, uint32_t mask);

/* Is the last request that was started done? */
void drain_settle(struct xport_qp *xqp);

#endif

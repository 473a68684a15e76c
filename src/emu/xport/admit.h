/* SPDX-License-Identifier: MIT */
/* Is a packet for one of our queue pairs, and from whom it is connected to? */
#ifndef EMU_XPORT_ADMIT_H
#define EMU_XPORT_ADMIT_H

#include "emu/xport/xport.h"

/* The checks in the order in which they are asked, with what they answer:
 *
 *	destination address	DROP_NO_SUCH_GID
 *	destination QPN		DROP_NO_SUCH_QP
 *	service of the opcode	DROP_WRONG_SERVICE, or DROP_BAD_OPCODE if it is reserved
 *	state			DROP_QP_NOT_READY: requests need RTR, responses RTS
 *	P_Key			DROP_BAD_PKEY
 *	both addresses		DROP_WRONG_SOURCE: not those of the connection
 *	Q_Key of a datagram	DROP_BAD_QKEY
 *
 * DROP_NONE, and then @ret is the queue pair.  Pure.  [IBTA1 9.6.1]
 */
enum drop_reason admit(const struct hca *h, const struct packet *p, struct qp **ret);

/* The checks from the service on, for @qp alone, as @p was sent to a group. */
enum drop_reason admit_to(const struct qp *qp, const struct packet *p);

/* What was compared when @reason was answered for @qp; NULL: there is none. */
struct compared admit_compared(const struct hca *h, const struct qp *qp, const struct packet *p,
                               enum drop_reason reason);

#endif

/* SPDX-License-Identifier: MIT */
/* Admission of received packets: finds the queue pair and checks that the packet is valid for it.
 */
#ifndef EMU_XPORT_ADMIT_H
#define EMU_XPORT_ADMIT_H

#include "emu/facts/enum/drop.h"
#include "emu/xport/xport.h"

/* Finds the queue pair for @p, which came by the port with the GID table @gids (struct rx_info).
 * Queue pairs that use another port do not exist for it.  Returns DROP_NONE with the queue pair in
 **@ret, or the reason of the first check that fails:
 *
 *	destination address	DROP_NO_SUCH_GID
 *	destination QPN		DROP_NO_SUCH_QP
 *	service of the opcode	DROP_WRONG_SERVICE, or DROP_BAD_OPCODE if the opcode is
 *				reserved; a reserved opcode of RC passes on an RC queue pair,
 *				whose responder answers it with a NAK
 *	state			DROP_QP_NOT_READY: requests need RTR, RTS, SQD or SQE,
 *				responses the same except RTR; or the queue pair is closing
 *	P_Key			DROP_BAD_PKEY; QPN 1 takes those of the whole table
 *	both addresses		DROP_WRONG_SOURCE: not those of the connection
 *	Q_Key of a datagram	DROP_BAD_QKEY
 *
 * Pure.  [IBTA1 9.6.1]
 */
enum drop_reason admit(const struct hca *h, const struct hca_gid *gids, const struct packet *p,
                       struct qp **ret);

/* Like admit(), but only the checks from the service on, for @qp.  Used for each member of a
 * multicast group.
 */
enum drop_reason admit_to(const struct qp *qp, const struct packet *p);

/* Returns true if @pkey is that of @qp, and sets *@ret_index to its entry of the P_Key table.  The
 * queue pair of type GSI is in all partitions of the port.  [Linux, check_keys() of rxe]
 */
bool admit_partition(const struct qp *qp, uint16_t pkey, uint16_t *ret_index);

/* Returns the values that a check of admit() compared when it failed with @reason.  All are 0
 * if the check compared no values.  @qp is NULL if no queue pair was found.
 */
struct compared admit_compared(const struct hca *h, const struct qp *qp, const struct packet *p,
                               enum drop_reason reason);

#endif

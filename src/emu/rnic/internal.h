/* SPDX-License-Identifier: MIT */
/* Functions shared between the files of an RNIC. */
#ifndef EMU_RNIC_INTERNAL_H
#define EMU_RNIC_INTERNAL_H

#include "emu/rnic/rnic.h"

/* rnic_port.c.  rnic_ready_add() is ready() of struct xport_ops: adds @qp to the FIFO of queue
 * pairs with something to send.  rnic_port_use() registers the RNIC at its Ethernet port.
 */
void rnic_ready_add(void *ctx, struct qp *qp);
void rnic_port_use(struct rnic *n);

#endif

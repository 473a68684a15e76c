/* SPDX-License-Identifier: MIT */
/* Functions shared between the files of an RNIC. */
#ifndef EMU_RNIC_INTERNAL_H
#define EMU_RNIC_INTERNAL_H

#include "emu/rnic/rnic.h"

/* rnic_port.c.  rnic_ready_add() is ready() of struct xport_ops: adds @qp to the FIFO of queue
 * pairs with something to send.  rnic_port_use() registers the RNIC at the port of @way.
 */
void rnic_ready_add(void *ctx, struct qp *qp);
void rnic_port_use(struct rnic_way *way);

/* rnic_ready_init() allocates the FIFO @r for queue pairs up to number @max_qp, and returns false
 * if the arena is full.  rnic_ready_forget() empties that of @way.
 */
bool rnic_ready_init(struct rnic_ready *r, struct arena *a, uint32_t max_qp);
void rnic_ready_forget(struct rnic_way *way);

/* rnic.c: complete(), peer_of() and may_connect() of struct xport_ops. */
bool rnic_complete(void *ctx, struct qp *qp, enum wq wq, uint32_t desc,
                   const struct completion *wc);
uint32_t rnic_peer_of(void *ctx, const uint8_t gid[GID_BYTES]);
bool rnic_may_connect(void *ctx, const uint8_t gid[GID_BYTES]);

#endif

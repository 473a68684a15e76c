/* SPDX-License-Identifier: MIT */
/* The functions of the transport that execute a guest's control requests about queue pairs. */
#ifndef EMU_XPORT_CTRL_H
#define EMU_XPORT_CTRL_H

#include <stdint.h>

#include "emu/facts/refusal.h"
#include "emu/xport/xport.h"

/* Creates a queue pair, as hca_qp_create().  Returns RFK_UNSUPPORTED for a type without a
 * service.
 */
enum refusal_reason xport_qp_create(struct xport *x, const struct qp_config *config,
                                    struct qp **ret);

/* Changes the queue lengths of @qp.  The transport's ring of send requests has @max_send_wr
 * entries, rounded up to a power of two.  If that size changes, the ring is freed, and the next
 * send allocates it again.
 *
 * Return: REF_NONE
 *	   RFK_INVALID  a length is above max_qp_wr
 *	   RFK_BUSY     the size of the ring would change, and a fetched send is not complete
 */
enum refusal_reason xport_qp_resize(struct xport *x, struct qp *qp, uint32_t max_send_wr,
                                    uint32_t max_recv_wr);

/* Destroys a queue pair.  Its work requests stay in its queues, which the driver must reset.  A
 * shared receive that it holds is returned to the driver without a completion.  Returns REF_NONE or
 * RFK_NO_OBJECT.
 */
enum refusal_reason xport_qp_destroy(struct xport *x, uint32_t qpn);

/* Checks a MODIFY_QP request and applies it.  Refuses a request that hca_qp_check_modify() or
 * drain_refuses() refuses.  Refuses an address vector whose destination is a multicast group, or
 * whose two addresses have different IP versions.  A transition to ERR completes all posted work
 * requests with WR_FLUSH_ERR.  A transition to RESET returns all posted work requests to the driver
 * without completions.
 */
enum refusal_reason xport_qp_modify(struct xport *x, struct qp *qp, uint32_t mask,
                                    const struct qp_attr *attr);

#endif

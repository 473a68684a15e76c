/* SPDX-License-Identifier: MIT */
/* What a queue pair tells the guest without being asked.  [libibverbs, ibv_get_async_event(3); what
 * each event stands for: NVIDIA, RDMA Aware Networks Programming User Manual, Events]
 *
 * A failure is told once: by the completion of the work request that it is about, if there is one,
 * and by an event if there is none.  So the requester raises none, as all its errors end a work
 * request; the responder does for a request that it refuses before a receive was taken for it.
 */
#include "emu/xport/internal.h"

void xport_event(const struct xport_qp *xqp, enum async_event type)
{
    xqp->x->ops->event(xqp->x->ctx, type, OBJ_QP, xqp->qp.qpn);
}

void xport_event_refused(const struct xport_qp *xqp, enum pkt_act act)
{
    if (act == ACT_NAK_INVALID)
        xport_event(xqp, ASE_QP_REQ_ERR);
    else if (act == ACT_NAK_ACCESS)
        xport_event(xqp, ASE_QP_ACCESS_ERR);
    else
        xport_event(xqp, ASE_QP_FATAL); /* the fault is in the queue itself */
}

void xport_event_arrival(struct xport_qp *xqp)
{
    if (xqp->qp.state != QPS_RTR || xqp->established)
        return;
    xqp->established = true;
    xport_event(xqp, ASE_COMM_EST);
}

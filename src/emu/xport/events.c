/* SPDX-License-Identifier: MIT */
/* What a queue pair tells the guest without being asked.  [libibverbs, ibv_get_async_event(3); what
 * each event stands for: NVIDIA, RDMA Aware Networks Programming User Manual, Events]
 *
 * A failure is told once: by the completion of the work request that it is about, if there is one,
 * and by an event if there is none.  So the requester raises none, as all its errors end a work
 * request; the responder does for a request that it refuses before a receive was taken for it.
 */
#include "emu/xport/internal.h"

void rc_event(const struct rc_qp *rc, enum async_event type)
{
    rc->x->ops->event(rc->x->ctx, type, OBJ_QP, rc->qp.qpn);
}

void rc_event_refused(const struct rc_qp *rc, enum pkt_act act)
{
    if (act == ACT_NAK_INVALID)
        rc_event(rc, ASE_QP_REQ_ERR);
    else if (act == ACT_NAK_ACCESS)
        rc_event(rc, ASE_QP_ACCESS_ERR);
    else
        rc_event(rc, ASE_QP_FATAL); /* the fault is in the queue itself */
}

void rc_event_arrival(struct rc_qp *rc)
{
    if (rc->qp.state != QPS_RTR || rc->established)
        return;
    rc->established = true;
    rc_event(rc, ASE_COMM_EST);
}

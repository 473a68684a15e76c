/* SPDX-License-Identifier: MIT */
/* Asynchronous events of queue pairs.  [libibverbs, ibv_get_async_event(3); the meaning of each
 * event: NVIDIA, RDMA Aware Networks Programming User Manual, Events]
 *
 * A failure is reported once: by the completion of the work request that it belongs to, or by an
 * event if there is none.  The requester raises no events, because each of its errors ends a work
 * request.  The responder raises one for a request that it refuses, if no receive is related to it.
 */
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/profile.h"
#include "emu/xport/internal.h"

/* The events that hosts of some profiles never raise. */
static const struct {
    enum async_event event;
    enum trait trait;
} optional[] = {
    {ASE_COMM_EST, TRAIT_COMM_EST_RAISED},    {ASE_QP_LAST_WQE_REACHED, TRAIT_LAST_WQE_RAISED},
    {ASE_QP_REQ_ERR, TRAIT_QP_ERRORS_RAISED}, {ASE_QP_ACCESS_ERR, TRAIT_QP_ERRORS_RAISED},
    {ASE_QP_FATAL, TRAIT_QP_ERRORS_RAISED},
};

static void raise(const struct xport_qp *xqp, enum async_event type)
{
    xqp->x->ops->event(xqp->x->ctx, type, xqp->qp.qpn);
}

void xport_event(const struct xport_qp *xqp, enum async_event type)
{
    for (size_t i = 0; i < ARRAY_LEN(optional); i++) {
        if (optional[i].event == type && !profile_has(xqp->qp.hca->profile, optional[i].trait))
            return;
    }
    raise(xqp, type);
}

/* The event for a request refused by one of the rules RESP_*.  QP_REQ_ERR: a correct adapter never
 * sends such a packet.  QP_ACCESS_ERR: the packet is valid, but the program asked for something
 * that it is not allowed.  All rules about keys are of this kind.  [NVIDIA, as above]
 */
static const struct {
    enum rule rule;
    enum async_event event;
} invalid_requests[] = {
    {RULE_RESP_OPCODE, ASE_QP_REQ_ERR},        {RULE_RESP_OP_SEQUENCE, ASE_QP_REQ_ERR},
    {RULE_RESP_LENGTH, ASE_QP_REQ_ERR},        {RULE_RESP_PAD, ASE_QP_REQ_ERR},
    {RULE_RESP_RECV_LENGTH, ASE_QP_REQ_ERR},   {RULE_RESP_QP_ACCESS, ASE_QP_ACCESS_ERR},
    {RULE_RESP_RD_ROOM, ASE_QP_ACCESS_ERR},    {RULE_RESP_ATOMIC_ALIGNED, ASE_QP_ACCESS_ERR},
    {RULE_RESP_DMA_LENGTH, ASE_QP_ACCESS_ERR},
};

static enum async_event event_of(const struct refusal *why)
{
    size_t i = 0;

    if (why->act != ACT_NAK_INVALID)
        return ASE_QP_FATAL; /* the queue itself is faulty */
    /* Every rule that is answered by NAK_INVALID_REQUEST has a row. */
    while (invalid_requests[i].rule != why->rule) {
        i++;
        RDL_ASSERT(i < ARRAY_LEN(invalid_requests));
    }
    return invalid_requests[i].event;
}

void xport_event_refused(const struct xport_qp *xqp, const struct refusal *why)
{
    if (why->act != ACT_NAK_ACCESS)
        xport_event(xqp, event_of(why));
    else if (profile_has(xqp->qp.hca->profile, TRAIT_KEY_REFUSAL_RAISED))
        raise(xqp, ASE_QP_ACCESS_ERR);
}

void xport_event_arrival(struct xport_qp *xqp)
{
    if (xqp->qp.state != QPS_RTR || xqp->established)
        return;
    xqp->established = true;
    xport_event(xqp, ASE_COMM_EST);
}

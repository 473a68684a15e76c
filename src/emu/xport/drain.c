/* SPDX-License-Identifier: MIT */
#include "emu/xport/drain.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/profile.h"
#include "emu/xport/internal.h"

/* Drained: no packet is unacknowledged and no request is sent in part.  A request that was fetched
 * but not begun counts as not started.
 */
static bool is_drained(const struct requester *r)
{
    return r->out_psns == 0 && r->sent_psns == 0;
}

bool drain_refuses(const struct xport_qp *xqp, uint32_t mask, const struct qp_attr *attr)
{
    const uint32_t to = mask & QPA_STATE ? attr->state : (uint32_t)xqp->qp.state;

    return xport_is_draining(&xqp->qp) && to != QPS_RESET && to != QPS_ERR;
}

void drain_moved(struct xport_qp *xqp, enum qp_state from, uint32_t mask)
{
    if (xqp->qp.state != QPS_SQD) {
        xqp->draining = false;
        return;
    }
    if (from == QPS_SQD)
        return;
    xqp->draining = true;
    xqp->tell_drained = ((mask & QPA_EN_SQD_ASYNC_NOTIFY) && xqp->qp.attr.en_sqd_async_notify) ||
                        !profile_has(xqp->qp.hca->profile, TRAIT_SQ_DRAINED_IF_ASKED);
}

void drain_settle(struct xport_qp *xqp)
{
    RDL_ASSERT(xqp->draining);
    if (xqp->qp.state != QPS_SQD || !is_drained(&xqp->req))
        return;
    xqp->draining = false;
    if (xqp->tell_drained)
        xport_event(xqp, ASE_SQ_DRAINED);
}

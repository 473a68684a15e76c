/* SPDX-License-Identifier: MIT */
#include "emu/xport/drain.h"

#include "emu/xport/internal.h"

/* No packet waits for its acknowledge, and no request is sent in part.  What was fetched and not
 * begun has not been started.
 */
static bool is_drained(const struct rc_req *r)
{
    return r->out_psns == 0 && r->sent_psns == 0;
}

bool drain_refuses(const struct rc_qp *rc, uint32_t mask, const struct qp_attr *attr)
{
    const uint32_t to = mask & QPA_STATE ? attr->state : (uint32_t)rc->qp.state;

    return xport_is_draining(&rc->qp) && to != QPS_RESET && to != QPS_ERR;
}

void drain_moved(struct rc_qp *rc, enum qp_state from, uint32_t mask)
{
    if (rc->qp.state != QPS_SQD) {
        rc->draining = false;
        return;
    }
    if (from == QPS_SQD)
        return;
    rc->draining = true;
    rc->tell_drained = (mask & QPA_EN_SQD_ASYNC_NOTIFY) && rc->qp.attr.en_sqd_async_notify;
}

void drain_settle(struct rc_qp *rc)
{
    if (!rc->draining || rc->qp.state != QPS_SQD || !is_drained(&rc->req))
        return;
    rc->draining = false;
    if (rc->tell_drained)
        rc_event(rc, ASE_SQ_DRAINED);
}

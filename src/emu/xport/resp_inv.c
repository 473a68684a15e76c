/* SPDX-License-Identifier: MIT */
/* Responder, RC: SEND with invalidate.
 *
 * The last packet names a key of the responder that ends with the message: the far side says that
 * it needs it no more.  It is asked for when everything else about the packet is right and there is
 * a receive, so that an RNR NAK ends no key.  A key that cannot be made invalid is the responder's
 * own fault, class J: the message is acknowledged, its receive fails, and so does the queue pair.
 * Linux rxe does the same, so profiles do not differ.
 */
#include "emu/xport/internal.h"

struct resp_verdict resp_decide_inv(const struct xport_qp *xqp, const struct packet *p)
{
    const struct key_user who = key_user_of(&xqp->qp);
    const struct objection o = key_check_inv(xqp->qp.hca, p->ieth_rkey, &who);

    if (o.rule == RULE_NONE)
        return (struct resp_verdict){.act = ACT_ACCEPT};
    return (struct resp_verdict){.act = ACT_TAKE_AND_FAIL,
                                 .rule = o.rule,
                                 .values = o.values,
                                 .status = WCS_REM_INV_REQ_ERR};
}

void resp_invalidate(struct xport_qp *xqp, const struct packet *p)
{
    ev_id id;

    (void)xport_invalidate(xqp, p->ieth_rkey, &id); /* an objection is told by resp_decide_inv() */
}

/* SPDX-License-Identifier: MIT */
/* Responder of RC: SEND with invalidate.
 *
 * The last packet names a key of the responder that the peer no longer needs and that is
 * invalidated with the message.  It is checked last, after the receive was fetched, so that an RNR
 * NAK invalidates no key.  A key that cannot be invalidated is the responder's own fault (class J):
 * the message is acknowledged, its receive fails, and the queue pair ends.  Linux rxe does the
 * same, so profiles do not differ.
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

    (void)xport_invalidate(xqp, p->ieth_rkey, &id); /* resp_decide_inv() reports objections */
}

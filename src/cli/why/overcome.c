/* SPDX-License-Identifier: MIT */
#include "cli/why/overcome.h"

#include <string.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/trace/event.h"

/* --- Packets of RC ---------------------------------------------------------------------------- */

/* A request packet, or several requests up to this one. */
struct asked_packet {
    uint32_t host, qpn, psn; /* of its sender */
};

static bool is_answer(const struct ev *tx)
{
    return tx->u.tx.syndrome != SYN_NONE || op_is_response(op_info((uint8_t)tx->u.tx.opcode));
}

/* Finds the request that the sender of the frame of @e has to repeat.  Returns false if the frame
 * is none of a queue pair of RC.
 */
static bool request_of(const struct past *p, const struct ev *e, struct asked_packet *ret)
{
    const struct ev *tx = e->kind == EV_timeout ? NULL : past_tx_of(p, e), *rx, *asked;

    if (e->kind == EV_timeout) {
        *ret = (struct asked_packet){e->u.timeout.host, e->u.timeout.qpn, e->u.timeout.psn};
        return true;
    }
    if (!tx || tx->kind != EV_tx || op_info((uint8_t)tx->u.tx.opcode)->service != OPS_RC)
        return false;
    asked = tx;
    if (is_answer(tx)) {
        rx = past_find(p, tx->cause);
        asked = rx && rx->kind == EV_rx ? past_tx_of(p, rx) : NULL;
    }
    if (!asked || asked->kind != EV_tx)
        return false;
    *ret = (struct asked_packet){asked->u.tx.host, asked->u.tx.qpn, tx->u.tx.psn};
    return true;
}

/* Returns true if @e tells the sender of @r that it has arrived. */
static bool acknowledges(const struct ev *e, const struct asked_packet *r)
{
    if (e->kind != EV_rx || e->u.rx.host != r->host || e->u.rx.qpn != r->qpn ||
        psn_diff((struct psn){e->u.rx.psn}, (struct psn){r->psn}) < 0)
        return false;
    return e->u.rx.act == ACT_ACKS ||
           (e->u.rx.act == ACT_ACCEPT && op_is_response(op_info((uint8_t)e->u.rx.opcode)));
}

/* Returns true if the queue pair of @r gives up its requests in @e. */
static bool gives_up(const struct ev *e, const struct asked_packet *r)
{
    return e->kind == EV_qp_state && e->u.qp_state.host == r->host && e->u.qp_state.qpn == r->qpn &&
           e->u.qp_state.to != QPS_RTS && e->u.qp_state.to != QPS_SQD;
}

static const struct ev *acknowledged_by(const struct past *p, const struct ev *e)
{
    struct asked_packet r;

    if (!request_of(p, e, &r))
        return NULL;
    for (size_t i = past_lower_bound(p, e->id); i < p->n; i++) {
        const struct ev *later = past_at(p, i);

        if (gives_up(later, &r))
            return NULL;
        if (acknowledges(later, &r))
            return later;
    }
    return NULL;
}

/* --- Connections ------------------------------------------------------------------------------ */

static bool is_sent_to(const struct ev *e, enum cm_message message, const struct ev *rej)
{
    return e->kind == EV_cm_sent && e->u.cm_sent.message == message &&
           e->u.cm_sent.host == rej->u.cm_received.host &&
           strcmp(e->u.cm_sent.addr.s, rej->u.cm_received.addr.s) == 0;
}

/* Finds the port that the REQ of the reject @rej asked for.  Returns false if the host has asked
 * the peer for several ports, so that it may be any of them.
 */
static bool port_of(const struct past *p, const struct ev *rej, uint32_t *ret)
{
    bool found = false;

    for (size_t i = 0; i < p->n && past_at(p, i)->id < rej->id; i++) {
        const struct ev *e = past_at(p, i);

        if (!is_sent_to(e, CM_REQ, rej))
            continue;
        if (found && e->u.cm_sent.port != *ret)
            return false;
        *ret = e->u.cm_sent.port;
        found = true;
    }
    return found;
}

/* Returns the RTU of a connection to the same port that was asked for after @e, a REJECTED. */
static const struct ev *connected_by(const struct past *p, const struct ev *e)
{
    const struct ev *rej = past_find(p, e->cause), *req = NULL;
    uint32_t port;

    if (!rej || rej->kind != EV_cm_received || !port_of(p, rej, &port))
        return NULL;
    for (size_t i = past_lower_bound(p, e->id); i < p->n; i++) {
        const struct ev *later = past_at(p, i);

        if (is_sent_to(later, CM_REQ, rej) && later->u.cm_sent.port == port)
            req = later;
        if (req && is_sent_to(later, CM_RTU, rej) &&
            later->u.cm_sent.comm_id == req->u.cm_sent.comm_id)
            return later;
    }
    return NULL;
}

/* --- LNet ------------------------------------------------------------------------------------- */

/* Finds the nodes of @e: the host, and the NID of its peer. */
static const char *nid_in(const struct ev *e, uint32_t *ret_host)
{
    if (e->kind == EV_lnet_reject) {
        *ret_host = e->u.lnet_reject.host;
        return e->u.lnet_reject.nid.s;
    }
    *ret_host = e->u.lnet_state.host;
    return e->u.lnet_state.nid.s;
}

/* Returns the first event behind @e in which a connection of the same nodes gets to @state. */
static const struct ev *next_state(const struct past *p, const struct ev *e, enum lnd_state state)
{
    uint32_t host;
    const char *nid = nid_in(e, &host);

    for (size_t i = past_lower_bound(p, e->id); i < p->n; i++) {
        const struct ev *later = past_at(p, i);

        if (later->kind == EV_lnet_state && later->id != e->id &&
            later->u.lnet_state.host == host && later->u.lnet_state.state == state &&
            strcmp(later->u.lnet_state.nid.s, nid) == 0)
            return later;
    }
    return NULL;
}

const struct ev *overcome_asked_again(const struct past *p, const struct ev *e)
{
    const struct ev *again = next_state(p, e, LND_CONN_INIT), *closing;

    closing = again ? past_find(p, again->cause) : NULL;
    return closing && closing->kind == EV_lnet_state &&
                   (closing->id == e->id || closing->cause == e->id)
               ? again
               : NULL;
}

const struct ev *overcome_by(const struct past_index *x, const struct ev *e)
{
    switch (e->kind) {
    case EV_lost:
    case EV_drop:
    case EV_timeout:
        return acknowledged_by(x->past, e);
    case EV_cm_event:
        return e->u.cm_event.event == RDMA_CM_EVENT_REJECTED ? connected_by(x->past, e) : NULL;
    case EV_lnet_reject:
        return next_state(x->past, e, LND_CONN_ESTABLISHED);
    case EV_lnet_state:
        return e->u.lnet_state.state == LND_CONN_CLOSING
                   ? next_state(x->past, e, LND_CONN_ESTABLISHED)
                   : NULL;
    default:
        return NULL;
    }
}

/* SPDX-License-Identifier: MIT */
/* Asynchronous events: from the transport, the objects and the port to the driver. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/async.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/hca/ctrl.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"
#include "emu/xport/ctrl.h"

static ev_id trace_event(const struct rnic *n, enum async_event type, uint32_t number, bool lost)
{
    ev_id id;

    TRACE_ID(n->trace, id, async_event, .host = n->config->host, .event = (uint32_t)type,
             .object = (uint32_t)async_object((uint32_t)type), .number = number, .lost = lost);
    return id;
}

void rnic_event(struct rnic *n, enum async_event type, uint32_t number)
{
    struct rnic_events *e = &n->events;
    const bool kept = !n->ops->keeps_events || n->ops->keeps_events(n->ctx);
    const bool lost = kept && e->len == RNIC_EVENTS_MAX;
    ev_id before;

    if (!n->ops->is_driven(n->ctx))
        return;
    before = trace_because(n->trace, trace_event(n, type, number, lost));
    e->raised++;
    if (lost) {
        e->lost++;
        e->untold = true;
    } else {
        if (kept)
            e->ring[(e->first + e->len++) % RNIC_EVENTS_MAX] = (struct rnic_event){type, number};
        n->ops->event(n->ctx);
    }
    trace_because(n->trace, before);
}

void rnic_event_fatal(const struct rnic *n)
{
    (void)trace_event(n, ASE_DEVICE_FATAL, 0, false);
}

void rnic_event_told(struct rnic *n)
{
    struct rnic_events *e = &n->events;

    RDL_ASSERT(e->len > 0);
    e->first = (e->first + 1) % RNIC_EVENTS_MAX;
    e->len--;
    e->untold = false;
}

void rnic_events_forget(struct rnic *n, uint32_t kind, uint32_t number)
{
    struct rnic_events *e = &n->events;
    const uint32_t len = e->len;

    e->len = 0;
    for (uint32_t i = 0; i < len; i++) {
        const struct rnic_event event = e->ring[(e->first + i) % RNIC_EVENTS_MAX];

        if (async_object((uint32_t)event.type) != kind || event.number != number)
            e->ring[(e->first + e->len++) % RNIC_EVENTS_MAX] = event;
    }
}

void rnic_link_changed(struct rnic *n, bool up)
{
    if (n->ops->has_interface && !n->ops->has_interface(n->ctx))
        return; /* the port is down with or without a link */
    rnic_event(n, up ? ASE_PORT_ACTIVE : ASE_PORT_ERR, HCA_PORT);
}

void rnic_qp_lost_queue(struct rnic *n, struct qp *qp)
{
    const struct qp_attr to_err = {.state = QPS_ERR};

    if (qp->state == QPS_RESET || qp->state == QPS_ERR)
        return;
    if (xport_qp_modify(&n->xport, qp, QPA_STATE, &to_err) != REF_NONE)
        assert_fail("every state leads to ERR", __FILE__, __LINE__);
    n->xport.ops->event(n, ASE_QP_FATAL, qp->qpn); /* behind the completions of @qp */
    rnic_settle(n);
    rnic_control(n); /* the queue may begin anew: nothing must come for it later */
}

void rnic_srq_taken(struct rnic *n, struct srq *srq, uint32_t left)
{
    if (srq_take(srq, left))
        rnic_event(n, ASE_SRQ_LIMIT_REACHED, srq->srqn);
}

void rnic_srq_failed(struct rnic *n, struct srq *srq)
{
    if (srq->error)
        return;
    srq->error = true;
    rnic_event(n, ASE_SRQ_ERR, srq->srqn);
}

/* A queue without users does not fail: right after its creation a driver may set up the ring again.
 */
void rnic_srq_lost_queue(struct rnic *n, struct srq *srq)
{
    if (srq->users == 0)
        return;
    rnic_srq_failed(n, srq);
    xport_srq_failed(&n->xport, srq);
    rnic_settle(n);
    rnic_control(n);
}

static bool gid_equals(const struct hca_gid *a, const struct hca_gid *b)
{
    return a->valid == b->valid && memcmp(a->raw, b->raw, sizeof(b->raw)) == 0;
}

enum refusal_reason rnic_gid_set(struct rnic *n, uint32_t index, const uint8_t *gid)
{
    const struct hca_gid before = index < HCA_GIDS ? n->hca.gids[index] : (struct hca_gid){0};
    const enum refusal_reason why = rnic_gid_bind(n, index, gid);

    if (why == REF_NONE && !n->booting && !gid_equals(&n->hca.gids[index], &before))
        rnic_event(n, ASE_GID_CHANGE, HCA_PORT);
    return why;
}

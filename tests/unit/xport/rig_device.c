/* SPDX-License-Identifier: MIT */
/* The devices of the rig, as the transport asks for them: rings, ports, peers. */
#include "rig.h"

#include <string.h>

#include "emu/facts/async.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/hca/ctrl.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/xport/ctrl.h"
#include "testing.h"

static enum fetch take(struct rig_host *h, enum wq wq, struct rig_post **ret)
{
    struct rig_queue *q = &h->queue[wq];

    if (q->broken)
        return FETCH_BROKEN;
    if (q->taken == q->posted)
        return FETCH_EMPTY;
    *ret = &q->posts[q->taken++ % RIG_RING];
    return FETCH_OK;
}

static uint32_t sges_of(const struct rig_post *p, uint32_t max)
{
    uint32_t n = p->n_sge < max ? p->n_sge : max;

    return n < RIG_SGES ? n : RIG_SGES;
}

static struct sge_count sge_count_of(const struct rig_post *p)
{
    const uint32_t each = sizeof(p->sge[0]);

    return (struct sge_count){p->n_sge, p->body_bytes / each, p->body_bytes % each != 0};
}

static enum fetch fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    struct rig_host *h = ctx;
    struct rig_post *p;
    const uint32_t desc = h->queue[WQ_SEND].taken;
    const enum fetch got = take(h, WQ_SEND, &p);

    if (got != FETCH_OK)
        return got;
    out->wr_id = p->wr_id;
    out->opcode = p->opcode;
    out->flags = p->flags;
    memcpy(out->imm, p->imm, sizeof(out->imm));
    if (qp_type_is_datagram(qp->config.type)) {
        out->to = p->to;
        goto read;
    }
    out->remote_addr = p->remote_addr;
    out->compare_add = p->compare_add;
    out->swap = p->swap;
    out->rkey = p->rkey;
    out->invalidate_rkey = p->invalidate_rkey;
    if (p->opcode == WR_BIND_MW)
        out->bind = p->bind;
    else if (p->opcode == WR_REG_MR)
        out->reg = p->reg;
read:
    out->desc = desc;
    out->truncated = p->truncated;
    out->n_sge = sge_count_of(p);
    out->inline_bytes = p->body_bytes;
    if (p->flags & SF_INLINE)
        memcpy(out->inline_data, p->inline_data,
               p->body_bytes < RIG_INLINE ? p->body_bytes : RIG_INLINE);
    else
        memcpy(out->sge, p->sge, sges_of(p, qp->config.max_send_sge) * sizeof(p->sge[0]));
    TRACE_ID(&h->rig->trace, out->fetched, fetch, .host = h->number, .qpn = qp->qpn, .desc = desc,
             .wr_id = p->wr_id, .op = p->opcode);
    return FETCH_OK;
}

static enum fetch fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    struct rig_host *h = ctx;
    struct rig_post *p;
    const uint32_t desc = h->queue[WQ_RECV].taken;
    const enum fetch got = take(h, WQ_RECV, &p);

    if (got != FETCH_OK)
        return got;
    out->wr_id = p->wr_id;
    out->desc = desc;
    out->truncated = p->truncated;
    out->n_sge = sge_count_of(p);
    memcpy(out->sge, p->sge, sges_of(p, qp->config.max_recv_sge) * sizeof(p->sge[0]));
    return FETCH_OK;
}

/* Chains must come back in order: RC has no other. */
static bool complete(void *ctx, struct qp *qp, enum wq wq, uint32_t desc,
                     const struct completion *wc)
{
    struct rig_host *h = ctx;
    struct rig_queue *q = &h->queue[wq];
    const struct cq *cq = wq == WQ_SEND ? qp->send_cq : qp->recv_cq;

    assert_int_equal(desc, q->returned);
    assert_true(q->returned < q->taken);
    q->returned++;
    if (!wc)
        return true;
    assert_int_equal(wc->wr_id, q->posts[desc % RIG_RING].wr_id);
    assert_int_equal(wc->qpn, qp->qpn);
    if (h->cq_failed)
        return false;
    TRACE(&h->rig->trace, cqe, .host = h->number, .cqn = cq->cqn, .qpn = wc->qpn,
          .wr_id = wc->wr_id, .status = wc->status, .op = wc->opcode, .bytes = wc->bytes,
          .rule = wc->rule);
    h->wc[wq][h->n_wc[wq]++ % RIG_RING] = *wc;
    return true;
}

static void ready(void *ctx, struct qp *qp)
{
    struct rig_host *h = ctx;

    assert_true(xport_has_tx(qp));
    assert_false(h->egress_due);
    h->egress_due = true;
    sim_schedule(&h->rig->sim, sim_now(&h->rig->sim), SIM_EGRESS, h->number, 0);
}

static uint32_t peer_of(void *ctx, const uint8_t dgid[GID_BYTES])
{
    struct rig_host *h = ctx;

    return memcmp(dgid, rig_other(h)->hca.gids[0].raw, GID_BYTES) == 0 ? 1 - h->number
                                                                       : EV_HOST_NONE;
}

static bool may_connect(void *ctx, const uint8_t dgid[GID_BYTES])
{
    const struct rig_host *h = ctx;

    (void)dgid;
    return !h->is_alone;
}

static void event(void *ctx, enum async_event type, uint32_t qpn)
{
    struct rig_host *h = ctx;

    assert_int_equal(async_object(type), OBJ_QP);
    TRACE(&h->rig->trace, async_event, .host = h->number, .event = type, .object = OBJ_QP,
          .number = qpn);
    h->n_async[type]++;
}

static uint32_t receives(void *ctx, struct qp *qp)
{
    const struct rig_queue *q = &((struct rig_host *)ctx)->queue[WQ_RECV];

    (void)qp;
    return q->posted - q->taken;
}

const struct xport_ops rig_device_ops = {.fetch_send = fetch_send,
                                         .fetch_recv = fetch_recv,
                                         .complete = complete,
                                         .ready = ready,
                                         .peer_of = peer_of,
                                         .may_connect = may_connect,
                                         .receives = receives,
                                         .event = event};

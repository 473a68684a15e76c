/* SPDX-License-Identifier: MIT */
/* Commands of queue pairs. */
#include "emu/base/log2.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/qp_attrs.h"
#include "emu/facts/roce.h"
#include "emu/guest/pvrdma/internal.h"

PVD_BODY(create_qp)
PVD_BODY(modify_qp)
PVD_BODY(query_qp)

/* The slots of a queue for @n work requests: a ring has at least one. */
static uint32_t slots_for(uint32_t n)
{
    return n > 0 ? (uint32_t)pow2_ceil(n) : 1;
}

/* Allocates the rings of @q: a page of indices, the sends, the receives. */
static enum rdl_status take_rings(struct pvrdma_guest *d, struct pvd_qp *q, uint32_t *ret_sends)
{
    const struct guest_qp *qp = &q->qp;
    const uint32_t n_sends = slots_for(qp->sq.max_wr), n_receives = slots_for(qp->rq.max_wr);
    const uint32_t send_slot = pv_slot_bytes(PV_BYTES_sq_wqe, qp->sq.max_sge);
    const uint32_t recv_slot = pv_slot_bytes(PV_BYTES_rq_wqe, qp->rq.max_sge);
    const uint32_t sends = (uint32_t)pv_pages_of(n_sends, send_slot);
    const uint32_t receives = qp->srq ? 0 : (uint32_t)pv_pages_of(n_receives, recv_slot);

    if (n_sends > d->caps.max_qp_wr || (!qp->srq && n_receives > d->caps.max_qp_wr))
        return RDL_ERR_LIMIT;
    if (!pvd_pages_take(d, 1 + sends + receives, &q->pages))
        return RDL_ERR_NOMEM;
    pvd_ring_init(d, &q->sends, &q->pages, true, 1, n_sends, send_slot);
    if (!qp->srq)
        pvd_ring_init(d, &q->receives, &q->pages, false, 1 + sends, n_receives, recv_slot);
    *ret_sends = sends;
    return RDL_OK;
}

enum rdl_status pvd_create_qp(struct guest_qp *qp)
{
    struct pvrdma_guest *d = driver_of(&qp->o);
    struct pvd_qp *q = (struct pvd_qp *)qp;
    uint32_t send_pages;
    enum rdl_status st = take_rings(d, q, &send_pages);

    if (st != RDL_OK)
        return st;
    if (qp->o.owner)
        qp->max_inline_data = 0; /* as Linux: a program looks at what it got */
    st = PVD_SEND(d, PV_CMD_CREATE_QP, create_qp, .pdir = q->pages.gpa, .pd = qp->pd->pdn,
                  .send_cq = pv_handle_of(OBJ_CQ, qp->send_cq->cqn),
                  .recv_cq = pv_handle_of(OBJ_CQ, qp->recv_cq->cqn),
                  .srq = qp->srq ? pv_handle_of(OBJ_SRQ, qp->srq->srqn) : 0,
                  .max_send_wr = q->sends.n, .max_recv_wr = q->receives.n,
                  .max_send_sge = qp->sq.max_sge, .max_recv_sge = qp->srq ? 0 : qp->rq.max_sge,
                  .max_inline_data = qp->max_inline_data, .total_pages = (uint16_t)q->pages.n,
                  .send_pages = (uint16_t)send_pages, .sq_sig_all = qp->sq_sig_all,
                  .type = (uint8_t)qp->type, .is_srq = qp->srq != NULL);
    if (st != RDL_OK)
        pvd_give_memory(d, &qp->o);
    return st;
}

/* Before version 20 the handle is the number. */
void pvd_qp_created(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    struct pvd_qp *q = (struct pvd_qp *)o;

    PVD_TAKE(body, qp_made_v2, r);
    q->handle = d->version >= PV_VERSION_QP_HANDLE ? r.handle : r.qpn;
    q->qp.sq.queue = pv_queue_of_sends(r.qpn);
    q->qp.rq.queue = q->qp.srq ? q->qp.srq->rq.queue : pv_queue_of_receives(r.qpn);
    pvd_created(d, o, r.qpn);
}

static void put_ah(uint8_t out[], const struct rdl_ah_attr *from, uint32_t port)
{
    struct pv_ah_attr a = {.flow_label = from->flow_label,
                           .sgid_index = from->sgid_index,
                           .hop_limit = from->hop_limit,
                           .traffic_class = from->traffic_class,
                           .sl = from->sl,
                           .static_rate = from->static_rate,
                           .flags = AH_FLAG_GRH,
                           .port = (uint8_t)port};
    struct pv_raw_ah_attr raw;

    memcpy(a.dgid, from->dgid, sizeof(a.dgid));
    memcpy(a.dmac, from->dmac, sizeof(a.dmac));
    pv_ah_attr_put(&raw, &a);
    memcpy(out, &raw, sizeof(raw));
}

enum rdl_status pvd_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr, uint32_t mask)
{
    struct pv_modify_qp cmd = {.handle = ((struct pvd_qp *)qp)->handle, .mask = mask};
    struct pv_qp_attr a = {.state = 0};
    struct pv_raw_qp_attr raw;

    QP_ATTRS_COPY(&a, attr);
    /* The address vector uses the queue pair's own port, which is not repeated in it. */
    put_ah(a.ah, &attr->ah, mask & QPA_PORT ? attr->port : qp->attr.port);
    pv_qp_attr_put(&raw, &a);
    memcpy(cmd.attr, &raw, sizeof(raw));
    return pvd_send_modify_qp(driver_of(&qp->o), PV_CMD_MODIFY_QP, &cmd);
}

/* After a move to RESET the driver sets the indices to 0. */
void pvd_qp_modified(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    struct pvd_qp *q = (struct pvd_qp *)o;

    (void)body;
    if ((d->verbs->request.mask & QPA_STATE) && d->verbs->request.attr.state == QPS_RESET) {
        pvd_ring_restart(d, &q->sends);
        pvd_ring_restart(d, &q->receives);
    }
    verbs_modified(&q->qp);
}

enum rdl_status pvd_query_qp(struct guest_qp *qp)
{
    return PVD_SEND(driver_of(&qp->o), PV_CMD_QUERY_QP, query_qp,
                    .handle = ((struct pvd_qp *)qp)->handle, .mask = UINT32_MAX);
}

void pvd_qp_queried(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    struct rdl_qp_attr attr;

    (void)d;
    PVD_TAKE(body, qp_attr, a);
    PVD_TAKE(a.ah, ah_attr, ah);
    attr = (struct rdl_qp_attr){
        .sq_draining = a.sq_draining,
        .ah.sgid_index = ah.sgid_index,
        .ah.hop_limit = ah.hop_limit,
        .ah.traffic_class = ah.traffic_class,
        .ah.sl = ah.sl,
        .ah.flow_label = ah.flow_label,
    };
    QP_ATTRS_COPY(&attr, &a);
    memcpy(attr.ah.dgid, ah.dgid, sizeof(attr.ah.dgid));
    memcpy(attr.ah.dmac, ah.dmac, sizeof(attr.ah.dmac));
    verbs_queried((struct guest_qp *)o, &attr);
}

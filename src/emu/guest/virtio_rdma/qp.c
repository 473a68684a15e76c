/* SPDX-License-Identifier: MIT */
/* Requests for queue pairs, and their answers. */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/qp_attrs.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"

static struct virtio_rdma_qp *answered_qp(const struct virtio_rdma *d)
{
    return (struct virtio_rdma_qp *)asked_about(d);
}

uint32_t sq_wqe_bytes(const struct guest_qp *qp)
{
    const uint32_t sges = qp->sq.max_sge * (uint32_t)sizeof(struct raw_sge);

    return (uint32_t)sizeof(struct raw_sq_wqe) +
           (sges > qp->max_inline_data ? sges : qp->max_inline_data);
}

static enum rdl_status send_create(struct guest_qp *qp)
{
    const struct rfc_create_qp cmd = {
        .pdn = qp->pd->pdn,
        .qp_type = (uint8_t)qp->type,
        .sq_sig_type = qp->sq_sig_all ? SIG_ALL_WR : SIG_REQ_WR,
        .max_send_wr = qp->sq.max_wr,
        .max_send_sge = qp->sq.max_sge,
        .send_cqn = qp->send_cq->cqn,
        .max_recv_wr = qp->rq.max_wr,
        .max_recv_sge = qp->rq.max_sge,
        .recv_cqn = qp->recv_cq->cqn,
        .max_inline_data = qp->max_inline_data,
        .create_flags = qp->block_self_mcast_lb ? CREATE_BLOCK_SELF_MCAST_LB : 0,
        .srqn = qp->srq ? qp->srq->srqn : 0,
    };
    struct raw_create_qp raw;

    rfc_create_qp_put(&raw, &cmd);
    return ctrl_send(driver_of(&qp->o), CMD_CREATE_QP, &raw, 0);
}

static void give_mem(struct virtio_rdma *d, struct virtio_rdma_qp *q)
{
    queue_mem_give(d, &q->sq_mem);
    queue_mem_give(d, &q->rq_mem);
}

enum rdl_status request_create_qp(struct guest_qp *qp)
{
    struct virtio_rdma *d = driver_of(&qp->o);
    struct virtio_rdma_qp *q = (struct virtio_rdma_qp *)qp;
    const uint64_t mark = dma_mark(d->virtio.pci.dma);
    enum rdl_status st = queue_mem_take(d, qp->sq.max_wr, sq_wqe_bytes(qp), &q->sq_mem);

    if (st == RDL_OK && !qp->srq)
        st = queue_mem_take(d, qp->rq.max_wr, queue_recv_bytes(qp->rq.max_sge), &q->rq_mem);
    if (st == RDL_OK)
        st = send_create(qp);
    if (st != RDL_OK) {
        queue_mem_undo(d, &q->rq_mem, mark);
        queue_mem_undo(d, &q->sq_mem, mark);
    }
    return st;
}

void answer_create_qp(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_qp *q = answered_qp(d);
    struct guest_qp *qp = &q->qp;
    const uint32_t qpn = ld_le32(data);

    if (!verbs_is_free(d->verbs, OBJ_QP, qpn))
        goto nonsense;
    qp->sq.queue = queue_of_sends(d->device.max_cq, qpn);
    qp->rq.queue = qp->srq ? qp->srq->rq.queue : queue_of_receives(d->device.max_cq, qpn);
    if (queue_attach(d, qp->sq.queue, &q->sq_mem, VIRTIO_NO_VECTOR) != RDL_OK ||
        (!qp->srq && queue_attach(d, qp->rq.queue, &q->rq_mem, VIRTIO_NO_VECTOR) != RDL_OK))
        goto nonsense;
    verbs_created(&qp->o, qpn);
    return;

nonsense:
    verbs_broken(d->verbs);
    give_mem(d, q);
    ctrl_failed(d, RSP_ERR);
}

void answer_qp_refused(struct virtio_rdma *d)
{
    give_mem(d, answered_qp(d));
}

/* Takes back the buffers of a work queue as work_reclaim() does.  Returns false if the device has
 * not completed all of them.
 */
static bool is_ended(struct virtio_rdma *d, uint32_t queue, struct virtio_rdma_qp *sender)
{
    return work_reclaim(d, queue, sender) && virtio_rdma_vq(d, queue)->n_outstanding == 0;
}

/* Ends a use of @qp with the feature QP_END: its rings are empty, and the completions that wait in
 * its CQs are its last ones.  Their buffers go back to the device, so that nothing of this use is
 * polled behind it.  [decision 0065]
 */
static void end_qp(struct virtio_rdma *d, struct virtio_rdma_qp *q)
{
    const struct guest_qp *qp = &q->qp;
    bool whole;

    if (!virtio_has_feature(&d->virtio, VF_QP_END))
        return;
    whole = is_ended(d, qp->sq.queue, q) && (qp->srq || is_ended(d, qp->rq.queue, NULL)) &&
            cq_drop_of(d, qp->send_cq, qp->qpn) &&
            (qp->recv_cq == qp->send_cq || cq_drop_of(d, qp->recv_cq, qp->qpn));
    if (!whole)
        verbs_broken(d->verbs);
}

void answer_destroy_qp(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_qp *q = answered_qp(d);

    (void)data;
    events_poll(d); /* passes on events of this object before its number is reused */
    end_qp(d, q);
    work_forget_lists(d, q);
    queue_leave(d, q->qp.sq.queue, &q->sq_mem);
    if (!q->qp.srq)
        queue_leave(d, q->qp.rq.queue, &q->rq_mem);
    give_mem(d, q);
    verbs_destroyed(&q->qp.o);
}

static void attr_to_rfc(const struct rdl_qp_attr *a, struct rfc_qp_attr *out)
{
    *out = (struct rfc_qp_attr){
        .ah_flow_label = a->ah.flow_label,
        .ah_sgid_index = a->ah.sgid_index,
        .ah_hop_limit = a->ah.hop_limit,
        .ah_traffic_class = a->ah.traffic_class,
        .ah_sl = a->ah.sl,
        .ah_flags = AH_FLAG_GRH,
    };
    QP_ATTRS_TO_RFC(out, a);
    memcpy(out->ah_dgid, a->ah.dgid, GID_BYTES);
    memcpy(out->ah_dmac, a->ah.dmac, MAC_BYTES);
}

enum rdl_status request_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                  uint32_t mask)
{
    struct rfc_modify_qp cmd = {.qpn = qp->qpn, .attr_mask = mask};
    struct rfc_qp_attr fields;
    struct raw_qp_attr packed;
    struct raw_modify_qp raw;

    attr_to_rfc(attr, &fields);
    /* The address vector uses the queue pair's own port, which is not repeated in it. */
    fields.ah_port_num = (uint8_t)(mask & QPA_PORT ? attr->port : qp->attr.port);
    rfc_qp_attr_put(&packed, &fields);
    memcpy(cmd.attrs, &packed, sizeof(packed));
    rfc_modify_qp_put(&raw, &cmd);
    return ctrl_send(driver_of(&qp->o), CMD_MODIFY_QP, &raw, qp->qpn);
}

void answer_modify_qp(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_qp *q = answered_qp(d);

    (void)data;
    verbs_modified(&q->qp);
    if (verbs_is_reset(&q->qp))
        end_qp(d, q);
}

enum rdl_status request_query_qp(struct guest_qp *qp)
{
    const struct rfc_query_qp cmd = {.qpn = qp->qpn, .attr_mask = UINT32_MAX};
    struct raw_query_qp raw;

    rfc_query_qp_put(&raw, &cmd);
    return ctrl_send(driver_of(&qp->o), CMD_QUERY_QP, &raw, qp->qpn);
}

static void attr_from_rfc(const struct rfc_qp_attr *a, struct rdl_qp_attr *out)
{
    *out = (struct rdl_qp_attr){
        .sq_draining = a->sq_draining,
        .ah.sgid_index = a->ah_sgid_index,
        .ah.hop_limit = a->ah_hop_limit,
        .ah.traffic_class = a->ah_traffic_class,
        .ah.sl = a->ah_sl,
        .ah.flow_label = a->ah_flow_label,
    };
    QP_ATTRS_FROM_RFC(out, a);
    memcpy(out->ah.dgid, a->ah_dgid, GID_BYTES);
    memcpy(out->ah.dmac, a->ah_dmac, MAC_BYTES);
}

void answer_query_qp(struct virtio_rdma *d, const uint8_t *data)
{
    struct rfc_qp_attr fields;
    struct rdl_qp_attr attr;
    struct raw_qp_attr raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_qp_attr_get(&fields, &raw);
    attr_from_rfc(&fields, &attr);
    verbs_queried(&answered_qp(d)->qp, &attr);
}

static enum rdl_status request_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES],
                                     enum ctrl_cmd cmd)
{
    struct rfc_mcast fields = {.qpn = qp->qpn};
    struct raw_mcast raw;

    memcpy(fields.gid, gid, GID_BYTES);
    rfc_mcast_put(&raw, &fields);
    return ctrl_send(driver_of(&qp->o), cmd, &raw, qp->qpn);
}

enum rdl_status request_attach_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    return request_mcast(qp, gid, CMD_ATTACH_MCAST);
}

enum rdl_status request_detach_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    return request_mcast(qp, gid, CMD_DETACH_MCAST);
}

void answer_attach_mcast(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_attached(&answered_qp(d)->qp);
}

void answer_detach_mcast(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_detached(&answered_qp(d)->qp);
}

/* SPDX-License-Identifier: MIT */
/* Requests for shared receive queues, an extension of the RFC: feature SRQ.  [decision 0024] */
#include <stddef.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"

static struct virtio_rdma_srq *answered_srq(const struct virtio_rdma *d)
{
    return (struct virtio_rdma_srq *)asked_about(d);
}

static uint32_t srq_queue(const struct virtio_rdma *d, uint32_t srqn)
{
    return queue_of_srq(d->device.max_cq, d->device.max_qp, srqn);
}

bool srq_read_limits(struct virtio_rdma *d)
{
    const uint32_t at = (uint32_t)offsetof(struct raw_config, reserved) + SRQ_LIMITS_AT;
    struct raw_srq_limits raw;
    uint8_t *bytes = (uint8_t *)&raw;

    d->srqs = (struct rfc_srq_limits){0};
    if (!virtio_has_feature(&d->virtio, VF_SRQ))
        return true;
    for (uint32_t i = 0; i < sizeof(raw); i += 4)
        st_le32(bytes + i, (uint32_t)virtio_config_read(&d->virtio, at + i, 4));
    rfc_srq_limits_get(&d->srqs, &raw);
    return d->srqs.max_srq <= DEVICE_SRQS_MAX;
}

uint32_t srq_queues_end(const struct virtio_rdma *d)
{
    return d->srqs.max_srq > 0 ? srq_queue(d, d->srqs.max_srq) + 1 : 0;
}

enum rdl_status srq_boot(struct virtio_rdma *d)
{
    enum rdl_status st = RDL_OK;

    for (uint32_t i = 1; st == RDL_OK && i <= d->srqs.max_srq; i++)
        st = queue_boot(d, srq_queue(d, i), d->boot_size, VIRTIO_NO_VECTOR);
    return st;
}

enum rdl_status request_create_srq(struct guest_srq *srq)
{
    struct virtio_rdma *d = driver_of(&srq->o);
    struct guest_queue_mem *mem = &((struct virtio_rdma_srq *)srq)->mem;
    const struct rfc_create_srq cmd = {
        .pdn = srq->pd->pdn,
        .max_wr = srq->rq.max_wr,
        .max_sge = srq->rq.max_sge,
    };
    struct raw_create_srq raw;
    const uint64_t mark = dma_mark(d->virtio.pci.dma);
    enum rdl_status st = queue_mem_take(d, srq->rq.max_wr, queue_recv_bytes(srq->rq.max_sge), mem);

    if (st != RDL_OK)
        return st;
    rfc_create_srq_put(&raw, &cmd);
    st = ctrl_send(d, CMD_CREATE_SRQ, &raw, 0);
    if (st != RDL_OK)
        queue_mem_undo(d, mem, mark);
    return st;
}

void answer_create_srq(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_srq *s = answered_srq(d);
    const uint32_t srqn = ld_le32(data), queue = srq_queue(d, srqn);

    if (!verbs_is_free(d->verbs, OBJ_SRQ, srqn) ||
        queue_attach(d, queue, &s->mem, VIRTIO_NO_VECTOR) != RDL_OK) {
        verbs_broken(d->verbs);
        queue_mem_give(d, &s->mem);
        ctrl_failed(d, RSP_ERR);
        return;
    }
    s->srq.rq.queue = queue;
    verbs_created(&s->srq.o, srqn);
}

void answer_srq_refused(struct virtio_rdma *d)
{
    queue_mem_give(d, &answered_srq(d)->mem);
}

void answer_destroy_srq(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_srq *s = answered_srq(d);

    (void)data;
    events_poll(d); /* passes on events of this object before its number is reused */
    queue_detach(d, s->srq.rq.queue, VIRTIO_NO_VECTOR);
    queue_mem_give(d, &s->mem);
    verbs_destroyed(&s->srq.o);
}

enum rdl_status request_modify_srq(struct guest_srq *srq, uint32_t limit, uint32_t mask)
{
    const struct rfc_modify_srq cmd = {.srqn = srq->srqn, .attr_mask = mask, .limit = limit};
    struct raw_modify_srq raw;

    rfc_modify_srq_put(&raw, &cmd);
    return ctrl_send(driver_of(&srq->o), CMD_MODIFY_SRQ, &raw, srq->srqn);
}

void answer_modify_srq(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_srq_modified(&answered_srq(d)->srq);
}

enum rdl_status request_query_srq(struct guest_srq *srq)
{
    uint8_t request[sizeof(struct raw_srq_handle)];

    st_le32(request, srq->srqn);
    return ctrl_send(driver_of(&srq->o), CMD_QUERY_SRQ, request, srq->srqn);
}

void answer_query_srq(struct virtio_rdma *d, const uint8_t *data)
{
    struct rfc_srq_attr attr;
    struct raw_srq_attr raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_srq_attr_get(&attr, &raw);
    verbs_srq_queried(&answered_srq(d)->srq, attr.limit);
}

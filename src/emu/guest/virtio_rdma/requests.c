/* SPDX-License-Identifier: MIT */
/* Requests for protection domains, memory regions and completion queues, and the operations of this
 * driver as a table.  [virtio-rdma RFC, controlq Operation]
 *
 * A completion queue works backwards: the driver keeps it filled with empty buffers, each
 * completion uses one up, and polling gives it to the device again.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/guest/virtio_rdma/internal.h"

static enum rdl_status create_pd(struct guest_pd *pd)
{
    return ctrl_send(driver_of(&pd->o), CMD_CREATE_PD, NULL, 0);
}

void answer_pd(struct virtio_rdma *d, const uint8_t *data)
{
    verbs_created(asked_about(d), ld_le32(data));
}

/* Room for @n entries in the page list, which grows and is never given back for good. */
static enum rdl_status reserve_pages(struct virtio_rdma *d, uint64_t n)
{
    struct virtio_rdma_ctrl *c = &d->ctrl;
    const uint64_t bytes = pow2_ceil(n * 8 > RAM_PAGE_BYTES ? n * 8 : RAM_PAGE_BYTES);

    if (bytes <= c->pages_bytes)
        return RDL_OK;
    dma_give(d->pci.dma, c->pages_gpa, c->pages_bytes);
    c->pages_bytes = 0;
    c->pages_gpa = dma_take(d->pci.dma, bytes);
    if (!c->pages_gpa)
        return RDL_ERR_NOMEM;
    c->pages_bytes = bytes;
    return RDL_OK;
}

/* Lists the physical pages of @n virtual ones from @page, le64 each. */
static enum rdl_status list_pages(struct virtio_rdma *d, uint64_t page, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint8_t entry[8];
        uint64_t gpa;

        if (!space_translate(d->verbs->config.space, page + i * RAM_PAGE_BYTES, &gpa))
            return RDL_ERR_FAULT;
        st_le64(entry, gpa);
        if (!ram_write(d->pci.ram, d->ctrl.pages_gpa + 8 * i, entry, sizeof(entry)))
            return RDL_ERR_NOMEM;
    }
    return RDL_OK;
}

static enum rdl_status reg_mr(struct guest_mr *mr)
{
    struct virtio_rdma *d = driver_of(&mr->o);
    const uint64_t page = mr->addr & ~(uint64_t)(RAM_PAGE_BYTES - 1);
    const uint64_t n_pages = (mr->addr + mr->bytes - 1 - page) / RAM_PAGE_BYTES + 1;
    struct rfc_reg_user_mr cmd = {
        .pdn = mr->pd->pdn,
        .access_flags = mr->access,
        .start = mr->addr,
        .length = mr->bytes,
        .virt_addr = mr->addr,
        .npages = (uint32_t)n_pages,
    };
    struct raw_reg_user_mr raw;
    enum rdl_status st = reserve_pages(d, n_pages);

    if (st == RDL_OK)
        st = list_pages(d, page, n_pages);
    if (st != RDL_OK)
        return st;
    cmd.pages = d->ctrl.pages_gpa;
    rfc_reg_user_mr_put(&raw, &cmd);
    return ctrl_send(d, CMD_REG_USER_MR, &raw, 0);
}

void answer_mr(struct virtio_rdma *d, const uint8_t *data)
{
    struct guest_mr *mr = (struct guest_mr *)asked_about(d);
    struct rfc_mr_keys keys;
    struct raw_mr_keys raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_mr_keys_get(&keys, &raw);
    mr->lkey = keys.lkey;
    mr->rkey = keys.rkey;
    verbs_created(&mr->o, keys.mrn);
}

static struct virtio_rdma_cq *answered_cq(const struct virtio_rdma *d)
{
    return (struct virtio_rdma_cq *)asked_about(d);
}

static enum rdl_status create_cq(struct guest_cq *cq)
{
    struct virtio_rdma *d = driver_of(&cq->o);
    struct guest_queue_mem *mem = &((struct virtio_rdma_cq *)cq)->mem;
    uint8_t request[sizeof(struct raw_create_cq)];
    enum rdl_status st = queue_mem_take(d, cq->cqe, sizeof(struct raw_cqe), mem);

    if (st != RDL_OK)
        return st;
    st_le32(request, cq->cqe);
    st = ctrl_send(d, CMD_CREATE_CQ, request, 0);
    if (st != RDL_OK)
        queue_mem_give(d, mem);
    return st;
}

/* Gives the device a buffer for each entry; no interrupt until the CQ is armed. */
static void fill(struct virtio_rdma *d, const struct virtio_rdma_cq *c)
{
    struct vqd *q = virtio_rdma_vq(d, c->cq.cqn);

    for (uint32_t i = 0; i < c->cq.cqe; i++) {
        const struct vqd_seg seg = {guest_slot_gpa(&c->mem, vqd_next_head(q)),
                                    sizeof(struct raw_cqe)};
        uint16_t head;

        if (!vqd_add(q, d->pci.ram, &seg, 0, 1, &head))
            break; /* only a broken ring is too short */
    }
    vqd_want_interrupt(q, d->pci.ram, false);
    vqd_publish(q, d->pci.ram);
    queue_kick(d, c->cq.cqn);
}

void answer_cq(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_cq *c = answered_cq(d);
    const uint32_t cqn = ld_le32(data);

    if (!verbs_is_free(d->verbs, OBJ_CQ, cqn) ||
        queue_attach(d, cqn, &c->mem, cq_vector(d, cqn)) != RDL_OK) {
        verbs_broken(d->verbs);
        queue_mem_give(d, &c->mem);
        verbs_refused(d->verbs, RSP_ERR);
        return;
    }
    verbs_created(&c->cq.o, cqn);
    fill(d, c);
}

void answer_cq_refused(struct virtio_rdma *d)
{
    queue_mem_give(d, &answered_cq(d)->mem);
}

void answer_cq_destroyed(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_cq *c = answered_cq(d);
    const uint32_t cqn = c->cq.cqn;

    (void)data;
    events_poll(d); /* what is there about it belongs to it, not to the next that has its number */
    queue_detach(d, cqn, cq_vector(d, cqn));
    queue_mem_give(d, &c->mem);
    verbs_destroyed(&c->cq.o);
}

static enum rdl_status arm_cq(struct guest_cq *cq, bool solicited_only)
{
    struct virtio_rdma *d = driver_of(&cq->o);
    const struct rfc_req_notify cmd = {
        .cqn = cq->cqn,
        .flags = solicited_only ? NOTIFY_SOLICITED : NOTIFY_NEXT_COMPLETION,
    };
    struct raw_req_notify raw;

    rfc_req_notify_put(&raw, &cmd);
    vqd_want_interrupt(virtio_rdma_vq(d, cq->cqn), d->pci.ram, true);
    return ctrl_send(d, CMD_REQ_NOTIFY_CQ, &raw, cq->cqn);
}

void answer_armed(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_armed(&answered_cq(d)->cq);
}

static enum rdl_status destroy(struct guest_object *o)
{
    static const enum ctrl_cmd commands[VERBS_KINDS] = {
        [OBJ_PD] = CMD_DESTROY_PD,
        [OBJ_MR] = CMD_DEREG_MR,
        [OBJ_CQ] = CMD_DESTROY_CQ,
        [OBJ_QP] = CMD_DESTROY_QP,
    };
    const uint32_t number = verbs_number(o);
    uint8_t request[4]; /* the structures of all destroying requests */

    st_le32(request, number);
    return ctrl_send(driver_of(o), commands[o->kind], request, number);
}

void answer_destroyed(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_destroyed(asked_about(d));
}

static enum rdl_status query_pkey(struct verbs *v, uint32_t index)
{
    const struct rfc_query_pkey cmd = {.port = 1, .index = (uint16_t)index};
    struct raw_query_pkey raw;

    rfc_query_pkey_put(&raw, &cmd);
    return ctrl_send(v->driver, CMD_QUERY_PKEY, &raw, 0);
}

void answer_pkey(struct virtio_rdma *d, const uint8_t *data)
{
    verbs_queried_pkey(d->verbs, ld_le16(data));
}

static const char *request_name(const struct verbs *v)
{
    const struct virtio_rdma *d = v->driver;

    return enum_name(&enum_ctrl_cmd, (uint32_t)d->ctrl.cmd);
}

const struct verbs_driver_ops virtio_rdma_ops = {
    .object_bytes =
        {
            [OBJ_PD] = sizeof(struct guest_pd),
            [OBJ_MR] = sizeof(struct guest_mr),
            [OBJ_CQ] = sizeof(struct virtio_rdma_cq),
            [OBJ_QP] = sizeof(struct virtio_rdma_qp),
            [OBJ_AH] = sizeof(struct guest_ah),
            [OBJ_CHANNEL] = sizeof(struct guest_channel),
        },
    .create_pd = create_pd,
    .reg_mr = reg_mr,
    .create_cq = create_cq,
    .create_qp = request_create_qp,
    .destroy = destroy,
    .arm_cq = arm_cq,
    .modify_qp = request_modify_qp,
    .query_qp = request_query_qp,
    .query_port = boot_query_port,
    .query_pkey = query_pkey,
    .listen = events_listen,
    .request_name = request_name,
    .post_send = work_post_send,
    .post_recv = work_post_recv,
    .kick = work_kick,
    .poll_cq = work_poll,
    .count_unpolled = work_count_unpolled,
};

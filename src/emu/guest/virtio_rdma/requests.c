/* SPDX-License-Identifier: MIT */
/* Requests for protection domains, completion queues, P_Keys and GIDs, and the table of this
 * driver's operations.  [virtio-rdma RFC, controlq Operation]
 *
 * The driver keeps a completion queue filled with empty buffers.  Each completion uses one, and
 * polling returns it to the device.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"

static enum rdl_status create_pd(struct guest_pd *pd)
{
    return ctrl_send(driver_of(&pd->o), CMD_CREATE_PD, NULL, 0);
}

void answer_create_pd(struct virtio_rdma *d, const uint8_t *data)
{
    verbs_created(asked_about(d), ld_le32(data));
}

static struct virtio_rdma_cq *answered_cq(const struct virtio_rdma *d)
{
    return (struct virtio_rdma_cq *)asked_about(d);
}

static enum rdl_status send_create_cq(struct virtio_rdma *d, const struct guest_cq *cq)
{
    uint8_t request[sizeof(struct raw_create_cq)];

    st_le32(request, cq->cqe);
    return ctrl_send(d, CMD_CREATE_CQ, request, 0);
}

/* The same with the feature CEQ. */
static enum rdl_status send_create_cq_ex(struct virtio_rdma *d, const struct virtio_rdma_cq *c)
{
    struct raw_create_cq_ex raw;

    rfc_create_cq_ex_put(&raw, &(struct rfc_create_cq_ex){c->cq.cqe, c->ceq, c->arm_gpa});
    return ctrl_send(d, CMD_CREATE_CQ_EX, &raw, 0);
}

/* Takes the memory of the ring and sends the request. */
static enum rdl_status ask_for_cq(struct virtio_rdma *d, struct virtio_rdma_cq *c)
{
    const uint64_t mark = dma_mark(d->virtio.pci.dma);
    enum rdl_status st = queue_mem_take(d, c->cq.cqe, sizeof(struct raw_cqe), &c->mem);

    if (st != RDL_OK)
        return st;
    st = has_ceqs(d) ? send_create_cq_ex(d, c) : send_create_cq(d, &c->cq);
    if (st != RDL_OK)
        queue_mem_undo(d, &c->mem, mark);
    return st;
}

static enum rdl_status create_cq(struct guest_cq *cq)
{
    struct virtio_rdma_cq *c = (struct virtio_rdma_cq *)cq;
    struct virtio_rdma *d = driver_of(&cq->o);
    enum rdl_status st;

    /* Before ask_for_cq(), which undoes all that is taken behind its mark. */
    if (has_ceqs(d) && !ceq_choose(d, c))
        return RDL_ERR_NOMEM;
    st = ask_for_cq(d, c);
    if (st != RDL_OK)
        ceq_leave(d, c);
    return st;
}

void cq_fill(struct virtio_rdma *d, const struct virtio_rdma_cq *c)
{
    struct vqd *q = virtio_rdma_vq(d, c->cq.cqn);

    while (q->n_outstanding + kept_left(&c->kept) < c->cq.cqe) {
        const struct vqd_seg seg = {guest_slot_gpa(&c->mem, vqd_next_head(q)),
                                    sizeof(struct raw_cqe)};
        uint16_t head;

        if (!vqd_add(q, d->virtio.pci.ram, &seg, 0, 1, &head))
            break; /* only a broken ring is too short */
    }
    vqd_want_interrupt(q, d->virtio.pci.ram, c->cq.armed && !has_ceqs(d));
    vqd_publish(q, d->virtio.pci.ram);
    queue_kick(d, c->cq.cqn);
}

void answer_create_cq(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_cq *c = answered_cq(d);
    const uint32_t cqn = ld_le32(data);

    if (!verbs_is_free(d->verbs, OBJ_CQ, cqn) ||
        queue_attach(d, cqn, &c->mem, cq_vector(d, cqn)) != RDL_OK) {
        verbs_broken(d->verbs);
        answer_cq_refused(d);
        ctrl_failed(d, RSP_ERR);
        return;
    }
    verbs_created(&c->cq.o, cqn);
    cq_fill(d, c); /* no interrupt before the CQ is armed */
}

void answer_create_cq_ex(struct virtio_rdma *d, const uint8_t *data)
{
    answer_create_cq(d, data);
}

void answer_cq_refused(struct virtio_rdma *d)
{
    ceq_leave(d, answered_cq(d));
    queue_mem_give(d, &answered_cq(d)->mem);
}

void answer_destroy_cq(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_cq *c = answered_cq(d);
    const uint32_t cqn = c->cq.cqn;

    (void)data;
    events_poll(d); /* passes on events of this object before its number is reused */
    ceq_drain(d);
    queue_detach(d, cqn, cq_vector(d, cqn));
    ceq_leave(d, c);
    queue_mem_give(d, &c->mem);
    kept_drop(d, &c->kept);
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

    if (arms_in_memory(d)) {
        const enum rdl_status st = ceq_arm(d, (struct virtio_rdma_cq *)cq, solicited_only);

        if (st == RDL_OK)
            verbs_armed(cq);
        return st;
    }
    rfc_req_notify_put(&raw, &cmd);
    if (!has_ceqs(d))
        vqd_want_interrupt(virtio_rdma_vq(d, cq->cqn), d->virtio.pci.ram, true);
    return ctrl_send(d, CMD_REQ_NOTIFY_CQ, &raw, cq->cqn);
}

void answer_req_notify_cq(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_armed(&answered_cq(d)->cq);
}

static enum rdl_status destroy(struct guest_object *o)
{
    static const enum ctrl_cmd commands[VERBS_KINDS] = {
        [OBJ_PD] = CMD_DESTROY_PD, [OBJ_MR] = CMD_DEREG_MR,   [OBJ_CQ] = CMD_DESTROY_CQ,
        [OBJ_QP] = CMD_DESTROY_QP, [OBJ_MW] = CMD_DEALLOC_MW, [OBJ_SRQ] = CMD_DESTROY_SRQ,
    };
    const uint32_t number = verbs_number(o);
    uint8_t request[4]; /* the same layout for all destroy requests */

    st_le32(request, number);
    return ctrl_send(driver_of(o), commands[o->kind], request, number);
}

void answer_destroy_pd(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    verbs_destroyed(asked_about(d));
}

void answer_dereg_mr(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_mr *m = (struct virtio_rdma_mr *)asked_about(d);

    (void)data;
    reg_list_give(d, m->list);
    m->list = NULL;
    verbs_destroyed(asked_about(d));
}

void answer_dealloc_mw(struct virtio_rdma *d, const uint8_t *data)
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

void answer_query_pkey(struct virtio_rdma *d, const uint8_t *data)
{
    verbs_queried_pkey(d->verbs, ld_le16(data));
}

static enum rdl_status set_gid(struct verbs *v, uint32_t index, bool valid)
{
    const struct rfc_del_gid cmd = {.index = (uint16_t)index, .port = 1};
    struct raw_del_gid raw;

    if (valid)
        return boot_add_gid(v->driver, (uint16_t)index);
    rfc_del_gid_put(&raw, &cmd);
    return ctrl_send(v->driver, CMD_DEL_GID, &raw, index);
}

/* Boot also sends ADD_GID, and waits for no answer of the verbs. */
static void gid_set(const struct virtio_rdma *d)
{
    if (d->verbs->up)
        verbs_gid_set(d->verbs);
}

void answer_add_gid(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    gid_set(d);
}

void answer_del_gid(struct virtio_rdma *d, const uint8_t *data)
{
    (void)data;
    gid_set(d);
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
            [OBJ_MR] = sizeof(struct virtio_rdma_mr),
            [OBJ_CQ] = sizeof(struct virtio_rdma_cq),
            [OBJ_QP] = sizeof(struct virtio_rdma_qp),
            [OBJ_AH] = sizeof(struct guest_ah),
            [OBJ_MW] = sizeof(struct guest_mw),
            [OBJ_CHANNEL] = sizeof(struct guest_channel),
            [OBJ_SRQ] = sizeof(struct virtio_rdma_srq),
        },
    .responses = &enum_ctrl_rsp,
    .create_pd = create_pd,
    .reg_mr = request_reg_mr,
    .create_cq = create_cq,
    .create_qp = request_create_qp,
    .create_srq = request_create_srq,
    .destroy = destroy,
    .resize_cq = request_resize_cq,
    .resize_qp = request_resize_qp,
    .arm_cq = arm_cq,
    .rearm_cq = raw_rearm_cq,
    .modify_qp = request_modify_qp,
    .query_qp = request_query_qp,
    .query_port = boot_query_port,
    .attach_mcast = request_attach_mcast,
    .detach_mcast = request_detach_mcast,
    .query_pkey = query_pkey,
    .set_gid = set_gid,
    .modify_srq = request_modify_srq,
    .query_srq = request_query_srq,
    .listen = events_listen,
    .alloc_mw = request_alloc_mw,
    .rereg_mr = request_rereg_mr,
    .map_mr_sg = request_map_mr_sg,
    .request_name = request_name,
    .post_send = work_post_send,
    .post_recv = work_post_recv,
    .post_srq_recv = work_post_srq_recv,
    .kick = work_kick,
    .kick_srq = work_kick_srq,
    .poll_cq = work_poll,
    .count_unpolled = work_count_unpolled,
    .peek_cq = work_peek,
    .count_posted = work_count_posted,
};

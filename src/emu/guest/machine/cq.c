/* SPDX-License-Identifier: MIT */
/* Verbs for completion queues.
 *
 * A completion queue works backwards: the driver keeps it filled with empty buffers, each
 * completion uses one up, and polling gives it to the device again.
 */
#include "emu/base/cursor.h"
#include "emu/guest/machine/internal.h"

static struct guest_cq *answered_cq(const struct guest *g)
{
    return (struct guest_cq *)g->ctrl.object;
}

static void cq_drop(struct guest_cq *cq)
{
    queue_mem_give(cq->o.guest, &cq->mem);
    object_drop(&cq->o);
}

enum rdl_status guest_create_cq(struct guest *g, uint32_t cqe, const char *name, uint32_t *ret)
{
    enum rdl_status st = ctrl_ready(g);
    struct guest_object *o;
    struct guest_cq *cq;
    uint8_t request[sizeof(struct raw_create_cq)];
    uint32_t handle;

    if (st == RDL_OK && cqe == 0)
        st = RDL_ERR_INVAL;
    if (st == RDL_OK && cqe > g->device.max_cqe)
        st = RDL_ERR_LIMIT;
    if (st == RDL_OK)
        st = object_new(g, OBJ_CQ, name, &o);
    if (st != RDL_OK)
        return st;

    cq = (struct guest_cq *)o;
    cq->cqe = cqe;
    handle = o->handle;
    st_le32(request, cqe);
    st = queue_mem_take(g, cqe, sizeof(struct raw_cqe), &cq->mem);
    if (st == RDL_OK)
        st = ctrl_send(g, CMD_CREATE_CQ, request, o, 0);
    if (st != RDL_OK) {
        cq_drop(cq);
        return st;
    }
    *ret = handle;
    return RDL_OK;
}

/* Gives the device a buffer for each entry; no interrupt until the CQ is armed. */
static void fill(struct guest_cq *cq)
{
    struct guest *g = cq->o.guest;
    struct vqd *q = guest_vq(g, cq->cqn);

    for (uint32_t i = 0; i < cq->cqe; i++) {
        const struct vqd_seg seg = {guest_slot_gpa(&cq->mem, vqd_next_head(q)),
                                    sizeof(struct raw_cqe)};
        uint16_t head;

        if (!vqd_add(q, g->config.ram, &seg, 0, 1, &head))
            break; /* only a broken ring is too short */
    }
    vqd_want_interrupt(q, g->config.ram, false);
    vqd_publish(q, g->config.ram);
    queue_kick(g, cq->cqn);
}

void cq_created(struct guest *g, const uint8_t *data)
{
    struct guest_cq *cq = answered_cq(g);
    const uint32_t cqn = ld_le32(data);

    if (cqn < 1 || cqn > g->device.max_cq || g->cq_of[cqn] ||
        queue_attach(g, cqn, &cq->mem, cq_vector(g, cqn)) != RDL_OK) {
        g->broken = true;
        cq_drop(cq);
        return;
    }
    cq->cqn = cqn;
    g->cq_of[cqn] = cq;
    object_live(&cq->o, cqn);
    fill(cq);
}

void cq_refused(struct guest *g)
{
    cq_drop(answered_cq(g));
}

enum rdl_status guest_destroy_cq(struct guest_cq *cq)
{
    return object_send_destroy(&cq->o, CMD_DESTROY_CQ, cq->cqn);
}

void cq_destroyed(struct guest *g, const uint8_t *data)
{
    struct guest_cq *cq = answered_cq(g);

    (void)data;
    g->cq_of[cq->cqn] = NULL;
    queue_detach(g, cq->cqn, cq_vector(g, cq->cqn));
    queue_mem_give(g, &cq->mem);
    object_gone(&cq->o, cq->cqn);
}

enum rdl_status guest_req_notify_cq(struct guest_cq *cq, bool solicited_only)
{
    struct guest *g = cq->o.guest;
    const struct rfc_req_notify cmd = {
        .cqn = cq->cqn,
        .flags = solicited_only ? NOTIFY_SOLICITED : NOTIFY_NEXT_COMPLETION,
    };
    struct raw_req_notify raw;
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_usable(&cq->o);
    if (st != RDL_OK)
        return st;
    rfc_req_notify_put(&raw, &cmd);
    /* Before the device may raise it, so that an event right after the answer is not missed. */
    cq->armed = true;
    vqd_want_interrupt(guest_vq(g, cq->cqn), g->config.ram, true);
    st = ctrl_send(g, CMD_REQ_NOTIFY_CQ, &raw, &cq->o, cq->cqn);
    if (st != RDL_OK)
        cq->armed = false;
    return st;
}

void notify_refused(struct guest *g)
{
    answered_cq(g)->armed = false;
}

uint64_t cq_completions(const struct guest_cq *cq)
{
    const struct guest *g = cq->o.guest;

    return cq->polled + vqd_used_count(guest_vq(g, cq->cqn), g->config.ram);
}

enum rdl_status guest_cq_info(const struct guest_cq *cq, struct rdl_cq_info *ret)
{
    if (object_usable(&cq->o) != RDL_OK)
        return RDL_ERR_BUSY;
    *ret = (struct rdl_cq_info){
        .cqe = cq->cqe,
        .completions = cq_completions(cq),
        .polled = cq->polled,
        .events = cq->events,
    };
    return RDL_OK;
}

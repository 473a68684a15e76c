/* SPDX-License-Identifier: MIT */
/* Commands of protection domains, queues without queue pairs, GIDs and the port, and the table of
 * the driver's operations.
 */
#include <errno.h>

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/roce.h"
#include "emu/guest/pvrdma/internal.h"

#define KERNEL_UC 0u    /* the user context of the kernel */
#define BIND_MTU  1024u /* as Linux has it */
#define NO_VLAN   0xfffu

PVD_BODY(create_cq)
PVD_BODY(create_srq)
PVD_BODY(modify_srq)
PVD_BODY(create_bind)
PVD_BODY(destroy_bind)
PVD_BODY(query_pkey)
PVD_BODY(query_port)

static uint32_t handle_of(const struct guest_object *o)
{
    if (o->kind == OBJ_QP)
        return ((const struct pvd_qp *)o)->handle;
    return pv_handle_of(o->kind, verbs_number(o));
}

/* --- Objects ---------------------------------------------------------------------------------- */

static enum rdl_status create_pd(struct guest_pd *pd)
{
    return PVD_SEND(driver_of(&pd->o), PV_CMD_CREATE_PD, handle, .handle = KERNEL_UC);
}

void pvd_pd_created(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    PVD_TAKE(body, handle, r);
    pvd_created(d, o, r.handle);
}

static enum rdl_status create_cq(struct guest_cq *cq)
{
    struct pvrdma_guest *d = driver_of(&cq->o);
    struct pvd_cq *c = (struct pvd_cq *)cq;
    const uint32_t n = (uint32_t)pow2_ceil(cq->cqe);
    enum rdl_status st;

    if (n > d->caps.max_cqe)
        return RDL_ERR_LIMIT;
    if (!pvd_pages_take(d, 1 + (uint32_t)pv_pages_of(n, PV_BYTES_cqe), &c->pages))
        return RDL_ERR_NOMEM;
    cq->cqe = n;
    st = PVD_SEND(d, PV_CMD_CREATE_CQ, create_cq, .pdir = c->pages.gpa, .ctx = KERNEL_UC, .cqe = n,
                  .pages = c->pages.n);
    if (st != RDL_OK)
        pvd_give_memory(d, &cq->o);
    return st;
}

void pvd_cq_created(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    struct pvd_cq *c = (struct pvd_cq *)o;

    PVD_TAKE(body, cq_made, r);
    pvd_ring_init(d, &c->ring, &c->pages, false, 1, r.cqe, PV_BYTES_cqe);
    pvd_created(d, o, pv_number_of(OBJ_CQ, r.handle));
}

static enum rdl_status arm(struct guest_cq *cq, uint32_t bit)
{
    pvd_doorbell(driver_of(&cq->o), PV_UAR_AT_CQ, handle_of(&cq->o) | bit);
    return RDL_OK;
}

static enum rdl_status arm_cq(struct guest_cq *cq, bool solicited_only)
{
    const enum rdl_status st = arm(cq, solicited_only ? PV_UAR_ARM_SOL : PV_UAR_ARM);

    verbs_armed(cq);
    return st;
}

static enum rdl_status rearm_cq(struct guest_cq *cq)
{
    const enum rdl_status st = arm(cq, PV_UAR_ARM);

    verbs_rearmed(cq, true);
    return st;
}

static enum rdl_status create_srq(struct guest_srq *srq)
{
    struct pvrdma_guest *d = driver_of(&srq->o);
    struct pvd_srq *s = (struct pvd_srq *)srq;
    const uint32_t n = (uint32_t)pow2_ceil(srq->rq.max_wr);
    const uint32_t slot = pv_slot_bytes(PV_BYTES_rq_wqe, srq->rq.max_sge);
    enum rdl_status st;

    if (n > d->caps.max_srq_wr)
        return RDL_ERR_LIMIT;
    if (!pvd_pages_take(d, 1 + (uint32_t)pv_pages_of(n, slot), &s->pages))
        return RDL_ERR_NOMEM;
    pvd_ring_init(d, &s->ring, &s->pages, false, 1, n, slot);
    st = PVD_SEND(d, PV_CMD_CREATE_SRQ, create_srq, .pdir = s->pages.gpa, .pd = srq->pd->pdn,
                  .pages = s->pages.n, .max_wr = n, .max_sge = srq->rq.max_sge);
    if (st != RDL_OK)
        pvd_give_memory(d, &srq->o);
    return st;
}

void pvd_srq_created(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    uint32_t srqn;

    PVD_TAKE(body, handle, r);
    srqn = pv_number_of(OBJ_SRQ, r.handle);
    /* The largest number of a queue pair is below the capability. */
    ((struct guest_srq *)o)->rq.queue = pv_queue_of_srq(d->caps.max_qp - 1, srqn);
    pvd_created(d, o, srqn);
}

static enum rdl_status modify_srq(struct guest_srq *srq, uint32_t limit, uint32_t mask)
{
    return PVD_SEND(driver_of(&srq->o), PV_CMD_MODIFY_SRQ, modify_srq, .handle = handle_of(&srq->o),
                    .mask = mask, .limit = limit);
}

void pvd_srq_modified(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    (void)d;
    (void)body;
    verbs_srq_modified((struct guest_srq *)o);
}

static enum rdl_status query_srq(struct guest_srq *srq)
{
    return PVD_SEND(driver_of(&srq->o), PV_CMD_QUERY_SRQ, handle, .handle = handle_of(&srq->o));
}

void pvd_srq_queried(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    (void)d;
    PVD_TAKE(body, srq_attr, r);
    verbs_srq_queried((struct guest_srq *)o, r.limit);
}

static enum rdl_status destroy(struct guest_object *o)
{
    static const enum pv_command commands[VERBS_KINDS] = {
        [OBJ_PD] = PV_CMD_DESTROY_PD, [OBJ_MR] = PV_CMD_DESTROY_MR,   [OBJ_CQ] = PV_CMD_DESTROY_CQ,
        [OBJ_QP] = PV_CMD_DESTROY_QP, [OBJ_SRQ] = PV_CMD_DESTROY_SRQ,
    };

    return PVD_SEND(driver_of(o), commands[o->kind], handle, .handle = handle_of(o));
}

void pvd_destroyed(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    (void)body;
    pvd_events_poll(d); /* passes on events of this object before its number is reused */
    pvd_give_memory(d, o);
    verbs_destroyed(o);
}

void pvd_give_memory(const struct pvrdma_guest *d, struct guest_object *o)
{
    if (o->kind == OBJ_CQ)
        pvd_pages_give(d, &((struct pvd_cq *)o)->pages);
    if (o->kind == OBJ_SRQ)
        pvd_pages_give(d, &((struct pvd_srq *)o)->pages);
    if (o->kind == OBJ_QP)
        pvd_pages_give(d, &((struct pvd_qp *)o)->pages);
    if (o->kind == OBJ_MR)
        pvd_directory_give(d, &((struct pvd_mr *)o)->pages);
}

/* --- Port and GIDs ---------------------------------------------------------------------------- */

enum rdl_status pvd_query_port(struct verbs *v)
{
    return PVD_SEND((struct pvrdma_guest *)v->driver, PV_CMD_QUERY_PORT, query_port, .port = 1);
}

void pvd_port_queried(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    (void)o;
    PVD_TAKE(body, port_attr, r);
    verbs_queried_port(
        d->verbs, &(struct verbs_port){.active_mtu = r.active_mtu, .max_msg_sz = r.max_msg_sz});
}

static enum rdl_status query_pkey(struct verbs *v, uint32_t index)
{
    return PVD_SEND((struct pvrdma_guest *)v->driver, PV_CMD_QUERY_PKEY, query_pkey, .port = 1,
                    .index = (uint8_t)index);
}

void pvd_pkey_queried(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    (void)o;
    PVD_TAKE(body, pkey, r);
    verbs_queried_pkey(d->verbs, r.pkey);
}

enum rdl_status pvd_set_gid(struct verbs *v, uint32_t index, bool valid)
{
    struct pvrdma_guest *d = v->driver;
    struct pv_create_bind bind = {
        .mtu = BIND_MTU, .vlan = NO_VLAN, .index = index, .type = d->caps.gid_types};
    struct pv_destroy_bind unbind = {.index = index};

    memcpy(bind.gid, v->config.gid[index], sizeof(bind.gid));
    memcpy(unbind.gid, v->config.gid[index], sizeof(unbind.gid));
    return valid ? pvd_send_create_bind(d, PV_CMD_CREATE_BIND, &bind)
                 : pvd_send_destroy_bind(d, PV_CMD_DESTROY_BIND, &unbind);
}

/* Boot also binds GIDs, and waits for no answer of the verbs. */
void pvd_gid_set(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body)
{
    (void)o;
    (void)body;
    if (!d->verbs->up)
        return;
    pvd_events_poll(d); /* that it has changed */
    verbs_gid_set(d->verbs);
}

/* --- What the format does not have ------------------------------------------------------------ */

static enum rdl_status resize_cq(struct guest_cq *cq, uint32_t cqe)
{
    (void)cq;
    (void)cqe;
    return RDL_ERR_UNSUPPORTED;
}

static enum rdl_status resize_qp(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    (void)qp;
    (void)max_send_wr;
    (void)max_recv_wr;
    return RDL_ERR_UNSUPPORTED;
}

/* --- Operations ------------------------------------------------------------------------------- */

/* Events are always enabled. */
static void listen(struct verbs *v)
{
    pvd_events_poll(v->driver);
}

static const char *request_name(const struct verbs *v)
{
    return pv_command_info(((const struct pvrdma_guest *)v->driver)->command)->name;
}

/* A refusal has no code of the device but its errno. */
static const struct enum_row errors[] = {
    {"ENOENT", ENOENT, "a handle in the command names nothing"},
    {"EIO", EIO, "the device cannot execute commands now"},
    {"ENOMEM", ENOMEM, "a limit of the device is reached"},
    {"EFAULT", EFAULT, "an address in the command is not in memory"},
    {"EBUSY", EBUSY, "the object is in use"},
    {"EINVAL", EINVAL, "a value in the command is out of range"},
    {"EOPNOTSUPP", EOPNOTSUPP, "the device does not offer this"},
};

static const struct enum_table error_table = {"pv_error", "errno in the register ERR of PVRDMA",
                                              errors, ARRAY_LEN(errors)};

const struct verbs_driver_ops pvrdma_verbs_ops = {
    .object_bytes = {[OBJ_PD] = sizeof(struct guest_pd),
                     [OBJ_MR] = sizeof(struct pvd_mr),
                     [OBJ_CQ] = sizeof(struct pvd_cq),
                     [OBJ_QP] = sizeof(struct pvd_qp),
                     [OBJ_AH] = sizeof(struct guest_ah),
                     [OBJ_MW] = sizeof(struct guest_mw),
                     [OBJ_CHANNEL] = sizeof(struct guest_channel),
                     [OBJ_SRQ] = sizeof(struct pvd_srq)},
    .responses = &error_table,
    .one_request = true,
    .create_pd = create_pd,
    .reg_mr = pvd_reg_mr,
    .create_cq = create_cq,
    .create_qp = pvd_create_qp,
    .create_srq = create_srq,
    .destroy = destroy,
    .resize_cq = resize_cq,
    .resize_qp = resize_qp,
    .arm_cq = arm_cq,
    .rearm_cq = rearm_cq,
    .modify_qp = pvd_modify_qp,
    .query_qp = pvd_query_qp,
    .query_port = pvd_query_port,
    .query_pkey = query_pkey,
    .set_gid = pvd_set_gid,
    .modify_srq = modify_srq,
    .query_srq = query_srq,
    .listen = listen,
    .map_mr_sg = pvd_map_mr_sg,
    .request_name = request_name,
    .post_send = pvd_post_send,
    .post_recv = pvd_post_recv,
    .post_srq_recv = pvd_post_srq_recv,
    .kick = pvd_kick,
    .kick_srq = pvd_kick_srq,
    .poll_cq = pvd_poll_cq,
    .count_unpolled = pvd_count_unpolled,
    .peek_cq = pvd_peek_cq,
    .count_posted = pvd_count_posted,
};

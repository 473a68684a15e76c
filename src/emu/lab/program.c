/* SPDX-License-Identifier: MIT */
/* Programs of hosts that are other processes. */
#include "rdmalab/program.h"

#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/guest/machine/rdma_cm.h"
#include "emu/guest/verbs/driver.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"

_Static_assert(RDL_PROGRAMS_MAX == RAM_LENDERS_MAX, "each program lends its memory");

/* The program of a handle; NULL if it was removed. */
static struct guest_program *program_of(const struct rdl_lab *lab, rdl_program program)
{
    const struct host *h = lab_host(lab->state, (uint32_t)(program.raw >> 32));
    struct guest_program *p = h ? h->guest.verbs.programs : NULL;

    while (p && p->number != (uint32_t)program.raw)
        p = p->next;
    return p;
}

/* Finds the host with handle @raw, whose guest has an RDMA device that is up. */
static enum rdl_status usable_host(const struct rdl_lab *lab, rdl_host host, struct host **ret)
{
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, ret);

    if (st != RDL_OK)
        return st;
    if (!(*ret)->rnic)
        return RDL_ERR_NO_DEVICE;
    return (*ret)->guest.verbs.up ? RDL_OK : RDL_ERR_STATE;
}

enum rdl_status rdl_program_add(struct rdl_lab *lab, rdl_host host,
                                const struct rdl_program_memory *memory, rdl_program *ret)
{
    const struct ram_lender lender = {memory->read, memory->write, memory->ctx};
    struct guest_program *p;
    struct host *h = NULL;
    uint32_t number;
    const enum rdl_status st = usable_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    if (!ram_lend(&h->ram, &lender, &number))
        return arena_is_short(lab->arena) ? RDL_ERR_NOMEM : RDL_ERR_LIMIT;
    p = verbs_program_new(&h->guest.verbs, number, eth_port_is_up(&h->port));
    if (!p) {
        ram_lend_end(&h->ram, number);
        return RDL_ERR_NOMEM;
    }
    ret->raw = (uint64_t)host.raw << 32 | p->number;
    return RDL_OK;
}

void rdl_program_calls(struct rdl_lab *lab, rdl_program program)
{
    struct guest_program *p = program_of(lab, program);

    if (!p)
        return;
    p->verbs->current = p;
    lab->state->caller = p->verbs;
}

void rdl_program_called(struct rdl_lab *lab, rdl_program program)
{
    const struct guest_program *p = program_of(lab, program);

    if (!p || p->verbs->current != p)
        return;
    p->verbs->current = NULL;
    lab->state->caller = NULL;
}

bool rdl_program_left(const struct rdl_lab *lab, rdl_program program,
                      struct rdl_program_object *ret)
{
    const struct guest_program *p = program_of(lab, program);
    struct guest_object *o = p ? verbs_program_next(p) : NULL;

    if (o && o->kind == OBJ_CM_ID)
        rdma_cm_ack_all((struct guest_cm_object *)o);
    if (o)
        *ret = (struct rdl_program_object){o->kind, o->handle};
    return o != NULL;
}

enum rdl_status rdl_program_remove(struct rdl_lab *lab, rdl_program program)
{
    struct guest_program *p = program_of(lab, program);
    uint32_t lender;

    if (!p)
        return RDL_ERR_STALE;
    if (p->verbs->current == p || verbs_program_next(p))
        return RDL_ERR_BUSY;
    lender = p->space.lender;
    ram_lend_end(p->space.ram, lender);
    verbs_program_free(p);
    return RDL_OK;
}

enum rdl_status rdl_peek_cq(const struct rdl_lab *lab, rdl_cq cq, uint32_t skip, size_t max,
                            struct rdl_wc *ret, size_t *ret_n)
{
    const struct guest_cq *c = (const struct guest_cq *)lab_object(lab->state, OBJ_CQ, cq.raw);

    if (!c)
        return RDL_ERR_STALE;
    *ret_n = verbs_peek_cq(c, skip, max, ret);
    return RDL_OK;
}

enum rdl_status rdl_qp_posted(const struct rdl_lab *lab, rdl_qp qp, uint32_t *ret_sends,
                              uint32_t *ret_receives)
{
    const struct guest_qp *q = (const struct guest_qp *)lab_object(lab->state, OBJ_QP, qp.raw);

    if (!q)
        return RDL_ERR_STALE;
    if (q->o.life != GUEST_LIVE)
        return RDL_ERR_BUSY;
    *ret_sends = q->o.verbs->ops->count_posted(&q->o, true);
    *ret_receives = q->srq ? 0 : q->o.verbs->ops->count_posted(&q->o, false);
    return RDL_OK;
}

enum rdl_status rdl_srq_posted(const struct rdl_lab *lab, rdl_srq srq, uint32_t *ret_receives)
{
    const struct guest_srq *s = (const struct guest_srq *)lab_object(lab->state, OBJ_SRQ, srq.raw);

    if (!s)
        return RDL_ERR_STALE;
    if (s->o.life != GUEST_LIVE)
        return RDL_ERR_BUSY;
    *ret_receives = s->o.verbs->ops->count_posted(&s->o, false);
    return RDL_OK;
}

enum rdl_status rdl_device_attr(const struct rdl_lab *lab, rdl_host host,
                                struct rdl_device_attr *ret)
{
    struct host *h = NULL;
    const enum rdl_status st = usable_host(lab, host, &h);
    const struct verbs_limits *l;

    if (st != RDL_OK)
        return st;
    l = &h->guest.verbs.limits;
    *ret = (struct rdl_device_attr){
        .max_mr_size = l->max_mr_bytes,
        .vendor_id = l->vendor_id,
        .vendor_part_id = l->vendor_part_id,
        .hw_ver = l->hw_ver,
        .max_qp = l->max_qp,
        .max_qp_wr = l->max_qp_wr,
        .max_send_sge = l->max_send_sge,
        .max_recv_sge = l->max_recv_sge,
        .max_sge_rd = l->max_sge_rd,
        .max_inline_data = l->max_inline_data,
        .max_cq = l->max_cq,
        .max_cqe = l->max_cqe,
        .max_mr = l->max_mr,
        .max_pd = l->max_pd,
        .max_mw = l->max_mw,
        .max_ah = l->max_ah,
        .max_rd_atomic = l->max_rd_atomic,
        .max_dest_rd_atomic = l->max_dest_rd_atomic,
        .max_res_rd_atomic = l->max_res_rd_atomic,
        .max_mcast_grp = l->max_groups,
        .max_mcast_qp_attach = l->max_group_qps,
        .max_total_mcast_qp_attach = l->max_total_group_qps,
        .max_srq = l->max_srq,
        .max_srq_wr = l->max_srq_wr,
        .max_srq_sge = l->max_srq_sge,
        .max_pkeys = l->max_pkeys,
        .n_gids = GUEST_GIDS,
        .n_ports = l->n_ports,
        .ack_delay = l->ack_delay,
        .comp_vectors = verbs_vectors(&h->guest.verbs),
        .max_fast_pages = l->max_fast_pages,
        .blocks_mcast_lb = l->blocks_mcast_lb,
        .can_rereg = l->can_rereg,
    };
    memcpy(ret->guid, l->guid, sizeof(ret->guid));
    return RDL_OK;
}

enum rdl_status rdl_port_attr(const struct rdl_lab *lab, rdl_host host, struct rdl_port_attr *ret)
{
    struct host *h = NULL;
    const enum rdl_status st = usable_host(lab, host, &h);

    if (st != RDL_OK)
        return st;
    *ret = (struct rdl_port_attr){
        .up = eth_port_is_up(&h->port),
        .active_mtu = h->guest.verbs.port.active_mtu,
        .max_msg_sz = h->guest.verbs.port.max_msg_sz,
        .max_mtu = (uint32_t)h->rnic->config->max_mtu,
    };
    return RDL_OK;
}

/* SPDX-License-Identifier: MIT */
/* The data path: post, doorbell, poll. */
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/path_word.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/facts/wr.h"
#include "emu/guest/pvrdma/internal.h"

#define HAS_GRH 0x80u /* src_path_bits */

/* A work request under construction. */
struct pvd_wqe {
    uint32_t bytes;
    uint8_t b[PV_PAGE_BYTES];
};

static uint32_t add_sges(struct pvd_wqe *w, const struct rdl_sge *sge, size_t n)
{
    uint32_t total = 0;

    for (size_t i = 0; i < n; i++) {
        const struct pv_sge from = {
            .addr = sge[i].addr, .length = sge[i].length, .lkey = sge[i].lkey};

        pv_sge_put((struct pv_raw_sge *)(w->b + w->bytes), &from);
        w->bytes += PV_BYTES_sge;
        total += sge[i].length;
    }
    return total;
}

static void put_ud(uint8_t out[], const struct verbs_send *send)
{
    const struct rdl_ah_attr *av = &send->ah->attr;
    struct pv_wr_ud ud = {
        .qpn = send->wr->ud.remote_qpn,
        .qkey = send->wr->ud.remote_qkey,
        .port_pd = (uint32_t)av->port << PV_PORT_SHIFT | send->ah->pd->pdn,
        .sl_tclass_flow = path_word(av->sl, av->traffic_class, av->flow_label),
        .src_path_bits = HAS_GRH,
        .sgid_index = av->sgid_index,
        .static_rate = av->static_rate,
        .hop_limit = av->hop_limit,
    };

    memcpy(ud.dgid, av->dgid, sizeof(ud.dgid));
    memcpy(ud.dmac, av->dmac, sizeof(ud.dmac));
    pv_wr_ud_put((struct pv_raw_wr_ud *)out, &ud);
}

/* The request names the pages themselves: what was mapped last. */
static void put_fast_reg(uint8_t out[], const struct verbs_send *send)
{
    const struct pvd_mr *m = (const struct pvd_mr *)send->mr;
    const struct pv_wr_fast_reg reg = {
        .iova = m->mr.iova,
        .pdir = m->pages.gpa,
        .page_shift = PV_PAGE_SHIFT,
        .pages = m->mr.bytes > 0 ? (uint32_t)verbs_pages(m->mr.iova, m->mr.bytes) : 0,
        .length = (uint32_t)m->mr.bytes,
        .access = send->wr->reg.access,
        .rkey = send->wr->reg.key,
    };

    pv_wr_fast_reg_put((struct pv_raw_wr_fast_reg *)out, &reg);
}

static void put_operation(uint8_t out[], enum wr_form form, const struct verbs_send *send)
{
    const struct rdl_send_wr *wr = send->wr;

    switch (form) {
    case WR_FORM_RDMA:
        pv_wr_rdma_put((struct pv_raw_wr_rdma *)out,
                       &(struct pv_wr_rdma){.remote_addr = wr->remote_addr, .rkey = wr->rkey});
        break;
    case WR_FORM_ATOMIC:
        pv_wr_atomic_put((struct pv_raw_wr_atomic *)out,
                         &(struct pv_wr_atomic){.remote_addr = wr->remote_addr,
                                                .compare_add = wr->compare_add,
                                                .swap = wr->swap,
                                                .rkey = wr->rkey});
        break;
    case WR_FORM_REG:
        put_fast_reg(out, send);
        break;
    case WR_FORM_UD:
        put_ud(out, send);
        break;
    case WR_FORM_NONE:
    case WR_FORM_BIND: /* there are no windows */
        break;
    }
}

enum rdl_status pvd_post_send(struct guest_qp *qp, const struct verbs_send *send,
                              uint32_t *ret_entry)
{
    const struct rdl_send_wr *wr = send->wr;
    const struct wr_info *row = wr_info(wr->opcode);
    struct pv_sq_wqe head = {.wr_id = wr->wr_id,
                             .num_sge = (uint32_t)wr->n_sge,
                             .opcode = pv_send_number(wr->opcode),
                             .send_flags = wr->flags};
    struct pvd_wqe w = {.bytes = PV_BYTES_sq_wqe};

    RDL_ASSERT(row); /* the verbs accept no other opcodes */
    if (head.opcode == PV_NO_OPCODE)
        return RDL_ERR_UNSUPPORTED;
    if (row->invalidates)
        st_le32(head.ex, wr->invalidate_rkey);
    else
        memcpy(head.ex, wr->imm, sizeof(head.ex));
    put_operation(head.wr, wr_form(qp->type, wr->opcode), send);
    if (!(wr->flags & SF_INLINE))
        head.total_len = add_sges(&w, wr->sge, wr->n_sge);
    pv_sq_wqe_put((struct pv_raw_sq_wqe *)w.b, &head);
    return pvd_ring_put(driver_of(&qp->o), &((struct pvd_qp *)qp)->sends, qp->sq.max_wr, w.b,
                        w.bytes, ret_entry);
}

static enum rdl_status post_recv(const struct pvrdma_guest *d, const struct pvd_ring *r,
                                 uint32_t most, const struct rdl_recv_wr *wr, uint32_t *ret_entry)
{
    struct pv_rq_wqe head = {.wr_id = wr->wr_id, .num_sge = (uint32_t)wr->n_sge};
    struct pvd_wqe w = {.bytes = PV_BYTES_rq_wqe};

    head.total_len = add_sges(&w, wr->sge, wr->n_sge);
    pv_rq_wqe_put((struct pv_raw_rq_wqe *)w.b, &head);
    return pvd_ring_put(d, r, most, w.b, w.bytes, ret_entry);
}

enum rdl_status pvd_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                              uint32_t *ret_entry)
{
    return post_recv(driver_of(&qp->o), &((struct pvd_qp *)qp)->receives, qp->rq.max_wr, wr,
                     ret_entry);
}

enum rdl_status pvd_post_srq_recv(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                  uint32_t *ret_entry)
{
    return post_recv(driver_of(&srq->o), &((struct pvd_srq *)srq)->ring, srq->rq.max_wr, wr,
                     ret_entry);
}

void pvd_kick(struct guest_qp *qp, bool send)
{
    pvd_doorbell(driver_of(&qp->o), PV_UAR_AT_QP,
                 ((struct pvd_qp *)qp)->handle | (send ? PV_UAR_SEND : PV_UAR_RECV));
}

void pvd_kick_srq(struct guest_srq *srq)
{
    pvd_doorbell(driver_of(&srq->o), PV_UAR_AT_SRQ,
                 pv_handle_of(OBJ_SRQ, srq->srqn) | PV_UAR_SRQ_RECV);
}

static void decode_cqe(const struct pv_raw_cqe *raw, struct rdl_wc *ret)
{
    struct pv_cqe cqe;

    pv_cqe_get(&cqe, raw);
    *ret = (struct rdl_wc){
        .wr_id = cqe.wr_id,
        .status = cqe.status,
        .opcode = pv_wc_opcode(cqe.opcode),
        .byte_len = cqe.byte_len,
        .qp_num = (uint32_t)cqe.qp, /* the handle, which is the number */
        .src_qp = cqe.src_qp,
        .wc_flags = pv_wc_flags(cqe.wc_flags),
        .sl = cqe.sl,
        .pkey_index = cqe.pkey_index,
        .vendor_err = cqe.vendor_err,
    };
    if (ret->wc_flags & WCF_WITH_INV)
        ret->invalidated_rkey = ld_le32(cqe.ex);
    else
        memcpy(ret->imm, cqe.ex, sizeof(ret->imm));
}

enum rdl_status pvd_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n)
{
    struct pvrdma_guest *d = driver_of(&cq->o);
    const struct pvd_ring *r = &((struct pvd_cq *)cq)->ring;
    struct pv_raw_cqe raw;
    size_t n = 0;

    /* As Linux does: tells the device that the queue is empty, and looks again. */
    if (max > 0 && pvd_ring_used(d, r) == 0)
        pvd_doorbell(d, PV_UAR_AT_CQ, pv_handle_of(OBJ_CQ, cq->cqn) | PV_UAR_POLL);
    if (pvd_ring_used(d, r) == UINT32_MAX)
        return RDL_ERR_RING;
    for (; n < max && pvd_ring_take(d, r, &raw); n++) {
        decode_cqe(&raw, &ret[n]);
        verbs_polled(cq, &ret[n]);
    }
    *ret_n = n;
    return RDL_OK;
}

uint32_t pvd_count_unpolled(const struct guest_cq *cq)
{
    const uint32_t n = pvd_ring_used(driver_of(&cq->o), &((const struct pvd_cq *)cq)->ring);

    return n == UINT32_MAX ? 0 : n;
}

size_t pvd_peek_cq(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret)
{
    const struct pvd_ring *r = &((const struct pvd_cq *)cq)->ring;
    struct pv_raw_cqe raw;
    size_t n = 0;

    for (; n < max && pvd_ring_peek(driver_of(&cq->o), r, skip + (uint32_t)n, &raw); n++)
        decode_cqe(&raw, &ret[n]);
    return n;
}

uint32_t pvd_count_posted(const struct guest_object *o, bool sends)
{
    const struct pvd_qp *q = (const struct pvd_qp *)o;
    const uint32_t n =
        pvd_ring_used(driver_of(o), o->kind == OBJ_SRQ ? &((const struct pvd_srq *)o)->ring
                                    : sends            ? &q->sends
                                                       : &q->receives);

    return n == UINT32_MAX ? 0 : n;
}

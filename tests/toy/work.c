/* SPDX-License-Identifier: MIT */
#include "toy/work.h"

#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/wr.h"

struct av toy_av(const struct rdl_ah_attr *a)
{
    struct av av = {.sgid_index = a->sgid_index,
                    .hop_limit = a->hop_limit,
                    .static_rate = a->static_rate,
                    .tclass = a->traffic_class,
                    .sl = a->sl,
                    .flow_label = a->flow_label,
                    .port = a->port,
                    .flags = AH_FLAG_GRH};

    memcpy(av.dgid, a->dgid, sizeof(av.dgid));
    memcpy(av.dmac, a->dmac, sizeof(av.dmac));
    return av;
}

static void put_sges(union toy_data *out, const struct rdl_sge *sge, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out->sge[i] = (struct sge){sge[i].addr, sge[i].length, sge[i].lkey};
}

/* Fills in the member of the union that the opcode selects. */
static void put_operation(struct send_wqe *w, uint32_t type, const struct verbs_send *send)
{
    const struct rdl_send_wr *wr = send->wr;
    const enum wr_form form = wr_info(wr->opcode)->form;

    if (type == QPT_UD) {
        w->to = (struct datagram_to){toy_av(&send->ah->attr), send->ah->pd->pdn, wr->ud.remote_qpn,
                                     wr->ud.remote_qkey};
    } else if (form == WR_FORM_REG) {
        w->reg = (struct reg_request){
            .mrn = send->mr->mrn, .key = wr->reg.key, .access = wr->reg.access};
    } else if (form == WR_FORM_BIND) {
        w->bind = (struct bind_request){.type = wr->bind_mw.type_1 ? 1 : 2,
                                        .mw_key = send->mw_rkey,
                                        .new_key = wr->bind_mw.rkey,
                                        .mr_key = send->mr ? send->mr->lkey : 0,
                                        .access = wr->bind_mw.access,
                                        .addr = wr->bind_mw.addr,
                                        .bytes = wr->bind_mw.length};
    } else {
        w->remote_addr = wr->remote_addr;
        w->compare_add = wr->compare_add;
        w->swap = wr->swap;
        w->rkey = wr->rkey;
    }
}

enum rdl_status toy_post_send(struct guest_qp *qp, const struct verbs_send *send,
                              uint32_t *ret_entry)
{
    const struct rdl_send_wr *wr = send->wr;
    const uint32_t n = (uint32_t)wr->n_sge;
    struct toy_send s = {.wqe = {.wr_id = wr->wr_id,
                                 .opcode = wr->opcode,
                                 .flags = wr->flags,
                                 .invalidate_rkey = wr->invalidate_rkey,
                                 .n_sge = {.said = n, .found = n},
                                 .inline_bytes = (uint32_t)wr->inline_bytes}};

    memcpy(s.wqe.imm, wr->imm, sizeof(s.wqe.imm));
    put_operation(&s.wqe, qp->type, send);
    if (!(wr->flags & SF_INLINE))
        put_sges(&s.data, wr->sge, wr->n_sge);
    else if (wr->inline_bytes > 0)
        memcpy(s.data.bytes, wr->inline_data, wr->inline_bytes);
    return ring_post(driver_of(&qp->o), &((struct toy_qp *)qp)->sends, &s, ret_entry);
}

static enum rdl_status post_receive(const struct driver *d, const struct ring *r,
                                    const struct rdl_recv_wr *wr, uint32_t *ret_entry)
{
    const uint32_t n = (uint32_t)wr->n_sge;
    struct toy_recv w = {.wqe = {.wr_id = wr->wr_id, .n_sge = {.said = n, .found = n}}};

    put_sges(&w.data, wr->sge, wr->n_sge);
    return ring_post(d, r, &w, ret_entry);
}

enum rdl_status toy_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                              uint32_t *ret_entry)
{
    return post_receive(driver_of(&qp->o), &((struct toy_qp *)qp)->receives, wr, ret_entry);
}

enum rdl_status toy_post_srq_recv(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                  uint32_t *ret_entry)
{
    return post_receive(driver_of(&srq->o), &((struct toy_srq *)srq)->ring, wr, ret_entry);
}

void toy_kick(struct guest_qp *qp, bool send)
{
    const struct driver *d = driver_of(&qp->o);

    pci_write(&d->pci, d->regs + TOY_DOORBELL, 4, send ? TOY_SQ(qp->qpn) : TOY_RQ(qp->qpn));
}

/* The device takes shared receives when a message needs one. */
void toy_kick_srq(struct guest_srq *srq)
{
    (void)srq;
}

static struct rdl_wc wc_of(const struct completion *e)
{
    struct rdl_wc wc = {.wr_id = e->wr_id,
                        .status = e->status,
                        .opcode = e->opcode,
                        .byte_len = e->bytes,
                        .qp_num = e->qpn,
                        .src_qp = e->src_qpn,
                        .wc_flags = e->flags,
                        .vendor_err = e->rule};

    if (e->flags & WCF_WITH_INV)
        wc.invalidated_rkey = e->invalidated_rkey;
    else
        memcpy(wc.imm, e->imm, sizeof(e->imm));
    return wc;
}

enum rdl_status toy_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n)
{
    struct completion e;
    size_t n = 0;

    for (; n < max && ring_get(driver_of(&cq->o), &((struct toy_cq *)cq)->ring, &e); n++) {
        ret[n] = wc_of(&e);
        verbs_polled(cq, &ret[n]);
    }
    *ret_n = n;
    return RDL_OK;
}

size_t toy_peek_cq(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret)
{
    const struct driver *d = driver_of(&cq->o);
    const struct ring *r = &((const struct toy_cq *)cq)->ring;
    const struct toy_ring c = ring_counters(d, r);
    struct completion e;
    size_t n = 0;

    for (; n < max && skip + n < c.put - c.got; n++) {
        (void)ram_read(d->pci.ram, ring_entry(r, c.got + skip + (uint32_t)n), &e, sizeof(e));
        ret[n] = wc_of(&e);
    }
    return n;
}

uint32_t toy_count_unpolled(const struct guest_cq *cq)
{
    const struct toy_ring c = ring_counters(driver_of(&cq->o), &((const struct toy_cq *)cq)->ring);

    return c.put - c.got;
}

uint32_t toy_count_posted(const struct guest_object *o, bool sends)
{
    const struct toy_qp *qp = (const struct toy_qp *)o;
    const struct toy_ring c =
        ring_counters(driver_of(o), o->kind == OBJ_SRQ ? &((const struct toy_srq *)o)->ring
                                    : sends            ? &qp->sends
                                                       : &qp->receives);

    return c.put - c.got;
}

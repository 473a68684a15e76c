/* SPDX-License-Identifier: MIT */
/* The data path: post, kick and poll.  [virtio-rdma RFC, Send, Receive and Complete Queue
 * Operation]
 *
 * A work request takes one descriptor.  Descriptor i always uses slot i as its buffer, so no table
 * maps one to the other.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/path_word.h"
#include "emu/facts/wr.h"
#include "emu/guest/virtio_rdma/internal.h"

/* A WQE under construction. */
struct wqe {
    uint32_t bytes;
    uint8_t b[RAM_PAGE_BYTES];
};

static void add_sges(struct wqe *w, const struct rdl_sge *sge, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rfc_sge from = {sge[i].addr, sge[i].length, sge[i].lkey};

        rfc_sge_put((struct raw_sge *)(w->b + w->bytes), &from);
        w->bytes += (uint32_t)sizeof(struct raw_sge);
    }
}

static void forget_list(struct virtio_rdma *d, struct virtio_rdma_qp *q, uint32_t desc)
{
    if (desc >= q->n_lists)
        return;
    reg_list_give(d, q->lists[desc]);
    q->lists[desc] = NULL;
}

bool work_reclaim(struct virtio_rdma *d, uint32_t queue, struct virtio_rdma_qp *sender)
{
    enum vqd_used got;
    uint16_t head;
    uint32_t len;

    do {
        got = virtqueue_take_used(&d->virtio, virtio_rdma_vq(d, queue), queue, &head, &len);
        if (got == VQD_GOT && sender)
            forget_list(d, sender, head);
    } while (got == VQD_GOT);
    return got != VQD_BROKEN;
}

void work_forget_lists(struct virtio_rdma *d, struct virtio_rdma_qp *q)
{
    for (uint32_t i = 0; i < q->n_lists; i++)
        forget_list(d, q, i);
    arena_release(d->arena, q->lists, q->n_lists * sizeof(*q->lists));
    q->lists = NULL;
    q->n_lists = 0;
}

/* Makes room for the page list of each request that the send queue of @q can hold. */
static bool make_lists(struct virtio_rdma *d, struct virtio_rdma_qp *q)
{
    const uint32_t n = virtio_rdma_vq(d, q->qp.sq.queue)->ring.size;

    if (q->lists)
        return true;
    q->lists = arena_alloc(d->arena, n * sizeof(*q->lists));
    q->n_lists = q->lists ? n : 0;
    return q->lists != NULL;
}

/* Returns RDL_ERR_STATE while a request with the feature QP_END moves @qp to RESET, otherwise
 * RDL_OK.  The device may have emptied the rings already, and its answer may be on its way.
 */
static enum rdl_status not_ending(const struct virtio_rdma *d, const struct guest_qp *qp)
{
    return virtio_has_feature(&d->virtio, VF_QP_END) && verbs_is_resetting(qp) ? RDL_ERR_STATE
                                                                               : RDL_OK;
}

/* Takes back the used entries of @wq as work_reclaim() does.  Returns RDL_OK if there is room for
 * one more; otherwise RDL_ERR_QUEUE_FULL or RDL_ERR_BROKEN.
 */
static enum rdl_status make_room(struct virtio_rdma *d, const struct guest_wq *wq,
                                 struct virtio_rdma_qp *sender)
{
    const struct vqd *q = virtio_rdma_vq(d, wq->queue);

    if (!work_reclaim(d, wq->queue, sender))
        return RDL_ERR_BROKEN;
    return q->n_outstanding < wq->max_wr ? RDL_OK : RDL_ERR_QUEUE_FULL;
}

/* Writes the WQE into its slot and publishes it; the caller has made room. */
static enum rdl_status put_wqe(struct virtio_rdma *d, uint32_t queue,
                               const struct guest_queue_mem *mem, const struct wqe *w,
                               uint32_t *ret_desc)
{
    struct vqd *q = virtio_rdma_vq(d, queue);
    const struct vqd_seg seg = {guest_slot_gpa(mem, vqd_next_head(q)), w->bytes};
    uint16_t head;

    RDL_ASSERT(w->bytes <= mem->slot_bytes);
    if (!ram_write(d->virtio.pci.ram, seg.gpa, w->b, w->bytes))
        return RDL_ERR_NOMEM;
    if (!vqd_add(q, d->virtio.pci.ram, &seg, 1, 0, &head))
        return RDL_ERR_BROKEN;
    vqd_publish(q, d->virtio.pci.ram);
    *ret_desc = head;
    return RDL_OK;
}

static void put_ud(struct rfc_sq_wqe *head, const struct verbs_send *send)
{
    const struct rdl_ah_attr *av = &send->ah->attr;
    struct rfc_wr_ud ud = {
        .remote_qpn = send->wr->ud.remote_qpn,
        .remote_qkey = send->wr->ud.remote_qkey,
        .av_port = av->port,
        .av_pdn = send->ah->pd->pdn,
        .av_sl_tclass_flowlabel = path_word(av->sl, av->traffic_class, av->flow_label),
        .av_gid_index = av->sgid_index,
        .av_static_rate = av->static_rate,
        .av_hop_limit = av->hop_limit,
    };

    memcpy(ud.av_dgid, av->dgid, sizeof(ud.av_dgid));
    memcpy(ud.av_dmac, av->dmac, sizeof(ud.av_dmac));
    rfc_wr_ud_put((struct raw_wr_ud *)head->wr, &ud);
}

static void put_bind(struct rfc_sq_wqe *head, const struct verbs_send *send)
{
    const struct rfc_wr_bind bind = {
        .mw_rkey = send->mw_rkey,
        .rkey = send->wr->bind_mw.rkey,
        .mr_lkey = send->mr ? send->mr->lkey : 0,
        .access = send->wr->bind_mw.access,
        .addr = send->wr->bind_mw.addr,
        .length = send->wr->bind_mw.length,
        .type = send->wr->bind_mw.type_1 ? 1 : 2,
    };

    rfc_wr_bind_put((struct raw_wr_bind *)head->wr, &bind);
}

/* Puts a REG_MR, with the page list of the region's last mapping if it has one: see keep_pages().
 */
static void put_reg(struct rfc_sq_wqe *head, const struct verbs_send *send)
{
    const struct reg_list *list = reg_list_of(send->mr);
    struct rfc_wr_reg_list reg = {
        .mrn = send->mr->mrn, .key = send->wr->reg.key, .access = send->wr->reg.access};

    if (list) {
        reg.pages = list->gpa;
        reg.npages = list->n_pages;
        reg.start = list->start;
        reg.length = list->length;
    }
    rfc_wr_reg_list_put((struct raw_wr_reg_list *)head->wr, &reg);
}

/* Fills in the operation's part of the union in the head. */
static void put_operation(struct rfc_sq_wqe *head, enum wr_form form, const struct verbs_send *send)
{
    const struct rdl_send_wr *wr = send->wr;

    switch (form) {
    case WR_FORM_NONE:
        break;
    case WR_FORM_RDMA:
        rfc_wr_rdma_put((struct raw_wr_rdma *)head->wr,
                        &(struct rfc_wr_rdma){wr->remote_addr, wr->rkey});
        break;
    case WR_FORM_ATOMIC:
        rfc_wr_atomic_put(
            (struct raw_wr_atomic *)head->wr,
            &(struct rfc_wr_atomic){wr->remote_addr, wr->compare_add, wr->swap, wr->rkey});
        break;
    case WR_FORM_REG:
        put_reg(head, send);
        break;
    case WR_FORM_BIND:
        put_bind(head, send);
        break;
    case WR_FORM_UD:
        put_ud(head, send);
        break;
    }
}

static void build_send(struct wqe *w, enum qp_type type, const struct verbs_send *send)
{
    const struct rdl_send_wr *wr = send->wr;
    const struct wr_info *row = wr_info(wr->opcode);
    struct rfc_sq_wqe head = {
        .num_sge = (uint32_t)wr->n_sge,
        .send_flags = wr->flags,
        .opcode = wr->opcode,
        .wr_id = wr->wr_id,
    };

    RDL_ASSERT(row); /* the verbs accept no other opcodes */
    if (row->invalidates)
        st_le32(head.ex, wr->invalidate_rkey);
    else
        memcpy(head.ex, wr->imm, sizeof(head.ex));
    put_operation(&head, qp_type_is_datagram(type) ? WR_FORM_UD : row->form, send);
    rfc_sq_wqe_put((struct raw_sq_wqe *)w->b, &head);
    w->bytes = (uint32_t)sizeof(struct raw_sq_wqe);
    if (!(wr->flags & SF_INLINE)) {
        add_sges(w, wr->sge, wr->n_sge);
    } else if (wr->inline_bytes > 0) {
        memcpy(w->b + w->bytes, wr->inline_data, wr->inline_bytes);
        w->bytes += (uint32_t)wr->inline_bytes;
    }
}

enum rdl_status work_post_send(struct guest_qp *qp, const struct verbs_send *send,
                               uint32_t *ret_entry)
{
    struct virtio_rdma_qp *q = (struct virtio_rdma_qp *)qp;
    struct virtio_rdma *d = driver_of(&qp->o);
    struct reg_list *list = send->wr->opcode == WR_REG_MR ? reg_list_of(send->mr) : NULL;
    enum rdl_status st = not_ending(d, qp);
    struct wqe w;

    if (st == RDL_OK)
        st = make_room(d, &qp->sq, q);
    if (st == RDL_OK && list && !make_lists(d, q))
        st = RDL_ERR_NOMEM;
    if (st != RDL_OK)
        return st;
    build_send(&w, qp->type, send);
    st = put_wqe(d, qp->sq.queue, &q->sq_mem, &w, ret_entry);
    if (st == RDL_OK && list) {
        list->n_users++;
        q->lists[*ret_entry] = list;
    }
    return st;
}

static void build_recv(struct wqe *w, const struct rdl_recv_wr *wr)
{
    const struct rfc_rq_wqe head = {.num_sge = (uint32_t)wr->n_sge, .wr_id = wr->wr_id};

    rfc_rq_wqe_put((struct raw_rq_wqe *)w->b, &head);
    w->bytes = (uint32_t)sizeof(struct raw_rq_wqe);
    add_sges(w, wr->sge, wr->n_sge);
}

static enum rdl_status post_recv(struct virtio_rdma *d, const struct guest_wq *rq,
                                 const struct guest_queue_mem *mem, const struct rdl_recv_wr *wr,
                                 uint32_t *ret_entry)
{
    const enum rdl_status st = make_room(d, rq, NULL);
    struct wqe w;

    if (st != RDL_OK)
        return st;
    build_recv(&w, wr);
    return put_wqe(d, rq->queue, mem, &w, ret_entry);
}

enum rdl_status work_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                               uint32_t *ret_entry)
{
    struct virtio_rdma *d = driver_of(&qp->o);
    const enum rdl_status st = not_ending(d, qp);

    return st == RDL_OK
               ? post_recv(d, &qp->rq, &((struct virtio_rdma_qp *)qp)->rq_mem, wr, ret_entry)
               : st;
}

/* Several queue pairs take receives from a shared queue, so entries complete in any order.  Each
 * entry stays with its descriptor, and the ring lists the free descriptors.
 */
enum rdl_status work_post_srq_recv(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                   uint32_t *ret_entry)
{
    return post_recv(driver_of(&srq->o), &srq->rq, &((struct virtio_rdma_srq *)srq)->mem, wr,
                     ret_entry);
}

void work_kick_srq(struct guest_srq *srq)
{
    queue_kick(driver_of(&srq->o), srq->rq.queue);
}

void work_kick(struct guest_qp *qp, bool send)
{
    struct virtio_rdma *d = driver_of(&qp->o);
    const uint32_t queue = send ? qp->sq.queue : qp->rq.queue;

    if (virtio_rdma_vq(d, queue)->added > 0)
        queue_kick(d, queue);
    else
        queue_kick_now(d, queue); /* no new work: an explicit kick always notifies */
}

#define PEEKED_AT_ONCE 32u

static void decode_cqe(const struct raw_cqe *raw, struct rdl_wc *ret)
{
    struct rfc_cqe cqe;

    rfc_cqe_get(&cqe, raw);
    *ret = (struct rdl_wc){
        .wr_id = cqe.wr_id,
        .status = cqe.status,
        .opcode = cqe.opcode,
        .byte_len = cqe.byte_len,
        .qp_num = cqe.qp_num,
        .src_qp = cqe.src_qp,
        .wc_flags = cqe.wc_flags,
        .sl = cqe.sl,
        .pkey_index = cqe.pkey_index,
        .vendor_err = cqe.vendor_err,
    };
    if (cqe.wc_flags & WCF_WITH_INV)
        ret->invalidated_rkey = ld_le32(cqe.ex);
    else
        memcpy(ret->imm, cqe.ex, sizeof(ret->imm));
}

/* Takes one kept completion and returns a buffer to the device in its place. */
static enum vqd_used poll_kept(struct virtio_rdma *d, struct virtio_rdma_cq *c, struct rdl_wc *ret)
{
    struct vqd *q = virtio_rdma_vq(d, c->cq.cqn);
    const struct vqd_seg seg = {guest_slot_gpa(&c->mem, vqd_next_head(q)), sizeof(struct raw_cqe)};
    struct raw_cqe raw;
    uint16_t head;

    kept_take(d, &c->kept, &raw);
    if (q->n_outstanding + kept_left(&c->kept) < c->cq.cqe)
        (void)vqd_add(q, d->virtio.pci.ram, &seg, 0, 1, &head); /* only a broken ring has no room */
    decode_cqe(&raw, ret);
    verbs_polled(&c->cq, ret);
    return VQD_GOT;
}

/* Takes one completion and returns its buffer to the device. */
static enum vqd_used poll_one(struct virtio_rdma *d, struct virtio_rdma_cq *c, struct rdl_wc *ret)
{
    struct vqd *q = virtio_rdma_vq(d, c->cq.cqn);
    struct vqd_seg seg = {.bytes = sizeof(struct raw_cqe)};
    struct raw_cqe raw;
    enum vqd_used got;
    uint16_t head;
    uint32_t len;

    if (kept_left(&c->kept) > 0)
        return poll_kept(d, c, ret);
    got = virtqueue_take_used(&d->virtio, q, c->cq.cqn, &head, &len);
    if (got != VQD_GOT)
        return got;
    seg.gpa = guest_slot_gpa(&c->mem, head);
    if (len != sizeof(raw) || !ram_read(d->virtio.pci.ram, seg.gpa, &raw, sizeof(raw)) ||
        !vqd_add(q, d->virtio.pci.ram, &seg, 0, 1, &head)) {
        q->broken = true; /* what the device wrote is no completion */
        return VQD_BROKEN;
    }
    decode_cqe(&raw, ret);
    verbs_polled(&c->cq, ret);
    return VQD_GOT;
}

enum rdl_status work_poll(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n)
{
    struct virtio_rdma *d = driver_of(&cq->o);
    struct vqd *q = virtio_rdma_vq(d, cq->cqn);
    enum vqd_used got = VQD_NONE;
    size_t n = 0;

    while (n < max && (got = poll_one(d, (struct virtio_rdma_cq *)cq, &ret[n])) == VQD_GOT)
        n++;
    if (n == 0 && got == VQD_BROKEN)
        return RDL_ERR_BROKEN;
    if (n > 0) {
        vqd_publish(q, d->virtio.pci.ram);
        if (vqd_needs_kick(q, d->virtio.pci.ram))
            queue_kick_now(d, cq->cqn);
    }
    *ret_n = n;
    return RDL_OK;
}

uint32_t work_count_unpolled(const struct guest_cq *cq)
{
    const struct virtio_rdma *d = driver_of(&cq->o);

    return vqd_used_count(virtio_rdma_vq(d, cq->cqn), d->virtio.pci.ram) +
           kept_left(&((const struct virtio_rdma_cq *)cq)->kept);
}

size_t work_peek(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret)
{
    const struct virtio_rdma *d = driver_of(&cq->o);
    const struct virtio_rdma_cq *c = (const struct virtio_rdma_cq *)cq;
    const uint32_t kept = kept_left(&c->kept);
    uint16_t heads[PEEKED_AT_ONCE];
    struct raw_cqe raw;
    size_t n = 0;
    uint32_t m;

    for (; n < max && skip + n < kept; n++)
        decode_cqe(&c->kept.v[c->kept.first + skip + n], &ret[n]);
    do {
        const size_t want = max - n < PEEKED_AT_ONCE ? max - n : PEEKED_AT_ONCE;

        m = vqd_peek_used(virtio_rdma_vq(d, cq->cqn), d->virtio.pci.ram, skip + (uint32_t)n - kept,
                          (uint32_t)want, heads);
        for (uint32_t i = 0; i < m; i++) {
            if (!ram_read(d->virtio.pci.ram, guest_slot_gpa(&c->mem, heads[i]), &raw, sizeof(raw)))
                return n;
            decode_cqe(&raw, &ret[n++]);
        }
    } while (m == PEEKED_AT_ONCE);
    return n;
}

uint32_t work_count_posted(const struct guest_object *o, bool sends)
{
    const struct virtio_rdma *d = driver_of(o);
    const struct guest_qp *qp = (const struct guest_qp *)o;
    const struct guest_wq *wq = o->kind == OBJ_SRQ ? &((const struct guest_srq *)o)->rq
                                : sends            ? &qp->sq
                                                   : &qp->rq;
    const struct vqd *q = virtio_rdma_vq(d, wq->queue);

    return q->n_outstanding - vqd_used_count(q, d->virtio.pci.ram);
}

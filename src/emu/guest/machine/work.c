/* SPDX-License-Identifier: MIT */
/* The data path of the verbs: post, kick and poll.  [virtio-rdma RFC, Send, Receive and Complete
 * Queue Operation]
 *
 * A work request is one descriptor.  Its buffer is the slot with the descriptor's number, so the
 * driver needs no table from one to the other.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/wr.h"
#include "emu/guest/machine/internal.h"

#define SEND_FLAGS_ALL (unsigned)(SF_FENCE | SF_SIGNALED | SF_SOLICITED | SF_INLINE)

/* A WQE while it is put together. */
struct wqe {
    uint32_t bytes;
    uint8_t b[RAM_PAGE_BYTES];
};

static void add_sges(struct wqe *w, const struct rdl_sge *sge, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct rfc_sge from = {sge[i].addr, sge[i].length, sge[i].lkey};
        struct raw_sge raw;

        rfc_sge_put(&raw, &from);
        memcpy(w->b + w->bytes, &raw, sizeof(raw));
        w->bytes += (uint32_t)sizeof(raw);
    }
}

/* Bytes of a message, for events: at most what a field holds. */
static uint32_t message_bytes(const struct rdl_sge *sge, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += sge[i].length;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* Takes back what the device is done with. */
static enum rdl_status reclaim(struct guest *g, struct guest_wq *wq)
{
    struct vqd *q = guest_vq(g, wq->queue);
    enum vqd_used got;
    uint16_t head;
    uint32_t len;

    while ((got = vqd_take_used(q, g->config.ram, &head, &len)) == VQD_GOT)
        wq->reclaimed++;
    return got == VQD_BROKEN ? RDL_ERR_BROKEN : RDL_OK;
}

/* Is there room for one more?  RDL_OK, RDL_ERR_QUEUE_FULL, RDL_ERR_BROKEN. */
static enum rdl_status make_room(struct guest *g, struct guest_wq *wq)
{
    const enum rdl_status st = reclaim(g, wq);

    if (st != RDL_OK)
        return st;
    return guest_vq(g, wq->queue)->n_outstanding < wq->max_wr ? RDL_OK : RDL_ERR_QUEUE_FULL;
}

/* Writes the WQE into its slot and shows it to the device; room was made. */
static enum rdl_status put_wqe(struct guest *g, struct guest_wq *wq, const struct wqe *w,
                               uint16_t *ret_desc)
{
    struct vqd *q = guest_vq(g, wq->queue);
    const struct vqd_seg seg = {guest_slot_gpa(&wq->mem, vqd_next_head(q)), w->bytes};

    RDL_ASSERT(w->bytes <= wq->mem.slot_bytes);
    if (!ram_write(g->config.ram, seg.gpa, w->b, w->bytes))
        return RDL_ERR_NOMEM;
    if (!vqd_add(q, g->config.ram, &seg, 1, 0, ret_desc))
        return RDL_ERR_BROKEN;
    vqd_publish(q, g->config.ram);
    wq->posted++;
    return RDL_OK;
}

static void kick_because(struct guest *g, uint32_t queue, ev_id post)
{
    const ev_id old = trace_because(g->config.trace, post);

    queue_kick(g, queue);
    trace_because(g->config.trace, old);
}

/* May the queue pair be posted to at all? */
static enum rdl_status postable(const struct guest_qp *qp)
{
    if (qp->o.guest->broken)
        return RDL_ERR_BROKEN;
    return object_usable(&qp->o);
}

/* In ERR and SQE requests are taken, to be flushed; in SQD they wait.  [IBTA1 10.3.1 (unverified)]
 */
static bool state_takes_sends(uint32_t state)
{
    return state == QPS_RTS || state == QPS_SQD || state == QPS_SQE || state == QPS_ERR;
}

static enum rdl_status check_send(const struct guest_qp *qp, const struct rdl_send_wr *wr)
{
    const enum rdl_status st = postable(qp);

    if (st != RDL_OK)
        return st;
    if (!state_takes_sends(qp->attr.state))
        return RDL_ERR_STATE;
    if (!wr_is_carried(wr->opcode))
        return RDL_ERR_UNSUPPORTED;
    if (wr->flags & ~SEND_FLAGS_ALL)
        return RDL_ERR_INVAL;
    if (wr->flags & SF_INLINE)
        return wr->n_sge == 0 && wr->inline_bytes <= qp->max_inline_data ? RDL_OK : RDL_ERR_INVAL;
    return wr->n_sge <= qp->sq.max_sge ? RDL_OK : RDL_ERR_INVAL;
}

static void build_send(struct wqe *w, const struct rdl_send_wr *wr)
{
    struct rfc_sq_wqe head = {
        .num_sge = (uint32_t)wr->n_sge,
        .send_flags = wr->flags,
        .opcode = wr->opcode,
        .wr_id = wr->wr_id,
    };
    struct raw_sq_wqe raw;

    memcpy(head.ex, wr->imm, sizeof(head.ex));
    rfc_sq_wqe_put(&raw, &head);
    memcpy(w->b, &raw, sizeof(raw));
    w->bytes = (uint32_t)sizeof(raw);
    if (!(wr->flags & SF_INLINE)) {
        add_sges(w, wr->sge, wr->n_sge);
    } else if (wr->inline_bytes > 0) {
        memcpy(w->b + w->bytes, wr->inline_data, wr->inline_bytes);
        w->bytes += (uint32_t)wr->inline_bytes;
    }
}

enum rdl_status guest_post_send(struct guest_qp *qp, const struct rdl_send_wr *wr, bool nokick)
{
    struct guest *g = qp->o.guest;
    enum rdl_status st = check_send(qp, wr);
    struct wqe w;
    uint16_t desc;
    ev_id id;

    if (st == RDL_OK)
        st = make_room(g, &qp->sq);
    if (st != RDL_OK)
        return st;
    build_send(&w, wr);
    st = put_wqe(g, &qp->sq, &w, &desc);
    if (st != RDL_OK)
        return st;
    TRACE_ID(g->config.trace, id, post_send, .host = g->config.host, .qpn = qp->qpn,
             .queue = qp->sq.queue, .desc = desc, .wr_id = wr->wr_id, .op = wr->opcode,
             .bytes = wr->flags & SF_INLINE ? (uint32_t)wr->inline_bytes
                                            : message_bytes(wr->sge, wr->n_sge),
             .flags = wr->flags);
    if (!nokick)
        kick_because(g, qp->sq.queue, id);
    return RDL_OK;
}

static void build_recv(struct wqe *w, const struct rdl_recv_wr *wr)
{
    const struct rfc_rq_wqe head = {.num_sge = (uint32_t)wr->n_sge, .wr_id = wr->wr_id};
    struct raw_rq_wqe raw;

    rfc_rq_wqe_put(&raw, &head);
    memcpy(w->b, &raw, sizeof(raw));
    w->bytes = (uint32_t)sizeof(raw);
    add_sges(w, wr->sge, wr->n_sge);
}

enum rdl_status guest_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr, bool nokick)
{
    struct guest *g = qp->o.guest;
    enum rdl_status st = postable(qp);
    struct wqe w;
    uint16_t desc;
    ev_id id;

    if (st == RDL_OK && qp->attr.state == QPS_RESET)
        st = RDL_ERR_STATE;
    if (st == RDL_OK && wr->n_sge > qp->rq.max_sge)
        st = RDL_ERR_INVAL;
    if (st == RDL_OK)
        st = make_room(g, &qp->rq);
    if (st != RDL_OK)
        return st;
    build_recv(&w, wr);
    st = put_wqe(g, &qp->rq, &w, &desc);
    if (st != RDL_OK)
        return st;
    TRACE_ID(g->config.trace, id, post_recv, .host = g->config.host, .qpn = qp->qpn,
             .queue = qp->rq.queue, .desc = desc, .wr_id = wr->wr_id,
             .bytes = message_bytes(wr->sge, wr->n_sge));
    if (!nokick)
        kick_because(g, qp->rq.queue, id);
    return RDL_OK;
}

enum rdl_status guest_kick(struct guest_qp *qp, bool send)
{
    struct guest *g = qp->o.guest;
    const uint32_t queue = send ? qp->sq.queue : qp->rq.queue;
    const enum rdl_status st = postable(qp);

    if (st != RDL_OK)
        return st;
    if (guest_vq(g, queue)->added > 0)
        queue_kick(g, queue);
    else
        queue_kick_now(g, queue); /* nothing new: who asks for it anyway gets a notification */
    return RDL_OK;
}

/* A completion with an error tells the driver that the queue pair is in ERR.  One of an earlier
 * life of the queue pair, or with a number that no queue pair has, tells nothing.
 */
static void learn_from_error(const struct guest_cq *cq, uint32_t qpn)
{
    const struct guest *g = cq->o.guest;
    struct guest_qp *qp = qpn <= g->device.max_qp ? g->qp_of[qpn] : NULL;

    if (!qp || qp->attr.state < QPS_INIT)
        return;
    if ((qp->send_cq == cq && cq->polled >= qp->send_cq_from) ||
        (qp->recv_cq == cq && cq->polled >= qp->recv_cq_from))
        qp->attr.state = QPS_ERR;
}

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
        .vendor_err = cqe.vendor_err,
    };
    memcpy(ret->imm, cqe.ex, sizeof(ret->imm));
}

/* Takes one completion out and gives its buffer to the device again. */
static enum vqd_used poll_one(struct guest_cq *cq, struct rdl_wc *ret)
{
    struct guest *g = cq->o.guest;
    struct vqd *q = guest_vq(g, cq->cqn);
    struct vqd_seg seg = {.bytes = sizeof(struct raw_cqe)};
    struct raw_cqe raw;
    enum vqd_used got;
    uint16_t head;
    uint32_t len;

    got = vqd_take_used(q, g->config.ram, &head, &len);
    if (got != VQD_GOT)
        return got;
    seg.gpa = guest_slot_gpa(&cq->mem, head);
    if (len != sizeof(raw) || !ram_read(g->config.ram, seg.gpa, &raw, sizeof(raw)) ||
        !vqd_add(q, g->config.ram, &seg, 0, 1, &head)) {
        q->broken = true; /* the device wrote something else than a completion */
        return VQD_BROKEN;
    }
    decode_cqe(&raw, ret);
    if (ret->status != WCS_SUCCESS)
        learn_from_error(cq, ret->qp_num);
    cq->polled++;
    TRACE(g->config.trace, poll, .host = g->config.host, .cqn = cq->cqn, .qpn = ret->qp_num,
          .wr_id = ret->wr_id, .status = ret->status, .op = ret->opcode, .bytes = ret->byte_len);
    return VQD_GOT;
}

enum rdl_status guest_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n)
{
    struct guest *g = cq->o.guest;
    struct vqd *q = guest_vq(g, cq->cqn);
    enum vqd_used got = VQD_NONE;
    size_t n = 0;

    if (object_usable(&cq->o) != RDL_OK)
        return RDL_ERR_BUSY;
    while (n < max && (got = poll_one(cq, &ret[n])) == VQD_GOT)
        n++;
    if (n == 0 && got == VQD_BROKEN)
        return RDL_ERR_BROKEN;
    if (n > 0) {
        vqd_publish(q, g->config.ram);
        if (vqd_needs_kick(q, g->config.ram))
            queue_kick_now(g, cq->cqn);
    }
    *ret_n = n;
    return RDL_OK;
}

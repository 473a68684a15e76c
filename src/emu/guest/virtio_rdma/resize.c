/* SPDX-License-Identifier: MIT */
/* Resizing of completion queues and queue pairs.  [libibverbs, ibv_resize_cq(3)]
 *
 * The driver sends RESIZE_CQ.  When the device accepts, the driver takes all completions out of the
 * ring, resets the queue and enables it with a ring of the new size.  It keeps the completions and
 * polls them before those of the new ring, so none is lost or reordered.  While completions are
 * kept, the device has correspondingly fewer buffers.
 *
 * SIMPLIFIED: no time passes between reset and enabling, so no completion can arrive while the
 * queue is disabled.  With a slower driver such completions would be lost to an overflow.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"

enum rdl_status request_resize_cq(struct guest_cq *cq, uint32_t cqe)
{
    struct virtio_rdma *d = driver_of(&cq->o);
    struct guest_queue_mem *mem = &((struct virtio_rdma_cq *)cq)->new_mem;
    const struct rfc_resize_cq cmd = {.cqn = cq->cqn, .cqe = cqe};
    struct raw_resize_cq raw;
    const uint64_t mark = dma_mark(d->virtio.pci.dma);
    enum rdl_status st;

    if (!virtio_has_feature(&d->virtio, VF_RESIZE) ||
        !virtio_has_feature(&d->virtio, VF_RING_RESET))
        return RDL_ERR_UNSUPPORTED;
    st = queue_mem_take(d, cqe, sizeof(struct raw_cqe), mem);
    if (st != RDL_OK)
        return st;
    rfc_resize_cq_put(&raw, &cmd);
    st = ctrl_send(d, CMD_RESIZE_CQ, &raw, cq->cqn);
    if (st != RDL_OK)
        queue_mem_undo(d, mem, mark);
    return st;
}

void kept_drop(struct virtio_rdma *d, struct kept_cqes *k)
{
    arena_release(d->arena, k->v, k->n * sizeof(*k->v));
    *k = (struct kept_cqes){0};
}

void kept_take(struct virtio_rdma *d, struct kept_cqes *k, struct raw_cqe *ret)
{
    RDL_ASSERT(kept_left(k) > 0);
    *ret = k->v[k->first++];
    if (kept_left(k) == 0)
        kept_drop(d, k);
}

/* Appends the completions in the ring to the kept ones.  Returns false if the device wrote
 * something malformed or the arena is full.
 */
static bool keep_all(struct virtio_rdma *d, struct virtio_rdma_cq *c)
{
    struct vqd *q = virtio_rdma_vq(d, c->cq.cqn);
    struct kept_cqes all = {.n = work_count_unpolled(&c->cq)};
    uint32_t n = kept_left(&c->kept), len;
    enum vqd_used got = VQD_GOT;
    uint16_t head;

    if (all.n == 0)
        return true;
    all.v = arena_alloc_raw(d->arena, all.n * sizeof(*all.v));
    if (!all.v)
        return false;
    if (n > 0)
        memcpy(all.v, c->kept.v + c->kept.first, n * sizeof(*all.v));
    for (; n < all.n && got == VQD_GOT; n++) {
        got = virtqueue_take_used(&d->virtio, q, c->cq.cqn, &head, &len);
        if (got == VQD_GOT &&
            (len != sizeof(*all.v) || !ram_read(d->virtio.pci.ram, guest_slot_gpa(&c->mem, head),
                                                &all.v[n], sizeof(*all.v))))
            got = VQD_BROKEN;
    }
    kept_drop(d, &c->kept);
    c->kept = all;
    return got == VQD_GOT;
}

/* Removes the kept completions of queue pair @qpn.  Returns their number. */
static uint32_t kept_drop_of(struct virtio_rdma *d, struct kept_cqes *k, uint32_t qpn)
{
    const uint32_t n = kept_left(k);
    uint32_t to = k->n;

    for (uint32_t i = k->n; i-- > k->first;) {
        struct rfc_cqe cqe;

        rfc_cqe_get(&cqe, &k->v[i]);
        if (cqe.qp_num != qpn)
            k->v[--to] = k->v[i];
    }
    k->first = to;
    if (kept_left(k) > 0)
        return n - kept_left(k);
    kept_drop(d, k);
    return n;
}

/* Returns true if a completion of queue pair @qpn waits in @cq. */
static bool has_any_of(const struct guest_cq *cq, uint32_t qpn)
{
    struct rdl_wc wc[32];
    uint32_t skip = 0;
    size_t n;

    do {
        n = work_peek(cq, skip, ARRAY_LEN(wc), wc);
        for (size_t i = 0; i < n; i++) {
            if (wc[i].qp_num == qpn)
                return true;
        }
        skip += (uint32_t)n;
    } while (n == ARRAY_LEN(wc));
    return false;
}

bool cq_drop_of(struct virtio_rdma *d, struct guest_cq *cq, uint32_t qpn)
{
    struct virtio_rdma_cq *c = (struct virtio_rdma_cq *)cq;

    if (!has_any_of(cq, qpn))
        return true;
    if (!keep_all(d, c))
        return false;
    verbs_dropped(cq, qpn, kept_drop_of(d, &c->kept, qpn));
    cq_fill(d, c);
    return true;
}

/* Replaces the memory @mem of @queue by @new_mem and restarts the queue.  Returns false if the
 * arena is full or the device did not accept the vector.
 */
static bool exchange(struct virtio_rdma *d, uint32_t queue, uint16_t vector,
                     struct guest_queue_mem *mem, struct guest_queue_mem *new_mem)
{
    if (queue_attach(d, queue, new_mem, vector) != RDL_OK)
        return false;
    queue_mem_give(d, mem);
    *mem = *new_mem;
    *new_mem = (struct guest_queue_mem){0};
    return true;
}

void answer_resize_cq(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_cq *c = (struct virtio_rdma_cq *)asked_about(d);
    const uint32_t cqn = c->cq.cqn;

    (void)data;
    if (keep_all(d, c) && exchange(d, cqn, cq_vector(d, cqn), &c->mem, &c->new_mem)) {
        verbs_resized(&c->cq);
        cq_fill(d, c);
        return;
    }
    verbs_broken(d->verbs);
    answer_cq_resize_refused(d);
    ctrl_failed(d, RSP_ERR);
}

void answer_cq_resize_refused(struct virtio_rdma *d)
{
    queue_mem_give(d, &((struct virtio_rdma_cq *)asked_about(d))->new_mem);
}

/* Resizes the queues of a queue pair.  The device accepts RESIZE_QP only if the changed queues are
 * empty.  The driver then resets them and enables them with new rings.
 */
enum rdl_status request_resize_qp(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    struct virtio_rdma *d = driver_of(&qp->o);
    struct virtio_rdma_qp *q = (struct virtio_rdma_qp *)qp;
    const struct rfc_resize_qp cmd = {qp->qpn, max_send_wr, max_recv_wr};
    struct raw_resize_qp raw;
    const uint64_t mark = dma_mark(d->virtio.pci.dma);
    enum rdl_status st = RDL_OK;

    if (!virtio_has_feature(&d->virtio, VF_RESIZE) ||
        !virtio_has_feature(&d->virtio, VF_RING_RESET))
        return RDL_ERR_UNSUPPORTED;
    q->new_sq = q->new_rq = (struct guest_queue_mem){0};
    if (max_send_wr != qp->sq.max_wr)
        st = queue_mem_take(d, max_send_wr, sq_wqe_bytes(qp), &q->new_sq);
    if (st == RDL_OK && !qp->srq && max_recv_wr != qp->rq.max_wr)
        st = queue_mem_take(d, max_recv_wr, queue_recv_bytes(qp->rq.max_sge), &q->new_rq);
    rfc_resize_qp_put(&raw, &cmd);
    if (st == RDL_OK)
        st = ctrl_send(d, CMD_RESIZE_QP, &raw, qp->qpn);
    if (st != RDL_OK) {
        queue_mem_undo(d, &q->new_rq, mark);
        queue_mem_undo(d, &q->new_sq, mark);
    }
    return st;
}

/* Replace the memory of a work queue if its size changes.  Return false on failure. */
static bool exchange_sends(struct virtio_rdma *d, struct virtio_rdma_qp *q)
{
    const uint32_t queue = q->qp.sq.queue;

    if (q->new_sq.size == 0)
        return true;
    if (!work_reclaim(d, queue, q))
        return false;
    work_forget_lists(d, q); /* the new ring has another size */
    return exchange(d, queue, VIRTIO_NO_VECTOR, &q->sq_mem, &q->new_sq);
}

static bool exchange_receives(struct virtio_rdma *d, struct virtio_rdma_qp *q)
{
    const uint32_t queue = q->qp.rq.queue;

    return q->new_rq.size == 0 || (work_reclaim(d, queue, NULL) &&
                                   exchange(d, queue, VIRTIO_NO_VECTOR, &q->rq_mem, &q->new_rq));
}

void answer_resize_qp(struct virtio_rdma *d, const uint8_t *data)
{
    struct virtio_rdma_qp *q = (struct virtio_rdma_qp *)asked_about(d);

    (void)data;
    if (exchange_sends(d, q) && exchange_receives(d, q)) {
        verbs_qp_resized(&q->qp);
        return;
    }
    verbs_broken(d->verbs);
    answer_qp_resize_refused(d);
    ctrl_failed(d, RSP_ERR);
}

void answer_qp_resize_refused(struct virtio_rdma *d)
{
    struct virtio_rdma_qp *q = (struct virtio_rdma_qp *)asked_about(d);

    queue_mem_give(d, &q->new_sq);
    queue_mem_give(d, &q->new_rq);
}

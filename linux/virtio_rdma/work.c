// SPDX-License-Identifier: GPL-2.0
/*
 * Posting: work requests become chains of one descriptor, a head with SGEs or
 * inline data behind it.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "virtio_rdma.h"

#define SEND_FLAGS (IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED | IB_SEND_INLINE)

/* Takes chains back that the device has completed. The lock is held. */
void vrdma_wq_collect(struct vrdma_wq *wq)
{
	u32 slot, bytes;

	while (vrdma_mem_take(wq->vq, &slot, &bytes)) {
		if (wq->pass_through && wq->tail != wq->head)
			wq->tail++;
	}
}

/* Finds the request with the counter @cookie, and frees its slot and those before it. The lock of
 * the CQ is held. Returns 0; -ENOENT: there is none; -EPROTO: one before it needs a completion.
 */
int vrdma_wq_completed(struct vrdma_wq *wq, u64 cookie, u64 *ret_wr_id)
{
	const u32 head = smp_load_acquire(&wq->head); /* pairs with post_one() */
	const u32 counter = cookie;
	u32 i;

	if (wq->pass_through) {
		*ret_wr_id = cookie;
		return 0;
	}
	if (counter != cookie || counter - wq->tail >= head - wq->tail)
		return -ENOENT;
	for (i = wq->tail; i != counter; i++) {
		if (wq->wr[i & wq->mask].signaled)
			return -EPROTO;
	}
	*ret_wr_id = wq->wr[counter & wq->mask].wr_id;
	smp_store_release(&wq->tail, counter + 1); /* pairs with has_room() */
	return 0;
}

/* Returns true if a slot is free. The lock is held. */
static bool has_room(struct vrdma_wq *wq)
{
	vrdma_wq_collect(wq);
	return wq->head - smp_load_acquire(&wq->tail) < wq->n; /* pairs with vrdma_wq_completed() */
}

static u32 put_sges(struct virtio_rdma_sge *to, const struct ib_sge *from, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		to[i].addr = cpu_to_le64(from[i].addr);
		to[i].length = cpu_to_le32(from[i].length);
		to[i].lkey = cpu_to_le32(from[i].lkey);
	}
	return n * sizeof(*to);
}

/* Copies the inline data of @wr. @is_user: its addresses are those of the calling process. */
static int put_inline(u8 *to, const struct ib_send_wr *wr, u32 max, bool is_user, u32 *ret_bytes)
{
	u32 at = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > max - at)
			return -EINVAL;
		if (!is_user)
			memcpy(to + at, (void *)(uintptr_t)sge->addr, sge->length);
		else if (copy_from_user(to + at, u64_to_user_ptr(sge->addr), sge->length))
			return -EFAULT;
		at += sge->length;
	}
	*ret_bytes = at;
	return 0;
}

static void put_reg(struct vrdma_dev *d, struct virtio_rdma_sq_wqe *h, const struct ib_reg_wr *wr)
{
	const struct vrdma_mr *mr = vrdma_mr(wr->mr);
	struct virtio_rdma_wr_reg_list *to = &h->wr.reg_list;

	to->mrn = cpu_to_le32(mr->mrn);
	to->key = cpu_to_le32(wr->key);
	to->access = cpu_to_le32(wr->access);
	if (!vrdma_has(d, VIRTIO_RDMA_F_REG_IN_WQE))
		return;
	to->pages = cpu_to_le64(mr->list.dma);
	to->npages = cpu_to_le32(mr->n_pages);
	to->start = cpu_to_le64(mr->ib.iova);
	to->length = cpu_to_le64(mr->ib.length);
}

/* Fills the part of the head that depends on the operation. */
static int put_operation(struct vrdma_qp *qp, struct virtio_rdma_sq_wqe *h,
			 const struct ib_send_wr *wr)
{
	h->ex.imm_data = wr->ex.imm_data;
	if (qp->ib.qp_type == IB_QPT_UD || qp->ib.qp_type == IB_QPT_GSI) {
		if (!ud_wr(wr)->ah) /* what drains a queue has none, and is flushed */
			return READ_ONCE(qp->state) == IB_QPS_ERR ? 0 : -EINVAL;
		h->wr.ud = vrdma_ah(ud_wr(wr)->ah)->ud;
		h->wr.ud.remote_qpn = cpu_to_le32(ud_wr(wr)->remote_qpn);
		h->wr.ud.remote_qkey = cpu_to_le32(ud_wr(wr)->remote_qkey);
		return 0;
	}
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return 0;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		h->ex.invalidate_rkey = cpu_to_le32(wr->ex.invalidate_rkey);
		return 0;
	case IB_WR_RDMA_READ_WITH_INV:
		h->ex.invalidate_rkey = cpu_to_le32(wr->ex.invalidate_rkey);
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		h->wr.rdma.remote_addr = cpu_to_le64(rdma_wr(wr)->remote_addr);
		h->wr.rdma.rkey = cpu_to_le32(rdma_wr(wr)->rkey);
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		h->wr.atomic.remote_addr = cpu_to_le64(atomic_wr(wr)->remote_addr);
		h->wr.atomic.compare_add = cpu_to_le64(atomic_wr(wr)->compare_add);
		h->wr.atomic.swap = cpu_to_le64(atomic_wr(wr)->swap);
		h->wr.atomic.rkey = cpu_to_le32(atomic_wr(wr)->rkey);
		return 0;
	case IB_WR_REG_MR:
		put_reg(vrdma_dev(qp->ib.device), h, reg_wr(wr));
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Builds a send at @slot. Returns its length, or an errno. */
static int build_send(struct vrdma_qp *qp, void *slot, const struct ib_send_wr *wr, u64 wr_id)
{
	struct virtio_rdma_sq_wqe *h = slot;
	u32 bytes = 0;
	int err;

	if (wr->num_sge < 0 || (u32)wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	memset(h, 0, sizeof(*h));
	h->send_flags = cpu_to_le32(wr->send_flags & SEND_FLAGS);
	h->opcode = cpu_to_le32(wr->opcode);
	h->wr_id = cpu_to_le64(wr_id);
	err = put_operation(qp, h, wr);
	if (err)
		return err;
	if (wr->send_flags & IB_SEND_INLINE) {
		err = put_inline((u8 *)(h + 1), wr, qp->max_inline, qp->sq.pass_through, &bytes);
		if (err)
			return err;
	} else {
		h->num_sge = cpu_to_le32(wr->num_sge);
		bytes = put_sges((struct virtio_rdma_sge *)(h + 1), wr->sg_list, wr->num_sge);
	}
	return sizeof(*h) + bytes;
}

u32 vrdma_recv_bytes(u32 max_sge)
{
	return sizeof(struct virtio_rdma_rq_wqe) + max_sge * sizeof(struct virtio_rdma_sge);
}

/* Builds a receive at @slot and returns its length. */
u32 vrdma_build_recv(void *slot, const struct ib_recv_wr *wr, u64 wr_id)
{
	struct virtio_rdma_rq_wqe *h = slot;

	h->num_sge = cpu_to_le32(wr->num_sge);
	h->wr_id = cpu_to_le64(wr_id);
	return sizeof(*h) + put_sges((struct virtio_rdma_sge *)(h + 1), wr->sg_list, wr->num_sge);
}

/* Takes the last request, which could not be queued for @err, back. The lock is held; nobody polls
 * meanwhile, since completions are looked up between tail and head. Returns @err, or 0 if the
 * device has completed what it was never given.
 */
static int take_back(struct vrdma_qp *qp, struct vrdma_wq *wq, struct vrdma_cq *cq, int err)
{
	bool is_completed;

	spin_lock(&cq->lock);
	is_completed = wq->tail == wq->head;
	if (!is_completed)
		WRITE_ONCE(wq->head, wq->head - 1);
	spin_unlock(&cq->lock);
	if (!is_completed)
		return err;
	vrdma_break(vrdma_dev(qp->ib.device), "QP %u: a completion of nothing", qp->qpn);
	return 0;
}

/* Queues the request of @bytes in the next slot. The lock is held. The head moves first, since
 * another processor may poll the completion before vrdma_mem_add() returns.
 */
static int post_one(struct vrdma_qp *qp, struct vrdma_wq *wq, u64 wr_id, bool signaled, u32 bytes)
{
	struct vrdma_dev *d = vrdma_dev(qp->ib.device);
	const bool is_recv = wq == &qp->rq;
	struct vrdma_cq *cq = vrdma_cq(is_recv ? qp->ib.recv_cq : qp->ib.send_cq);
	const u32 counter = wq->head, slot = counter & wq->mask;
	int err;

	wq->wr[slot] = (struct vrdma_wr){ .wr_id = wr_id, .signaled = signaled };
	smp_store_release(&wq->head, counter + 1); /* pairs with vrdma_wq_completed() */
	if (wq->flushing) {
		vrdma_cq_flush_one(cq, qp, wq->pass_through ? wr_id : counter, is_recv);
		if (wq->pass_through)
			wq->tail = wq->head;
		return 0;
	}
	if (vrdma_is_broken(d))
		return 0; /* vrdma_qp_kill() flushes it soon */
	err = vrdma_mem_add(&wq->mem, wq->vq, slot, bytes, false);
	if (err == -EIO)
		vrdma_break(d, "queue %s is broken", wq->vq->name);
	return err ? take_back(qp, wq, cq, err) : 0;
}

/* Publishes what was posted. Returns true if the device must be notified, which is done without the
 * lock.
 */
static bool publish(struct vrdma_qp *qp, struct vrdma_wq *wq)
{
	return !vrdma_is_broken(vrdma_dev(qp->ib.device)) && virtqueue_kick_prepare(wq->vq);
}

static void notify_if(bool kick, struct vrdma_qp *qp, struct vrdma_wq *wq)
{
	if (kick)
		vrdma_vq_notify(vrdma_dev(qp->ib.device), wq->vq);
}

/* Judges the state and the room. The lock is held, so that nothing is posted any more when a change
 * to RESET has had the lock.
 */
static int may_post_send(struct vrdma_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return -EINVAL;
	default:
		return has_room(&qp->sq) ? 0 : -ENOMEM;
	}
}

/* A program's inline data is read before the lock is taken, since that may sleep. */
static int post_user_inline(struct vrdma_qp *qp, const struct ib_send_wr *wr)
{
	struct vrdma_wq *wq = &qp->sq;
	unsigned long flags;
	int bytes, err;
	void *built;
	bool kick;

	built = kmalloc(wq->mem.slot_bytes, GFP_KERNEL);
	if (!built)
		return -ENOMEM;
	bytes = build_send(qp, built, wr, wr->wr_id);
	err = min(bytes, 0);
	if (!err) {
		spin_lock_irqsave(&wq->lock, flags);
		err = may_post_send(qp);
		if (!err) {
			memcpy(vrdma_mem_slot(&wq->mem, wq->head & wq->mask), built, bytes);
			err = post_one(qp, wq, wr->wr_id, true, bytes);
		}
		kick = publish(qp, wq);
		spin_unlock_irqrestore(&wq->lock, flags);
		notify_if(kick, qp, wq);
	}
	kfree(built);
	return err;
}

/* The lock is held. */
static int post_one_send(struct vrdma_qp *qp, const struct ib_send_wr *wr)
{
	struct vrdma_wq *wq = &qp->sq;
	int ret = may_post_send(qp);

	if (ret)
		return ret;
	ret = build_send(qp, vrdma_mem_slot(&wq->mem, wq->head & wq->mask), wr,
			 wq->pass_through ? wr->wr_id : wq->head);
	if (ret < 0)
		return ret;
	return post_one(qp, wq, wr->wr_id, qp->signal_all || wr->send_flags & IB_SEND_SIGNALED,
			ret);
}

static int post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct vrdma_qp *qp = vrdma_qp(ibqp);
	unsigned long flags;
	bool kick;
	int err = 0;

	while (wr && !err) {
		if (qp->sq.pass_through && wr->send_flags & IB_SEND_INLINE) {
			err = post_user_inline(qp, wr);
			if (!err)
				wr = wr->next;
			continue;
		}
		spin_lock_irqsave(&qp->sq.lock, flags);
		do {
			err = post_one_send(qp, wr);
			if (!err)
				wr = wr->next;
		} while (wr && !err && !(qp->sq.pass_through && wr->send_flags & IB_SEND_INLINE));
		kick = publish(qp, &qp->sq);
		spin_unlock_irqrestore(&qp->sq.lock, flags);
		notify_if(kick, qp, &qp->sq);
	}
	if (err)
		*bad = wr;
	return err;
}

/* The lock is held. */
static int post_one_recv(struct vrdma_qp *qp, const struct ib_recv_wr *wr)
{
	struct vrdma_wq *wq = &qp->rq;
	u32 bytes;

	if (READ_ONCE(qp->state) == IB_QPS_RESET || wr->num_sge < 0 ||
	    (u32)wr->num_sge > wq->max_sge)
		return -EINVAL;
	if (!has_room(wq))
		return -ENOMEM;
	bytes = vrdma_build_recv(vrdma_mem_slot(&wq->mem, wq->head & wq->mask), wr,
				 wq->pass_through ? wr->wr_id : wq->head);
	return post_one(qp, wq, wr->wr_id, true, bytes);
}

static int post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct vrdma_qp *qp = vrdma_qp(ibqp);
	unsigned long flags;
	bool kick;
	int err = 0;

	if (ibqp->srq) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rq.lock, flags);
	while (wr && !err) {
		err = post_one_recv(qp, wr);
		if (!err)
			wr = wr->next;
	}
	kick = publish(qp, &qp->rq);
	spin_unlock_irqrestore(&qp->rq.lock, flags);
	notify_if(kick, qp, &qp->rq);
	if (err)
		*bad = wr;
	return err;
}

const struct ib_device_ops vrdma_work_ops = {
	.post_send = post_send,
	.post_recv = post_recv,
};

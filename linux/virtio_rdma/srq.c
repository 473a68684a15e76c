// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues. Receives complete in any order, so that the free slots
 * are a stack. The wr_id for the device is life << 16 | slot, where @life counts
 * how often the slot was used: see struct vrdma_wq for the reason.
 */
#include <linux/slab.h>

#include "virtio_rdma.h"

#define SLOT_BITS 16

static u64 cookie_of(const struct vrdma_srq *srq, u32 slot)
{
	return (u64)srq->wr[slot].life << SLOT_BITS | slot;
}

/* The lock is held. */
static void free_slot(struct vrdma_srq *srq, u32 slot)
{
	srq->wr[slot].busy = false;
	srq->wr[slot].life++;
	srq->free[srq->n_free++] = slot;
}

/* Takes chains back that the device has completed. The lock is held. */
static void collect(struct vrdma_srq *srq)
{
	u32 slot, bytes;

	while (vrdma_mem_take(srq->vq, &slot, &bytes)) {
		if (srq->pass_through && srq->wr[slot].busy)
			free_slot(srq, slot);
	}
}

/* Finds the receive with the number @cookie and frees its slot. Returns 0 or -ENOENT. */
int vrdma_srq_completed(struct vrdma_srq *srq, u64 cookie, u64 *ret_wr_id)
{
	const u32 slot = cookie & GENMASK(SLOT_BITS - 1, 0);
	unsigned long flags;
	int err = -ENOENT;

	if (srq->pass_through) {
		*ret_wr_id = cookie;
		return 0;
	}
	if (slot >= srq->mem.n)
		return -ENOENT;
	spin_lock_irqsave(&srq->lock, flags);
	if (srq->wr[slot].busy && cookie_of(srq, slot) == cookie) {
		*ret_wr_id = srq->wr[slot].wr_id;
		collect(srq); /* so that the slot has no descriptor any more */
		free_slot(srq, slot);
		err = 0;
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}

/* The lock is held. */
static int post_one(struct vrdma_dev *d, struct vrdma_srq *srq, const struct ib_recv_wr *wr)
{
	u32 slot, bytes;
	int err;

	if (wr->num_sge < 0 || (u32)wr->num_sge > srq->max_sge)
		return -EINVAL;
	collect(srq);
	if (!srq->n_free)
		return -ENOMEM;
	slot = srq->free[--srq->n_free];
	srq->wr[slot].wr_id = wr->wr_id;
	srq->wr[slot].busy = true;
	if (vrdma_is_broken(d))
		return 0; /* receives of a shared queue are not flushed */
	bytes = vrdma_build_recv(vrdma_mem_slot(&srq->mem, slot), wr,
				 srq->pass_through ? wr->wr_id : cookie_of(srq, slot));
	err = vrdma_mem_add(&srq->mem, srq->vq, slot, bytes, false);
	if (err == -EIO)
		vrdma_break(d, "queue %s is broken", srq->vq->name);
	if (err)
		free_slot(srq, slot);
	return err;
}

static int post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct vrdma_dev *d = vrdma_dev(ibsrq->device);
	struct vrdma_srq *srq = vrdma_srq(ibsrq);
	unsigned long flags;
	bool kick;
	int err = 0;

	spin_lock_irqsave(&srq->lock, flags);
	while (wr && !err) {
		err = post_one(d, srq, wr);
		if (!err)
			wr = wr->next;
	}
	kick = !vrdma_is_broken(d) && virtqueue_kick_prepare(srq->vq);
	spin_unlock_irqrestore(&srq->lock, flags);
	if (kick)
		vrdma_vq_notify(d, srq->vq);
	if (err)
		*bad = wr;
	return err;
}

static void free_memory(struct vrdma_srq *srq)
{
	vrdma_mem_free(&srq->mem);
	kvfree(srq->free);
	kvfree(srq->wr);
}

static int alloc_memory(struct vrdma_srq *srq, u32 n, u32 max_sge)
{
	u32 i;

	srq->max_sge = max_sge;
	srq->free = kvcalloc(n, sizeof(*srq->free), GFP_KERNEL);
	srq->wr = kvcalloc(n, sizeof(*srq->wr), GFP_KERNEL);
	if (!srq->free || !srq->wr || vrdma_mem_alloc(&srq->mem, n, vrdma_recv_bytes(max_sge))) {
		free_memory(srq);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		srq->free[i] = n - 1 - i;
	srq->n_free = n;
	return 0;
}

static int attach(struct vrdma_dev *d, struct vrdma_srq *srq, u32 srqn)
{
	int err;

	if (!vrdma_can_be_new(d, &d->srqs, "SRQ", srqn, 1, d->max_srq))
		return -EIO;
	srq->srqn = srqn;
	srq->vq = vrdma_vq_of_srq(d, srqn);
	err = vrdma_vq_open(d, srq->vq, srq->mem.n);
	if (!err)
		err = vrdma_ref_publish(d, &d->srqs, srqn, &srq->ref);
	if (err) {
		vrdma_ctrl_destroy(d, VIRTIO_RDMA_CMD_DESTROY_SRQ, srqn);
		vrdma_vq_close(d, srq->vq);
	}
	return err;
}

static int create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ibsrq->device);
	struct vrdma_srq *srq = vrdma_srq(ibsrq);
	const u32 n = max(attr->attr.max_wr, 1U), max_sge = max(attr->attr.max_sge, 1U);
	const struct virtio_rdma_create_srq req = {
		.pdn = cpu_to_le32(vrdma_pd(ibsrq->pd)->pdn),
		.max_wr = cpu_to_le32(n),
		.max_sge = cpu_to_le32(max_sge),
	};
	struct virtio_rdma_srq_handle rsp;
	int err;

	if (!vrdma_has(d, VIRTIO_RDMA_F_SRQ) || attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (n > (u32)ibsrq->device->attrs.max_srq_wr ||
	    max_sge > (u32)ibsrq->device->attrs.max_srq_sge)
		return -EINVAL;
	spin_lock_init(&srq->lock);
	vrdma_ref_init(&srq->ref);
	srq->pass_through = udata;
	err = alloc_memory(srq, n, max_sge);
	if (err)
		return err;
	mutex_lock(&d->queue_mutex);
	err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_CREATE_SRQ, &req, sizeof(req), &rsp, sizeof(rsp));
	if (!err)
		err = attach(d, srq, le32_to_cpu(rsp.srqn));
	mutex_unlock(&d->queue_mutex);
	if (err) {
		free_memory(srq);
		return err;
	}
	attr->attr.max_wr = n;
	attr->attr.max_sge = max_sge;
	return 0;
}

static int destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ibsrq->device);
	struct vrdma_srq *srq = vrdma_srq(ibsrq);

	mutex_lock(&d->queue_mutex);
	vrdma_ctrl_destroy(d, VIRTIO_RDMA_CMD_DESTROY_SRQ, srq->srqn);
	vrdma_ref_withdraw(&d->srqs, srq->srqn, &srq->ref);
	vrdma_vq_close(d, srq->vq);
	mutex_unlock(&d->queue_mutex);
	free_memory(srq);
	return 0;
}

static int modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		      struct ib_udata *udata)
{
	const struct virtio_rdma_modify_srq req = {
		.srqn = cpu_to_le32(vrdma_srq(ibsrq)->srqn),
		.attr_mask = cpu_to_le32(mask),
		.max_wr = cpu_to_le32(attr->max_wr),
		.limit = cpu_to_le32(attr->srq_limit),
	};

	return vrdma_ctrl(vrdma_dev(ibsrq->device), VIRTIO_RDMA_CMD_MODIFY_SRQ, &req, sizeof(req),
			  NULL, 0);
}

static int query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	const struct virtio_rdma_srq_handle req = {
		.srqn = cpu_to_le32(vrdma_srq(ibsrq)->srqn),
	};
	struct virtio_rdma_srq_attr rsp;
	int err = vrdma_ctrl(vrdma_dev(ibsrq->device), VIRTIO_RDMA_CMD_QUERY_SRQ, &req, sizeof(req),
			     &rsp, sizeof(rsp));

	if (err)
		return err;
	attr->max_wr = le32_to_cpu(rsp.max_wr);
	attr->max_sge = le32_to_cpu(rsp.max_sge);
	attr->srq_limit = le32_to_cpu(rsp.limit);
	return 0;
}

const struct ib_device_ops vrdma_srq_ops = {
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.modify_srq = modify_srq,
	.query_srq = query_srq,
	.post_srq_recv = post_srq_recv,
	INIT_RDMA_OBJ_SIZE(ib_srq, vrdma_srq, ib),
};

// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: creation, states, and their end. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "virtio_rdma.h"

static int wq_alloc(struct vrdma_wq *wq, u32 n, u32 max_sge, u32 bytes, bool pass_through)
{
	spin_lock_init(&wq->lock);
	wq->n = max(n, 1U);
	wq->mask = roundup_pow_of_two(wq->n) - 1;
	wq->max_sge = max_sge;
	wq->pass_through = pass_through;
	wq->wr = kvcalloc(wq->mask + 1, sizeof(*wq->wr), GFP_KERNEL);
	if (!wq->wr)
		return -ENOMEM;
	return vrdma_mem_alloc(&wq->mem, wq->mask + 1, bytes);
}

static void wq_free(struct vrdma_wq *wq)
{
	vrdma_mem_free(&wq->mem);
	kvfree(wq->wr);
	wq->wr = NULL;
}

static void free_memory(struct vrdma_qp *qp)
{
	wq_free(&qp->sq);
	wq_free(&qp->rq);
}

static int alloc_memory(struct vrdma_qp *qp, const struct ib_qp_init_attr *a, bool is_user)
{
	const u32 body = max_t(u32, a->cap.max_send_sge * sizeof(struct virtio_rdma_sge),
			       a->cap.max_inline_data);
	int err;

	err = wq_alloc(&qp->sq, a->cap.max_send_wr, a->cap.max_send_sge,
		       sizeof(struct virtio_rdma_sq_wqe) + body, is_user);
	if (!err && !a->srq)
		err = wq_alloc(&qp->rq, a->cap.max_recv_wr, a->cap.max_recv_sge,
			       vrdma_recv_bytes(a->cap.max_recv_sge), is_user);
	if (err)
		free_memory(qp);
	return err;
}

static int check(struct vrdma_dev *d, const struct ib_qp_init_attr *a)
{
	const struct ib_device_attr *attrs = &d->ib.attrs;
	const struct ib_qp_cap *cap = &a->cap;

	switch (a->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_GSI:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (a->create_flags & ~IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK || a->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (cap->max_send_wr > (u32)attrs->max_qp_wr ||
	    cap->max_send_sge > (u32)attrs->max_send_sge ||
	    cap->max_inline_data > VRDMA_INLINE_MAX)
		return -EINVAL;
	if (!a->srq && (cap->max_recv_wr > (u32)attrs->max_qp_wr ||
			cap->max_recv_sge > (u32)attrs->max_recv_sge))
		return -EINVAL;
	return 0;
}

static int create_at_device(struct vrdma_dev *d, struct vrdma_qp *qp,
			    const struct ib_qp_init_attr *a, u32 *ret_qpn)
{
	const struct virtio_rdma_create_qp req = {
		.pdn = cpu_to_le32(vrdma_pd(qp->ib.pd)->pdn),
		.qp_type = a->qp_type,
		.sq_sig_type = a->sq_sig_type,
		.max_send_wr = cpu_to_le32(qp->sq.n),
		.max_send_sge = cpu_to_le32(a->cap.max_send_sge ?: 1),
		.send_cqn = cpu_to_le32(vrdma_cq(a->send_cq)->cqn),
		.max_recv_wr = cpu_to_le32(a->srq ? 0 : qp->rq.n),
		.max_recv_sge = cpu_to_le32(a->srq ? 0 : a->cap.max_recv_sge ?: 1),
		.recv_cqn = cpu_to_le32(vrdma_cq(a->recv_cq)->cqn),
		.max_inline_data = cpu_to_le32(a->cap.max_inline_data),
		.srqn = cpu_to_le32(a->srq ? vrdma_srq(a->srq)->srqn : 0),
		.create_flags = cpu_to_le32(a->create_flags),
	};
	struct virtio_rdma_qp_handle rsp;
	int err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_CREATE_QP, &req, sizeof(req), &rsp, sizeof(rsp));

	if (!err)
		*ret_qpn = le32_to_cpu(rsp.qpn);
	return err;
}

/* Takes number @qpn, which the device has given, and sets the virtqueues up. */
static int attach(struct vrdma_dev *d, struct vrdma_qp *qp, u32 qpn)
{
	const bool is_gsi = qp->ib.qp_type == IB_QPT_GSI;
	int err;

	if (!vrdma_can_be_new(d, &d->qps, is_gsi ? "GSI QP" : "QP", qpn,
			      is_gsi ? VRDMA_QPN_GSI : VRDMA_QPN_GSI + 1,
			      is_gsi ? VRDMA_QPN_GSI : d->max_qp))
		return -EIO;
	qp->qpn = qpn;
	qp->ib.qp_num = qpn;
	qp->sq.vq = vrdma_vq_of_sq(d, qpn);
	qp->rq.vq = vrdma_vq_of_rq(d, qpn);
	err = vrdma_vq_open(d, qp->sq.vq, qp->sq.mask + 1);
	if (!err && !qp->ib.srq)
		err = vrdma_vq_open(d, qp->rq.vq, qp->rq.mask + 1);
	if (!err)
		err = vrdma_ref_publish(d, &d->qps, qpn, &qp->ref);
	if (err) {
		vrdma_ctrl_destroy(d, VIRTIO_RDMA_CMD_DESTROY_QP, qpn);
		vrdma_vq_close(d, qp->sq.vq);
		vrdma_vq_close(d, qp->rq.vq);
	}
	return err;
}

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *a, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ibqp->device);
	struct vrdma_qp *qp = vrdma_qp(ibqp);
	int err = check(d, a);
	u32 qpn;

	if (err)
		return err;
	vrdma_ref_init(&qp->ref);
	qp->state = IB_QPS_RESET;
	qp->signal_all = a->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->max_inline = a->cap.max_inline_data;
	err = alloc_memory(qp, a, udata);
	if (err)
		return err;
	mutex_lock(&d->queue_mutex);
	err = create_at_device(d, qp, a, &qpn);
	if (!err)
		err = attach(d, qp, qpn);
	mutex_unlock(&d->queue_mutex);
	if (err)
		free_memory(qp);
	return err;
}

static void forget_completions(struct vrdma_qp *qp)
{
	vrdma_cq_forget_qp(vrdma_cq(qp->ib.send_cq), qp);
	if (qp->ib.recv_cq != qp->ib.send_cq)
		vrdma_cq_forget_qp(vrdma_cq(qp->ib.recv_cq), qp);
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ibqp->device);
	struct vrdma_qp *qp = vrdma_qp(ibqp);

	mutex_lock(&d->queue_mutex);
	vrdma_ctrl_destroy(d, VIRTIO_RDMA_CMD_DESTROY_QP, qp->qpn);
	vrdma_ref_withdraw(&d->qps, qp->qpn, &qp->ref);
	forget_completions(qp);
	vrdma_vq_close(d, qp->sq.vq);
	vrdma_vq_close(d, qp->rq.vq);
	mutex_unlock(&d->queue_mutex);
	free_memory(qp);
	return 0;
}

/* Frees all slots of a queue of a QP in RESET. The device has completed its chains; if it has not,
 * the virtqueue is reset.
 */
static void empty(struct vrdma_dev *d, struct vrdma_wq *wq)
{
	unsigned long flags;
	bool is_idle;

	spin_lock_irqsave(&wq->lock, flags);
	vrdma_wq_collect(wq);
	WRITE_ONCE(wq->tail, wq->head);
	is_idle = wq->vq->num_free >= virtqueue_get_vring_size(wq->vq);
	spin_unlock_irqrestore(&wq->lock, flags);
	if (is_idle || vrdma_is_broken(d))
		return;
	mutex_lock(&d->queue_mutex);
	vrdma_vq_close(d, wq->vq);
	if (vrdma_vq_open(d, wq->vq, wq->mask + 1))
		vrdma_break(d, "queue %s cannot be enabled again", wq->vq->name);
	mutex_unlock(&d->queue_mutex);
}

static void put_attr(struct virtio_rdma_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	to->qp_state = from->qp_state;
	to->cur_qp_state = from->cur_qp_state;
	to->path_mtu = from->path_mtu;
	to->qkey = cpu_to_le32(from->qkey);
	to->rq_psn = cpu_to_le32(from->rq_psn & 0xffffff);
	to->sq_psn = cpu_to_le32(from->sq_psn & 0xffffff);
	to->dest_qp_num = cpu_to_le32(from->dest_qp_num);
	to->qp_access_flags = cpu_to_le32(from->qp_access_flags);
	to->pkey_index = cpu_to_le16(from->pkey_index);
	to->en_sqd_async_notify = from->en_sqd_async_notify;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->min_rnr_timer = from->min_rnr_timer;
	to->port_num = from->port_num;
	to->timeout = from->timeout;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_AV)
		vrdma_put_ah(to, &from->ah_attr);
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ibqp->device);
	struct vrdma_qp *qp = vrdma_qp(ibqp);
	struct virtio_rdma_modify_qp req = {
		.qpn = cpu_to_le32(qp->qpn),
		.attr_mask = cpu_to_le32(mask),
	};
	const enum ib_qp_state old = qp->state;
	const bool to_reset = mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET;
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS ||
	    mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE | IB_QP_CAP))
		return -EOPNOTSUPP;
	put_attr(&req.attrs, attr, mask);
	if (to_reset)
		WRITE_ONCE(qp->state, IB_QPS_RESET); /* for who posts: see may_post_send() */
	err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_MODIFY_QP, &req, sizeof(req), NULL, 0);
	if (err && vrdma_is_broken(d) && mask & IB_QP_STATE &&
	    (to_reset || attr->qp_state == IB_QPS_ERR)) {
		vrdma_wait_dead(d); /* everything is flushed */
		err = 0;
	}
	if (err) {
		WRITE_ONCE(qp->state, old);
		return err;
	}
	if (mask & IB_QP_STATE)
		WRITE_ONCE(qp->state, attr->qp_state);
	if (to_reset) {
		forget_completions(qp);
		empty(d, &qp->sq);
		if (!ibqp->srq)
			empty(d, &qp->rq);
	}
	return 0;
}

static void get_attr(struct ib_qp_attr *to, const struct virtio_rdma_qp_attr *from,
		     struct vrdma_qp *qp)
{
	to->qp_state = from->qp_state;
	to->cur_qp_state = from->cur_qp_state;
	to->path_mtu = from->path_mtu;
	to->path_mig_state = IB_MIG_MIGRATED;
	to->qkey = le32_to_cpu(from->qkey);
	to->rq_psn = le32_to_cpu(from->rq_psn);
	to->sq_psn = le32_to_cpu(from->sq_psn);
	to->dest_qp_num = le32_to_cpu(from->dest_qp_num);
	to->qp_access_flags = le32_to_cpu(from->qp_access_flags);
	to->pkey_index = le16_to_cpu(from->pkey_index);
	to->en_sqd_async_notify = from->en_sqd_async_notify;
	to->sq_draining = from->sq_draining;
	to->max_rd_atomic = from->max_rd_atomic;
	to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	to->min_rnr_timer = from->min_rnr_timer;
	to->port_num = from->port_num;
	to->timeout = from->timeout;
	to->retry_cnt = from->retry_cnt;
	to->rnr_retry = from->rnr_retry;
	vrdma_get_ah(&to->ah_attr, from, qp->ib.device);
}

static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct vrdma_dev *d = vrdma_dev(ibqp->device);
	struct vrdma_qp *qp = vrdma_qp(ibqp);
	const struct virtio_rdma_query_qp req = {
		.qpn = cpu_to_le32(qp->qpn),
		.attr_mask = cpu_to_le32(IB_QP_ATTR_STANDARD_BITS),
	};
	struct virtio_rdma_qp_attr rsp = {};
	int err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_QUERY_QP, &req, sizeof(req), &rsp, sizeof(rsp));

	if (err && !vrdma_is_broken(d))
		return err;
	memset(attr, 0, sizeof(*attr));
	if (err) {
		attr->qp_state = qp->state == IB_QPS_RESET ? IB_QPS_RESET : IB_QPS_ERR;
		attr->cur_qp_state = attr->qp_state;
	} else {
		get_attr(attr, &rsp, qp);
		/* A QP that failed by itself. */
		if (rsp.qp_state == IB_QPS_ERR || rsp.qp_state == IB_QPS_SQE)
			WRITE_ONCE(qp->state, rsp.qp_state);
	}
	attr->cap = (struct ib_qp_cap){
		.max_send_wr = qp->sq.n,
		.max_send_sge = qp->sq.max_sge,
		.max_recv_wr = ibqp->srq ? 0 : qp->rq.n,
		.max_recv_sge = ibqp->srq ? 0 : qp->rq.max_sge,
		.max_inline_data = qp->max_inline,
	};
	init->cap = attr->cap;
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->sq_sig_type = qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

/* Completes everything that is left in a queue: the device is dead. */
static void flush(struct vrdma_qp *qp, struct vrdma_wq *wq, struct vrdma_cq *cq, bool is_recv)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&wq->lock, flags);
	vrdma_wq_collect(wq);
	i = wq->pass_through ? wq->tail : vrdma_cq_completed_to(cq, qp, is_recv);
	for (; i != wq->head; i++)
		vrdma_cq_flush_one(cq, qp, wq->pass_through ? wq->wr[i & wq->mask].wr_id : i,
				   is_recv);
	if (wq->pass_through)
		wq->tail = wq->head;
	wq->flushing = true;
	spin_unlock_irqrestore(&wq->lock, flags);
}

void vrdma_qp_kill(struct vrdma_qp *qp)
{
	if (qp->state != IB_QPS_RESET)
		WRITE_ONCE(qp->state, IB_QPS_ERR);
	flush(qp, &qp->sq, vrdma_cq(qp->ib.send_cq), false);
	if (!qp->ib.srq)
		flush(qp, &qp->rq, vrdma_cq(qp->ib.recv_cq), true);
}

static int mcast(struct ib_qp *ibqp, const union ib_gid *gid, u8 command)
{
	struct vrdma_dev *d = vrdma_dev(ibqp->device);
	struct virtio_rdma_mcast req = { .qpn = cpu_to_le32(ibqp->qp_num) };

	if (!vrdma_has(d, VIRTIO_RDMA_F_MCAST))
		return -EOPNOTSUPP;
	memcpy(req.gid, gid->raw, sizeof(req.gid));
	return vrdma_ctrl(d, command, &req, sizeof(req), NULL, 0);
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return mcast(ibqp, gid, VIRTIO_RDMA_CMD_ATTACH_MCAST);
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const int err = mcast(ibqp, gid, VIRTIO_RDMA_CMD_DETACH_MCAST);

	return vrdma_is_broken(vrdma_dev(ibqp->device)) ? 0 : err;
}

const struct ib_device_ops vrdma_qp_ops = {
	.create_qp = create_qp,
	.destroy_qp = destroy_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.attach_mcast = attach_mcast,
	.detach_mcast = detach_mcast,
	INIT_RDMA_OBJ_SIZE(ib_qp, vrdma_qp, ib),
};

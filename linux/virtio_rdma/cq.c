// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * The virtqueue of a CQ is filled with buffers, and each completion uses one.
 * Polling takes it and makes the buffer available again. Completions can also
 * be *kept*: taken out of the ring, with their buffers, before anybody polls.
 * That happens when the CQ is armed, since Linux calls nobody for what is in
 * the ring already, and when a QP ends, whose completions are removed.
 *
 * Arming by the RFC is a control request, and the ring of the CQ interrupts.
 * Linux calls the driver only if the ring is not empty then, so that a
 * completion that was polled in between loses its event. The driver therefore
 * makes an event up whenever poll takes something while the CQ is armed.
 *
 * With ARM_MEM, arming is a store, and with CEQ, events come in a virtqueue of
 * their own. Neither waits, and no event is lost or made up.
 */
#include <linux/dmapool.h>
#include <linux/slab.h>

#include "virtio_rdma.h"

#define CQ_ARM_SEQUENCES BIT(30)
#define CQ_USER_SLOTS_MIN 64U /* room for resizing, in one page */

static bool arms_in_memory(const struct vrdma_cq *cq)
{
	return cq->arm;
}

static u32 outstanding(const struct vrdma_cq *cq)
{
	return cq->mem.n - cq->n_free;
}

/* Makes the buffer of @slot available again, unless there are too many. The lock is held. */
static void give_buffer(struct vrdma_cq *cq, u32 slot)
{
	if (!cq->dead && outstanding(cq) <= cq->limit &&
	    !vrdma_mem_add(&cq->mem, cq->vq, slot, sizeof(struct virtio_rdma_cqe), true))
		return;
	cq->free[cq->n_free++] = slot;
}

/* Takes the next completion out of the ring. Returns false if there is none. The lock is held. */
static bool take(struct vrdma_dev *d, struct vrdma_cq *cq, u32 *ret_slot)
{
	u32 bytes, budget = cq->mem.n + 1;

	while (!cq->dead && budget-- && vrdma_mem_take(cq->vq, ret_slot, &bytes)) {
		if (bytes == sizeof(struct virtio_rdma_cqe))
			return true;
		/* The device found the buffer unfit, or wrote no completion. */
		vrdma_count(d, VRDMA_STAT_COMPLETIONS_DROPPED);
		give_buffer(cq, *ret_slot);
	}
	if (!cq->dead && virtqueue_is_broken(cq->vq))
		vrdma_break(d, "the ring of CQ %u is broken", cq->cqn);
	return false;
}

static void keep(struct vrdma_cq *cq, u32 slot)
{
	cq->kept[(cq->kept_first + cq->n_kept++) % cq->mem.n] = slot;
}

static u32 take_kept(struct vrdma_cq *cq)
{
	const u32 slot = cq->kept[cq->kept_first];

	cq->kept_first = (cq->kept_first + 1) % cq->mem.n;
	cq->n_kept--;
	return slot;
}

/* Moves all completions from the ring to those that are kept. The lock is held. */
static void keep_all(struct vrdma_dev *d, struct vrdma_cq *cq)
{
	u32 slot;

	while (cq->n_kept < cq->mem.n && take(d, cq, &slot))
		keep(cq, slot);
}

static enum ib_wc_opcode wc_opcode(u8 opcode)
{
	switch (opcode) {
	case VIRTIO_RDMA_WC_RDMA_WRITE:
		return IB_WC_RDMA_WRITE;
	case VIRTIO_RDMA_WC_RDMA_READ:
		return IB_WC_RDMA_READ;
	case VIRTIO_RDMA_WC_COMP_SWAP:
		return IB_WC_COMP_SWAP;
	case VIRTIO_RDMA_WC_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	case VIRTIO_RDMA_WC_BIND_MW:
		return IB_WC_BIND_MW;
	case VIRTIO_RDMA_WC_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case VIRTIO_RDMA_WC_REG_MR:
		return IB_WC_REG_MR;
	case VIRTIO_RDMA_WC_RECV:
		return IB_WC_RECV;
	case VIRTIO_RDMA_WC_RECV_RDMA_WITH_IMM:
		return IB_WC_RECV_RDMA_WITH_IMM;
	default:
		return IB_WC_SEND;
	}
}

static bool is_recv(const struct virtio_rdma_cqe *cqe)
{
	return cqe->opcode & VIRTIO_RDMA_WC_RECV;
}

/* Finds the QP of a completion. The lock is held, so that the QP stays: its end takes the lock of
 * its CQs. The lock of the table is for the time before it is known to be one of this CQ.
 */
static struct vrdma_qp *find_qp(struct vrdma_dev *d, const struct vrdma_cq *cq,
				const struct virtio_rdma_cqe *cqe)
{
	struct vrdma_qp *qp;

	xa_lock(&d->qps);
	qp = vrdma_object(xa_load(&d->qps, le32_to_cpu(cqe->qp_num)), struct vrdma_qp);
	if (qp && (is_recv(cqe) ? qp->ib.recv_cq : qp->ib.send_cq) != &cq->ib)
		qp = NULL;
	xa_unlock(&d->qps);
	return qp;
}

/* Finds the request that @cqe completes. The lock is held. Returns 0; -ENOENT: there is none, as
 * after the end of a QP; -EPROTO: the device left others out.
 */
static int find_request(struct vrdma_dev *d, struct vrdma_cq *cq,
			const struct virtio_rdma_cqe *cqe, struct vrdma_qp **ret_qp,
			u64 *ret_wr_id)
{
	struct vrdma_qp *qp = find_qp(d, cq, cqe);
	const u64 wr_id = le64_to_cpu(cqe->wr_id);

	if (!qp)
		return -ENOENT;
	*ret_qp = qp;
	if (!is_recv(cqe))
		return vrdma_wq_completed(&qp->sq, wr_id, ret_wr_id);
	if (qp->ib.srq)
		return vrdma_srq_completed(vrdma_srq(qp->ib.srq), wr_id, ret_wr_id);
	return vrdma_wq_completed(&qp->rq, wr_id, ret_wr_id);
}

/* Translates a completion. Returns false if it belongs to no request. */
static bool decode(struct vrdma_dev *d, struct vrdma_cq *cq, const struct virtio_rdma_cqe *cqe,
		   struct ib_wc *wc)
{
	const u32 flags = le32_to_cpu(cqe->wc_flags);
	struct vrdma_qp *qp;
	u64 wr_id;
	int err;

	err = find_request(d, cq, cqe, &qp, &wr_id);
	if (err == -EPROTO)
		vrdma_break(d, "QP %u: a completion leaves others out", qp->qpn);
	if (err)
		return false;
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = wr_id;
	wc->qp = &qp->ib;
	wc->status = cqe->status <= IB_WC_GENERAL_ERR ? cqe->status : IB_WC_GENERAL_ERR;
	wc->opcode = wc_opcode(cqe->opcode);
	wc->vendor_err = le32_to_cpu(cqe->vendor_err);
	wc->byte_len = le32_to_cpu(cqe->byte_len);
	wc->src_qp = le32_to_cpu(cqe->src_qp) & 0xffffff;
	wc->pkey_index = le16_to_cpu(cqe->pkey_index);
	wc->sl = cqe->sl & 0xf;
	wc->port_num = VRDMA_PORT;
	if (flags & VIRTIO_RDMA_WCF_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (flags & VIRTIO_RDMA_WCF_WITH_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = le32_to_cpu(cqe->ex.invalidate_rkey);
	} else if (flags & VIRTIO_RDMA_WCF_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->ex.imm_data;
	}
	return true;
}

/* Tells the consumer that there is something to poll. */
static void raise(struct vrdma_cq *cq)
{
	vrdma_count(vrdma_dev(cq->ib.device), VRDMA_STAT_EVENTS);
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* Raises the event for which the CQ is armed, if it is. */
void vrdma_cq_event(struct vrdma_cq *cq)
{
	unsigned long flags;
	u8 armed;

	spin_lock_irqsave(&cq->lock, flags);
	armed = cq->armed;
	cq->armed = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (armed)
		raise(cq);
}

/* Raises an event of a CEQ. It may answer an earlier arming: then the CQ is armed still. */
void vrdma_cq_ceq_event(struct vrdma_cq *cq, u32 number)
{
	unsigned long flags;
	bool earlier;

	spin_lock_irqsave(&cq->lock, flags);
	earlier = arms_in_memory(cq) && number != cq->arm_sequence;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (earlier)
		raise(cq);
	else
		vrdma_cq_event(cq);
}

static void event_work(struct work_struct *work)
{
	struct vrdma_cq *cq = container_of(work, struct vrdma_cq, event_work);

	vrdma_count(vrdma_dev(cq->ib.device), VRDMA_STAT_EVENTS_MADE_UP);
	vrdma_cq_event(cq);
}

/* Returns CQ @cqn with a reference, or NULL. */
struct vrdma_cq *vrdma_cq_get(struct vrdma_dev *d, u32 cqn)
{
	return vrdma_object(vrdma_ref_get(&d->cqs, cqn), struct vrdma_cq);
}

/* Returns the next CQ from *@index on, with a reference. */
struct vrdma_cq *vrdma_cq_next(struct vrdma_dev *d, unsigned long *index)
{
	return vrdma_object(vrdma_ref_find(&d->cqs, index, ULONG_MAX), struct vrdma_cq);
}

/* Raises the events of armed CQs whose interrupt was lost: without CEQ, and not if they are armed
 * for solicited completions, which only the device knows.
 */
void vrdma_cqs_watch(struct vrdma_dev *d)
{
	struct vrdma_cq *cq;
	unsigned long i, flags;
	u32 before;
	bool missed;

	for (i = 0; (cq = vrdma_cq_next(d, &i)); i++) {
		spin_lock_irqsave(&cq->lock, flags);
		before = cq->n_kept;
		if (cq->armed == VIRTIO_RDMA_NOTIFY_NEXT_COMP)
			keep_all(d, cq);
		missed = cq->n_kept != before;
		spin_unlock_irqrestore(&cq->lock, flags);
		if (missed)
			vrdma_cq_event(cq);
		vrdma_ref_put(&cq->ref);
	}
}

/* An interrupt of the ring of a CQ: without CEQ. */
void vrdma_cq_callback(struct virtqueue *vq)
{
	struct vrdma_cq *cq = vrdma_cq_get(vq->vdev->priv, vq->index);

	if (!cq)
		return;
	vrdma_cq_event(cq);
	vrdma_ref_put(&cq->ref);
}

static int poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wc)
{
	struct vrdma_cq *cq = vrdma_cq(ibcq);
	struct vrdma_dev *d = vrdma_dev(ibcq->device);
	u32 budget = cq->mem.n + max_t(int, max, 0), slot;
	bool took = false, kick;
	struct virtio_rdma_cqe cqe;
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < max && budget--) {
		if (cq->n_kept)
			slot = take_kept(cq);
		else if (!take(d, cq, &slot))
			break;
		took = true;
		memcpy(&cqe, vrdma_mem_slot(&cq->mem, slot), sizeof(cqe));
		give_buffer(cq, slot);
		if (decode(d, cq, &cqe, &wc[n])) {
			vrdma_count(d, VRDMA_STAT_COMPLETIONS);
			n++;
		} else {
			vrdma_count(d, VRDMA_STAT_COMPLETIONS_DROPPED);
		}
	}
	kick = !cq->dead && virtqueue_kick_prepare(cq->vq);
	/* Linux drops the interrupt of a ring that is empty by then. */
	if (took && cq->armed && !d->n_ceq)
		queue_work(d->wq, &cq->event_work);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (kick)
		vrdma_vq_notify(d, cq->vq);
	return n;
}

/* Arms by a store, which the device reads after it has written a completion. */
static void arm_by_store(struct vrdma_cq *cq)
{
	cq->arm_sequence = (cq->arm_sequence + 1) % CQ_ARM_SEQUENCES;
	WRITE_ONCE(cq->arm->arm, cpu_to_le32(cq->arm_sequence << 2 | cq->armed));
	virt_mb(); /* before the ring is looked at: either side sees what the other one wrote */
}

/* Arms by a control request. The interrupt of the ring must be on, and the ring empty, as its
 * interrupt is for what is added.
 */
static int arm_by_request(struct vrdma_dev *d, struct vrdma_cq *cq)
{
	const struct virtio_rdma_req_notify req = {
		.cqn = cpu_to_le32(cq->cqn),
		.flags = cpu_to_le32(cq->armed),
	};
	u32 budget = cq->mem.n + 1;

	do {
		keep_all(d, cq);
	} while (!d->n_ceq && !virtqueue_enable_cb(cq->vq) && budget--);
	return vrdma_ctrl_spin(d, VIRTIO_RDMA_CMD_REQ_NOTIFY_CQ, &req, sizeof(req), NULL, 0);
}

static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct vrdma_cq *cq = vrdma_cq(ibcq);
	struct vrdma_dev *d = vrdma_dev(ibcq->device);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&cq->lock, flags);
	/* An arming for any completion that has not raised its event stays. */
	if ((notify & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->armed = VIRTIO_RDMA_NOTIFY_NEXT_COMP;
	else if (!cq->armed)
		cq->armed = VIRTIO_RDMA_NOTIFY_SOLICITED;
	if (!cq->dead) {
		if (arms_in_memory(cq))
			arm_by_store(cq);
		else
			ret = arm_by_request(d, cq);
		keep_all(d, cq);
	}
	if (vrdma_is_broken(d))
		ret = 0; /* the end of the device raises an event */
	if (!ret && notify & IB_CQ_REPORT_MISSED_EVENTS && cq->n_kept)
		ret = 1;
	spin_unlock_irqrestore(&cq->lock, flags);
	return ret;
}

/* Removes the completions of @qp, which the device has forgotten. */
void vrdma_cq_forget_qp(struct vrdma_cq *cq, const struct vrdma_qp *qp)
{
	struct vrdma_dev *d = vrdma_dev(cq->ib.device);
	struct virtio_rdma_cqe *cqe;
	unsigned long flags;
	u32 n, slot;
	u64 wr_id;

	spin_lock_irqsave(&cq->lock, flags);
	keep_all(d, cq);
	for (n = cq->n_kept; n; n--) {
		slot = take_kept(cq);
		cqe = vrdma_mem_slot(&cq->mem, slot);
		if (le32_to_cpu(cqe->qp_num) != qp->qpn) {
			keep(cq, slot);
			continue;
		}
		if (qp->ib.srq && is_recv(cqe))
			vrdma_srq_completed(vrdma_srq(qp->ib.srq), le64_to_cpu(cqe->wr_id), &wr_id);
		give_buffer(cq, slot);
	}
	if (!cq->dead)
		virtqueue_kick(cq->vq);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* The device is dead: takes all buffers back. */
void vrdma_cq_kill(struct vrdma_cq *cq)
{
	struct vrdma_dev *d = vrdma_dev(cq->ib.device);
	unsigned long flags, *used;
	u32 i;

	used = bitmap_zalloc(cq->mem.n, GFP_KERNEL | __GFP_NOFAIL);
	spin_lock_irqsave(&cq->lock, flags);
	keep_all(d, cq);
	vrdma_vq_empty(cq->vq);
	cq->dead = true;
	for (i = 0; i < cq->n_kept; i++)
		__set_bit(cq->kept[(cq->kept_first + i) % cq->mem.n], used);
	cq->n_free = 0;
	for (i = 0; i < cq->mem.n; i++) {
		if (!test_bit(i, used))
			cq->free[cq->n_free++] = i;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	bitmap_free(used);
}

/* Returns the counter behind the last request of a queue of @qp that a kept completion names, or
 * the tail of the queue. For consumers in the kernel, of a dead device.
 */
u32 vrdma_cq_completed_to(struct vrdma_cq *cq, const struct vrdma_qp *qp, bool recv)
{
	const struct vrdma_wq *wq = recv ? &qp->rq : &qp->sq;
	const struct virtio_rdma_cqe *cqe;
	u32 to = wq->tail, i;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < cq->n_kept; i++) {
		const u32 slot = cq->kept[(cq->kept_first + i) % cq->mem.n];
		u32 counter;

		cqe = vrdma_mem_slot(&cq->mem, slot);
		counter = le64_to_cpu(cqe->wr_id);
		if (le32_to_cpu(cqe->qp_num) == qp->qpn && is_recv(cqe) == recv &&
		    counter - to < wq->head - to)
			to = counter + 1;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return to;
}

/* Adds a completion in place of the device, which is dead. Returns false if there is no room. */
bool vrdma_cq_flush_one(struct vrdma_cq *cq, const struct vrdma_qp *qp, u64 wr_id, bool recv)
{
	struct vrdma_dev *d = vrdma_dev(cq->ib.device);
	struct virtio_rdma_cqe *cqe;
	unsigned long flags;
	u32 slot;

	spin_lock_irqsave(&cq->lock, flags);
	if (!cq->dead || !cq->n_free) {
		spin_unlock_irqrestore(&cq->lock, flags);
		vrdma_count(d, VRDMA_STAT_COMPLETIONS_DROPPED);
		return false;
	}
	slot = cq->free[--cq->n_free];
	cqe = vrdma_mem_slot(&cq->mem, slot);
	memset(cqe, 0, sizeof(*cqe));
	cqe->wr_id = cpu_to_le64(wr_id);
	cqe->status = IB_WC_WR_FLUSH_ERR;
	cqe->opcode = recv ? VIRTIO_RDMA_WC_RECV : VIRTIO_RDMA_WC_SEND;
	cqe->qp_num = cpu_to_le32(qp->qpn);
	keep(cq, slot);
	if (cq->armed)
		queue_work(d->wq, &cq->event_work);
	spin_unlock_irqrestore(&cq->lock, flags);
	return true;
}

static void free_memory(struct vrdma_dev *d, struct vrdma_cq *cq)
{
	if (cq->arm)
		dma_pool_free(d->arm_pool, cq->arm, cq->arm_dma);
	kvfree(cq->kept);
	kvfree(cq->free);
	vrdma_mem_free(&cq->mem);
}

static int alloc_memory(struct vrdma_dev *d, struct vrdma_cq *cq, u32 n)
{
	int err = vrdma_mem_alloc(&cq->mem, n, sizeof(struct virtio_rdma_cqe));
	u32 i;

	if (err)
		return err;
	cq->limit = n;
	cq->free = kvcalloc(n, sizeof(*cq->free), GFP_KERNEL);
	cq->kept = kvcalloc(n, sizeof(*cq->kept), GFP_KERNEL);
	if (d->arm_pool)
		cq->arm = dma_pool_zalloc(d->arm_pool, GFP_KERNEL, &cq->arm_dma);
	if (!cq->free || !cq->kept || (d->arm_pool && !cq->arm)) {
		free_memory(d, cq);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		cq->free[i] = i;
	cq->n_free = n;
	return 0;
}

/* Gives the device as many buffers as the CQ may have. */
static void fill(struct vrdma_dev *d, struct vrdma_cq *cq)
{
	unsigned long flags;
	bool kick = false;

	spin_lock_irqsave(&cq->lock, flags);
	if (!cq->dead) {
		while (cq->n_free && outstanding(cq) < cq->limit) {
			const u32 slot = cq->free[cq->n_free - 1];

			if (vrdma_mem_add(&cq->mem, cq->vq, slot, sizeof(struct virtio_rdma_cqe),
					  true))
				break;
			cq->n_free--;
		}
		kick = virtqueue_kick_prepare(cq->vq);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (kick)
		vrdma_vq_notify(d, cq->vq);
}

static int create_at_device(struct vrdma_dev *d, struct vrdma_cq *cq, u32 *ret_cqn)
{
	const struct virtio_rdma_create_cq plain = { .cqe = cpu_to_le32(cq->limit) };
	const struct virtio_rdma_create_cq_ex ex = {
		.cqe = plain.cqe,
		.ceq = cpu_to_le32(cq->vector),
		.arm = cpu_to_le64(cq->arm ? cq->arm_dma : 0),
	};
	struct virtio_rdma_cq_handle rsp;
	int err;

	if (d->n_ceq)
		err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_CREATE_CQ_EX, &ex, sizeof(ex), &rsp,
				 sizeof(rsp));
	else
		err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_CREATE_CQ, &plain, sizeof(plain), &rsp,
				 sizeof(rsp));
	if (!err)
		*ret_cqn = le32_to_cpu(rsp.cqn);
	return err;
}

/* Takes number @cqn, which the device has given, and sets the virtqueue up. */
static int attach(struct vrdma_dev *d, struct vrdma_cq *cq, u32 cqn)
{
	int err;

	if (!vrdma_can_be_new(d, &d->cqs, "CQ", cqn, 1, d->max_cq))
		return -EIO;
	cq->cqn = cqn;
	cq->vq = vrdma_vq_of_cq(d, cqn);
	err = vrdma_vq_open(d, cq->vq, cq->mem.n);
	if (!err)
		err = vrdma_ref_publish(d, &d->cqs, cqn, &cq->ref);
	if (err) {
		vrdma_ctrl_destroy(d, VIRTIO_RDMA_CMD_DESTROY_CQ, cqn);
		vrdma_vq_close(d, cq->vq);
	}
	return err;
}

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     VRDMA_CREATE_CQ_ATTRS *attrs)
{
	struct vrdma_cq *cq = vrdma_cq(ibcq);
	struct vrdma_dev *d = vrdma_dev(ibcq->device);
	u32 slots, cqn;
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (attr->cqe < 1 || attr->cqe > (u32)ibcq->device->attrs.max_cqe)
		return -EINVAL;
	spin_lock_init(&cq->lock);
	vrdma_ref_init(&cq->ref);
	INIT_WORK(&cq->event_work, event_work);
	cq->vector = attr->comp_vector % ibcq->device->num_comp_vectors;
	slots = roundup_pow_of_two(attr->cqe);
	if (attrs && vrdma_has(d, VIRTIO_RDMA_F_RESIZE))
		slots = max(slots, CQ_USER_SLOTS_MIN);
	err = alloc_memory(d, cq, min_t(u32, slots, ibcq->device->attrs.max_cqe));
	if (err)
		return err;
	cq->limit = attr->cqe;
	mutex_lock(&d->queue_mutex);
	err = create_at_device(d, cq, &cqn);
	if (!err)
		err = attach(d, cq, cqn);
	mutex_unlock(&d->queue_mutex);
	if (err) {
		free_memory(d, cq);
		return err;
	}
	ibcq->cqe = attr->cqe;
	if (!d->n_ceq)
		vrdma_vq_spread(cq->vq, cq->vector);
	fill(d, cq);
	return 0;
}

/* The core has cancelled the work that polls the CQ, but an event that came meanwhile - of a device
 * that breaks, or invents it - may have started it again. No event comes from here on.
 */
static void cancel_polling(struct ib_cq *cq)
{
	if (cq->poll_ctx == IB_POLL_WORKQUEUE || cq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		cancel_work_sync(&cq->work);
}

static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct vrdma_cq *cq = vrdma_cq(ibcq);
	struct vrdma_dev *d = vrdma_dev(ibcq->device);
	unsigned long flags;

	mutex_lock(&d->queue_mutex);
	vrdma_ctrl_destroy(d, VIRTIO_RDMA_CMD_DESTROY_CQ, cq->cqn);
	vrdma_ref_withdraw(&d->cqs, cq->cqn, &cq->ref);
	if (d->n_ceq)
		vrdma_ceq_drain(d, cq->vector);
	else
		virtqueue_set_affinity(cq->vq, NULL);
	vrdma_vq_close(d, cq->vq);
	mutex_unlock(&d->queue_mutex);
	spin_lock_irqsave(&cq->lock, flags);
	cq->dead = true; /* whoever polls or arms it leaves the device alone */
	spin_unlock_irqrestore(&cq->lock, flags);
	cancel_work_sync(&cq->event_work);
	cancel_polling(ibcq);
	free_memory(d, cq);
	return 0;
}

/* Changes how many buffers the device has. The ring keeps its length, since completions that came
 * while it is reset would be lost: the CQ can become as long as its ring.
 */
static int resize_cq(struct ib_cq *ibcq, VRDMA_RESIZE_CQE cqe, struct ib_udata *udata)
{
	struct vrdma_cq *cq = vrdma_cq(ibcq);
	struct vrdma_dev *d = vrdma_dev(ibcq->device);
	const struct virtio_rdma_resize_cq req = {
		.cqn = cpu_to_le32(cq->cqn),
		.cqe = cpu_to_le32(cqe),
	};
	unsigned long flags;
	int err = 0;

	if (!vrdma_has(d, VIRTIO_RDMA_F_RESIZE))
		return -EOPNOTSUPP;
	if (cqe < 1 || (u32)cqe > (u32)ibcq->device->attrs.max_cqe)
		return -EINVAL;
	if ((u32)cqe > cq->mem.n)
		return -ENOMEM;
	spin_lock_irqsave(&cq->lock, flags);
	keep_all(d, cq);
	if (cq->n_kept > (u32)cqe)
		err = -EINVAL;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!err)
		err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_RESIZE_CQ, &req, sizeof(req), NULL, 0);
	if (err)
		return err;
	spin_lock_irqsave(&cq->lock, flags);
	cq->limit = cqe;
	ibcq->cqe = cqe;
	spin_unlock_irqrestore(&cq->lock, flags);
	fill(d, cq);
	return 0;
}

const struct ib_device_ops vrdma_cq_ops = {
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.VRDMA_RESIZE_CQ = resize_cq,
	INIT_RDMA_OBJ_SIZE(ib_cq, vrdma_cq, ib),
};

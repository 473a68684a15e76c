// SPDX-License-Identifier: GPL-2.0
/*
 * Draining of queues: a last request is posted in ERR, and when it is flushed
 * everything before it is. The core can do this, too, but waits for ever. Here
 * a device that flushes nothing is broken after some time, and then the driver
 * flushes.
 */
#include <linux/slab.h>

#include "virtio_rdma.h"

struct drain {
	struct ib_cqe cqe;
	struct completion done;
	refcount_t refs;	/* who waits, and the request */
};

static void put(struct drain *drain)
{
	if (refcount_dec_and_test(&drain->refs))
		kfree(drain);
}

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct drain *drain = container_of(wc->wr_cqe, struct drain, cqe);

	complete(&drain->done);
	put(drain);
}

/* Returns false if the time is over. */
static bool wait_for(struct drain *drain, struct ib_cq *cq)
{
	const unsigned long end = jiffies + vrdma_timeout();

	while (!wait_for_completion_timeout(&drain->done, HZ / 10)) {
		if (cq->poll_ctx == IB_POLL_DIRECT)
			ib_process_cq_direct(cq, -1);
		if (time_after(jiffies, end))
			return completion_done(&drain->done);
	}
	return true;
}

static int post(struct ib_qp *ibqp, struct drain *drain, bool is_recv)
{
	const struct ib_recv_wr recv = { .wr_cqe = &drain->cqe };
	const struct ib_rdma_wr send = {
		.wr = { .wr_cqe = &drain->cqe, .opcode = IB_WR_RDMA_WRITE },
	};

	return is_recv ? ib_post_recv(ibqp, &recv, NULL) : ib_post_send(ibqp, &send.wr, NULL);
}

static void drain(struct ib_qp *ibqp, bool is_recv)
{
	struct ib_cq *cq = is_recv ? ibqp->recv_cq : ibqp->send_cq;
	struct vrdma_dev *d = vrdma_dev(ibqp->device);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct drain *drain;
	int err;

	err = ib_modify_qp(ibqp, &attr, IB_QP_STATE);
	drain = err ? NULL : kzalloc(sizeof(*drain), GFP_KERNEL | __GFP_NOFAIL);
	if (!drain)
		goto failed;
	drain->cqe.done = done;
	init_completion(&drain->done);
	refcount_set(&drain->refs, 2);
	err = post(ibqp, drain, is_recv);
	if (err) {
		kfree(drain);
		goto failed;
	}
	if (!wait_for(drain, cq)) {
		vrdma_break(d, "QP %u flushes nothing", ibqp->qp_num);
		vrdma_wait_dead(d);
		wait_for(drain, cq);
	}
	put(drain);
	return;
failed:
	dev_err(&ibqp->device->dev, "QP %u cannot be drained: %d\n", ibqp->qp_num, err);
}

static void drain_sq(struct ib_qp *ibqp)
{
	drain(ibqp, false);
}

static void drain_rq(struct ib_qp *ibqp)
{
	drain(ibqp, true);
}

const struct ib_device_ops vrdma_drain_ops = {
	.drain_sq = drain_sq,
	.drain_rq = drain_rq,
};

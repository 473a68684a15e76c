// SPDX-License-Identifier: GPL-2.0
/* Details of `rdma resource show ... -d`: what the driver knows beyond the core. */
#include <net/netlink.h>
#include <rdma/restrack.h>

#include "virtio_rdma.h"

struct detail {
	const char *name;
	u32 value;
};

static int put(struct sk_buff *msg, const struct detail *details, int n)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	int i;

	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < n; i++) {
		if (rdma_nl_put_driver_u32(msg, details[i].name, details[i].value)) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

static int fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct vrdma_cq *cq = vrdma_cq(ibcq);
	const struct detail details[] = {
		{ "virtqueue", cq->vq->index },
		{ "ring", virtqueue_get_vring_size(cq->vq) },
		{ "vector", cq->vector },
		{ "kept", READ_ONCE(cq->n_kept) },
		{ "armed", READ_ONCE(cq->armed) },
	};

	return put(msg, details, ARRAY_SIZE(details));
}

static int fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct vrdma_qp *qp = vrdma_qp(ibqp);
	const struct detail details[] = {
		{ "sq_virtqueue", qp->sq.vq->index },
		{ "sq_ring", virtqueue_get_vring_size(qp->sq.vq) },
		{ "sq_posted", READ_ONCE(qp->sq.head) },
		{ "sq_completed", READ_ONCE(qp->sq.tail) },
		{ "rq_virtqueue", qp->rq.vq->index },
		{ "rq_ring", virtqueue_get_vring_size(qp->rq.vq) },
		{ "rq_posted", READ_ONCE(qp->rq.head) },
		{ "rq_completed", READ_ONCE(qp->rq.tail) },
	};

	return put(msg, details, ARRAY_SIZE(details));
}

static int fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct vrdma_mr *mr = vrdma_mr(ibmr);
	const struct detail details[] = {
		{ "mrn", mr->mrn },
		{ "max_pages", mr->list.n },
	};

	return put(msg, details, ARRAY_SIZE(details));
}

#if VRDMA_HAS_FILL_RES_SRQ
static int fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct vrdma_srq *srq = vrdma_srq(ibsrq);
	const struct detail details[] = {
		{ "virtqueue", srq->vq->index },
		{ "ring", virtqueue_get_vring_size(srq->vq) },
		{ "free", READ_ONCE(srq->n_free) },
	};

	return put(msg, details, ARRAY_SIZE(details));
}
#endif

const struct ib_device_ops vrdma_resource_ops = {
	.fill_res_cq_entry = fill_cq,
	.fill_res_qp_entry = fill_qp,
	.fill_res_mr_entry = fill_mr,
#if VRDMA_HAS_FILL_RES_SRQ
	.fill_res_srq_entry = fill_srq,
#endif
};

// SPDX-License-Identifier: GPL-2.0
/*
 * The virtqueues of the device. With N = max_cq and M = max_qp:
 *
 *   0			control
 *   c			completion queue c, 1 .. N
 *   N + 2q - 1		send queue of QP q, 1 .. M
 *   N + 2q		receive queue of QP q
 *   N + 2M + 1		asynchronous events
 *   N + 2M + 1 + s	shared receive queue s, 1 .. max_srq
 *   behind them	queues of completion events
 *
 * Linux sets all of them up at probe, as long as the device allows. Those of
 * objects are made short at once, and get another length when an object needs
 * them.
 */
#include <linux/slab.h>

#include "virtio_rdma.h"

struct virtqueue *vrdma_vq_of_cq(struct vrdma_dev *d, u32 cqn)
{
	return d->vqs[cqn];
}

struct virtqueue *vrdma_vq_of_sq(struct vrdma_dev *d, u32 qpn)
{
	return d->vqs[d->max_cq + 2 * qpn - 1];
}

struct virtqueue *vrdma_vq_of_rq(struct vrdma_dev *d, u32 qpn)
{
	return d->vqs[d->max_cq + 2 * qpn];
}

static u32 index_of_events(const struct vrdma_dev *d)
{
	return 1 + d->max_cq + 2 * d->max_qp;
}

struct virtqueue *vrdma_vq_of_events(struct vrdma_dev *d)
{
	return d->vqs[index_of_events(d)];
}

struct virtqueue *vrdma_vq_of_srq(struct vrdma_dev *d, u32 srqn)
{
	return d->vqs[index_of_events(d) + srqn];
}

struct virtqueue *vrdma_vq_of_ceq(struct vrdma_dev *d, u32 ceq)
{
	return d->vqs[index_of_events(d) + d->max_srq + 1 + ceq];
}

/* Returns the longest length that @vq can have. */
u32 vrdma_queue_max(struct virtqueue *vq)
{
	return rounddown_pow_of_two(clamp_t(u32, vq->num_max, 1, VIRTIO_RDMA_QUEUE_SIZE_MAX));
}

/* Names queue @i and chooses its callback. */
static void describe(struct vrdma_dev *d, u32 i, struct virtqueue_info *info)
{
	const u32 events = index_of_events(d);
	char *name = d->names[i];
	const size_t size = sizeof(d->names[i]);

	info->name = name;
	info->callback = NULL;
	if (i == 0) {
		strscpy(name, "control", size);
		info->callback = vrdma_ctrl_callback;
	} else if (i <= d->max_cq) {
		snprintf(name, size, "cq%u", i);
		/* With CEQ the device tells events elsewhere, and a CQ needs no vector. */
		info->callback = d->n_ceq ? NULL : vrdma_cq_callback;
	} else if (i < events) {
		snprintf(name, size, "%s%u", (i - d->max_cq) % 2 ? "sq" : "rq",
			 (i - d->max_cq + 1) / 2);
	} else if (i == events) {
		strscpy(name, "events", size);
		info->callback = vrdma_event_callback;
	} else if (i <= events + d->max_srq) {
		snprintf(name, size, "srq%u", i - events);
	} else {
		snprintf(name, size, "ceq%u", i - events - d->max_srq - 1);
		info->callback = vrdma_ceq_callback;
	}
}

int vrdma_queues_find(struct vrdma_dev *d)
{
	const bool has_events = vrdma_has(d, VIRTIO_RDMA_F_EVENTQ);
	const u32 n = index_of_events(d) + (has_events ? 1 + d->max_srq + d->n_ceq : 0);
	struct virtqueue_info *info = kvcalloc(n, sizeof(*info), GFP_KERNEL);
	void **scratch = kvcalloc(n, 2 * sizeof(*scratch), GFP_KERNEL);
	int err = -ENOMEM;
	u32 i;

	d->vqs = kvcalloc(n, sizeof(*d->vqs), GFP_KERNEL);
	d->names = kvcalloc(n, sizeof(*d->names), GFP_KERNEL);
	if (info && scratch && d->vqs && d->names) {
		for (i = 0; i < n; i++)
			describe(d, i, &info[i]);
		d->n_vqs = n;
		err = vrdma_find_vqs(d->vdev, n, d->vqs, info, scratch);
	}
	kvfree(scratch);
	kvfree(info);
	if (err) {
		d->n_vqs = 0;
		kvfree(d->vqs);
		kvfree(d->names);
		d->vqs = NULL;
		d->names = NULL;
	}
	return err;
}

/* Makes the queues that have no object yet short. */
int vrdma_queues_shrink(struct vrdma_dev *d)
{
	const u32 events = index_of_events(d);
	u32 i;

	for (i = 1; i < d->n_vqs; i++) {
		if (i == events)
			continue;
		if (i > events + d->max_srq)
			break;
		vrdma_vq_close(d, d->vqs[i]);
		if (vrdma_is_broken(d))
			return -EIO;
	}
	return 0;
}

/* The device must have been reset. */
void vrdma_queues_delete(struct vrdma_dev *d)
{
	d->vdev->config->del_vqs(d->vdev);
	kvfree(d->vqs);
	kvfree(d->names);
	d->vqs = NULL;
	d->names = NULL;
	d->n_vqs = 0;
}

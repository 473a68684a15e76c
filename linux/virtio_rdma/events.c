// SPDX-License-Identifier: GPL-2.0
/*
 * Events in virtqueues: asynchronous events (EVENTQ) and completion events
 * (CEQ). Both are kept filled with buffers of 8 bytes, of which each event uses
 * one.
 */
#include <linux/slab.h>

#include "virtio_rdma.h"

#define EVENT_BUFFERS	64U
#define CEQ_BUFFERS	256U
#define CEQ_AT_ONCE	16	/* events that are taken under the lock at a time */

/* Fills @vq with all slots of @m. */
static int fill(struct vrdma_dev *d, struct virtqueue *vq, struct vrdma_mem *m, u32 n)
{
	u32 i;
	int err;

	n = min(n, vrdma_queue_max(vq));
	err = vrdma_mem_alloc(m, n, sizeof(struct virtio_rdma_async_event));
	if (!err)
		err = vrdma_vq_open(d, vq, n);
	for (i = 0; i < n && !err; i++)
		err = vrdma_mem_add(m, vq, i, sizeof(struct virtio_rdma_async_event), true);
	if (!err)
		virtqueue_kick(vq);
	return err;
}

static void tell_qp(struct vrdma_dev *d, struct ib_event *event, u32 qpn)
{
	struct vrdma_qp *qp = vrdma_object(vrdma_ref_get(&d->qps, qpn), struct vrdma_qp);

	if (!qp)
		return;
	event->element.qp = &qp->ib;
	if (qp->ib.event_handler)
		qp->ib.event_handler(event, qp->ib.qp_context);
	vrdma_ref_put(&qp->ref);
}

static void tell_cq(struct vrdma_dev *d, struct ib_event *event, u32 cqn)
{
	struct vrdma_cq *cq = vrdma_cq_get(d, cqn);

	if (!cq)
		return;
	event->element.cq = &cq->ib;
	if (cq->ib.event_handler)
		cq->ib.event_handler(event, cq->ib.cq_context);
	vrdma_ref_put(&cq->ref);
}

static void tell_srq(struct vrdma_dev *d, struct ib_event *event, u32 srqn)
{
	struct vrdma_srq *srq = vrdma_object(vrdma_ref_get(&d->srqs, srqn), struct vrdma_srq);

	if (!srq)
		return;
	event->element.srq = &srq->ib;
	if (srq->ib.event_handler)
		srq->ib.event_handler(event, srq->ib.srq_context);
	vrdma_ref_put(&srq->ref);
}

/* The numbers of events are those of enum ib_event_type. */
static void tell(struct vrdma_dev *d, u32 type, u32 number)
{
	struct ib_event event = { .device = &d->ib, .event = type };

	switch (type) {
	case IB_EVENT_CQ_ERR:
		tell_cq(d, &event, number);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_COMM_EST:
	case IB_EVENT_SQ_DRAINED:
	case IB_EVENT_QP_LAST_WQE_REACHED:
		tell_qp(d, &event, number);
		break;
	case IB_EVENT_SRQ_ERR:
	case IB_EVENT_SRQ_LIMIT_REACHED:
		tell_srq(d, &event, number);
		break;
	case IB_EVENT_DEVICE_FATAL:
		vrdma_break(d, "it says so");
		break;
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
		vrdma_port_changed(d);
		break;
	case IB_EVENT_GID_CHANGE:
		break; /* the driver changed it, and the core has told its users */
	default:
		vrdma_count(d, VRDMA_STAT_EVENTS_UNKNOWN);
	}
}

static void event_work(struct work_struct *work)
{
	struct vrdma_dev *d = container_of(work, struct vrdma_dev, event_work);
	struct virtqueue *vq = vrdma_vq_of_events(d);
	struct virtio_rdma_async_event event;
	u32 slot, bytes, type, budget = d->event_mem.n;

	do {
		virtqueue_disable_cb(vq);
		while (budget && vrdma_mem_take(vq, &slot, &bytes)) {
			budget--;
			memcpy(&event, vrdma_mem_slot(&d->event_mem, slot), sizeof(event));
			vrdma_mem_add(&d->event_mem, vq, slot, sizeof(event), true);
			if (bytes != sizeof(event)) {
				vrdma_count(d, VRDMA_STAT_EVENTS_UNKNOWN);
				continue;
			}
			vrdma_count(d, VRDMA_STAT_ASYNC_EVENTS);
			type = le32_to_cpu(event.type);
			if (type & VIRTIO_RDMA_EVENTS_MISSED)
				vrdma_count(d, VRDMA_STAT_ASYNC_EVENTS_MISSED);
			tell(d, type & ~VIRTIO_RDMA_EVENTS_MISSED, le32_to_cpu(event.number));
		}
		if (vrdma_is_broken(d))
			return;
		if (virtqueue_is_broken(vq)) {
			vrdma_break(d, "the ring of events is broken");
			return;
		}
		virtqueue_kick(vq);
		if (!budget) {
			queue_work(d->wq, work);
			return;
		}
	} while (!virtqueue_enable_cb(vq) && !virtqueue_is_broken(vq));
}

void vrdma_event_callback(struct virtqueue *vq)
{
	struct vrdma_dev *d = vq->vdev->priv;

	if (!vrdma_listens(d))
		return;
	virtqueue_disable_cb(vq);
	queue_work(d->wq, &d->event_work);
}

/* The content of an event of a CEQ. */
struct vrdma_told {
	u32 cqn, number;
};

/* Takes some events out of the ring. Returns their number. */
static u32 take_some(struct vrdma_ceq *ceq, struct vrdma_told told[CEQ_AT_ONCE])
{
	const struct virtio_rdma_cq_event *event;
	u32 slot, bytes, n = 0;
	unsigned long flags;

	spin_lock_irqsave(&ceq->lock, flags);
	while (n < CEQ_AT_ONCE && vrdma_mem_take(ceq->vq, &slot, &bytes)) {
		event = vrdma_mem_slot(&ceq->mem, slot);
		told[n].cqn = bytes == sizeof(*event) ? le32_to_cpu(READ_ONCE(event->cqn)) : 0;
		told[n++].number = le32_to_cpu(READ_ONCE(event->number));
		vrdma_mem_add(&ceq->mem, ceq->vq, slot, sizeof(*event), true);
	}
	if (n)
		virtqueue_kick(ceq->vq);
	spin_unlock_irqrestore(&ceq->lock, flags);
	return n;
}

/* Raises the events in the ring, at most as many as it has buffers. Returns false if there may be
 * more.
 */
static bool raise_all(struct vrdma_ceq *ceq)
{
	struct vrdma_dev *d = ceq->dev;
	struct vrdma_told told[CEQ_AT_ONCE];
	u32 done = 0, i, n;
	struct vrdma_cq *cq;

	do {
		n = take_some(ceq, told);
		for (i = 0; i < n; i++) {
			cq = vrdma_cq_get(d, told[i].cqn);
			if (cq) {
				vrdma_cq_ceq_event(cq, told[i].number);
				vrdma_ref_put(&cq->ref);
			} else {
				/* Of a CQ that is gone, or an error of the device. */
				vrdma_count(d, VRDMA_STAT_EVENTS_UNKNOWN);
			}
		}
		done += n;
	} while (n && done < ceq->mem.n);
	if (!n && !vrdma_is_broken(d) && virtqueue_is_broken(ceq->vq))
		vrdma_break(d, "the ring of completion events is broken");
	return !n;
}

static void run(struct vrdma_ceq *ceq)
{
	unsigned long flags;
	bool more;

	do {
		if (!raise_all(ceq)) {
			queue_work(ceq->dev->wq, &ceq->work);
			return;
		}
		spin_lock_irqsave(&ceq->lock, flags);
		more = !virtqueue_enable_cb(ceq->vq) && !virtqueue_is_broken(ceq->vq);
		spin_unlock_irqrestore(&ceq->lock, flags);
	} while (more);
}

static void ceq_work(struct work_struct *work)
{
	run(container_of(work, struct vrdma_ceq, work));
}

void vrdma_ceq_callback(struct virtqueue *vq)
{
	struct vrdma_dev *d = vq->vdev->priv;
	struct vrdma_ceq *ceq;
	unsigned long flags;

	if (!vrdma_listens(d))
		return;
	ceq = &d->ceqs[vq->index - vrdma_vq_of_ceq(d, 0)->index];
	spin_lock_irqsave(&ceq->lock, flags);
	virtqueue_disable_cb(vq);
	spin_unlock_irqrestore(&ceq->lock, flags);
	run(ceq);
}

/* Raises what is in the ring of @ceq, so that no event of a CQ that is gone is left there. */
void vrdma_ceq_drain(struct vrdma_dev *d, u32 ceq)
{
	if (!vrdma_is_broken(d))
		raise_all(&d->ceqs[ceq]);
}

/* Looks at all rings of events once a second, since an interrupt may have been lost. */
static void watch_work(struct work_struct *work)
{
	struct vrdma_dev *d = container_of(to_delayed_work(work), struct vrdma_dev, watch_work);
	u32 i;

	if (vrdma_is_broken(d))
		return;
	if (vrdma_has(d, VIRTIO_RDMA_F_EVENTQ))
		queue_work(d->wq, &d->event_work);
	for (i = 0; i < d->n_ceq; i++)
		run(&d->ceqs[i]);
	if (!d->n_ceq)
		vrdma_cqs_watch(d);
	queue_delayed_work(d->wq, &d->watch_work, HZ);
}

static int start_ceqs(struct vrdma_dev *d)
{
	int err = 0;
	u32 i;

	for (i = 0; i < d->n_ceq && !err; i++) {
		struct vrdma_ceq *ceq = &d->ceqs[i];

		err = fill(d, ceq->vq, &ceq->mem, CEQ_BUFFERS);
		if (!err)
			vrdma_vq_spread(ceq->vq, i);
	}
	return err;
}

/* After the virtqueues have been found. */
int vrdma_events_init(struct vrdma_dev *d)
{
	u32 i;

	if (!d->n_ceq)
		return 0;
	d->ceqs = kcalloc(d->n_ceq, sizeof(*d->ceqs), GFP_KERNEL);
	if (!d->ceqs)
		return -ENOMEM;
	for (i = 0; i < d->n_ceq; i++) {
		d->ceqs[i].dev = d;
		d->ceqs[i].vq = vrdma_vq_of_ceq(d, i);
		spin_lock_init(&d->ceqs[i].lock);
		INIT_WORK(&d->ceqs[i].work, ceq_work);
	}
	return 0;
}

void vrdma_events_prepare(struct vrdma_dev *d)
{
	INIT_WORK(&d->event_work, event_work);
	INIT_DELAYED_WORK(&d->watch_work, watch_work);
}

/* Fills the rings, then listens: the device may use the first buffers while the driver still adds
 * others, and who handles events adds buffers, too.
 */
int vrdma_events_start(struct vrdma_dev *d)
{
	int err = 0;

	if (vrdma_has(d, VIRTIO_RDMA_F_EVENTQ))
		err = fill(d, vrdma_vq_of_events(d), &d->event_mem, EVENT_BUFFERS);
	err = err ?: start_ceqs(d);
	if (err)
		return err;
	set_bit(VRDMA_LISTENING, &d->flags);
	/* Looks at once: the interrupts of events that have come already were ignored. */
	queue_delayed_work(d->wq, &d->watch_work, 0);
	return 0;
}

/* The device must have been reset. */
void vrdma_events_stop(struct vrdma_dev *d)
{
	u32 i;

	cancel_delayed_work_sync(&d->watch_work);
	cancel_work_sync(&d->event_work);
	if (d->n_vqs && vrdma_has(d, VIRTIO_RDMA_F_EVENTQ))
		vrdma_vq_empty(vrdma_vq_of_events(d));
	vrdma_mem_free(&d->event_mem);
	for (i = 0; d->ceqs && i < d->n_ceq; i++) {
		cancel_work_sync(&d->ceqs[i].work);
		virtqueue_set_affinity(d->ceqs[i].vq, NULL);
		vrdma_vq_empty(d->ceqs[i].vq);
		vrdma_mem_free(&d->ceqs[i].mem);
	}
	kfree(d->ceqs);
	d->ceqs = NULL;
}

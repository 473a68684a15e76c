// SPDX-License-Identifier: GPL-2.0
/*
 * A device that answers wrongly, or not at all.
 *
 * It is reset, so that it accesses no memory any more. Requests that wait end
 * with an error. Everything that was posted, and that will be posted, completes
 * with WR_FLUSH_ERR, so that consumers can take their objects down. Requests
 * that destroy succeed, others fail. Only unbinding the driver ends this state.
 */
#include <linux/pci.h>

#include "virtio_rdma.h"

/* May be called from any context. The first reason is printed. */
void vrdma_break(struct vrdma_dev *d, const char *format, ...)
{
	struct va_format vaf;
	va_list args;

	if (test_and_set_bit(VRDMA_BROKEN, &d->flags))
		return;
	va_start(args, format);
	vaf.fmt = format;
	vaf.va = &args;
	dev_err(&d->vdev->dev, "the device is broken: %pV\n", &vaf);
	va_end(args);
	queue_work(d->wq, &d->break_work);
}

/* Waits until a broken device accesses no memory any more. */
void vrdma_wait_dead(struct vrdma_dev *d)
{
	if (vrdma_is_broken(d))
		wait_for_completion(&d->dead);
}

static bool is_present(struct vrdma_dev *d)
{
	struct device *parent = d->vdev->dev.parent;

	return !dev_is_pci(parent) || pci_device_is_present(to_pci_dev(parent));
}

/* The mutex keeps the virtqueues as they are. Whoever holds it may wait for the death of the
 * device, which has come, but for nothing that follows.
 */
static void flush_everything(struct vrdma_dev *d)
{
	unsigned long i;
	struct vrdma_cq *cq;
	struct vrdma_ref *ref;

	mutex_lock(&d->queue_mutex);
	for (i = 0; (cq = vrdma_cq_next(d, &i)); i++) {
		vrdma_cq_kill(cq);
		vrdma_ref_put(&cq->ref);
	}
	for (i = 0; (ref = vrdma_ref_find(&d->qps, &i, ULONG_MAX)); i++) {
		vrdma_qp_kill(vrdma_object(ref, struct vrdma_qp));
		vrdma_ref_put(ref);
	}
	mutex_unlock(&d->queue_mutex);
	for (i = 0; (cq = vrdma_cq_next(d, &i)); i++) {
		vrdma_cq_event(cq);
		vrdma_ref_put(&cq->ref);
	}
}

void vrdma_break_work(struct work_struct *work)
{
	struct vrdma_dev *d = container_of(work, struct vrdma_dev, break_work);
	struct ib_event event = { .device = &d->ib, .event = IB_EVENT_DEVICE_FATAL };

	vrdma_ctrl_fail_all(d);
	if (is_present(d))
		virtio_reset_device(d->vdev);
	set_bit(VRDMA_DEAD, &d->flags);
	complete_all(&d->dead);
	flush_everything(d);
	if (test_bit(VRDMA_REGISTERED, &d->flags)) {
		ib_dispatch_event(&event);
		vrdma_port_changed(d);
	}
}

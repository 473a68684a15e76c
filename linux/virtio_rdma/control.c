// SPDX-License-Identifier: GPL-2.0
/*
 * The control queue: requests of one command byte and a structure, answered by
 * one response byte and a structure.
 *
 * A request belongs to its caller and, while it is in the ring, to the device.
 * If no response comes in time the device is broken, and the request is freed
 * when the device has been reset.
 *
 * Responses are written to slots that belong to the driver until then, and each
 * is used again as late as possible: no device that writes a response after it
 * has said that it is complete harms anybody else's memory.
 */
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "virtio_rdma.h"

#define CTRL_RSP_MAX	512U	/* bytes */
#define CTRL_SLEEPERS	24U	/* requests at a time; the other slots are for those that spin */
#define CTRL_LOOK	(HZ / 10)	/* jiffies */
#define CTRL_SPIN_NS	(5 * NSEC_PER_SEC)

static unsigned int ctrl_timeout_s = 60;
module_param(ctrl_timeout_s, uint, 0644);
MODULE_PARM_DESC(ctrl_timeout_s, "seconds that a control request, and the end of a queue pair, may take (60)");

/* Returns the time in jiffies that the device may take for anything. */
unsigned long vrdma_timeout(void)
{
	return max(READ_ONCE(ctrl_timeout_s), 1U) * HZ;
}

struct vrdma_req {
	struct list_head list;		/* pending requests */
	refcount_t refs;		/* the caller, and the ring */
	struct completion done;
	bool failed;			/* the device broke before it answered */
	u32 used;			/* bytes that the device wrote */
	u8 *out, *in;			/* @in: a slot of the driver's, once it is in the ring */
	u32 slot;
	struct vrdma_ctrl *ctrl;
};

static void req_put(struct vrdma_req *r)
{
	if (refcount_dec_and_test(&r->refs)) {
		if (r->in)
			clear_bit_unlock(r->slot, r->ctrl->busy);
		kfree(r->out);
		kfree(r);
	}
}

static struct vrdma_req *req_new(struct vrdma_dev *d, u8 command, const void *req, u32 req_bytes,
				 gfp_t gfp)
{
	struct vrdma_req *r = kzalloc(sizeof(*r), gfp);

	if (!r)
		return NULL;
	r->ctrl = &d->ctrl;
	refcount_set(&r->refs, 1);
	INIT_LIST_HEAD(&r->list);
	init_completion(&r->done);
	r->out = kmalloc(1 + req_bytes, gfp);
	if (!r->out) {
		req_put(r);
		return NULL;
	}
	r->out[0] = command;
	if (req_bytes)
		memcpy(r->out + 1, req, req_bytes);
	return r;
}

/* Gives @r the slot for its response that was free for the longest time. The lock is held. */
static bool take_slot(struct vrdma_ctrl *c, struct vrdma_req *r)
{
	u32 i, slot;

	for (i = 0; i < c->mem.n && !r->in; i++) {
		slot = c->next_slot++ % c->mem.n;
		if (test_and_set_bit_lock(slot, c->busy))
			continue;
		r->slot = slot;
		r->in = vrdma_mem_slot(&c->mem, slot);
		memset(r->in, 0, c->mem.slot_bytes);
		r->in[0] = 0xff;
	}
	return r->in;
}

/* Takes the answered requests out of the ring. The lock is held. */
static void reap(struct vrdma_dev *d)
{
	struct vrdma_req *r;
	unsigned int used;

	while ((r = virtqueue_get_buf(d->ctrl.vq, &used))) {
		r->used = used;
		list_del_init(&r->list);
		complete(&r->done);
		req_put(r);
	}
}

void vrdma_ctrl_callback(struct virtqueue *vq)
{
	struct vrdma_dev *d = vq->vdev->priv;
	unsigned long flags;

	if (!vrdma_listens(d))
		return;
	spin_lock_irqsave(&d->ctrl.lock, flags);
	do {
		virtqueue_disable_cb(vq);
		reap(d);
		if (virtqueue_is_broken(vq))
			break;
	} while (!virtqueue_enable_cb(vq));
	spin_unlock_irqrestore(&d->ctrl.lock, flags);
}

int vrdma_ctrl_init(struct vrdma_dev *d)
{
	spin_lock_init(&d->ctrl.lock);
	INIT_LIST_HEAD(&d->ctrl.pending);
	d->ctrl.vq = d->vqs[0];
	/* A request may need two entries of the ring. */
	sema_init(&d->ctrl.slots,
		  clamp(virtqueue_get_vring_size(d->ctrl.vq) / 4, 1U, CTRL_SLEEPERS));
	return vrdma_mem_alloc(&d->ctrl.mem, VRDMA_CTRL_SLOTS, CTRL_RSP_MAX);
}

/* Ends the waiting of all callers: the device is broken. */
void vrdma_ctrl_fail_all(struct vrdma_dev *d)
{
	struct vrdma_req *r, *next;
	unsigned long flags;

	spin_lock_irqsave(&d->ctrl.lock, flags);
	list_for_each_entry_safe(r, next, &d->ctrl.pending, list) {
		list_del_init(&r->list);
		r->failed = true;
		complete(&r->done);
	}
	spin_unlock_irqrestore(&d->ctrl.lock, flags);
}

/* Frees the requests that the device never answered, and the memory of responses. The device must
 * have been reset, and nobody waits for a response.
 */
void vrdma_ctrl_drop_all(struct vrdma_dev *d)
{
	struct vrdma_req *r;
	unsigned long flags;
	unsigned int used;

	spin_lock_irqsave(&d->ctrl.lock, flags);
	while ((r = virtqueue_get_buf(d->ctrl.vq, &used)) ||
	       (r = virtqueue_detach_unused_buf(d->ctrl.vq))) {
		list_del_init(&r->list);
		req_put(r);
	}
	spin_unlock_irqrestore(&d->ctrl.lock, flags);
	vrdma_mem_free(&d->ctrl.mem);
}

/* Puts @r into the ring. Returns -ENOSPC if it is full. */
static int submit(struct vrdma_dev *d, struct vrdma_req *r, u32 req_bytes, u32 rsp_bytes)
{
	struct scatterlist out, in, *sgs[] = { &out, &in };
	unsigned long flags;
	int err = -EIO;

	if (1 + rsp_bytes > CTRL_RSP_MAX)
		return -EINVAL;
	sg_init_one(&out, r->out, 1 + req_bytes);
	spin_lock_irqsave(&d->ctrl.lock, flags);
	if (!vrdma_is_broken(d)) {
		reap(d);
		err = -ENOSPC;
		if (take_slot(&d->ctrl, r)) {
			sg_init_one(&in, r->in, 1 + rsp_bytes);
			err = virtqueue_add_sgs(d->ctrl.vq, sgs, 1, 1, r, GFP_ATOMIC);
		}
	}
	if (!err) {
		refcount_inc(&r->refs);
		list_add_tail(&r->list, &d->ctrl.pending);
		if (!virtqueue_kick(d->ctrl.vq))
			err = -EIO;
	}
	spin_unlock_irqrestore(&d->ctrl.lock, flags);
	if (err == -EIO)
		vrdma_break(d, "the control queue is broken");
	return err;
}

/* Judges the response of @r and copies its structure to @rsp. */
static int answer(struct vrdma_dev *d, const struct vrdma_req *r, u8 command, void *rsp,
		  u32 rsp_bytes)
{
	static const int errors[] = {
		[VIRTIO_RDMA_RSP_OK] = 0,
		[VIRTIO_RDMA_RSP_ERR] = -EIO,
		[VIRTIO_RDMA_RSP_UNKNOWN_COMMAND] = -EOPNOTSUPP,
		[VIRTIO_RDMA_RSP_BAD_HANDLE] = -EINVAL,
		[VIRTIO_RDMA_RSP_BUSY] = -EBUSY,
		[VIRTIO_RDMA_RSP_NO_RESOURCES] = -ENOMEM,
		[VIRTIO_RDMA_RSP_INVALID_ARG] = -EINVAL,
		[VIRTIO_RDMA_RSP_NOT_SUPPORTED] = -EOPNOTSUPP,
	};
	const u8 response = READ_ONCE(r->in[0]); /* the device may write still */

	if (r->failed)
		return -EIO;
	if (r->used < 1 || response >= ARRAY_SIZE(errors)) {
		vrdma_break(d, "command %#x: %u bytes of response, first %#x", command, r->used,
			    response);
		return -EIO;
	}
	if (response != VIRTIO_RDMA_RSP_OK) {
		vrdma_count(d, VRDMA_STAT_CTRL_REFUSED);
		dev_dbg(&d->vdev->dev, "command %#x refused: %u\n", command, response);
		return errors[response];
	}
	if (r->used != 1 + rsp_bytes) {
		vrdma_break(d, "command %#x: %u bytes of response, not %u", command, r->used,
			    1 + rsp_bytes);
		return -EIO;
	}
	if (rsp_bytes)
		memcpy(rsp, r->in + 1, rsp_bytes);
	return 0;
}

static int timed_out(struct vrdma_dev *d, u8 command)
{
	if (vrdma_is_broken(d))
		return -EIO;
	vrdma_count(d, VRDMA_STAT_CTRL_TIMEOUTS);
	vrdma_break(d, "command %#x: no response", command);
	return -ETIMEDOUT;
}

/* Waits for the response of @r. From time to time the driver looks at the ring itself and notifies
 * the device again, since an interrupt or a notification may have been lost. Returns false if the
 * time is over, or the device is broken.
 */
static bool wait_for(struct vrdma_dev *d, struct vrdma_req *r, unsigned long timeout)
{
	const unsigned long end = jiffies + timeout;
	unsigned long flags;

	while (!wait_for_completion_timeout(&r->done, CTRL_LOOK)) {
		spin_lock_irqsave(&d->ctrl.lock, flags);
		reap(d);
		spin_unlock_irqrestore(&d->ctrl.lock, flags);
		if (completion_done(&r->done))
			return true;
		if (time_after(jiffies, end) || vrdma_is_broken(d))
			return false;
		if (virtqueue_is_broken(d->ctrl.vq))
			vrdma_break(d, "the control queue is broken");
		else
			virtqueue_notify(d->ctrl.vq);
	}
	return true;
}

/* Sends a request and waits for its response. Sleeps. Returns 0 or an errno. */
int vrdma_ctrl(struct vrdma_dev *d, u8 command, const void *req, u32 req_bytes, void *rsp,
	       u32 rsp_bytes)
{
	const unsigned long timeout = vrdma_timeout();
	struct vrdma_req *r;
	int err;

	if (vrdma_is_broken(d))
		return -EIO;
	r = req_new(d, command, req, req_bytes, GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	vrdma_count(d, VRDMA_STAT_CTRL);
	if (down_timeout(&d->ctrl.slots, timeout)) {
		err = timed_out(d, command);
		goto put;
	}
	err = submit(d, r, req_bytes, rsp_bytes);
	if (!err) {
		if (wait_for(d, r, timeout))
			err = answer(d, r, command, rsp, rsp_bytes);
		else
			err = timed_out(d, command);
	}
	up(&d->ctrl.slots);
put:
	req_put(r);
	return err;
}

/* Like vrdma_ctrl(), but for callers that must not sleep: the RFC has requests that Linux makes
 * under spinlocks. The device answers within a fraction of a millisecond.
 */
int vrdma_ctrl_spin(struct vrdma_dev *d, u8 command, const void *req, u32 req_bytes, void *rsp,
		    u32 rsp_bytes)
{
	const u64 start = ktime_get_ns();
	struct vrdma_req *r;
	unsigned long flags;
	int err;

	if (vrdma_is_broken(d))
		return -EIO;
	r = req_new(d, command, req, req_bytes, GFP_ATOMIC);
	if (!r)
		return -ENOMEM;
	vrdma_count(d, VRDMA_STAT_CTRL);
	vrdma_count(d, VRDMA_STAT_CTRL_SPUN);
	do {
		err = submit(d, r, req_bytes, rsp_bytes);
	} while (err == -ENOSPC && ktime_get_ns() - start < CTRL_SPIN_NS);
	if (err)
		goto put;
	while (!completion_done(&r->done)) {
		if (vrdma_is_broken(d) || ktime_get_ns() - start > CTRL_SPIN_NS) {
			err = timed_out(d, command);
			goto put;
		}
		cpu_relax();
		spin_lock_irqsave(&d->ctrl.lock, flags);
		reap(d);
		spin_unlock_irqrestore(&d->ctrl.lock, flags);
	}
	err = answer(d, r, command, rsp, rsp_bytes);
put:
	req_put(r);
	return err;
}

/* Destroys object @number. When this returns the device has forgotten it, or it is dead: a device
 * that refuses to destroy what it created is broken.
 */
void vrdma_ctrl_destroy(struct vrdma_dev *d, u8 command, u32 number)
{
	const __le32 req = cpu_to_le32(number);
	const int err = vrdma_ctrl(d, command, &req, sizeof(req), NULL, 0);

	if (!err)
		return;
	vrdma_break(d, "command %#x: %u cannot be destroyed: %d", command, number, err);
	vrdma_wait_dead(d);
}

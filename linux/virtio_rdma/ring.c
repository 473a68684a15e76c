// SPDX-License-Identifier: GPL-2.0
/*
 * Virtqueues and the memory of their descriptors.
 *
 * Each descriptor has one slot, and no slot crosses a page: a work request is
 * one descriptor. The token of a chain is the number of its slot + 1.
 */
#include <linux/log2.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "virtio_rdma.h"

int vrdma_mem_alloc(struct vrdma_mem *m, u32 n, u32 bytes)
{
	u32 i;

	m->n = n;
	m->slot_bytes = max_t(u32, roundup_pow_of_two(bytes), VRDMA_SLOT_MIN);
	if (m->slot_bytes > PAGE_SIZE)
		return -EINVAL;
	m->slots_per_page = PAGE_SIZE / m->slot_bytes;
	m->n_pages = DIV_ROUND_UP(n, m->slots_per_page);
	m->pages = kvcalloc(m->n_pages, sizeof(*m->pages), GFP_KERNEL);
	if (!m->pages)
		return -ENOMEM;
	for (i = 0; i < m->n_pages; i++) {
		m->pages[i] = (void *)get_zeroed_page(GFP_KERNEL);
		if (!m->pages[i]) {
			vrdma_mem_free(m);
			return -ENOMEM;
		}
	}
	return 0;
}

/* Also frees what vrdma_mem_alloc() has half allocated, and nothing. */
void vrdma_mem_free(struct vrdma_mem *m)
{
	u32 i;

	for (i = 0; m->pages && i < m->n_pages; i++)
		free_page((unsigned long)m->pages[i]);
	kvfree(m->pages);
	m->pages = NULL;
}

void *vrdma_mem_slot(const struct vrdma_mem *m, u32 slot)
{
	return (u8 *)m->pages[slot / m->slots_per_page] +
	       slot % m->slots_per_page * m->slot_bytes;
}

/* Makes @bytes of @slot available to the device. */
int vrdma_mem_add(struct vrdma_mem *m, struct virtqueue *vq, u32 slot, u32 bytes, bool writable)
{
	void *token = (void *)((uintptr_t)slot + 1);
	struct scatterlist sg;

	sg_init_one(&sg, vrdma_mem_slot(m, slot), bytes);
	return writable ? virtqueue_add_inbuf(vq, &sg, 1, token, GFP_ATOMIC) :
			  virtqueue_add_outbuf(vq, &sg, 1, token, GFP_ATOMIC);
}

/* Takes a chain that the device has completed. Returns false if there is none. */
bool vrdma_mem_take(struct virtqueue *vq, u32 *ret_slot, u32 *ret_bytes)
{
	void *token = virtqueue_get_buf(vq, ret_bytes);

	if (!token)
		return false;
	*ret_slot = (u32)((uintptr_t)token - 1);
	return true;
}

static void forget(struct virtqueue *vq, void *buf)
{
}

/* Gives @vq, which is idle, a ring of at least @n entries. */
int vrdma_vq_open(struct vrdma_dev *d, struct virtqueue *vq, u32 n)
{
	int err;

	n = max_t(u32, roundup_pow_of_two(n), VRDMA_RING_MIN);
	if (n > vrdma_queue_max(vq))
		return -EINVAL;
	err = vrdma_vq_resize(vq, n, forget);
	/* On failure Linux keeps the former ring; if that fails too, the queue is broken. */
	if (err && virtqueue_is_broken(vq))
		vrdma_break(d, "queue %s cannot be reset: %d", vq->name, err);
	return err;
}

/* Takes all chains out of @vq, and makes its ring as small as possible. May be called for a queue
 * that is idle.
 */
void vrdma_vq_close(struct vrdma_dev *d, struct virtqueue *vq)
{
	int err;

	if (test_bit(VRDMA_DEAD, &d->flags)) {
		vrdma_vq_empty(vq);
		return;
	}
	err = vrdma_vq_resize(vq, VRDMA_RING_IDLE, forget);
	if (err && err != -ENOMEM) {
		vrdma_break(d, "queue %s cannot be reset: %d", vq->name, err);
		vrdma_wait_dead(d);
		vrdma_vq_empty(vq);
	}
}

/* The device must have been reset. */
void vrdma_vq_empty(struct virtqueue *vq)
{
	unsigned int bytes;

	while (virtqueue_get_buf(vq, &bytes))
		;
	while (virtqueue_detach_unused_buf(vq))
		;
}

/* Lets @vq interrupt the processor that vector @vector stands for. */
void vrdma_vq_spread(struct virtqueue *vq, u32 vector)
{
	virtqueue_set_affinity(vq, cpumask_of(cpumask_local_spread(vector, NUMA_NO_NODE)));
}

void vrdma_vq_notify(struct vrdma_dev *d, struct virtqueue *vq)
{
	if (!virtqueue_notify(vq))
		vrdma_break(d, "queue %s cannot be notified", vq->name);
}

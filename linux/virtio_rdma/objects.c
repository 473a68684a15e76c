// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of the objects that events, completions and the end of a broken device
 * name by number. Whoever finds one gets a reference, and its memory stays until
 * all are given back.
 */
#include "virtio_rdma.h"

/* Returns the first object from *@index to @max, with a reference, or NULL. */
struct vrdma_ref *vrdma_ref_find(struct xarray *table, unsigned long *index, unsigned long max)
{
	struct vrdma_ref *ref;
	unsigned long flags;

	xa_lock_irqsave(table, flags);
	ref = xa_find(table, index, max, XA_PRESENT);
	if (ref)
		refcount_inc(&ref->count);
	xa_unlock_irqrestore(table, flags);
	return ref;
}

/* Returns false if @number, which the device has given to a new object, cannot be: then the device
 * is dead. Under queue_mutex.
 */
bool vrdma_can_be_new(struct vrdma_dev *d, struct xarray *table, const char *kind, u32 number,
		      u32 min, u32 max)
{
	if (number >= min && number <= max && !xa_load(table, number))
		return true;
	vrdma_break(d, "%s %u cannot be new", kind, number);
	vrdma_wait_dead(d);
	return false;
}

/* Lets an object be found. Fails if the device has broken, which may have been too early for the
 * object to be flushed. Under queue_mutex.
 */
int vrdma_ref_publish(struct vrdma_dev *d, struct xarray *table, u32 number, struct vrdma_ref *ref)
{
	const int err = xa_err(xa_store_irq(table, number, ref, GFP_KERNEL));

	if (err || !vrdma_is_broken(d))
		return err;
	vrdma_ref_withdraw(table, number, ref);
	return -EIO;
}

/* Lets nobody find the object any more, gives the reference of its creator back and waits for all
 * others.
 */
void vrdma_ref_withdraw(struct xarray *table, u32 number, struct vrdma_ref *ref)
{
	xa_erase_irq(table, number);
	vrdma_ref_put(ref);
	wait_for_completion(&ref->gone);
}

/* SPDX-License-Identifier: MIT */
/* Inspect tree: virtqueues from the driver's side, from the device's side, and as stored in guest
 * RAM.
 *
 * Objects of a guest of the lab have their queues below them.  A virtual machine's objects have no
 * names, so their queues are in lists of the device.
 */
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/hca/srq.h"
#include "emu/lab/inspect/inspect_nodes.h"

struct inode queue_node(const struct inode *n, enum pci_function function, uint32_t queue)
{
    struct inode s = *n;

    s.function = function;
    s.number = queue;
    return s;
}

static const struct vq *vq_of(const struct inode *n)
{
    return &host_virtio(n->host, n->function)->queues[n->number];
}

/* Reads a little-endian integer from guest RAM; 0 if the address is invalid. */
static uint64_t peek(const struct inode *n, uint64_t gpa, size_t bytes)
{
    uint8_t le[8] = {0};

    return ram_read(&n->host->ram, gpa, le, bytes) ? ld_le64(le) : 0;
}

void visit_desc(const struct inode *n, struct visit *v)
{
    const uint64_t at = vring_desc_at(&vq_of(n)->ring, (uint32_t)n->index);

    inspect_leaf(v, LEAF_desc_addr, peek(n, at, 8));
    inspect_leaf(v, LEAF_desc_len, peek(n, at + 8, 4));
    if (vq_of(n)->ring.packed) {
        inspect_leaf(v, LEAF_desc_id, peek(n, at + 12, 2));
        inspect_leaf(v, LEAF_desc_flags, peek(n, at + 14, 2));
    } else {
        inspect_leaf(v, LEAF_desc_flags, peek(n, at + 12, 2));
        inspect_leaf(v, LEAF_desc_next, peek(n, at + 14, 2));
    }
}

static void avail_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    inspect_item_leaf(v, list, key,
                      peek(list, vring_avail_entry_at(&vq_of(list)->ring, (uint16_t)i), 2));
}

void visit_used(const struct inode *n, struct visit *v)
{
    const uint64_t at = vring_used_entry_at(&vq_of(n)->ring, (uint16_t)n->index);

    inspect_leaf(v, LEAF_used_id, peek(n, at, 4));
    inspect_leaf(v, LEAF_used_len, peek(n, at + 4, 4));
}

/* A list of ring contents; empty unless the queue is enabled. */
static struct inode list_of(const struct inode *n, uint64_t len,
                            void (*item)(const struct inode *, uint64_t, struct visit *,
                                         const char *))
{
    return inspect_list_of(n, vq_of(n)->enabled ? len : 0, item);
}

/* The driver's side of a queue; NULL if the guest is a virtual machine, whose state is unknown. */
static const struct vqd *vqd_of(const struct inode *n)
{
    const struct host *h = n->host;

    if (h->is_external)
        return NULL;
    return n->function == FN_NET ? &h->guest.net.queues[n->number].vq : host_rdma_vq(h, n->number);
}

static void driver_slots(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    inspect_item_leaf(v, list, key, vqd_of(list)->descs[i].chain);
}

static void device_slots(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    inspect_item_leaf(v, list, key, vq_slots_of(vq_of(list), (uint16_t)i));
}

void visit_driver_side(const struct inode *n, struct visit *v)
{
    const struct vqd *q = vqd_of(n);

    inspect_leaf(v, LEAF_driver_side_avail_idx, q->avail_idx);
    inspect_leaf(v, LEAF_driver_side_used_idx, q->last_used);
    inspect_leaf(v, LEAF_driver_side_free_desc, q->n_free);
    inspect_leaf(v, LEAF_driver_side_outstanding, q->n_outstanding);
    if (!q->ring.packed)
        return;
    inspect_leaf(v, LEAF_driver_side_avail_slot, q->avail.at);
    inspect_leaf(v, LEAF_driver_side_avail_wrap, q->avail.wrap);
    inspect_leaf(v, LEAF_driver_side_used_slot, q->used.at);
    inspect_leaf(v, LEAF_driver_side_used_wrap, q->used.wrap);
    inspect_child(v, CHILD_driver_side_slots,
                  list_of(n, q->descs ? q->ring.size : 0, driver_slots));
}

void visit_device_side(const struct inode *n, struct visit *v)
{
    const struct vq *q = vq_of(n);

    inspect_leaf(v, LEAF_device_side_avail_idx, q->last_avail);
    inspect_leaf(v, LEAF_device_side_used_idx, q->used_idx);
    if (!q->packed)
        return;
    inspect_leaf(v, LEAF_device_side_avail_slot, vq_avail_pos(q).at);
    inspect_leaf(v, LEAF_device_side_avail_wrap, vq_avail_pos(q).wrap);
    inspect_leaf(v, LEAF_device_side_used_slot, vq_used_pos(q).at);
    inspect_leaf(v, LEAF_device_side_used_wrap, vq_used_pos(q).wrap);
    inspect_child(v, CHILD_device_side_slots, list_of(n, q->ring.size, device_slots));
}

/* Reports the event indices of a split ring, or the event suppression areas of a packed one. */
static void visit_events(const struct inode *n, const struct vring *r, struct visit *v)
{
    if (r->packed) {
        inspect_leaf(v, LEAF_queue_avail_event, peek(n, r->used, 2));
        inspect_leaf(v, LEAF_queue_used_event, peek(n, r->avail, 2));
        inspect_leaf(v, LEAF_queue_flags, peek(n, r->avail + 2, 2));
        inspect_leaf(v, LEAF_queue_used_flags, peek(n, r->used + 2, 2));
        return;
    }
    inspect_leaf(v, LEAF_queue_avail_idx, peek(n, vring_avail_idx_at(r), 2));
    inspect_leaf(v, LEAF_queue_used_idx, peek(n, vring_used_idx_at(r), 2));
    inspect_leaf(v, LEAF_queue_avail_event, peek(n, vring_avail_event_at(r), 2));
    inspect_leaf(v, LEAF_queue_used_event, peek(n, vring_used_event_at(r), 2));
    inspect_leaf(v, LEAF_queue_flags, peek(n, r->avail, 2));
    inspect_leaf(v, LEAF_queue_used_flags, peek(n, r->used, 2));
}

/* Returns the queue pair of a work queue in the lists of a virtual machine's device; otherwise
 * NULL.
 */
static const struct qp *qp_of_machine(const struct inode *n)
{
    const struct rdma *d =
        n->host->is_external && n->function == FN_RDMA ? host_rdma(n->host) : NULL;
    const struct rnic_config *c = d ? &d->config.nic : NULL;

    if (!d || n->number >= queue_count(c->max_cq, c->max_qp))
        return NULL;
    return hca_qp(&d->nic.hca, queue_owner(c->max_cq, n->number));
}

void visit_queue(const struct inode *n, struct visit *v)
{
    const struct vq *q = vq_of(n);
    const struct vring *r = &q->ring;
    const struct qp *qp = qp_of_machine(n);

    inspect_leaf(v, LEAF_queue_number, n->number);
    inspect_leaf(v, LEAF_queue_size, r->size);
    inspect_leaf(v, LEAF_queue_enabled, q->enabled);
    inspect_word(v, LEAF_queue_format, r->packed ? VRING_packed : VRING_split);
    inspect_word(v, LEAF_queue_broken, (uint32_t)q->broken);
    inspect_leaf(v, LEAF_queue_desc_addr, r->desc);
    inspect_leaf(v, LEAF_queue_avail_addr, r->avail);
    inspect_leaf(v, LEAF_queue_used_addr, r->used);
    inspect_leaf(v, LEAF_queue_vector, q->vector);
    if (qp)
        inspect_word(v, LEAF_queue_qp_type, qp->config.type);
    if (vqd_of(n))
        inspect_child(v, CHILD_queue_driver, *n);
    inspect_child(v, CHILD_queue_device, *n);
    visit_events(n, r, v);
    inspect_child(v, CHILD_queue_desc, list_of(n, r->size, inspect_nth));
    inspect_child(v, CHILD_queue_avail, list_of(n, r->packed ? 0 : r->size, avail_item));
    inspect_child(v, CHILD_queue_used, list_of(n, r->packed ? 0 : r->size, inspect_nth));
}

/* Items of the lists of a virtual machine's rings: those whose object exists. */
static void item_if(const struct inode *list, struct visit *v, const char *key, bool exists,
                    uint32_t queue)
{
    if (exists)
        inspect_item(v, list, key, queue_node(list, FN_RDMA, queue));
}

static void sq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct rdma *d = host_rdma(list->host);

    item_if(list, v, key, hca_qp(&d->nic.hca, (uint32_t)i) != NULL, rdma_sq(d, (uint32_t)i));
}

static void rq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct rdma *d = host_rdma(list->host);
    const struct qp *qp = hca_qp(&d->nic.hca, (uint32_t)i);

    item_if(list, v, key, qp && !qp->srq, rdma_rq(d, (uint32_t)i));
}

static void cq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct rdma *d = host_rdma(list->host);

    item_if(list, v, key, hca_cq(&d->nic.hca, (uint32_t)i) != NULL, (uint32_t)i);
}

static void srq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct rdma *d = host_rdma(list->host);

    item_if(list, v, key, hca_srq(&d->nic.hca, (uint32_t)i) != NULL, rdma_srq(d, (uint32_t)i));
}

void inspect_machine_rings(const struct inode *n, struct visit *v)
{
    const struct rnic_config *c = &host_rdma(n->host)->config.nic;

    if (!n->host->is_external)
        return;
    inspect_child(v, CHILD_device_sq, inspect_list_of(n, c->max_qp + 1, sq_item));
    inspect_child(v, CHILD_device_rq, inspect_list_of(n, c->max_qp + 1, rq_item));
    inspect_child(v, CHILD_device_cq, inspect_list_of(n, c->max_cq + 1, cq_item));
    inspect_child(v, CHILD_device_srq, inspect_list_of(n, c->max_srq + 1, srq_item));
}

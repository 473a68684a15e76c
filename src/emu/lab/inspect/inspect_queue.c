/* SPDX-License-Identifier: MIT */
/* Inspect tree: virtqueues, as the driver knows them, as the device knows them, and as they lie in
 * guest RAM.
 */
#include "emu/lab/inspect/inspect_nodes.h"

struct inode queue_node(const struct inode *n, enum pci_function function, uint32_t queue)
{
    struct inode s = *n;

    s.kind = NODE_QUEUE;
    s.function = function;
    s.number = queue;
    return s;
}

static const struct vq *vq_of(const struct inode *n)
{
    const struct host *h = n->host;

    return n->function == FN_NET ? &h->net.pci.queues[n->number] : &h->dev.pci.queues[n->number];
}

/* Little-endian integers in guest RAM; 0 where there is none. */
static uint64_t peek(const struct inode *n, uint64_t gpa, size_t bytes)
{
    uint8_t le[8] = {0};

    return ram_read(&n->host->ram, gpa, le, bytes) ? ld_le64(le) : 0;
}

static void desc_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.kind = NODE_DESC;
    s.index = i;
    child(v, key, s);
}

void visit_desc(const struct inode *n, struct visit *v)
{
    const uint64_t at = vring_desc_at(&vq_of(n)->ring, (uint32_t)n->index);

    leaf(v, "addr", RDL_HEX, peek(n, at, 8));
    leaf(v, "len", RDL_NUMBER, peek(n, at + 8, 4));
    leaf(v, "flags", RDL_HEX, peek(n, at + 12, 2));
    leaf(v, "next", RDL_NUMBER, peek(n, at + 14, 2));
}

static void avail_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    leaf(v, key, RDL_NUMBER, peek(list, vring_avail_entry_at(&vq_of(list)->ring, (uint16_t)i), 2));
}

static void used_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.kind = NODE_USED;
    s.index = i;
    child(v, key, s);
}

void visit_used(const struct inode *n, struct visit *v)
{
    const uint64_t at = vring_used_entry_at(&vq_of(n)->ring, (uint16_t)n->index);

    leaf(v, "id", RDL_NUMBER, peek(n, at, 4));
    leaf(v, "len", RDL_NUMBER, peek(n, at + 4, 4));
}

void visit_driver_side(const struct inode *n, struct visit *v)
{
    const struct guest *g = &n->host->guest;
    const struct vqd *q =
        n->function == FN_NET ? &g->net.queues[n->number].vq : guest_vq(g, n->number);

    leaf(v, "avail_idx", RDL_NUMBER, q->avail_idx);
    leaf(v, "used_idx", RDL_NUMBER, q->last_used);
    leaf(v, "free_desc", RDL_NUMBER, q->n_free);
    leaf(v, "outstanding", RDL_NUMBER, q->n_outstanding);
}

void visit_device_side(const struct inode *n, struct visit *v)
{
    const struct vq *q = vq_of(n);

    leaf(v, "avail_idx", RDL_NUMBER, q->last_avail);
    leaf(v, "used_idx", RDL_NUMBER, q->used_idx);
}

static struct inode list_of(const struct inode *n, void (*item)(const struct inode *, uint64_t,
                                                                struct visit *, const char *))
{
    struct inode s = *n;

    s.kind = NODE_LIST;
    s.list_first = 0;
    s.list_end = vq_of(n)->enabled ? vq_of(n)->ring.size : 0;
    s.item = item;
    return s;
}

void visit_queue(const struct inode *n, struct visit *v)
{
    const struct vq *q = vq_of(n);
    const struct vring *r = &q->ring;
    struct inode driver = *n, device = *n;

    driver.kind = NODE_DRIVER_SIDE;
    device.kind = NODE_DEVICE_SIDE;
    leaf(v, "number", RDL_NUMBER, n->number);
    leaf(v, "size", RDL_NUMBER, r->size);
    leaf(v, "enabled", RDL_FLAG, q->enabled);
    leaf_word(v, "broken", &enum_vq_error, (uint32_t)q->broken);
    leaf(v, "desc_addr", RDL_HEX, r->desc);
    leaf(v, "avail_addr", RDL_HEX, r->avail);
    leaf(v, "used_addr", RDL_HEX, r->used);
    leaf(v, "vector", RDL_NUMBER, q->vector);
    child(v, "driver", driver);
    child(v, "device", device);
    leaf(v, "avail_idx", RDL_NUMBER, peek(n, vring_avail_idx_at(r), 2));
    leaf(v, "used_idx", RDL_NUMBER, peek(n, vring_used_idx_at(r), 2));
    leaf(v, "avail_event", RDL_NUMBER, peek(n, vring_avail_event_at(r), 2));
    leaf(v, "used_event", RDL_NUMBER, peek(n, vring_used_event_at(r), 2));
    leaf(v, "flags", RDL_HEX, peek(n, r->avail, 2));
    leaf(v, "used_flags", RDL_HEX, peek(n, r->used, 2));
    child(v, "desc", list_of(n, desc_item));
    child(v, "avail", list_of(n, avail_item));
    child(v, "used", list_of(n, used_item));
}

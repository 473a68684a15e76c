/* SPDX-License-Identifier: MIT */
/* The driver side of a virtqueue: memory, indirect tables, and dispatch by ring format. */
#include "emu/virtio/vq_driver.h"

#include "emu/base/assert.h"
#include "emu/virtio/vqd_format.h"

bool vqd_clear_ring(struct ram *ram, const struct vring *r)
{
    const uint64_t avail = r->packed ? VRING_EVENT_BYTES : vring_used_event_at(r) + 2 - r->avail;
    const uint64_t used = r->packed ? VRING_EVENT_BYTES : vring_avail_event_at(r) + 2 - r->used;

    return ram_zero(ram, r->desc, VRING_DESC_BYTES * (uint64_t)r->size) &&
           ram_zero(ram, r->avail, avail) && ram_zero(ram, r->used, used);
}

bool vqd_init(struct vqd *q, struct arena *a, struct ram *ram, struct vring ring, bool event_idx)
{
    struct vqd_desc *descs = q->descs;

    if (q->descs_cap < ring.size) {
        descs = arena_alloc_raw(a, ring.size * sizeof(*descs));
        if (!descs)
            return false;
        vqd_done(q, a);
        q->descs = descs;
        q->descs_cap = ring.size;
    }
    if (!vqd_clear_ring(ram, &ring))
        return false;

    *q = (struct vqd){
        .ring = ring,
        .event_idx = event_idx,
        .avail = VRING_POS_START,
        .used = VRING_POS_START,
        .n_free = ring.size,
        .descs = descs,
        .descs_cap = q->descs_cap,
    };
    for (uint32_t i = 0; i < ring.size; i++)
        descs[i] = (struct vqd_desc){.next = (uint16_t)(i + 1)};
    return true;
}

void vqd_done(struct vqd *q, struct arena *a)
{
    arena_release(a, q->descs, q->descs_cap * sizeof(*q->descs));
    q->descs = NULL;
    q->descs_cap = 0;
    q->n_free = q->n_outstanding = 0;
}

/* Writes the indirect table of the next chain and returns it as the one buffer of the ring's
 * descriptor.  In a packed table the words id and flags are swapped, and there is no next.
 */
static struct vqd_seg write_table(struct vqd *q, struct ram *ram, const struct vqd_seg *segs,
                                  uint32_t n, uint32_t first_writable)
{
    const uint64_t at = q->tables_gpa + q->free_head * VQD_TABLE_BYTES;

    for (uint32_t k = 0; k < n; k++) {
        const unsigned flags = vqd_writable(k, first_writable);
        struct vqd_raw d = {.seg = segs[k]};

        if (q->ring.packed) {
            d.word[1] = (uint16_t)flags;
        } else if (k + 1 < n) {
            d.word[0] = (uint16_t)(flags | VRING_NEXT);
            d.word[1] = (uint16_t)(k + 1);
        } else {
            d.word[0] = (uint16_t)flags;
        }
        vqd_write_desc(q, ram, at + VRING_DESC_BYTES * (uint64_t)k, &d);
    }
    return (struct vqd_seg){at, n * VRING_DESC_BYTES};
}

/* Counts a new chain of @n descriptors. */
static inline void added(struct vqd *q, uint32_t n)
{
    q->n_free -= n;
    q->n_outstanding++;
    q->avail_idx++;
}

RDL_APART static bool add_several(struct vqd *q, struct ram *ram, const struct vqd_seg *segs,
                                  uint32_t n, uint32_t first_writable)
{
    const bool in_table = q->tables_gpa && n <= VQD_TABLE_DESCS;
    unsigned flags = 0;
    struct vqd_seg table;

    RDL_ASSERT(n >= 1);
    if (q->broken || (in_table ? 1 : n) > q->n_free)
        return false;
    if (in_table) {
        table = write_table(q, ram, segs, n, first_writable);
        segs = &table;
        n = first_writable = 1;
        flags = VRING_INDIRECT;
    }
    if (q->ring.packed)
        packedd_add(q, ram, segs, n, first_writable, flags);
    else
        splitd_add(q, ram, segs, n, first_writable, flags);
    added(q, n);
    return true;
}

bool vqd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n_readable,
             uint32_t n_writable, uint16_t *ret_head)
{
    const uint32_t n = n_readable + n_writable;
    const uint16_t head = q->free_head;

    if (n != 1) {
        if (!add_several(q, ram, segs, n, n_readable))
            return false;
        *ret_head = head;
        return true;
    }
    if (q->broken || q->n_free == 0)
        return false;
    if (q->ring.packed)
        packedd_add(q, ram, segs, 1, n_readable, 0);
    else
        splitd_add_one(q, ram, segs, n_writable ? VRING_WRITE : 0);
    added(q, 1);
    *ret_head = head;
    return true;
}

void vqd_publish(struct vqd *q, struct ram *ram)
{
    if (q->ring.packed)
        packedd_publish(q, ram);
    else
        splitd_publish(q, ram);
}

bool vqd_needs_kick(struct vqd *q, const struct ram *ram)
{
    const uint32_t added = q->added;

    if (q->broken || added == 0)
        return false;
    q->added = 0;
    return q->ring.packed ? packedd_needs_kick(q, ram, added) : splitd_needs_kick(q, ram, added);
}

uint32_t vqd_used_count(const struct vqd *q, const struct ram *ram)
{
    return q->ring.packed ? packedd_used_count(q, ram) : splitd_used_count(q, ram);
}

uint32_t vqd_next_used(const struct vqd *q, const struct ram *ram)
{
    return q->ring.packed ? packedd_next_used(q, ram) : splitd_next_used(q, ram);
}

enum vqd_used vqd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                            uint32_t *ret_len)
{
    enum vqd_used got;

    if (q->broken)
        return VQD_BROKEN;
    got = q->ring.packed ? packedd_take_used(q, ram, ret_head, ret_len)
                         : splitd_take_used(q, ram, ret_head, ret_len);
    if (got == VQD_GOT) {
        q->last_used++;
        q->n_outstanding--;
    }
    q->broken = got == VQD_BROKEN;
    return got;
}

uint32_t vqd_peek_used(const struct vqd *q, const struct ram *ram, uint32_t skip, uint32_t max,
                       uint16_t *ret_heads)
{
    if (q->broken)
        return 0;
    return q->ring.packed ? packedd_peek_used(q, ram, skip, max, ret_heads)
                          : splitd_peek_used(q, ram, skip, max, ret_heads);
}

void vqd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted)
{
    if (q->ring.packed)
        packedd_want_interrupt(q, ram, wanted);
    else
        splitd_want_interrupt(q, ram, wanted);
}

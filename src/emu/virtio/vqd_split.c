/* SPDX-License-Identifier: MIT */
/* The driver side of a split ring.  [virtio 1.2, 2.7] */
#include "emu/virtio/vqd_format.h"

static inline void add_desc(struct vqd *q, struct ram *ram, const struct vqd_seg *seg,
                            unsigned flags)
{
    const uint16_t i = q->free_head, next = q->descs[i].next;

    vqd_write_desc(q, ram, vring_desc_at(&q->ring, i),
                   &(struct vqd_raw){*seg, {(uint16_t)flags, flags & VRING_NEXT ? next : 0}});
    q->free_head = next;
}

/* Adds the chain of @n descriptors at @head to the avail ring. */
static inline void add_chain(struct vqd *q, struct ram *ram, uint16_t head, uint32_t n)
{
    q->descs[head].chain = (uint16_t)n;
    vqd_write_le16(q, ram, vring_avail_entry_at(&q->ring, q->avail_idx), head);
    q->added++;
}

void splitd_add_one(struct vqd *q, struct ram *ram, const struct vqd_seg *seg, unsigned flags)
{
    const uint16_t head = q->free_head;

    add_desc(q, ram, seg, flags);
    add_chain(q, ram, head, 1);
}

void splitd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n,
                uint32_t first_writable, unsigned flags)
{
    const uint16_t head = q->free_head;

    for (uint32_t k = 0; k + 1 < n; k++)
        add_desc(q, ram, &segs[k], flags | VRING_NEXT | vqd_writable(k, first_writable));
    add_desc(q, ram, &segs[n - 1], flags | vqd_writable(n - 1, first_writable));
    add_chain(q, ram, head, n);
}

void splitd_publish(struct vqd *q, struct ram *ram)
{
    vqd_write_le16(q, ram, vring_avail_idx_at(&q->ring), q->avail_idx);
}

bool splitd_needs_kick(const struct vqd *q, const struct ram *ram, uint32_t added)
{
    if (q->event_idx)
        return vring_passed(vqd_read_le16(ram, vring_avail_event_at(&q->ring)), q->avail_idx,
                            added);
    return !(vqd_read_le16(ram, q->ring.used) & VRING_USED_NO_NOTIFY);
}

uint32_t splitd_used_count(const struct vqd *q, const struct ram *ram)
{
    return (uint16_t)(vqd_read_le16(ram, vring_used_idx_at(&q->ring)) - q->last_used);
}

uint32_t splitd_next_used(const struct vqd *q, const struct ram *ram)
{
    uint8_t b[4] = {0};

    (void)ram_read(ram, vring_used_entry_at(&q->ring, q->last_used), b, sizeof(b));
    return ld_le32(b);
}

uint32_t splitd_peek_used(const struct vqd *q, const struct ram *ram, uint32_t skip, uint32_t max,
                          uint16_t *ret_heads)
{
    const uint32_t count = splitd_used_count(q, ram);
    uint32_t n = 0;

    for (; n < max && skip + n < count && count <= q->n_outstanding; n++) {
        const uint16_t at = (uint16_t)(q->last_used + skip + n);
        uint8_t b[4] = {0};

        (void)ram_read(ram, vring_used_entry_at(&q->ring, at), b, sizeof(b));
        if (ld_le32(b) >= q->ring.size || q->descs[ld_le32(b)].chain == 0)
            break;
        ret_heads[n] = ld_le16(b);
    }
    return n;
}

static void free_chain(struct vqd *q, uint16_t head)
{
    const uint16_t n = q->descs[head].chain;
    uint16_t tail = head;

    for (uint16_t k = 1; k < n; k++)
        tail = q->descs[tail].next;
    vqd_free(q, head, tail);
}

enum vqd_used splitd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                               uint32_t *ret_len)
{
    uint8_t b[VRING_USED_BYTES];
    uint32_t id;

    if (q->seen_used == q->last_used) {
        q->seen_used = vqd_read_le16(ram, vring_used_idx_at(&q->ring));
        if (q->seen_used == q->last_used)
            return VQD_NONE;
    }
    if ((uint16_t)(q->seen_used - q->last_used) > q->n_outstanding ||
        !ram_read(ram, vring_used_entry_at(&q->ring, q->last_used), b, sizeof(b)))
        return VQD_BROKEN;
    id = ld_le32(b);
    if (id >= q->ring.size || q->descs[id].chain == 0)
        return VQD_BROKEN;

    free_chain(q, (uint16_t)id);
    *ret_head = (uint16_t)id;
    *ret_len = ld_le32(b + 4);
    return VQD_GOT;
}

void splitd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted)
{
    uint16_t event;

    if (!q->event_idx) {
        vqd_write_le16(q, ram, q->ring.avail, wanted ? 0 : (uint16_t)VRING_AVAIL_NO_INTERRUPT);
        return;
    }
    /* The next index, or to disable interrupts the one that was passed last. */
    event = vqd_read_le16(ram, vring_used_idx_at(&q->ring));
    vqd_write_le16(q, ram, vring_used_event_at(&q->ring), wanted ? event : (uint16_t)(event - 1));
}

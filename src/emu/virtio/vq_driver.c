/* SPDX-License-Identifier: MIT */
#include "emu/virtio/vq_driver.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"

/* A ring that is not in RAM is found out by vqd_init(); later a failed access is a full arena. */
static uint16_t read_le16(struct ram const *ram, uint64_t gpa)
{
    uint8_t b[2] = {0, 0};

    (void)ram_read(ram, gpa, b, sizeof(b));
    return ld_le16(b);
}

static void write_bytes(struct vqd *q, struct ram *ram, uint64_t gpa, const void *bytes, size_t n)
{
    if (!ram_write(ram, gpa, bytes, n))
        q->broken = true;
}

static void write_le16(struct vqd *q, struct ram *ram, uint64_t gpa, uint16_t v)
{
    uint8_t b[2];

    st_le16(b, v);
    write_bytes(q, ram, gpa, b, sizeof(b));
}

static bool zero(struct ram *ram, uint64_t gpa, uint64_t bytes)
{
    static const uint8_t zeros[256];
    bool good = true;

    for (uint64_t at = 0; good && at < bytes; at += sizeof(zeros)) {
        const uint64_t left = bytes - at;

        good = ram_write(ram, gpa + at, zeros, left < sizeof(zeros) ? (size_t)left : sizeof(zeros));
    }
    return good;
}

bool vqd_clear_ring(struct ram *ram, const struct vring *r)
{
    return zero(ram, r->desc, VRING_DESC_BYTES * (uint64_t)r->size) &&
           zero(ram, r->avail, vring_used_event_at(r) + 2 - r->avail) &&
           zero(ram, r->used, vring_avail_event_at(r) + 2 - r->used);
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

static void write_desc(struct vqd *q, struct ram *ram, uint16_t i, const struct vqd_seg *seg,
                       unsigned flags)
{
    uint8_t b[VRING_DESC_BYTES];

    st_le64(b, seg->gpa);
    st_le32(b + 8, seg->bytes);
    st_le16(b + 12, (uint16_t)flags);
    st_le16(b + 14, flags & VRING_NEXT ? q->descs[i].next : 0);
    write_bytes(q, ram, vring_desc_at(&q->ring, i), b, sizeof(b));
}

bool vqd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n_readable,
             uint32_t n_writable, uint16_t *ret_head)
{
    const uint32_t n = n_readable + n_writable;
    const uint16_t head = q->free_head;

    RDL_ASSERT(n >= 1);
    if (q->broken || n > q->n_free)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        const uint16_t i = q->free_head;

        write_desc(q, ram, i, &segs[k],
                   (k >= n_readable ? VRING_WRITE : 0) | (k + 1 < n ? VRING_NEXT : 0));
        q->free_head = q->descs[i].next;
    }
    q->n_free -= n;
    q->n_outstanding++;
    q->descs[head].chain = (uint16_t)n;
    write_le16(q, ram, vring_avail_entry_at(&q->ring, q->avail_idx), head);
    q->avail_idx++;
    q->added++;
    *ret_head = head;
    return true;
}

void vqd_publish(struct vqd *q, struct ram *ram)
{
    write_le16(q, ram, vring_avail_idx_at(&q->ring), q->avail_idx);
}

bool vqd_needs_kick(struct vqd *q, const struct ram *ram)
{
    const uint32_t added = q->added;

    if (q->broken || added == 0)
        return false;
    q->added = 0;
    if (q->event_idx)
        return vring_passed(read_le16(ram, vring_avail_event_at(&q->ring)), q->avail_idx, added);
    return !(read_le16(ram, q->ring.used) & VRING_USED_NO_NOTIFY);
}

uint32_t vqd_used_count(const struct vqd *q, const struct ram *ram)
{
    return (uint16_t)(read_le16(ram, vring_used_idx_at(&q->ring)) - q->last_used);
}

/* Puts the descriptors of the chain at @head before the free ones. */
static void free_chain(struct vqd *q, uint16_t head)
{
    const uint16_t n = q->descs[head].chain;
    uint16_t tail = head;

    for (uint16_t k = 1; k < n; k++)
        tail = q->descs[tail].next;
    q->descs[tail].next = q->free_head;
    q->descs[head].chain = 0;
    q->free_head = head;
    q->n_free += n;
    q->n_outstanding--;
}

enum vqd_used vqd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                            uint32_t *ret_len)
{
    uint8_t b[VRING_USED_BYTES];
    uint32_t id;

    if (q->broken)
        return VQD_BROKEN;
    if (q->seen_used == q->last_used) {
        q->seen_used = read_le16(ram, vring_used_idx_at(&q->ring));
        if (q->seen_used == q->last_used)
            return VQD_NONE;
    }
    if ((uint16_t)(q->seen_used - q->last_used) > q->n_outstanding ||
        !ram_read(ram, vring_used_entry_at(&q->ring, q->last_used), b, sizeof(b)))
        goto broken;
    id = ld_le32(b);
    if (id >= q->ring.size || q->descs[id].chain == 0)
        goto broken;

    free_chain(q, (uint16_t)id);
    q->last_used++;
    *ret_head = (uint16_t)id;
    *ret_len = ld_le32(b + 4);
    return VQD_GOT;

broken:
    q->broken = true;
    return VQD_BROKEN;
}

void vqd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted)
{
    uint16_t event;

    if (!q->event_idx) {
        write_le16(q, ram, q->ring.avail, wanted ? 0 : (uint16_t)VRING_AVAIL_NO_INTERRUPT);
        return;
    }
    /* The next index from now on, or the one that was passed last. */
    event = read_le16(ram, vring_used_idx_at(&q->ring));
    write_le16(q, ram, vring_used_event_at(&q->ring), wanted ? event : (uint16_t)(event - 1));
}

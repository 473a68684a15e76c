/* SPDX-License-Identifier: MIT */
/* The device side of a split ring.  [virtio 1.2, 2.7] */
#include "emu/base/cursor.h"
#include "emu/virtio/vq_format.h"

struct split_desc {
    struct vq_seg seg;
    uint16_t flags, next;
};

/* The table that a chain is read from: the ring's own, or an indirect one. */
struct desc_table {
    uint64_t gpa;
    uint32_t len;
    bool indirect;
};

static bool read_le16(const struct ram *ram, uint64_t gpa, uint16_t *ret)
{
    uint8_t b[2];

    if (!ram_read(ram, gpa, b, sizeof(b)))
        return false;
    *ret = ld_le16(b);
    return true;
}

static bool write_le16(struct ram *ram, uint64_t gpa, uint16_t v)
{
    uint8_t b[2];

    st_le16(b, v);
    return ram_write(ram, gpa, b, sizeof(b));
}

static bool read_desc(const struct ram *ram, const struct desc_table *t, uint32_t i,
                      struct split_desc *out)
{
    uint8_t b[VRING_DESC_BYTES];

    if (!ram_read(ram, t->gpa + VRING_DESC_BYTES * (uint64_t)i, b, sizeof(b)))
        return false;
    *out = (struct split_desc){
        {ld_le64(b), ld_le32(b + 8)},
        ld_le16(b + 12),
        ld_le16(b + 14),
    };
    return true;
}

/* Switches *@t to the indirect table of @d.  [virtio 1.2, 2.7.5.3] */
static enum vq_error enter_indirect(const struct vq *vq, const struct ram *ram,
                                    const struct split_desc *d, struct desc_table *t)
{
    const enum vq_error error =
        t->indirect ? VQE_BAD_INDIRECT : vq_check_table(vq, ram, &d->seg, d->flags);

    if (error == VQE_NONE)
        *t = (struct desc_table){d->seg.gpa, d->seg.bytes / VRING_DESC_BYTES, true};
    return error;
}

/* Follows the chain from descriptor @head.  A chain has at most as many descriptors as its table; a
 * longer one is a loop.  This bounds the walk.
 */
static enum vq_error walk_chain(const struct vq *vq, const struct ram *ram, uint32_t head,
                                struct vq_chain *out)
{
    struct desc_table t = {vq->ring.desc, vq->ring.size, false};
    bool too_long = false;
    uint32_t i = head, n_seen = 0;

    for (;;) {
        struct split_desc d;
        enum vq_error error;

        if (!read_desc(ram, &t, i, &d))
            return VQE_BAD_ADDRESS;
        if (d.flags & VRING_INDIRECT) {
            error = enter_indirect(vq, ram, &d, &t);
            if (error != VQE_NONE)
                return error;
            i = n_seen = 0;
            continue;
        }
        error = vq_add_seg(ram, &d.seg, d.flags, out, &too_long);
        if (error != VQE_NONE)
            return error;
        if (!(d.flags & VRING_NEXT))
            return too_long ? VQE_TOO_LONG : VQE_NONE;
        if (d.next >= t.len)
            return VQE_BAD_NEXT;
        if (++n_seen == t.len)
            return VQE_LOOP;
        i = d.next;
    }
}

uint32_t split_avail_count(struct vq *vq, const struct ram *ram)
{
    uint16_t idx, n;

    if (vq->broken != VQE_NONE)
        return 0;
    if (!read_le16(ram, vring_avail_idx_at(&vq->ring), &idx)) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return 0;
    }
    n = (uint16_t)(idx - vq->last_avail);
    if (n > vq->ring.size) {
        vq_break(vq, VQE_AVAIL_RUNS_AWAY);
        return 0;
    }
    vq->seen_avail = idx;
    ram_fence(ram); /* read the entries after the index that counts them */
    return n;
}

/* Requests a notification when avail.idx passes @idx.  The caller must read avail.idx again before
 * it waits for the notification.
 */
static bool publish_avail_event(struct vq *vq, struct ram *ram, uint16_t idx)
{
    if (!vq->event_idx || vq->avail_event == idx)
        return true;
    if (!write_le16(ram, vring_avail_event_at(&vq->ring), idx)) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return false;
    }
    ram_fence(ram);
    vq->avail_event = idx;
    return true;
}

/* Returns true if no chain is available and the driver will notify of the next one.  A driver that
 * runs concurrently may have added a chain before it saw the request, so avail.idx is read again.
 */
static bool is_empty(struct vq *vq, struct ram *ram)
{
    if (split_avail_count(vq, ram) > 0 || vq->broken != VQE_NONE)
        return false;
    if (!publish_avail_event(vq, ram, vq->last_avail))
        return false;
    return !ram->foreign || (split_avail_count(vq, ram) == 0 && vq->broken == VQE_NONE);
}

enum vq_pop split_pop(struct vq *vq, struct ram *ram, struct vq_chain *out)
{
    enum vq_error error;
    uint16_t head;

    if (vq->seen_avail == vq->last_avail && is_empty(vq, ram))
        return VQ_EMPTY;
    if (vq->broken != VQE_NONE)
        return VQ_BROKEN;
    if (!read_le16(ram, vring_avail_entry_at(&vq->ring, vq->last_avail), &head))
        return vq_break(vq, VQE_BAD_ADDRESS);
    if (head >= vq->ring.size)
        return vq_break(vq, VQE_BAD_HEAD);

    vq_chain_begin(out);
    out->head = head;
    error = walk_chain(vq, ram, head, out);
    if (error != VQE_NONE)
        return vq_break(vq, error);
    vq->last_avail++;
    return VQ_GOT;
}

/* Writes the used element at used_idx + @ahead. */
static bool write_used(const struct vq *vq, struct ram *ram, uint32_t id, uint32_t len,
                       uint32_t ahead)
{
    uint8_t element[VRING_USED_BYTES];

    st_le32(element, id);
    st_le32(element + 4, len);
    return ram_write(ram, vring_used_entry_at(&vq->ring, (uint16_t)(vq->used_idx + ahead)), element,
                     sizeof(element));
}

/* Publishes @n used elements by writing used.idx.  If they are not @good, breaks the queue. */
static inline bool publish_used(struct vq *vq, struct ram *ram, uint32_t n, bool good)
{
    const uint16_t idx = (uint16_t)(vq->used_idx + n);

    ram_fence(ram);
    if (!good || !write_le16(ram, vring_used_idx_at(&vq->ring), idx)) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return false;
    }
    vq->used_idx = idx;
    if (vq->pushed <= UINT16_MAX)
        vq->pushed += n;
    return true;
}

bool split_push_one(struct vq *vq, struct ram *ram, struct vq_used used)
{
    return publish_used(vq, ram, 1, write_used(vq, ram, used.head, used.len, 0));
}

bool split_push(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n)
{
    bool good = true;

    for (uint32_t i = 0; i < n && good; i++)
        good = write_used(vq, ram, used[i].head, used[i].len, i);
    return publish_used(vq, ram, n, good);
}

void split_invent(const struct vq *vq, struct ram *ram, uint32_t id, uint32_t len)
{
    if (write_used(vq, ram, id, len, 0))
        (void)write_le16(ram, vring_used_idx_at(&vq->ring), (uint16_t)(vq->used_idx + 1));
}

bool split_wants_interrupt(struct vq *vq, const struct ram *ram)
{
    const uint64_t at = vq->event_idx ? vring_used_event_at(&vq->ring) : vq->ring.avail;
    const uint32_t pushed = vq->pushed;
    uint16_t word;

    if (pushed == 0)
        return false;
    if (!read_le16(ram, at, &word)) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return false;
    }
    vq->pushed = 0;
    if (vq->event_idx)
        return vring_passed(word, vq->used_idx, pushed);
    return !(word & VRING_AVAIL_NO_INTERRUPT);
}

void split_want_kick(struct vq *vq, struct ram *ram)
{
    uint32_t n = split_avail_count(vq, ram), before;

    do { /* repeat until no chain was added meanwhile */
        if (vq->broken != VQE_NONE || !publish_avail_event(vq, ram, vq->seen_avail))
            return;
        before = n;
        n = ram->foreign ? split_avail_count(vq, ram) : n;
    } while (n != before);
}

void split_refuse_kicks(struct vq *vq, struct ram *ram)
{
    if (vq->event_idx)
        (void)publish_avail_event(vq, ram, (uint16_t)(vq->last_avail - 1));
    else if (!write_le16(ram, vq->ring.used, VRING_USED_NO_NOTIFY))
        vq_break(vq, VQE_BAD_ADDRESS);
}

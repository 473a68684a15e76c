/* SPDX-License-Identifier: MIT */
#include "emu/virtio/vq_device.h"

#include "emu/base/cursor.h"

struct desc {
    uint64_t gpa;
    uint32_t bytes;
    uint16_t flags, next;
};

/* Where descriptors are taken from: the ring's own table, or an indirect one. */
struct desc_table {
    uint64_t gpa;
    uint32_t len;
    bool indirect;
};

static enum vq_pop broken(struct vq *vq, enum vq_error error)
{
    vq->broken = error;
    return VQ_BROKEN;
}

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
                      struct desc *out)
{
    uint8_t b[VRING_DESC_BYTES];

    if (!ram_read(ram, t->gpa + VRING_DESC_BYTES * (uint64_t)i, b, sizeof(b)))
        return false;
    *out = (struct desc){ld_le64(b), ld_le32(b + 8), ld_le16(b + 12), ld_le16(b + 14)};
    return true;
}

/* Goes on in the table that @d refers to.  [virtio 1.2, 2.7.5.3] */
static enum vq_error enter_indirect(const struct vq *vq, const struct ram *ram,
                                    const struct desc *d, struct desc_table *t)
{
    const uint32_t len = d->bytes / VRING_DESC_BYTES;

    if (!vq->indirect || t->indirect || (d->flags & VRING_NEXT))
        return VQE_BAD_INDIRECT;
    if (len == 0 || d->bytes % VRING_DESC_BYTES != 0 || len > VRING_SIZE_MAX)
        return VQE_BAD_INDIRECT;
    if (!ram_holds(ram, d->gpa, d->bytes))
        return VQE_BAD_ADDRESS;
    *t = (struct desc_table){d->gpa, len, true};
    return VQE_NONE;
}

/* Appends a buffer to @out.  What is beyond the limits sets *@too_long and is not kept: the walk
 * goes on, to tell a loop from a long chain.
 */
static enum vq_error add_seg(const struct ram *ram, const struct desc *d, struct vq_chain *out,
                             bool *too_long)
{
    const bool writable = (d->flags & VRING_WRITE) != 0;
    const uint32_t n = out->n_readable + out->n_writable;

    if (d->bytes == 0)
        return VQE_ZERO_LENGTH;
    if (!ram_holds(ram, d->gpa, d->bytes))
        return VQE_BAD_ADDRESS;
    if (!writable && out->n_writable > 0)
        return VQE_BAD_ORDER;
    if (n == VQ_SEGS_MAX ||
        d->bytes > VQ_CHAIN_BYTES_MAX - out->readable_bytes - out->writable_bytes) {
        *too_long = true;
        return VQE_NONE;
    }

    out->segs[n] = (struct vq_seg){d->gpa, d->bytes};
    *(writable ? &out->n_writable : &out->n_readable) += 1;
    *(writable ? &out->writable_bytes : &out->readable_bytes) += d->bytes;
    return VQE_NONE;
}

/* Follows the chain from descriptor @head.  A chain has at most as many descriptors as its table,
 * otherwise it loops; that bounds the walk.
 */
static enum vq_error walk_chain(const struct vq *vq, const struct ram *ram, uint32_t head,
                                struct vq_chain *out)
{
    struct desc_table t = {vq->ring.desc, vq->ring.size, false};
    bool too_long = false;
    uint32_t i = head, n_seen = 0;

    for (;;) {
        struct desc d;
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
        error = add_seg(ram, &d, out, &too_long);
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

uint32_t vq_avail_count(struct vq *vq, const struct ram *ram)
{
    uint16_t idx, n;

    if (vq->broken != VQE_NONE)
        return 0;
    if (!read_le16(ram, vring_avail_idx_at(&vq->ring), &idx)) {
        broken(vq, VQE_BAD_ADDRESS);
        return 0;
    }
    n = (uint16_t)(idx - vq->last_avail);
    if (n > vq->ring.size) {
        broken(vq, VQE_AVAIL_RUNS_AWAY);
        return 0;
    }
    vq->seen_avail = idx;
    return n;
}

/* Asks for a notification when the driver's index passes @idx. */
static enum vq_pop publish_avail_event(struct vq *vq, struct ram *ram, uint16_t idx)
{
    if (!vq->event_idx || vq->avail_event == idx)
        return VQ_EMPTY;
    if (!write_le16(ram, vring_avail_event_at(&vq->ring), idx))
        return broken(vq, VQE_BAD_ADDRESS);
    vq->avail_event = idx;
    return VQ_EMPTY;
}

enum vq_pop vq_pop(struct vq *vq, struct ram *ram, struct vq_chain *out)
{
    enum vq_error error;
    uint16_t head;

    if (vq->seen_avail == vq->last_avail && vq_avail_count(vq, ram) == 0 && vq->broken == VQE_NONE)
        return publish_avail_event(vq, ram, vq->last_avail);
    if (vq->broken != VQE_NONE)
        return VQ_BROKEN;
    if (!read_le16(ram, vring_avail_entry_at(&vq->ring, vq->last_avail), &head))
        return broken(vq, VQE_BAD_ADDRESS);
    if (head >= vq->ring.size)
        return broken(vq, VQE_BAD_HEAD);

    out->head = head;
    out->n_readable = out->n_writable = 0;
    out->readable_bytes = out->writable_bytes = 0;
    error = walk_chain(vq, ram, head, out);
    if (error != VQE_NONE)
        return broken(vq, error);
    vq->last_avail++;
    return VQ_GOT;
}

/* The part of @seg that a copy of @n bytes from *@offset touches; empty when it begins later, and
 * *@offset is then what is left to skip.
 */
static struct vq_seg part_of(const struct vq_seg *seg, size_t *offset, size_t n)
{
    struct vq_seg part = {seg->gpa + *offset, 0};

    if (*offset >= seg->bytes) {
        *offset -= seg->bytes;
        return part;
    }
    part.bytes = seg->bytes - (uint32_t)*offset;
    if (part.bytes > n)
        part.bytes = (uint32_t)n;
    *offset = 0;
    return part;
}

size_t vq_chain_read(const struct ram *ram, const struct vq_chain *c, size_t offset, void *out,
                     size_t n)
{
    size_t done = 0;

    for (uint32_t i = 0; i < c->n_readable && done < n; i++) {
        const struct vq_seg part = part_of(&c->segs[i], &offset, n - done);

        if (part.bytes > 0 && !ram_read(ram, part.gpa, (uint8_t *)out + done, part.bytes))
            break;
        done += part.bytes;
    }
    return done;
}

size_t vq_chain_write(struct ram *ram, const struct vq_chain *c, size_t offset, const void *in,
                      size_t n)
{
    const struct vq_seg *writable = &c->segs[c->n_readable];
    size_t done = 0;

    for (uint32_t i = 0; i < c->n_writable && done < n; i++) {
        const struct vq_seg part = part_of(&writable[i], &offset, n - done);

        if (part.bytes > 0 && !ram_write(ram, part.gpa, (const uint8_t *)in + done, part.bytes))
            break;
        done += part.bytes;
    }
    return done;
}

bool vq_push(struct vq *vq, struct ram *ram, uint16_t head, uint32_t len)
{
    uint8_t element[VRING_USED_BYTES];

    if (vq->broken != VQE_NONE)
        return false;
    st_le32(element, head);
    st_le32(element + 4, len);
    if (!ram_write(ram, vring_used_entry_at(&vq->ring, vq->used_idx), element, sizeof(element)) ||
        !write_le16(ram, vring_used_idx_at(&vq->ring), (uint16_t)(vq->used_idx + 1))) {
        broken(vq, VQE_BAD_ADDRESS);
        return false;
    }
    vq->used_idx++;
    if (vq->pushed <= UINT16_MAX)
        vq->pushed++;
    return true;
}

bool vq_wants_interrupt(struct vq *vq, const struct ram *ram)
{
    const uint64_t at = vq->event_idx ? vring_used_event_at(&vq->ring) : vq->ring.avail;
    const uint32_t pushed = vq->pushed;
    uint16_t word;

    if (vq->broken != VQE_NONE || pushed == 0)
        return false;
    if (!read_le16(ram, at, &word)) {
        broken(vq, VQE_BAD_ADDRESS);
        return false;
    }
    vq->pushed = 0;
    if (vq->event_idx)
        return vring_passed(word, vq->used_idx, pushed);
    return !(word & VRING_AVAIL_NO_INTERRUPT);
}

void vq_want_kick(struct vq *vq, struct ram *ram)
{
    const uint32_t n = vq_avail_count(vq, ram);

    if (vq->broken == VQE_NONE)
        (void)publish_avail_event(vq, ram, (uint16_t)(vq->last_avail + n));
}

void vq_refuse_kicks(struct vq *vq, struct ram *ram)
{
    if (vq->broken != VQE_NONE)
        return;
    if (vq->event_idx)
        publish_avail_event(vq, ram, (uint16_t)(vq->last_avail - 1));
    else if (!write_le16(ram, vq->ring.used, VRING_USED_NO_NOTIFY))
        broken(vq, VQE_BAD_ADDRESS);
}

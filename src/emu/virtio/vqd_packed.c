/* SPDX-License-Identifier: MIT */
/* The driver side of a packed ring.  [virtio 1.2, 2.8]
 *
 * Buffer ids are managed like the descriptors of a split ring.  An id is free or outstanding;
 * `chain` of an outstanding id is the number of slots that are freed with it.
 */
#include "emu/virtio/vqd_format.h"

static uint16_t read_flags(const struct vqd *q, const struct ram *ram, struct vring_pos p)
{
    return vqd_read_le16(ram, vring_desc_at(&q->ring, p.at) + 14);
}

/* The flags of the first added descriptor are left to packedd_publish().  The device stops at a
 * descriptor that is not available, so all chains behind that one are hidden, too.
 */
void packedd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n,
                 uint32_t first_writable, unsigned flags)
{
    const uint16_t id = q->free_head;

    for (uint32_t k = 0; k < n; k++) {
        const uint64_t at = vring_desc_at(&q->ring, q->avail.at);
        const unsigned now = flags | vqd_writable(k, first_writable) |
                             (k + 1 < n ? VRING_NEXT : 0) | vring_avail_flags(q->avail);
        struct vqd_raw d = {segs[k], {id, (uint16_t)now}};

        if (!q->is_hiding) {
            q->is_hiding = true;
            q->hidden_at = q->avail.at;
            q->hidden_flags = (uint16_t)now;
            d.word[1] = read_flags(q, ram, q->avail); /* flags of the lap before: not available */
        }
        vqd_write_desc(q, ram, at, &d);
        q->avail = vring_pos_after(q->avail, 1, q->ring.size);
    }
    q->free_head = q->descs[id].next;
    q->descs[id].chain = (uint16_t)n;
    q->added += n;
}

void packedd_publish(struct vqd *q, struct ram *ram)
{
    if (!q->is_hiding)
        return;
    vqd_write_le16(q, ram, vring_desc_at(&q->ring, q->hidden_at) + 14, q->hidden_flags);
    q->is_hiding = false;
}

/* An invalid device area counts as a request for all notifications. */
bool packedd_needs_kick(const struct vqd *q, const struct ram *ram, uint32_t added)
{
    const struct vring_pos event = vring_event_pos(vqd_read_le16(ram, q->ring.used));
    const unsigned flags = vqd_read_le16(ram, q->ring.used + 2) & VRING_EVENT_FLAGS;

    if (flags == VRING_EVENT_DESC && q->event_idx && event.at < q->ring.size)
        return vring_packed_passed(event, q->avail, added, q->ring.size);
    return flags != VRING_EVENT_DISABLE;
}

struct used {
    uint32_t len;
    uint16_t id;
};

/* Reads the used descriptor at @p.  Returns false if there is none.  The length is valid only if
 * the flag WRITE is set, and 0 otherwise.  [virtio 1.2, 2.8.4]
 */
static bool read_used(const struct vqd *q, const struct ram *ram, struct vring_pos p,
                      struct used *out)
{
    uint8_t b[8] = {0};
    uint16_t flags;

    if (!ram_read(ram, vring_desc_at(&q->ring, p.at) + 8, b, sizeof(b)))
        return false;
    flags = ld_le16(b + 6);
    if (!vring_is_used(flags, p))
        return false;
    *out = (struct used){flags & VRING_WRITE ? ld_le32(b) : 0, ld_le16(b + 4)};
    return true;
}

/* Number of slots that are freed with @id; 0 if @id is not outstanding. */
static uint32_t slots_of(const struct vqd *q, uint16_t id)
{
    return id < q->ring.size ? q->descs[id].chain : 0;
}

/* Counts the completed chains from *@p on that were not taken.  Moves *@p behind them. */
static uint32_t pass_used(const struct vqd *q, const struct ram *ram, struct vring_pos *p)
{
    uint32_t n = 0;
    struct used u;

    while (n < q->n_outstanding && read_used(q, ram, *p, &u)) {
        const uint32_t slots = slots_of(q, u.id);

        n++;
        if (slots == 0)
            break; /* invalid id; packedd_take_used() reports it */
        *p = vring_pos_after(*p, slots, q->ring.size);
    }
    return n;
}

uint32_t packedd_used_count(const struct vqd *q, const struct ram *ram)
{
    struct vring_pos p = q->used;

    return pass_used(q, ram, &p);
}

uint32_t packedd_peek_used(const struct vqd *q, const struct ram *ram, uint32_t skip, uint32_t max,
                           uint16_t *ret_heads)
{
    struct vring_pos p = q->used;
    uint32_t n = 0;
    struct used u;

    for (uint32_t i = 0; n < max && i < q->n_outstanding && read_used(q, ram, p, &u); i++) {
        const uint32_t slots = slots_of(q, u.id);

        if (slots == 0)
            break;
        if (i >= skip)
            ret_heads[n++] = u.id;
        p = vring_pos_after(p, slots, q->ring.size);
    }
    return n;
}

uint32_t packedd_next_used(const struct vqd *q, const struct ram *ram)
{
    struct used u = {0};

    (void)read_used(q, ram, q->used, &u);
    return u.id;
}

enum vqd_used packedd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                                uint32_t *ret_len)
{
    uint32_t slots;
    struct used u;

    if (!read_used(q, ram, q->used, &u))
        return VQD_NONE;
    slots = slots_of(q, u.id);
    if (slots == 0)
        return VQD_BROKEN;
    vqd_free(q, u.id, u.id);
    q->used = vring_pos_after(q->used, slots, q->ring.size);
    *ret_head = u.id;
    *ret_len = u.len;
    return VQD_GOT;
}

/* With EVENT_IDX the interrupt is requested at the next position that is not used yet. */
void packedd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted)
{
    struct vring_pos p = q->used;
    uint8_t b[VRING_EVENT_BYTES];

    if (wanted && q->event_idx)
        (void)pass_used(q, ram, &p);
    st_le16(b, vring_event_of(p));
    st_le16(b + 2, !wanted        ? VRING_EVENT_DISABLE
                   : q->event_idx ? VRING_EVENT_DESC
                                  : VRING_EVENT_ENABLE);
    vqd_write_bytes(q, ram, q->ring.avail, b, sizeof(b));
}

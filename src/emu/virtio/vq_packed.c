/* SPDX-License-Identifier: MIT */
/* The device side of a packed ring.  [virtio 1.2, 2.8]
 *
 * Invariants between calls: round the ring used <= avail <= seen, n_taken slots from used to avail
 * and n_seen from avail to seen, together at most the size of the ring.  The slots of all entries
 * of `taken` add up to n_taken.
 */
#include "emu/base/cursor.h"
#include "emu/virtio/vq_format.h"

struct packed_desc {
    struct vq_seg seg;
    uint16_t id, flags;
};

/* Offset of the flags in the driver and device areas.  The position is at offset 0. */
enum { AREA_FLAGS = 2 };

static bool read_desc(const struct ram *ram, uint64_t table, uint32_t i, struct packed_desc *out)
{
    uint8_t b[VRING_DESC_BYTES];

    if (!ram_read(ram, table + VRING_DESC_BYTES * (uint64_t)i, b, sizeof(b)))
        return false;
    *out = (struct packed_desc){
        {ld_le64(b), ld_le32(b + 8)},
        ld_le16(b + 12),
        ld_le16(b + 14),
    };
    return true;
}

/* --- Outstanding buffers ---------------------------------------------------------------------- */

/* The entry of @id; NULL if @id is not outstanding. */
static struct vq_taken *find_taken(struct vq_packed *p, uint16_t id)
{
    for (uint32_t k = 0; k <= p->mask; k++) {
        struct vq_taken *t = &p->taken[(id + k) & p->mask];

        if (t->slots == 0)
            return NULL;
        if (t->id == id)
            return t;
    }
    return NULL;
}

struct vring_pos vq_avail_pos(const struct vq *vq)
{
    return vq->packed->avail;
}

struct vring_pos vq_used_pos(const struct vq *vq)
{
    return vq->packed->used;
}

uint32_t vq_slots_of(const struct vq *vq, uint16_t id)
{
    const struct vq_taken *t = find_taken(vq->packed, id);

    return t ? t->slots : 0;
}

bool vq_invariant(const struct vq *vq)
{
    const struct vq_packed *p = vq->packed;

    if (!p)
        return true;
    return p->n_taken + p->n_seen <= vq->ring.size &&
           p->n_taken == vring_slots_between(p->used, p->avail, vq->ring.size) &&
           p->n_seen == vring_slots_between(p->avail, p->seen, vq->ring.size);
}

/* There is always room: each chain has at least one slot of the ring, and the table has no fewer
 * entries than the ring slots.
 */
static void add_taken(struct vq_packed *p, uint16_t id, uint32_t slots)
{
    uint32_t i = id & p->mask;

    while (p->taken[i].slots != 0)
        i = (i + 1) & p->mask;
    p->taken[i] = (struct vq_taken){id, (uint16_t)slots};
}

/* Removes *@t, and moves later entries of its probe sequence into the hole. */
static void remove_taken(struct vq_packed *p, const struct vq_taken *t)
{
    uint32_t hole = (uint32_t)(t - p->taken), i = hole;

    for (uint32_t k = 0; k < p->mask; k++) {
        i = (i + 1) & p->mask;
        if (p->taken[i].slots == 0)
            break;
        if (((i - p->taken[i].id) & p->mask) < ((i - hole) & p->mask))
            continue; /* its hash position is behind the hole */
        p->taken[hole] = p->taken[i];
        hole = i;
    }
    p->taken[hole] = (struct vq_taken){0, 0};
}

/* --- Taking chains ---------------------------------------------------------------------------- */

/* Appends the buffers of the indirect table @d.  It is an array; of the flags in it only WRITE
 * counts, and ids are ignored.  [virtio 1.2, 2.8.7]
 */
static enum vq_error add_table(const struct vq *vq, const struct ram *ram,
                               const struct packed_desc *d, struct vq_chain *out, bool *too_long)
{
    enum vq_error error = vq_check_table(vq, ram, &d->seg, d->flags);

    for (uint32_t i = 0; i < d->seg.bytes / VRING_DESC_BYTES && error == VQE_NONE; i++) {
        struct packed_desc in;

        if (!read_desc(ram, d->seg.gpa, i, &in))
            return VQE_BAD_ADDRESS;
        error = vq_add_seg(ram, &in.seg, in.flags, out, too_long);
    }
    return error;
}

/* Follows the chain whose first descriptor is @d, at p->avail.  *@ret_slots is its number of slots.
 */
static enum vq_error walk_chain(const struct vq *vq, const struct ram *ram, struct packed_desc d,
                                struct vq_chain *out, uint32_t *ret_slots)
{
    const uint32_t size = vq->ring.size;
    struct vring_pos pos = vq->packed->avail;
    bool too_long = false;

    for (uint32_t n = 1;; n++) {
        enum vq_error error;

        if (n > size - vq->packed->n_taken)
            return VQE_NOT_GIVEN_BACK;
        error = d.flags & VRING_INDIRECT ? add_table(vq, ram, &d, out, &too_long)
                                         : vq_add_seg(ram, &d.seg, d.flags, out, &too_long);
        if (error != VQE_NONE)
            return error;
        out->head = d.id; /* the id in the last descriptor counts */
        *ret_slots = n;
        if (!(d.flags & VRING_NEXT))
            return too_long ? VQE_TOO_LONG : VQE_NONE;
        if (n == size)
            return VQE_LONGER_THAN_RING;
        pos = vring_pos_after(pos, 1, size);
        if (!read_desc(ram, vq->ring.desc, pos.at, &d))
            return VQE_BAD_ADDRESS;
        if (!vring_is_avail(d.flags, pos))
            return VQE_BREAKS_OFF;
    }
}

/* Writes the device area. */
static void publish(struct vq *vq, struct ram *ram, uint16_t event, uint16_t flags)
{
    struct vq_packed *p = vq->packed;
    uint8_t b[VRING_EVENT_BYTES];

    if (p->event == event && p->event_flags == flags)
        return;
    st_le16(b, event);
    st_le16(b + AREA_FLAGS, flags);
    if (!ram_write(ram, vq->ring.used, b, sizeof(b))) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return;
    }
    ram_fence(ram);
    p->event = event;
    p->event_flags = flags;
}

/* Requests a notification of the chain that begins at @pos. */
static void publish_event(struct vq *vq, struct ram *ram, struct vring_pos pos)
{
    if (vq->event_idx)
        publish(vq, ram, vring_event_of(pos), VRING_EVENT_DESC);
}

void packed_started(struct vq *vq, struct ram *ram)
{
    publish_event(vq, ram, vq->packed->avail);
}

/* Advances p->avail behind the taken chain of @slots slots. */
static void move_avail(struct vq *vq, uint32_t slots)
{
    struct vq_packed *p = vq->packed;

    p->avail = vring_pos_after(p->avail, slots, vq->ring.size);
    p->n_taken += slots;
    vq->last_avail++;
    if (p->n_seen > slots && vq->seen_avail != vq->last_avail) {
        p->n_seen -= slots;
        return;
    }
    /* No other chain was counted, or the driver has changed this one since. */
    p->seen = p->avail;
    p->n_seen = 0;
    vq->seen_avail = vq->last_avail;
}

/* Reads the descriptor at p->avail into @out.  Returns VQ_GOT if it is available.  Only its flags
 * are reliable: see read_head().
 */
static enum vq_pop look(struct vq *vq, const struct ram *ram, struct packed_desc *out)
{
    const struct vring_pos at = vq->packed->avail;

    if (!read_desc(ram, vq->ring.desc, at.at, out))
        return vq_break(vq, VQE_BAD_ADDRESS);
    return vring_is_avail(out->flags, at) ? VQ_GOT : VQ_EMPTY;
}

/* Like look(), and requests a notification if there is no chain.  A driver that runs concurrently
 * may have added a chain before it saw the request, so the descriptor is read again.  Such a driver
 * writes the flags last, so the other fields are read after the flags.
 */
static enum vq_pop read_head(struct vq *vq, struct ram *ram, struct packed_desc *out)
{
    enum vq_pop got = look(vq, ram, out);

    if (got == VQ_EMPTY) {
        publish_event(vq, ram, vq->packed->avail);
        if (vq->broken != VQE_NONE)
            return VQ_BROKEN;
        got = ram->foreign ? look(vq, ram, out) : VQ_EMPTY;
    }
    if (got == VQ_GOT && ram->foreign) {
        ram_fence(ram);
        got = look(vq, ram, out);
    }
    return got;
}

enum vq_pop packed_pop(struct vq *vq, struct ram *ram, struct vq_chain *out)
{
    struct vq_packed *p = vq->packed;
    uint32_t slots = 0;
    enum vq_error error;
    struct packed_desc d;
    enum vq_pop head;

    if (vq->broken != VQE_NONE)
        return VQ_BROKEN;
    head = read_head(vq, ram, &d);
    if (head != VQ_GOT)
        return head;
    vq_chain_begin(out);
    error = walk_chain(vq, ram, d, out, &slots);
    if (error == VQE_NONE && find_taken(p, out->head))
        error = VQE_ID_IN_USE;
    if (error != VQE_NONE)
        return vq_break(vq, error);
    add_taken(p, out->head, slots);
    move_avail(vq, slots);
    return VQ_GOT;
}

/* Number of slots of the chain at @pos, at most @max.  Returns 0 if there is no complete chain, or
 * if the ring is outside RAM.
 */
static uint32_t count_slots(struct vq *vq, const struct ram *ram, struct vring_pos pos,
                            uint32_t max)
{
    for (uint32_t n = 1; n <= max; n++) {
        struct packed_desc d;

        if (!read_desc(ram, vq->ring.desc, pos.at, &d)) {
            vq_break(vq, VQE_BAD_ADDRESS);
            return 0;
        }
        if (!vring_is_avail(d.flags, pos))
            return 0;
        if (!(d.flags & VRING_NEXT))
            return n;
        ram_fence(ram); /* written before the flags of the first descriptor */
        pos = vring_pos_after(pos, 1, vq->ring.size);
    }
    return 0;
}

uint32_t packed_avail_count(struct vq *vq, const struct ram *ram)
{
    struct vq_packed *p = vq->packed;

    while (vq->broken == VQE_NONE) {
        const uint32_t n = count_slots(vq, ram, p->seen, vq->ring.size - p->n_taken - p->n_seen);

        if (n == 0)
            break;
        p->seen = vring_pos_after(p->seen, n, vq->ring.size);
        p->n_seen += n;
        vq->seen_avail++;
    }
    return vq->broken == VQE_NONE ? (uint16_t)(vq->seen_avail - vq->last_avail) : 0;
}

/* --- Completing chains ------------------------------------------------------------------------ */

/* Forgets the chain @id and returns its number of slots.  An @id that is not outstanding counts as
 * one slot, if there is one left.
 */
static uint32_t forget_taken(struct vq_packed *p, uint16_t id)
{
    struct vq_taken *t = find_taken(p, id);
    uint32_t slots = 1;

    if (t) {
        slots = t->slots;
        remove_taken(p, t);
    }
    p->n_taken -= slots < p->n_taken ? slots : p->n_taken;
    return slots;
}

void packed_untake(struct vq *vq, const struct vq_used *used, uint32_t n)
{
    struct vq_packed *p = vq->packed;
    uint32_t slots = 0;

    for (uint32_t i = 0; i < n; i++)
        slots += forget_taken(p, used[i].head);
    p->avail = vring_pos_before(p->avail, slots, vq->ring.size);
    p->n_seen += slots;
}

/* Writes length and id of a used descriptor at p->used, and its flags if @whole.  The address field
 * is not changed.
 */
static bool write_used(const struct vq *vq, struct ram *ram, struct vq_used used, bool whole)
{
    const struct vring_pos pos = vq->packed->used;
    const unsigned flags = vring_used_flags(pos) | (used.len > 0 ? VRING_WRITE : 0);
    uint8_t b[8];

    st_le32(b, used.len);
    st_le16(b + 4, used.head);
    st_le16(b + 6, (uint16_t)flags);
    return ram_write(ram, vring_desc_at(&vq->ring, pos.at) + 8, b, whole ? 8 : 6);
}

static bool write_used_flags(const struct vq *vq, struct ram *ram, struct vring_pos pos,
                             uint32_t len)
{
    uint8_t b[2];

    st_le16(b, (uint16_t)(vring_used_flags(pos) | (len > 0 ? VRING_WRITE : 0)));
    return ram_write(ram, vring_desc_at(&vq->ring, pos.at) + 14, b, sizeof(b));
}

/* A driver that runs concurrently polls the first descriptor, so its flags are written last. */
bool packed_push(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n)
{
    struct vq_packed *p = vq->packed;
    const struct vring_pos first = p->used;
    bool good = true;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;

        good = write_used(vq, ram, used[i], i > 0 || !ram->foreign);
        if (!good)
            break;
        slots = forget_taken(p, used[i].head);
        p->used = vring_pos_after(p->used, slots, vq->ring.size);
        if (vq->pushed < 2 * vq->ring.size)
            vq->pushed += slots;
    }
    if (good && ram->foreign) {
        ram_fence(ram);
        good = write_used_flags(vq, ram, first, used[0].len);
    }
    if (!good) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return false;
    }
    vq->used_idx = (uint16_t)(vq->used_idx + n);
    return true;
}

void packed_invent(const struct vq *vq, struct ram *ram, uint32_t id, uint32_t len)
{
    (void)write_used(vq, ram, (struct vq_used){(uint16_t)id, len}, true);
}

/* Returns true if the driver requests an interrupt for one of the @n slots before p->used. */
static bool is_wanted(struct vq *vq, uint16_t event, uint16_t flags, uint32_t n)
{
    const struct vring_pos pos = vring_event_pos(event);

    switch (flags & VRING_EVENT_FLAGS) {
    case VRING_EVENT_ENABLE:
        return true;
    case VRING_EVENT_DISABLE:
        return false;
    default:
        if (vq->event_idx && (flags & VRING_EVENT_FLAGS) == VRING_EVENT_DESC &&
            pos.at < vq->ring.size)
            return vring_packed_passed(pos, vq->packed->used, n, vq->ring.size);
        vq_break(vq, VQE_BAD_EVENT);
        return false;
    }
}

bool packed_wants_interrupt(struct vq *vq, const struct ram *ram)
{
    const uint32_t pushed = vq->pushed;
    uint8_t b[VRING_EVENT_BYTES];

    if (pushed == 0)
        return false;
    if (!ram_read(ram, vq->ring.avail, b, sizeof(b))) {
        vq_break(vq, VQE_BAD_ADDRESS);
        return false;
    }
    vq->pushed = 0;
    return is_wanted(vq, ld_le16(b), ld_le16(b + AREA_FLAGS), pushed);
}

void packed_want_kick(struct vq *vq, struct ram *ram)
{
    uint32_t n = packed_avail_count(vq, ram), before;

    do { /* repeat until no chain was added meanwhile */
        if (vq->broken != VQE_NONE)
            return;
        publish_event(vq, ram, vq->packed->seen);
        before = n;
        n = ram->foreign ? packed_avail_count(vq, ram) : n;
    } while (n != before);
}

void packed_refuse_kicks(struct vq *vq, struct ram *ram)
{
    publish(vq, ram, vq->packed->event, VRING_EVENT_DISABLE);
}

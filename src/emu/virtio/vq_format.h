/* SPDX-License-Identifier: MIT */
/* What is behind vq_device.h: the two formats of a ring, and what they have in common. */
#ifndef EMU_VIRTIO_VQ_FORMAT_H
#define EMU_VIRTIO_VQ_FORMAT_H

#include "emu/base/cold.h"
#include "emu/virtio/vq_device.h"

/* As vq_device.h has them, of a queue that is not broken (but it may be for ..._pop and
 * ..._avail_count).
 */
enum vq_pop split_pop(struct vq *vq, struct ram *ram, struct vq_chain *out);
uint32_t split_avail_count(struct vq *vq, const struct ram *ram);
bool split_push_one(struct vq *vq, struct ram *ram, struct vq_used used); /* what comes often */
bool split_push(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n);
void split_invent(const struct vq *vq, struct ram *ram, uint32_t id, uint32_t len);
bool split_wants_interrupt(struct vq *vq, const struct ram *ram);
void split_want_kick(struct vq *vq, struct ram *ram);
void split_refuse_kicks(struct vq *vq, struct ram *ram);

RDL_APART void packed_started(struct vq *vq, struct ram *ram);
RDL_APART enum vq_pop packed_pop(struct vq *vq, struct ram *ram, struct vq_chain *out);
RDL_APART uint32_t packed_avail_count(struct vq *vq, const struct ram *ram);
RDL_APART void packed_untake(struct vq *vq, const struct vq_used *used, uint32_t n);
RDL_APART bool packed_push(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n);
RDL_APART void packed_invent(const struct vq *vq, struct ram *ram, uint32_t id, uint32_t len);
RDL_APART bool packed_wants_interrupt(struct vq *vq, const struct ram *ram);
RDL_APART void packed_want_kick(struct vq *vq, struct ram *ram);
RDL_APART void packed_refuse_kicks(struct vq *vq, struct ram *ram);

/* A buffer that a driver has given, and which of its descriptors it took. */
struct vq_taken {
    uint16_t id;
    uint16_t slots; /* 0: none is here */
};

/* What the device knows of a packed ring beside what it knows of any.  Slots go round in this
 * order, each side being at or behind the one before:
 *
 *   used   where the device writes what it gives back next; up to avail are slots that it has
 *   avail  where it takes the next buffer from
 *   seen   up to where it has counted buffers that it has not taken
 *
 * Where a buffer lay in the ring does not matter any more once it is taken: what must be known of
 * it is how many slots come back with its id.  `taken` is a hash table of the ids, open, with
 * their low bits as the first place: of a driver that numbers its buffers from 0 each is at its
 * own.
 */
struct vq_packed {
    struct vring_pos used, avail, seen;
    uint32_t n_taken;            /* slots from used to avail */
    uint32_t n_seen;             /* slots from avail to seen */
    uint16_t event, event_flags; /* of the device area, as last written */
    uint32_t mask;               /* places of taken, a power of two, less 1 */
    struct vq_taken taken[];
};

static inline enum vq_pop vq_break(struct vq *vq, enum vq_error error)
{
    vq->broken = error;
    return VQ_BROKEN;
}

static inline void vq_chain_begin(struct vq_chain *out)
{
    out->n_readable = out->n_writable = 0;
    out->readable_bytes = out->writable_bytes = 0;
}

/* Appends a buffer to @out.  What is beyond the limits sets *@too_long and is not kept: the walk
 * goes on, to tell a loop from a long chain.
 */
static inline enum vq_error vq_add_seg(const struct ram *ram, const struct vq_seg *seg,
                                       unsigned flags, struct vq_chain *out, bool *too_long)
{
    const bool writable = (flags & VRING_WRITE) != 0;
    const uint32_t n = out->n_readable + out->n_writable;

    if (seg->bytes == 0)
        return VQE_ZERO_LENGTH;
    if (!ram_holds(ram, seg->gpa, seg->bytes))
        return VQE_BAD_ADDRESS;
    if (!writable && out->n_writable > 0)
        return VQE_BAD_ORDER;
    if (n == VQ_SEGS_MAX ||
        seg->bytes > VQ_CHAIN_BYTES_MAX - out->readable_bytes - out->writable_bytes) {
        *too_long = true;
        return VQE_NONE;
    }

    out->segs[n] = *seg;
    *(writable ? &out->n_writable : &out->n_readable) += 1;
    *(writable ? &out->writable_bytes : &out->readable_bytes) += seg->bytes;
    return VQE_NONE;
}

/* Can @seg, of a descriptor with these flags, be a table of descriptors? */
static inline enum vq_error vq_check_table(const struct vq *vq, const struct ram *ram,
                                           const struct vq_seg *seg, unsigned flags)
{
    const uint32_t len = seg->bytes / VRING_DESC_BYTES;

    if (!vq->indirect || (flags & VRING_NEXT))
        return VQE_BAD_INDIRECT;
    if (len == 0 || seg->bytes % VRING_DESC_BYTES != 0 || len > VRING_SIZE_MAX)
        return VQE_BAD_INDIRECT;
    return ram_holds(ram, seg->gpa, seg->bytes) ? VQE_NONE : VQE_BAD_ADDRESS;
}

#endif

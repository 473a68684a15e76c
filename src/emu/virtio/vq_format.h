/* SPDX-License-Identifier: MIT */
/* The device side of split and packed rings: the functions that vq_device.h dispatches to, and
 * helpers that both formats use.
 */
#ifndef EMU_VIRTIO_VQ_FORMAT_H
#define EMU_VIRTIO_VQ_FORMAT_H

#include "emu/base/cold.h"
#include "emu/virtio/vq_device.h"

/* The functions of vq_device.h for each ring format.  Only ..._pop and ..._avail_count accept a
 * broken queue.
 */
enum vq_pop split_pop(struct vq *vq, struct ram *ram, struct vq_chain *out);
uint32_t split_avail_count(struct vq *vq, const struct ram *ram);
bool split_push_one(struct vq *vq, struct ram *ram, struct vq_used used); /* the frequent case */
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

/* An outstanding buffer id, and the number of ring slots that its chain occupies. */
struct vq_taken {
    uint16_t id;
    uint16_t slots; /* 0: an empty entry of the table */
};

/* The device's state of a packed ring.  The positions follow each other round the ring in this
 * order; each is equal to the previous one or after it:
 *
 *   used   where the device writes the next used descriptor; the slots from here to avail are
 *          outstanding
 *   avail  where the device takes the next chain
 *   seen   end of the available chains that it has counted, but not taken
 *
 * Once a chain is taken, its place in the ring no longer matters.  The device only needs the number
 * of slots that are freed with its id.  `taken` is an open-addressing hash table of the ids,
 * indexed by their low bits.  A driver that numbers its buffers from 0 has no collisions.
 */
struct vq_packed {
    struct vring_pos used, avail, seen;
    uint32_t n_taken;            /* slots from used to avail */
    uint32_t n_seen;             /* slots from avail to seen */
    uint16_t event, event_flags; /* content of the device area as last written */
    uint32_t mask;               /* number of entries of taken, a power of two, minus 1 */
    struct vq_taken taken[];
};

/* Marks the queue as broken by @error.  Returns VQ_BROKEN. */
static inline enum vq_pop vq_break(struct vq *vq, enum vq_error error)
{
    vq->broken = error;
    return VQ_BROKEN;
}

/* Empties @out, before the first vq_add_seg(). */
static inline void vq_chain_begin(struct vq_chain *out)
{
    out->n_readable = out->n_writable = 0;
    out->readable_bytes = out->writable_bytes = 0;
}

/* Appends the buffer @seg, of a descriptor with @flags, to @out.  Returns VQE_NONE, or the error of
 * an invalid buffer.  If @out has no room for the buffer (VQ_SEGS_MAX, VQ_CHAIN_BYTES_MAX), sets
 * *@too_long and returns VQE_NONE.  The caller continues its walk to distinguish a loop from a long
 * chain.
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

/* Checks that @seg, of a descriptor with @flags, is a valid indirect table.  Returns VQE_NONE,
 * VQE_BAD_INDIRECT or VQE_BAD_ADDRESS.
 */
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

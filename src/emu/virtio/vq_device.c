/* SPDX-License-Identifier: MIT */
/* The device side of a virtqueue: dispatch by ring format, and copying of chain bytes. */
#include "emu/virtio/vq_device.h"

#include "emu/base/log2.h"
#include "emu/virtio/vq_format.h"

static size_t packed_bytes(uint32_t places)
{
    return sizeof(struct vq_packed) + places * sizeof(struct vq_taken);
}

bool vq_set_up(struct vq *vq, struct arena *a)
{
    const uint32_t places = (uint32_t)pow2_ceil(vq->ring.size);

    if (vq->ring.packed) {
        vq->packed = arena_alloc_raw(a, packed_bytes(places));
        if (!vq->packed)
            return false;
        vq->packed->mask = places - 1;
    }
    vq_restart(vq);
    return true;
}

void vq_started(struct vq *vq, struct ram *ram)
{
    if (vq->packed)
        packed_started(vq, ram);
}

void vq_done(struct vq *vq, struct arena *a)
{
    if (vq->packed)
        arena_release(a, vq->packed, packed_bytes(vq->packed->mask + 1));
    vq->packed = NULL;
}

void vq_restart(struct vq *vq)
{
    struct vq_packed *p = vq->packed;

    vq->last_avail = vq->seen_avail = vq->used_idx = vq->avail_event = 0;
    vq->pushed = 0;
    if (!p)
        return;
    p->used = p->avail = p->seen = VRING_POS_START;
    p->n_taken = p->n_seen = 0;
    p->event = p->event_flags = 0;
    for (uint32_t i = 0; i <= p->mask; i++)
        p->taken[i] = (struct vq_taken){0, 0};
}

bool vq_turn_is_over(struct vq *vq, const struct ram *ram, uint64_t tick)
{
    if (vq->turn != (uint32_t)tick) {
        vq->turn = (uint32_t)tick;
        vq->n_taken = 0;
    }
    return vq->n_taken >= vq->ring.size && vq_avail_peek(vq, ram) > 0;
}

enum vq_pop vq_pop(struct vq *vq, struct ram *ram, struct vq_chain *out)
{
    const enum vq_pop got = vq->packed ? packed_pop(vq, ram, out) : split_pop(vq, ram, out);

    vq->n_taken += got == VQ_GOT;
    return got;
}

uint32_t vq_avail_count(struct vq *vq, const struct ram *ram)
{
    return vq->packed ? packed_avail_count(vq, ram) : split_avail_count(vq, ram);
}

uint32_t vq_avail_peek(const struct vq *vq, const struct ram *ram)
{
    struct vq copy = *vq;
    struct vq_packed packed;

    if (vq->packed) {
        packed = *vq->packed;
        copy.packed = &packed;
    }
    return vq_avail_count(&copy, ram);
}

void vq_untake(struct vq *vq, const struct vq_used *used, uint32_t n)
{
    if (vq->packed)
        packed_untake(vq, used, n);
    vq->last_avail = (uint16_t)(vq->last_avail - n);
}

bool vq_push_all(struct vq *vq, struct ram *ram, const struct vq_used *used, uint32_t n)
{
    if (vq->broken != VQE_NONE)
        return false;
    return vq->packed ? packed_push(vq, ram, used, n) : split_push(vq, ram, used, n);
}

bool vq_push(struct vq *vq, struct ram *ram, uint16_t head, uint32_t len)
{
    const struct vq_used used = {head, len};

    if (vq->broken != VQE_NONE)
        return false;
    return vq->packed ? packed_push(vq, ram, &used, 1) : split_push_one(vq, ram, used);
}

void vq_invent(struct vq *vq, struct ram *ram, uint32_t id, uint32_t len)
{
    if (vq->packed)
        packed_invent(vq, ram, id, len);
    else
        split_invent(vq, ram, id, len);
}

bool vq_wants_interrupt(struct vq *vq, const struct ram *ram)
{
    if (vq->broken != VQE_NONE)
        return false;
    ram_fence(ram); /* the driver writes its request, then reads the used entries */
    return vq->packed ? packed_wants_interrupt(vq, ram) : split_wants_interrupt(vq, ram);
}

void vq_want_kick(struct vq *vq, struct ram *ram)
{
    if (vq->packed)
        packed_want_kick(vq, ram);
    else
        split_want_kick(vq, ram);
}

void vq_refuse_kicks(struct vq *vq, struct ram *ram)
{
    if (vq->broken != VQE_NONE)
        return;
    if (vq->packed)
        packed_refuse_kicks(vq, ram);
    else
        split_refuse_kicks(vq, ram);
}

/* The part of @seg that a copy of @n bytes from *@offset covers.  If the copy begins behind @seg,
 * the part is empty and *@offset is reduced by the length of @seg.
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

uint64_t vq_chain_gpa(const struct vq_chain *c, size_t offset)
{
    const struct vq_seg *seg = &c->segs[c->n_readable];

    while (offset >= seg->bytes)
        offset -= seg++->bytes;
    return seg->gpa + offset;
}

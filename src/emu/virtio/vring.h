/* SPDX-License-Identifier: MIT */
/* Layout of a virtqueue in guest RAM, for both sides and both formats.
 *
 * Split:  [virtio 1.2, 2.7]
 *
 *   descriptor table   16 bytes each: le64 address, le32 length, le16 flags, le16 next
 *   avail ring         le16 flags, le16 idx, le16 ring[size], le16 used_event
 *                                                                               driver writes
 *   used ring          le16 flags, le16 idx, {le32 id, le32 len}[size], le16 avail_event
 *                                                                               device writes
 *
 * Indexes increment modulo 2^16; entry i is at i modulo size.  With EVENT_IDX the last word of each
 * ring is the index at which its writer wants to be notified or interrupted.  Without
 * EVENT_IDX a flag switches interrupts or notifications off.
 *
 * Packed:  [virtio 1.2, 2.8]
 *
 *   descriptor ring    16 bytes each: le64 address, le32 length, le16 id, le16 flags
 *                                                                            both sides write
 *   driver area        le16 position, le16 flags: when the driver wants interrupts
 *   device area        le16 position, le16 flags: when the device wants to be notified
 *
 * There are no indexes.  Each side goes round the ring with a wrap counter that is 1 in its first
 * lap and toggles with each lap.  The driver makes a descriptor available by setting the flag AVAIL
 * to its counter and USED to the inverse.  The device marks a buffer used by setting both flags to
 * its own counter.  A buffer of n descriptors advances both sides by n slots.  The device writes
 * one used descriptor per buffer, with the id that the driver chose.  It writes it at its current
 * position, whichever buffer it completes.
 */
#ifndef EMU_VIRTIO_VRING_H
#define EMU_VIRTIO_VRING_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/virtio/virtq.h"

/* Guest-physical addresses of the parts of a queue. */
struct vring {
    uint64_t desc;
    uint64_t avail; /* avail ring; packed: the driver area */
    uint64_t used;  /* used ring; packed: the device area */
    uint32_t size;  /* 1 .. VRING_SIZE_MAX; a power of two unless packed */
    bool packed;
};

/* Alignments that virtio requires. */
#define VRING_DESC_ALIGN  16u
#define VRING_AVAIL_ALIGN 2u
#define VRING_USED_ALIGN  4u
#define VRING_EVENT_ALIGN 4u /* both areas of a packed ring */

/* Return the guest-physical address of a field or an entry of the ring @r.  Indexes are taken
 * modulo its size.
 */
static inline uint64_t vring_avail_idx_at(const struct vring *r)
{
    return r->avail + 2;
}

static inline uint64_t vring_avail_entry_at(const struct vring *r, uint16_t idx)
{
    return r->avail + 4 + 2 * (uint64_t)(idx & (r->size - 1));
}

static inline uint64_t vring_used_event_at(const struct vring *r)
{
    return r->avail + 4 + 2 * (uint64_t)r->size;
}

static inline uint64_t vring_used_idx_at(const struct vring *r)
{
    return r->used + 2;
}

static inline uint64_t vring_used_entry_at(const struct vring *r, uint16_t idx)
{
    return r->used + 4 + VRING_USED_BYTES * (uint64_t)(idx & (r->size - 1));
}

static inline uint64_t vring_avail_event_at(const struct vring *r)
{
    return r->used + 4 + VRING_USED_BYTES * (uint64_t)r->size;
}

static inline uint64_t vring_desc_at(const struct vring *r, uint32_t i)
{
    return r->desc + VRING_DESC_BYTES * (uint64_t)i;
}

/* Returns the size in bytes of a queue of @size entries laid out by vring_place(). */
uint64_t vring_bytes(uint32_t size, bool packed);

/* Lays out the three parts of a queue of @size entries one after the other from @base, which is
 * 16-byte aligned.  Returns their addresses.
 */
struct vring vring_place(uint64_t base, uint32_t size, bool packed);

/* Returns true if no part of the ring is at address 0 and all parts are aligned. */
bool vring_is_sound(const struct vring *r);

/* Returns true if moving an index from @old_idx to @new_idx passes @event, the entry for which the
 * other side wants a notification.  [virtio 1.2, appendix virtio_queue.h, virtq_need_event()]
 */
static inline bool vring_need_event(uint16_t event, uint16_t new_idx, uint16_t old_idx)
{
    return (uint16_t)(new_idx - event - 1u) < (uint16_t)(new_idx - old_idx);
}

/* Like vring_need_event(), for the last @n steps to @new_idx.  2^16 steps pass every event. */
static inline bool vring_passed(uint16_t event, uint16_t new_idx, uint32_t n)
{
    return n > UINT16_MAX || vring_need_event(event, new_idx, (uint16_t)(new_idx - n));
}

/* Returns true if the last @n slots before @now include the position @event, which is inside the
 * ring of @size slots.  2 * @size slots include every position.
 */
bool vring_packed_passed(struct vring_pos event, struct vring_pos now, uint32_t n, uint32_t size);

#endif

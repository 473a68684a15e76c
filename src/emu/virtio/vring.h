/* SPDX-License-Identifier: MIT */
/* A virtqueue as it lies in guest RAM, for both sides, in either of two formats.
 *
 * Split: [virtio 1.2, 2.7]
 *
 *   descriptor table   16 bytes each: le64 address, le32 length, le16 flags, le16 next
 *   avail ring         le16 flags, le16 idx, le16 ring[size], le16 used_event     driver writes
 *   used ring          le16 flags, le16 idx, {le32 id, le32 len}[size], le16 avail_event
 *                                                                                 device writes
 *
 * Indexes count without end modulo 2^16; entry i lies at i modulo size.  With EVENT_IDX the word at
 * the end of a ring says at which index the other side wants to be told, otherwise the flags do.
 *
 * Packed: [virtio 1.2, 2.8]
 *
 *   descriptor ring    16 bytes each: le64 address, le32 length, le16 id, le16 flags
 *                                                                        both sides write
 *   driver area        le16 place, le16 flags: when the driver wants interrupts
 *   device area        the same: when the device wants to be notified
 *
 * There are no indexes.  Each side goes round the ring with a wrap counter that is 1 in its first
 * lap and changes with each: the driver makes a descriptor available by giving the flag AVAIL the
 * value of its counter and USED the other one, the device gives a buffer back by giving both the
 * value of its own.  A buffer of n descriptors moves both sides n slots on; what is given back is
 * one descriptor, with the id that the driver chose, at the place where the device is, whichever
 * buffer it was.
 */
#ifndef EMU_VIRTIO_VRING_H
#define EMU_VIRTIO_VRING_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/virtio/virtq.h"

/* Where a queue lies, guest-physical. */
struct vring {
    uint64_t desc;
    uint64_t avail; /* of a packed ring: the driver area */
    uint64_t used;  /* of a packed ring: the device area */
    uint32_t size;  /* 1 .. VRING_SIZE_MAX; a power of two unless packed */
    bool packed;
};

/* What virtio asks of the three addresses. */
#define VRING_DESC_ALIGN  16u
#define VRING_AVAIL_ALIGN 2u
#define VRING_USED_ALIGN  4u
#define VRING_EVENT_ALIGN 4u /* of both areas of a packed ring */

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

/* Bytes of a queue of @size entries laid out by vring_place(). */
uint64_t vring_bytes(uint32_t size, bool packed);

/* Its three parts one after the other from @base (16-byte aligned). */
struct vring vring_place(uint64_t base, uint32_t size, bool packed);

/* Can a driver enable a queue there: is every part somewhere, and aligned? */
bool vring_is_sound(const struct vring *r);

/* Does moving an index from @old_idx to @new_idx pass @event, the entry that the other side waits
 * for?  [virtio 1.2, appendix virtio_queue.h, virtq_need_event()]
 */
static inline bool vring_need_event(uint16_t event, uint16_t new_idx, uint16_t old_idx)
{
    return (uint16_t)(new_idx - event - 1u) < (uint16_t)(new_idx - old_idx);
}

/* The same after @n steps to @new_idx, for any @n: 2^16 steps pass every event. */
static inline bool vring_passed(uint16_t event, uint16_t new_idx, uint32_t n)
{
    return n > UINT16_MAX || vring_need_event(event, new_idx, (uint16_t)(new_idx - n));
}

/* Do the last @n slots before @now include @event, which is inside the ring?  Two laps include
 * every place.
 */
bool vring_packed_passed(struct vring_pos event, struct vring_pos now, uint32_t n, uint32_t size);

#endif

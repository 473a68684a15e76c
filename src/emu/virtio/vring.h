/* SPDX-License-Identifier: MIT */
/* The split virtqueue as it lies in guest RAM, for both sides.  [virtio 1.2, 2.7]
 *
 *   descriptor table   16 bytes each: le64 address, le32 length, le16 flags, le16 next
 *   avail ring         le16 flags, le16 idx, le16 ring[size], le16 used_event     driver writes
 *   used ring          le16 flags, le16 idx, {le32 id, le32 len}[size], le16 avail_event
 *                                                                                 device writes
 *
 * Indexes count without end modulo 2^16; entry i lies at i modulo size.  With EVENT_IDX the word at
 * the end of a ring says at which index the other side wants to be told, otherwise the flags do.
 */
#ifndef EMU_VIRTIO_VRING_H
#define EMU_VIRTIO_VRING_H

#include <stdbool.h>
#include <stdint.h>

#define VRING_SIZE_MAX 32768u

#define VRING_DESC_BYTES 16u
#define VRING_USED_BYTES 8u /* one element of the used ring */

/* Flags of a descriptor. */
#define VRING_NEXT     1u
#define VRING_WRITE    2u /* the device writes this buffer */
#define VRING_INDIRECT 4u

/* Flags of a ring, without EVENT_IDX. */
#define VRING_AVAIL_NO_INTERRUPT 1u
#define VRING_USED_NO_NOTIFY     1u

/* Where a queue lies, guest-physical. */
struct vring {
    uint64_t desc, avail, used;
    uint32_t size; /* a power of two, 1 .. VRING_SIZE_MAX */
};

/* What virtio asks of the three addresses. */
#define VRING_DESC_ALIGN  16u
#define VRING_AVAIL_ALIGN 2u
#define VRING_USED_ALIGN  4u

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
uint64_t vring_bytes(uint32_t size);

/* Descriptors, avail ring and used ring one after the other from @base (16-byte aligned). */
struct vring vring_place(uint64_t base, uint32_t size);

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

#endif

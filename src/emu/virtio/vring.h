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

/* Flags of a descriptor of a packed ring, beside those above. */
#define VRING_PACKED_AVAIL 0x80u
#define VRING_PACKED_USED  0x8000u

/* The areas of a packed ring: the place has VRING_EVENT_WRAP, the wrap counter; of the flags only
 * these values are known.
 */
#define VRING_EVENT_BYTES   4u
#define VRING_EVENT_WRAP    0x8000u
#define VRING_EVENT_ENABLE  0u
#define VRING_EVENT_DISABLE 1u
#define VRING_EVENT_DESC    2u /* at that place; with EVENT_IDX only */
#define VRING_EVENT_FLAGS   3u /* the bits of the flags that are not reserved */

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

/* A place in a packed ring, and the wrap counter of who is there. */
struct vring_pos {
    uint16_t at;
    bool wrap;
};

#define VRING_POS_START ((struct vring_pos){0, true})

/* @n slots further; @n is at most the size. */
static inline struct vring_pos vring_pos_after(struct vring_pos p, uint32_t n, uint32_t size)
{
    const uint32_t at = p.at + n;

    return at < size ? (struct vring_pos){(uint16_t)at, p.wrap}
                     : (struct vring_pos){(uint16_t)(at - size), !p.wrap};
}

static inline struct vring_pos vring_pos_before(struct vring_pos p, uint32_t n, uint32_t size)
{
    return p.at >= n ? (struct vring_pos){(uint16_t)(p.at - n), p.wrap}
                     : (struct vring_pos){(uint16_t)(p.at + size - n), !p.wrap};
}

/* What the flags of a descriptor at @p say: there is a buffer for the device; one for the driver.
 * [virtio 1.2, 2.8.1]
 */
static inline bool vring_is_avail(unsigned flags, struct vring_pos p)
{
    return !(flags & VRING_PACKED_AVAIL) != p.wrap && !(flags & VRING_PACKED_USED) == p.wrap;
}

static inline bool vring_is_used(unsigned flags, struct vring_pos p)
{
    return !(flags & VRING_PACKED_AVAIL) != p.wrap && !(flags & VRING_PACKED_USED) != p.wrap;
}

/* The flags that say so. */
static inline unsigned vring_avail_flags(struct vring_pos p)
{
    return p.wrap ? VRING_PACKED_AVAIL : VRING_PACKED_USED;
}

static inline unsigned vring_used_flags(struct vring_pos p)
{
    return p.wrap ? VRING_PACKED_AVAIL | VRING_PACKED_USED : 0;
}

/* A place as the areas have it, and back. */
static inline uint16_t vring_event_of(struct vring_pos p)
{
    return (uint16_t)(p.at | (p.wrap ? VRING_EVENT_WRAP : 0));
}

static inline struct vring_pos vring_event_pos(uint16_t event)
{
    return (struct vring_pos){event & (VRING_EVENT_WRAP - 1), (event & VRING_EVENT_WRAP) != 0};
}

/* From @from to @to, less than two laps. */
uint32_t vring_slots_between(struct vring_pos from, struct vring_pos to, uint32_t size);

/* Do the last @n slots before @now include @event, which is inside the ring?  Two laps include
 * every place.
 */
bool vring_packed_passed(struct vring_pos event, struct vring_pos now, uint32_t n, uint32_t size);

#endif

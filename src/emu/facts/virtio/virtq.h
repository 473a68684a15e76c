/* SPDX-License-Identifier: MIT */
/* The numbers of a virtqueue, and how places in a packed ring are counted: for both sides of it,
 * and for whoever shows one.  What lies where in guest RAM: emu/virtio/vring.h.
 */
#ifndef EMU_FACTS_VIRTIO_VIRTQ_H
#define EMU_FACTS_VIRTIO_VIRTQ_H

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

/* How far round two laps, which is where a place comes again with the same wrap counter. */
static inline uint32_t vring_pos_turn(struct vring_pos p, uint32_t size)
{
    return p.wrap ? p.at : p.at + size;
}

/* From @from to @to, less than two laps. */
static inline uint32_t vring_slots_between(struct vring_pos from, struct vring_pos to,
                                           uint32_t size)
{
    return (vring_pos_turn(to, size) + 2 * size - vring_pos_turn(from, size)) % (2 * size);
}

#endif

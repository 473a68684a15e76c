/* SPDX-License-Identifier: MIT */
/* Constants of virtqueues, and arithmetic of positions in a packed ring.  The driver, the device
 * and the commands that print a ring use them.  emu/virtio/vring.h has the layout in guest RAM.
 */
#ifndef EMU_FACTS_VIRTIO_VIRTQ_H
#define EMU_FACTS_VIRTIO_VIRTQ_H

#include <stdbool.h>
#include <stdint.h>

#define VRING_SIZE_MAX 32768u /* maximum number of descriptors of a virtqueue */

#define VRING_DESC_BYTES 16u
#define VRING_USED_BYTES 8u /* one element of the used ring */

/* Flags of a descriptor, in split and packed rings. */
#define VRING_NEXT     1u /* the chain continues with another descriptor */
#define VRING_WRITE    2u /* the device writes this buffer; otherwise it reads it */
#define VRING_INDIRECT 4u /* the buffer is a table of descriptors */

/* Flags of the available ring and of the used ring of a split virtqueue.  They suppress interrupts
 * and notifications if the feature EVENT_IDX is not negotiated.
 */
#define VRING_AVAIL_NO_INTERRUPT 1u
#define VRING_USED_NO_NOTIFY     1u

/* Additional flags of a descriptor in a packed ring: AVAIL and USED. */
#define VRING_PACKED_AVAIL 0x80u
#define VRING_PACKED_USED  0x8000u

/* The event suppression structures of a packed ring: le16 position, le16 flags.  Bit
 * VRING_EVENT_WRAP of the position is its wrap counter.
 */
#define VRING_EVENT_BYTES   4u
#define VRING_EVENT_WRAP    0x8000u
#define VRING_EVENT_ENABLE  0u /* flags: send every event */
#define VRING_EVENT_DISABLE 1u /* flags: send no events */
#define VRING_EVENT_DESC    2u /* flags: send an event at the position; needs EVENT_IDX */
#define VRING_EVENT_FLAGS   3u /* mask: the other bits of the flags are reserved */

/* A position of the driver or the device in a packed ring. */
struct vring_pos {
    uint16_t at; /* index of the descriptor */
    bool wrap;   /* wrap counter: true in the first lap, inverted in each further lap */
};

#define VRING_POS_START ((struct vring_pos){0, true})

/* Return the position @n descriptors after @p, or before it, in a ring of @size descriptors.  @n is
 * at most @size.
 */
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

/* vring_is_avail() returns true if a descriptor at @p with @flags is available to the device.
 * vring_is_used() returns true if the device has marked it used.  [virtio 1.2, 2.8.1]
 */
static inline bool vring_is_avail(unsigned flags, struct vring_pos p)
{
    return !(flags & VRING_PACKED_AVAIL) != p.wrap && !(flags & VRING_PACKED_USED) == p.wrap;
}

static inline bool vring_is_used(unsigned flags, struct vring_pos p)
{
    return !(flags & VRING_PACKED_AVAIL) != p.wrap && !(flags & VRING_PACKED_USED) != p.wrap;
}

/* Return the AVAIL and USED flags of a descriptor at @p: as the driver sets them to make it
 * available, and as the device sets them to mark it used.  [virtio 1.2, 2.8.1]
 */
static inline unsigned vring_avail_flags(struct vring_pos p)
{
    return p.wrap ? VRING_PACKED_AVAIL : VRING_PACKED_USED;
}

static inline unsigned vring_used_flags(struct vring_pos p)
{
    return p.wrap ? VRING_PACKED_AVAIL | VRING_PACKED_USED : 0;
}

/* Convert between a position and its encoding in an event suppression structure. */
static inline uint16_t vring_event_of(struct vring_pos p)
{
    return (uint16_t)(p.at | (p.wrap ? VRING_EVENT_WRAP : 0));
}

static inline struct vring_pos vring_event_pos(uint16_t event)
{
    return (struct vring_pos){event & (VRING_EVENT_WRAP - 1), (event & VRING_EVENT_WRAP) != 0};
}

/* Returns the number of descriptors from VRING_POS_START to @p: 0 .. 2 * size - 1.  Positions
 * repeat after two laps, because the wrap counter then has the same value again.
 */
static inline uint32_t vring_pos_turn(struct vring_pos p, uint32_t size)
{
    return p.wrap ? p.at : p.at + size;
}

/* Returns the number of descriptors from @from to @to: 0 .. 2 * size - 1. */
static inline uint32_t vring_slots_between(struct vring_pos from, struct vring_pos to,
                                           uint32_t size)
{
    return (vring_pos_turn(to, size) + 2 * size - vring_pos_turn(from, size)) % (2 * size);
}

#endif

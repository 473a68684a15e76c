/* SPDX-License-Identifier: MIT */
/* The driver side of a virtqueue, split or packed: offers chains and takes completed ones.
 *
 * The driver keeps its state in its own memory (free descriptors, lengths of chains, indexes) and
 * never reads back what it has written to the ring.  So a faulty device cannot mislead it: a used
 * element that names no outstanding chain marks the queue broken.
 *
 * Chains are numbered from 0 to ring.size - 1 in both formats, in a split ring by the first
 * descriptor, in a packed ring by the buffer id.
 */
#ifndef EMU_VIRTIO_VQ_DRIVER_H
#define EMU_VIRTIO_VQ_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/mem/ram.h"
#include "emu/virtio/vring.h"

/* State of a descriptor of a split ring, or of a buffer id of a packed ring. */
struct vqd_desc {
    uint16_t next;  /* next free descriptor or id, or next descriptor of the chain */
    uint16_t chain; /* head of an outstanding chain: number of its descriptors; else 0 */
};

/* Size of this driver's indirect tables.  Longer chains are not put into a table. */
#define VQD_TABLE_DESCS 4u
#define VQD_TABLE_BYTES ((uint64_t)VQD_TABLE_DESCS * VRING_DESC_BYTES)

struct vqd {
    struct vring ring;
    bool event_idx;         /* the feature EVENT_IDX was negotiated */
    bool broken;            /* invalid used element, or the ring is outside RAM */
    uint16_t avail_idx;     /* number of chains offered, modulo 2^16 */
    uint16_t last_used;     /* number of completed chains taken, modulo 2^16 */
    uint16_t seen_used;     /* split ring: used.idx as last read */
    uint16_t free_head;     /* first free descriptor or id, if n_free is not 0 */
    uint32_t n_free;        /* number of free descriptors */
    uint32_t n_outstanding; /* number of chains that the device has not completed */
    uint32_t added;         /* chains (packed: slots) added since vqd_needs_kick() */
    uint64_t tables_gpa;    /* indirect tables, VQD_TABLE_BYTES per chain; 0: none */
    /* Packed ring only. */
    struct vring_pos avail; /* position of the next chain to add */
    struct vring_pos used;  /* position of the next used descriptor */
    bool is_hiding;         /* vqd_publish() must write hidden_flags at hidden_at */
    uint16_t hidden_at, hidden_flags;
    struct vqd_desc *descs; /* ring.size entries are used; NULL: the queue is not in use */
    uint32_t descs_cap;     /* number of entries allocated */
};

/* Returns a queue with @ring that is not in use yet: descs is NULL, so no chain can be added.
 * vqd_init() makes it usable.
 */
static inline struct vqd vqd_idle(struct vring ring)
{
    return (struct vqd){.ring = ring, .avail = VRING_POS_START, .used = VRING_POS_START};
}

struct vqd_seg {
    uint64_t gpa;
    uint32_t bytes;
};

/* Initializes the queue with an empty @ring: zeroes the ring in guest RAM and frees all
 * descriptors.  The device must not use the ring at that time.  *@q must be zeroed, from
 * vqd_idle(), or initialized before.  Returns false if the arena is full or the ring is not in RAM.
 */
bool vqd_init(struct vqd *q, struct arena *a, struct ram *ram, struct vring ring, bool event_idx);

/* Zeroes the three parts of a ring in guest RAM.  Returns false if a part is not in RAM; the parts
 * before it are zeroed then.
 */
bool vqd_clear_ring(struct ram *ram, const struct vring *r);

/* Frees the driver's own memory.  The ring in guest RAM belongs to the caller. */
void vqd_done(struct vqd *q, struct arena *a);

/* Writes a chain of @n_readable, then @n_writable buffers (at least one in all), not yet visible to
 * the device.  With q->tables_gpa a chain of 2 to VQD_TABLE_DESCS buffers uses an indirect table
 * and one descriptor of the ring.  Returns true with the number of the chain in *@ret_head.
 * Returns false if too few descriptors are free or the queue is broken.
 */
bool vqd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n_readable,
             uint32_t n_writable, uint16_t *ret_head);

/* Returns the head that vqd_add() uses next, if a descriptor is free.  Drivers index the memory of
 * their buffers by the head.
 */
static inline uint16_t vqd_next_head(const struct vqd *q)
{
    return q->free_head;
}

/* Makes all added chains visible to the device.  Split: writes avail.idx.  Packed: writes the flags
 * of the first added descriptor.
 */
void vqd_publish(struct vqd *q, struct ram *ram);

/* Returns true if the device must be notified of the chains added since the last call.  Split: by
 * used.flags, or with EVENT_IDX by avail_event.  Packed: by the device area.
 */
bool vqd_needs_kick(struct vqd *q, const struct ram *ram);

enum vqd_used { VQD_NONE, VQD_GOT, VQD_BROKEN };

/* Takes the next completed chain and frees its descriptors.
 *
 * Return: VQD_GOT     *@ret_head is the chain, *@ret_len the number of bytes that the device wrote
 *	   VQD_NONE    no completed chain
 *	   VQD_BROKEN  the queue was broken, or is now: the device returned an invalid element
 */
enum vqd_used vqd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                            uint32_t *ret_len);

/* Returns the chain id in the next used element, as the device wrote it: it can be any number.  If
 * an invalid id has broken the queue, returns this id.  The result is undefined if there is no
 * completed chain.
 */
uint32_t vqd_next_used(const struct vqd *q, const struct ram *ram);

/* Returns the number of chains that the device reports as completed and that were not taken yet. */
uint32_t vqd_used_count(const struct vqd *q, const struct ram *ram);

/* Lists the heads of up to @max completed chains that were not taken yet, behind the oldest @skip,
 * and returns how many it listed.  Ends before one that vqd_take_used() would not accept.  Takes
 * none.
 */
uint32_t vqd_peek_used(const struct vqd *q, const struct ram *ram, uint32_t skip, uint32_t max,
                       uint16_t *ret_heads);

/* Requests an interrupt for the next completed chain if @wanted is true; otherwise no interrupts.
 */
void vqd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted);

#endif

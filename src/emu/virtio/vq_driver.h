/* SPDX-License-Identifier: MIT */
/* The driver's side of a virtqueue, in either format: offers chains, takes them back.
 *
 * The driver keeps what it must know in its own memory (free descriptors, lengths of chains,
 * indexes) and never believes what it has written itself, so a broken device cannot mislead it: a
 * used element that names no outstanding chain marks the queue broken.
 *
 * Chains are numbered from 0 to ring.size - 1 in both formats: by their first descriptor in a split
 * ring, by the id of the buffer in a packed one.
 */
#ifndef EMU_VIRTIO_VQ_DRIVER_H
#define EMU_VIRTIO_VQ_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/mem/ram.h"
#include "emu/virtio/vring.h"

/* One descriptor of a split ring, one id of a packed one. */
struct vqd_desc {
    uint16_t next;  /* free: the next free one; in a chain: its successor */
    uint16_t chain; /* of a head of an outstanding chain: its descriptors; otherwise 0 */
};

/* An indirect table of this driver: longer chains have none. */
#define VQD_TABLE_DESCS 4u
#define VQD_TABLE_BYTES ((uint64_t)VQD_TABLE_DESCS * VRING_DESC_BYTES)

struct vqd {
    struct vring ring;
    bool event_idx;
    bool broken;        /* the device gave back nonsense, or the ring is outside RAM */
    uint16_t avail_idx; /* chains offered */
    uint16_t last_used; /* chains taken back */
    uint16_t seen_used; /* chains given back, when last looked */
    uint16_t free_head;
    uint32_t n_free;        /* descriptors */
    uint32_t n_outstanding; /* chains */
    uint32_t added;         /* chains (packed: slots) since vqd_needs_kick() was last asked */
    uint64_t tables_gpa;    /* a table for each chain, VQD_TABLE_BYTES; 0: chains have none */
    /* Of a packed ring. */
    struct vring_pos avail; /* where the next chain goes */
    struct vring_pos used;  /* where the next one comes back */
    bool is_hiding;         /* the descriptor at hidden_at waits for vqd_publish() */
    uint16_t hidden_at, hidden_flags;
    struct vqd_desc *descs; /* ring.size of them; NULL: not in use */
    uint32_t descs_cap;
};

/* A queue whose ring is there, and which is not in use. */
static inline struct vqd vqd_idle(struct vring ring)
{
    return (struct vqd){.ring = ring, .avail = VRING_POS_START, .used = VRING_POS_START};
}

struct vqd_seg {
    uint64_t gpa;
    uint32_t bytes;
};

/* Starts over with an empty ring: zeroes it in guest RAM (the device must not be using it), all
 * descriptors are free.  False when the arena is full or the ring is not in RAM.
 */
bool vqd_init(struct vqd *q, struct arena *a, struct ram *ram, struct vring ring, bool event_idx);

/* Zeroes a ring's three parts: indexes, flags, events.  False when it is not in RAM. */
bool vqd_clear_ring(struct ram *ram, const struct vring *r);

/* Gives the driver's own memory back; the ring's is the caller's. */
void vqd_done(struct vqd *q, struct arena *a);

/* Writes a chain of @n_readable, then @n_writable buffers (together >= 1), not yet visible to the
 * device.  With q->tables_gpa one of more buffers than one has its descriptors in a table, and
 * takes one of the ring.  False when there are too few free descriptors.
 */
bool vqd_add(struct vqd *q, struct ram *ram, const struct vqd_seg *segs, uint32_t n_readable,
             uint32_t n_writable, uint16_t *ret_head);

/* The head that vqd_add() will use next; the driver's buffers are numbered like descriptors. */
static inline uint16_t vqd_next_head(const struct vqd *q)
{
    return q->free_head;
}

/* Shows everything added to the device: writes avail.idx, or the flags of the first of it. */
void vqd_publish(struct vqd *q, struct ram *ram);

/* Must the device be notified of what was published since the last question?  By used.flags, or by
 * avail_event with EVENT_IDX; in a packed ring by the device area.
 */
bool vqd_needs_kick(struct vqd *q, const struct ram *ram);

enum vqd_used { VQD_NONE, VQD_GOT, VQD_BROKEN };

/* Takes one chain back: its @ret_head, free again, and the bytes that the device wrote. */
enum vqd_used vqd_take_used(struct vqd *q, const struct ram *ram, uint16_t *ret_head,
                            uint32_t *ret_len);

/* Which chain the device gives back next, as it says: any number.  Of a broken queue that which
 * broke it.
 */
uint32_t vqd_next_used(const struct vqd *q, const struct ram *ram);

/* Chains that the device says it has given back and that were not taken yet. */
uint32_t vqd_used_count(const struct vqd *q, const struct ram *ram);

/* Asks for an interrupt at the next used chain, or for none. */
void vqd_want_interrupt(struct vqd *q, struct ram *ram, bool wanted);

#endif

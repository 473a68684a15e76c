/* SPDX-License-Identifier: MIT */
/* The state of a virtqueue: its indexes, the owner of each descriptor and the reason, and the
 * changes since it was last shown.
 */
#ifndef CLI_SHOW_VQ_RING_H
#define CLI_SHOW_VQ_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/show/show_vq.h"
#include "cli/show/show_wqe.h"
#include "emu/facts/leaf.h"

/* State of a descriptor. */
enum slot_state {
    SLOT_FREE,   /* owned by the driver, for the next request */
    SLOT_POSTED, /* owned by the device, which has not taken it yet */
    SLOT_TAKEN,  /* owned by the device, which has taken it */
    SLOT_USED,   /* owned by the driver, which has not processed it yet */
};

/* The four positions in a packed ring, in ring order. */
enum ring_place {
    RING_DRIVER_USED,  /* next slot that the driver processes as used */
    RING_DEVICE_USED,  /* next slot that the device returns */
    RING_DEVICE_AVAIL, /* next slot that the device takes */
    RING_DRIVER_AVAIL, /* next slot that the driver offers */
    RING_PLACES
};

/* The state of a virtqueue, read from a lab. */
struct vq_ring {
    const struct rdl_lab *lab;
    const struct past *past;
    const char *path;
    enum ring_role role;
    uint64_t number, size; /* number of the queue, and number of its descriptors */
    bool packed;           /* a packed ring; false: a split one */
    /* False: the driver is that of a virtual machine.  Then driver_used, driver_avail of a packed
     * ring, and the places of the driver have the values of the device.
     */
    bool driver_is_known;
    struct vq_indexes at;
    struct vring_pos place[RING_PLACES]; /* set for a packed ring only */
    uint8_t *state;                      /* enum slot_state of each descriptor; owned */
    /* For each descriptor: the one with which the device returned its buffer; @size: it has not.
     * In a packed ring that is the descriptor that the device has written as used.  In a split ring
     * it is the descriptor itself, if it is the head of a chain; all others have @size.  Owned.
     */
    uint32_t *back;
    const struct vq_look *was; /* state when it was last shown; NULL: never */
};

/* Reads the state of the queue at @path.  Free with ring_done(). */
void ring_init(struct vq_ring *q, const struct rdl_lab *lab, const struct past *p, const char *path,
               const struct vq_looks *looks);
void ring_done(struct vq_ring *q);

/* For a packed ring: ring_slots_between() returns the number of descriptors from position @from to
 * position @to, ring_slots_outstanding() the number of descriptors that are not free.
 */
uint64_t ring_slots_between(const struct vq_ring *q, enum ring_place from, enum ring_place to);
uint64_t ring_slots_outstanding(const struct vq_ring *q);

/* Stores the present state in @looks, as that in which the queue was last shown; NULL: does
 * nothing.
 */
void ring_remember(struct vq_looks *looks, const struct vq_ring *q);

/* ring_desc() returns the number in the leaf @leaf of descriptor @i, ring_used() that of entry @i
 * of the used ring, ring_avail() entry @i of the avail ring.  All count from 0, and return 0 if
 * there is no such entry.
 */
uint64_t ring_desc(const struct vq_ring *q, uint64_t i, enum leaf_id leaf);
uint64_t ring_used(const struct vq_ring *q, uint64_t i, enum leaf_id leaf);
uint64_t ring_avail(const struct vq_ring *q, uint64_t i);

/* Returns true if the device has returned the chain that begins with descriptor @head. */
bool ring_is_returned(const struct vq_ring *q, uint64_t head);

/* Returns the owner of a descriptor in @state: "device" or "driver". */
const char *slot_owner(enum slot_state state);

/* Appends the reason why a descriptor in @state is not free, and what frees it.  Appends nothing
 * for SLOT_FREE.
 */
void ring_add_why(struct text *t, const struct vq_ring *q, enum slot_state state);

/* Appends the reason why the device has not taken all posted buffers.  Appends nothing if it has
 * taken all.
 */
void ring_add_avail_note(struct text *t, const struct vq_ring *q);

/* Returns true if descriptor @i has changed since the queue was last shown.  Returns false if the
 * queue was never shown.
 */
bool ring_desc_changed(const struct vq_ring *q, uint64_t i);

/* ring_look_tick() returns the tick in which the queue was last shown, ring_look_at() its indexes
 * at that time.  @q->was must not be NULL.
 */
uint64_t ring_look_tick(const struct vq_ring *q);
struct vq_indexes ring_look_at(const struct vq_ring *q);

#endif

/* SPDX-License-Identifier: MIT */
/* A virtqueue as it is now: indexes, whose each descriptor is and why, and what was seen of it
 * before.
 */
#ifndef CLI_SHOW_VQ_RING_H
#define CLI_SHOW_VQ_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/show/show_vq.h"
#include "cli/show/show_wqe.h"
#include "emu/facts/leaf.h"

/* What a descriptor is for at the moment. */
enum slot_state {
    SLOT_FREE,   /* the driver's, for the next request */
    SLOT_POSTED, /* the device's, which has not taken it yet */
    SLOT_TAKEN,  /* the device's, which has it */
    SLOT_USED,   /* the driver's, which has not looked yet */
};

/* Where the two sides of a packed ring are. */
enum ring_place {
    RING_DRIVER_USED,  /* the driver takes back */
    RING_DEVICE_USED,  /* the device gives back */
    RING_DEVICE_AVAIL, /* the device takes */
    RING_DRIVER_AVAIL, /* the driver offers */
    RING_PLACES
};

struct vq_ring {
    const struct rdl_lab *lab;
    const struct past *past;
    const char *path;
    enum ring_role role;
    uint64_t number, size;
    bool packed;
    struct vq_indexes at;
    struct vring_pos place[RING_PLACES]; /* of a packed ring */
    uint8_t *state;                      /* enum slot_state of each descriptor; owned */
    /* With which descriptor the buffer of each came back; of a split ring of heads alone.  The
     * size: it did not.  Owned.
     */
    uint32_t *back;
    const struct vq_look *was; /* as it was seen last; NULL: never */
};

/* The queue at @path; release with ring_done(). */
void ring_init(struct vq_ring *q, const struct rdl_lab *lab, const struct past *p, const char *path,
               const struct vq_looks *looks);
void ring_done(struct vq_ring *q);

/* Of a packed ring: how many descriptors lie between two places; how many are not free. */
uint64_t ring_slots_between(const struct vq_ring *q, enum ring_place from, enum ring_place to);
uint64_t ring_slots_outstanding(const struct vq_ring *q);

/* Remembers in @looks, if it is not NULL, that it was seen like this. */
void ring_remember(struct vq_looks *looks, const struct vq_ring *q);

uint64_t ring_desc(const struct vq_ring *q, uint64_t i, enum leaf_id leaf);
uint64_t ring_used(const struct vq_ring *q, uint64_t i, enum leaf_id leaf);
uint64_t ring_avail(const struct vq_ring *q, uint64_t i);

/* Has the device given the chain @head back? */
bool ring_is_returned(const struct vq_ring *q, uint64_t head);

/* "device", "driver". */
const char *slot_owner(enum slot_state state);

/* Appends why a descriptor of this state is not free, and what makes it so. */
void ring_add_why(struct text *t, const struct vq_ring *q, enum slot_state state);

/* Appends why the device has not looked at what is posted; nothing if it has. */
void ring_add_avail_note(struct text *t, const struct vq_ring *q);

/* Is descriptor @i another one than at the last look?  Never, if there was none. */
bool ring_desc_changed(const struct vq_ring *q, uint64_t i);

/* The tick of the last look, and where the indexes stood. */
uint64_t ring_look_tick(const struct vq_ring *q);
struct vq_indexes ring_look_at(const struct vq_ring *q);

#endif

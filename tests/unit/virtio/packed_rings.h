/* SPDX-License-Identifier: MIT */
/* A packed ring in guest RAM that a test writes slot by slot. */
#ifndef TESTS_UNIT_VIRTIO_PACKED_RINGS_H
#define TESTS_UNIT_VIRTIO_PACKED_RINGS_H

#include "rings.h"

#define QUEUE_SIZE 5u       /* not a power of two */
#define TABLE_AT   0x30000u /* for indirect tables */

enum {
    N = VRING_NEXT,
    W = VRING_WRITE,
    I = VRING_INDIRECT,
    A = VRING_PACKED_AVAIL, /* in the first lap: available to the device */
    U = VRING_PACKED_USED
};

static inline int set_up(void **state)
{
    struct rings *r;

    assert_int_equal(rings_set_up(state), 0);
    r = *state;
    r->packed = true;
    rings_start(r, QUEUE_SIZE);
    return 0;
}

/* Writes a descriptor of the packed ring; @flags are all of its flags. */
static inline void poke_slot(struct rings *r, uint32_t slot, uint64_t gpa, uint32_t bytes,
                             uint16_t id, unsigned flags)
{
    poke_desc(r, vring_desc_at(&r->vq.ring, slot), gpa, bytes, id, (uint16_t)flags);
}

static inline unsigned slot_flags(const struct rings *r, uint32_t slot)
{
    return peek16(r, vring_desc_at(&r->vq.ring, slot) + 14);
}

#endif

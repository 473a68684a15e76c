/* SPDX-License-Identifier: MIT */
/* A ring in guest RAM that a test writes byte by byte, as a hostile driver could. */
#ifndef TESTS_UNIT_VIRTIO_RINGS_H
#define TESTS_UNIT_VIRTIO_RINGS_H

#include "testing.h"

#include "emu/base/cursor.h"
#include "emu/virtio/vq_device.h"

#define RAM_BYTES (1u << 20)

/* Location of the fixture's ring, and of buffers for tests. */
#define RING_AT   0x1000u
#define BUFFER_AT 0x40000u

struct rings {
    struct arena *arena;
    struct ram ram;
    struct vq vq;
    bool packed; /* format of the rings that rings_start() makes */
};

static inline void poke16(struct rings *r, uint64_t gpa, uint16_t v)
{
    uint8_t b[2];

    st_le16(b, v);
    assert_true(ram_write(&r->ram, gpa, b, sizeof(b)));
}

static inline uint16_t peek16(const struct rings *r, uint64_t gpa)
{
    uint8_t b[2];

    assert_true(ram_read(&r->ram, gpa, b, sizeof(b)));
    return ld_le16(b);
}

static inline void poke_desc(struct rings *r, uint64_t at, uint64_t gpa, uint32_t bytes,
                             unsigned flags, uint16_t next)
{
    uint8_t b[VRING_DESC_BYTES];

    st_le64(b, gpa);
    st_le32(b + 8, bytes);
    st_le16(b + 12, (uint16_t)flags);
    st_le16(b + 14, next);
    assert_true(ram_write(&r->ram, at, b, sizeof(b)));
}

/* Adds @head to the avail ring and increments avail.idx. */
static inline void poke_avail(struct rings *r, uint16_t head)
{
    const uint16_t idx = peek16(r, vring_avail_idx_at(&r->vq.ring));

    poke16(r, vring_avail_entry_at(&r->vq.ring, idx), head);
    poke16(r, vring_avail_idx_at(&r->vq.ring), (uint16_t)(idx + 1));
}

static inline void rings_start(struct rings *r, uint32_t size)
{
    vq_done(&r->vq, r->arena);
    r->vq = (struct vq){
        .ring = vring_place(RING_AT, size, r->packed),
        .enabled = true,
        .event_idx = true,
        .indirect = true,
    };
    assert_true(vq_set_up(&r->vq, r->arena));
}

static inline int rings_set_up(void **state)
{
    struct rings *r = test_calloc(1, sizeof(*r));

    r->arena = arena_new((size_t)1 << 30);
    assert_non_null(r->arena);
    assert_true(ram_init(&r->ram, r->arena, RAM_BYTES));
    rings_start(r, 8);
    *state = r;
    return 0;
}

static inline int rings_tear_down(void **state)
{
    struct rings *r = *state;

    arena_free(r->arena);
    test_free(r);
    return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "emu/virtio/vring.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"

static uint64_t avail_bytes(uint32_t size)
{
    return 4 + 2 * (uint64_t)size + 2;
}

static uint64_t used_bytes(uint32_t size)
{
    return 4 + VRING_USED_BYTES * (uint64_t)size + 2;
}

static uint64_t used_offset(uint32_t size)
{
    const uint64_t end = VRING_DESC_BYTES * (uint64_t)size + avail_bytes(size);

    return (end + VRING_USED_ALIGN - 1) & ~(uint64_t)(VRING_USED_ALIGN - 1);
}

uint64_t vring_bytes(uint32_t size, bool packed)
{
    return packed ? VRING_DESC_BYTES * (uint64_t)size + 2 * (uint64_t)VRING_EVENT_BYTES
                  : used_offset(size) + used_bytes(size);
}

struct vring vring_place(uint64_t base, uint32_t size, bool packed)
{
    const uint64_t end = base + VRING_DESC_BYTES * (uint64_t)size;

    RDL_ASSERT(base % VRING_DESC_ALIGN == 0);
    RDL_ASSERT((packed ? size > 0 : is_pow2(size)) && size <= VRING_SIZE_MAX);
    return (struct vring){
        .desc = base,
        .avail = end,
        .used = packed ? end + VRING_EVENT_BYTES : base + used_offset(size),
        .size = size,
        .packed = packed,
    };
}

bool vring_is_sound(const struct vring *r)
{
    const uint64_t avail_align = r->packed ? VRING_EVENT_ALIGN : VRING_AVAIL_ALIGN;

    _Static_assert(VRING_USED_ALIGN == VRING_EVENT_ALIGN, "the device's area, in either format");
    return r->desc && r->avail && r->used && r->desc % VRING_DESC_ALIGN == 0 &&
           r->avail % avail_align == 0 && r->used % VRING_USED_ALIGN == 0;
}

bool vring_packed_passed(struct vring_pos event, struct vring_pos now, uint32_t n, uint32_t size)
{
    const uint32_t two_laps = 2 * size;
    const uint32_t back = vring_slots_between(event, now, size);

    RDL_ASSERT(event.at < size);
    return n >= two_laps || (back == 0 ? two_laps : back) <= n;
}

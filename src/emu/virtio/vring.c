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

uint64_t vring_bytes(uint32_t size)
{
    return used_offset(size) + used_bytes(size);
}

struct vring vring_place(uint64_t base, uint32_t size)
{
    RDL_ASSERT(base % VRING_DESC_ALIGN == 0);
    RDL_ASSERT(is_pow2(size) && size <= VRING_SIZE_MAX);

    return (struct vring){
        .desc = base,
        .avail = base + VRING_DESC_BYTES * (uint64_t)size,
        .used = base + used_offset(size),
        .size = size,
    };
}

/* SPDX-License-Identifier: MIT */
/* The path MTUs, and their sizes in bytes.  [virtio-rdma RFC, enum ib_mtu] */
#ifndef EMU_FACTS_ENUM_MTU_H
#define EMU_FACTS_ENUM_MTU_H

#include <stdint.h>

#include "emu/facts/enum_table.h"

#define ENUM_MTU(X)                                                                                \
    X(MTU, 256, 1, "256 bytes")                                                                    \
    X(MTU, 512, 2, "512 bytes")                                                                    \
    X(MTU, 1024, 3, "1024 bytes")                                                                  \
    X(MTU, 2048, 4, "2048 bytes")                                                                  \
    X(MTU, 4096, 5, "4096 bytes")

enum mtu { ENUM_MTU(ENUM_MEMBER) };

/* Returns the size in bytes of @mtu, 256 .. 4096, or 0 if @mtu is not an enum mtu. */
static inline uint32_t mtu_bytes(uint32_t mtu)
{
    return mtu >= MTU_256 && mtu <= MTU_4096 ? 128u << mtu : 0;
}

/* Returns the largest path MTU (enum mtu) of at most @bytes, or 0 if @bytes is less than 256. */
static inline uint32_t mtu_within(uint32_t bytes)
{
    uint32_t mtu = MTU_4096;

    while (mtu_bytes(mtu) > bytes)
        mtu--;
    return mtu;
}

#endif

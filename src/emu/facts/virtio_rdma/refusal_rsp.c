/* SPDX-License-Identifier: MIT */
#include "emu/facts/virtio_rdma/refusal_rsp.h"

#include <errno.h>

#include "emu/base/assert.h"
#include "emu/facts/refusal.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"

static const enum ctrl_rsp responses[] = {
    [RFK_NONE] = RSP_OK,
    [RFK_UNKNOWN] = RSP_UNKNOWN_COMMAND,
    [RFK_NO_OBJECT] = RSP_BAD_HANDLE,
    [RFK_BUSY] = RSP_BUSY,
    [RFK_NO_ROOM] = RSP_NO_RESOURCES,
    [RFK_INVALID] = RSP_INVALID_ARG,
    [RFK_UNSUPPORTED] = RSP_NOT_SUPPORTED,
};

uint32_t refusal_rsp(uint32_t why)
{
    return (uint32_t)responses[refusal_kind((enum refusal_reason)why)];
}

int ctrl_rsp_errno(uint32_t rsp)
{
    for (size_t kind = 0; kind < ARRAY_LEN(responses); kind++) {
        if ((uint32_t)responses[kind] == rsp)
            return refusal_errno((enum refusal_kind)kind);
    }
    return EIO;
}

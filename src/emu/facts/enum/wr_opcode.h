/* SPDX-License-Identifier: MIT */
/* The opcodes of work requests.  [virtio-rdma RFC, enum ib_wr_opcode] */
#ifndef EMU_FACTS_ENUM_WR_OPCODE_H
#define EMU_FACTS_ENUM_WR_OPCODE_H

#include "emu/facts/enum_table.h"

/* The opcodes of work requests for a send queue. */
#define ENUM_SEND_OPCODE(X)                                                                        \
    X(WR, RDMA_WRITE, 0, "write to remote memory")                                                 \
    X(WR, RDMA_WRITE_WITH_IMM, 1, "write to remote memory, then complete a remote receive")        \
    X(WR, SEND, 2, "send a message into the remote receive queue")                                 \
    X(WR, SEND_WITH_IMM, 3, "send a message and four immediate bytes")                             \
    X(WR, RDMA_READ, 4, "read remote memory")                                                      \
    X(WR, ATOMIC_CMP_AND_SWP, 5, "compare and swap eight remote bytes")                            \
    X(WR, ATOMIC_FETCH_AND_ADD, 6, "fetch and add to eight remote bytes")                          \
    X(WR, LOCAL_INV, 7, "invalidate a local key")                                                  \
    X(WR, SEND_WITH_INV, 9, "send a message and invalidate a remote key")                          \
    X(WR, RDMA_READ_WITH_INV, 11, "read, then invalidate a local key")                             \
    X(WR, REG_MR, 0x20, "register a fast-register memory region")                                  \
    X(WR, BIND_MW, 8, "let a memory window show a part of a region; not of the RFC")

#define ENUM_WR_OPCODE(X)                                                                          \
    ENUM_SEND_OPCODE(X)                                                                            \
    X(WR, RECV, 0x1000, "receive: not an opcode of the send queue, used in traces")

enum wr_opcode { ENUM_WR_OPCODE(ENUM_MEMBER) };

#endif

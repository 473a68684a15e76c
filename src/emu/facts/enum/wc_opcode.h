/* SPDX-License-Identifier: MIT */
/* The opcodes of completions.  [libibverbs, enum ibv_wc_opcode]
 *
 * The values are those of libibverbs because the list of the virtio-rdma RFC has no value for RECV.
 * libibverbs has no REG_MR; 8 is IB_WC_REG_MR of Linux 6.1.
 */
#ifndef EMU_FACTS_ENUM_WC_OPCODE_H
#define EMU_FACTS_ENUM_WC_OPCODE_H

#include "emu/facts/enum_table.h"

#define ENUM_WC_OPCODE(X)                                                                          \
    X(WC, SEND, 0, "a SEND of any kind")                                                           \
    X(WC, RDMA_WRITE, 1, "an RDMA WRITE of any kind")                                              \
    X(WC, RDMA_READ, 2, "an RDMA READ")                                                            \
    X(WC, COMP_SWAP, 3, "a compare and swap")                                                      \
    X(WC, FETCH_ADD, 4, "a fetch and add")                                                         \
    X(WC, BIND_MW, 5, "a memory window was bound")                                                 \
    X(WC, LOCAL_INV, 6, "a key was invalidated")                                                   \
    X(WC, REG_MR, 8, "a memory region was registered")                                             \
    X(WC, RECV, 128, "a message was received")                                                     \
    X(WC, RECV_RDMA_WITH_IMM, 129, "an RDMA WRITE with immediate arrived")

enum wc_opcode { ENUM_WC_OPCODE(ENUM_MEMBER) };

#endif

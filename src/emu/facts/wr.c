/* SPDX-License-Identifier: MIT */
#include "emu/facts/wr.h"

#include "emu/base/assert.h"

#define CODES(first, middle, last, only)                                                           \
    {                                                                                              \
        [OPP_FIRST] = OP_RC_##first, [OPP_MIDDLE] = OP_RC_##middle, [OPP_LAST] = OP_RC_##last,     \
        [OPP_ONLY] = OP_RC_##only,                                                                 \
    }
#define CODE(only)                                                                                 \
    {                                                                                              \
        [OPP_ONLY] = OP_RC_##only                                                                  \
    }

static const struct wr_info rows[] = {
    {WR_SEND, WC_SEND, false, CODES(SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY)},
    {WR_SEND_WITH_IMM, WC_SEND, false,
     CODES(SEND_FIRST, SEND_MIDDLE, SEND_LAST_WITH_IMM, SEND_ONLY_WITH_IMM)},
    {WR_SEND_WITH_INV, WC_SEND, false,
     CODES(SEND_FIRST, SEND_MIDDLE, SEND_LAST_WITH_INVALIDATE, SEND_ONLY_WITH_INVALIDATE)},
    {WR_RDMA_WRITE, WC_RDMA_WRITE, false,
     CODES(RDMA_WRITE_FIRST, RDMA_WRITE_MIDDLE, RDMA_WRITE_LAST, RDMA_WRITE_ONLY)},
    {WR_RDMA_WRITE_WITH_IMM, WC_RDMA_WRITE, false,
     CODES(RDMA_WRITE_FIRST, RDMA_WRITE_MIDDLE, RDMA_WRITE_LAST_WITH_IMM,
           RDMA_WRITE_ONLY_WITH_IMM)},
    {WR_RDMA_READ, WC_RDMA_READ, false, CODE(RDMA_READ_REQUEST)},
    {WR_RDMA_READ_WITH_INV, WC_RDMA_READ, false, CODE(RDMA_READ_REQUEST)},
    {WR_ATOMIC_CMP_AND_SWP, WC_COMP_SWAP, false, CODE(COMPARE_SWAP)},
    {WR_ATOMIC_FETCH_AND_ADD, WC_FETCH_ADD, false, CODE(FETCH_ADD)},
    {.opcode = WR_LOCAL_INV, .wc = WC_LOCAL_INV, .local = true},
    {.opcode = WR_REG_MR, .wc = WC_REG_MR, .local = true},
};

const struct wr_info *wr_info(uint32_t opcode)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].opcode == opcode)
            return &rows[i];
    }
    return NULL;
}

bool wr_is_carried(uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    return row && !row->local && op_info(row->code[OPP_ONLY])->carried;
}

enum wc_opcode wr_completes_as(uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    return row ? row->wc : WC_SEND;
}

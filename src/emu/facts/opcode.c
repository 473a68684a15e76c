/* SPDX-License-Identifier: MIT */
#include "emu/facts/opcode.h"

#include "emu/base/assert.h"

static const struct op_info ops[256] = {
#define OP(code, nm, svc, knd, ps, hd) [code] = {#nm, OPS_##svc, OPK_##knd, OPP_##ps, (hd)},
#include "emu/facts/opcodes.def"
#undef OP
};

/* In wire order: the order of the bits. */
static const struct {
    enum op_header header;
    size_t bytes;
} sizes[] = {
    {H_DETH, 8},       {H_RETH, 16}, {H_ATOMIC, 28}, {H_AETH, 4},
    {H_ATOMIC_ACK, 8}, {H_IMM, 4},   {H_IETH, 4},    {H_CNP, 16},
};

const struct op_info *op_info(uint8_t code)
{
    return &ops[code];
}

size_t op_headers_bytes(unsigned headers)
{
    size_t n = 0;

    for (size_t i = 0; headers >> i; i++) {
        RDL_ASSERT(i < ARRAY_LEN(sizes));
        if (headers & sizes[i].header)
            n += sizes[i].bytes;
    }
    return n;
}

size_t op_header_offset(unsigned headers, enum op_header header)
{
    RDL_ASSERT(headers & header);
    return op_headers_bytes(headers & (header - 1u));
}

bool op_is_response(const struct op_info *op)
{
    return op->kind == OPK_ACK || op->kind == OPK_READ_RESPONSE || op->kind == OPK_ATOMIC_ACK;
}

bool op_may_follow(const struct op_info *prev, const struct op_info *next)
{
    const bool open = prev && (prev->pos == OPP_FIRST || prev->pos == OPP_MIDDLE);

    return open ? !op_starts(next) && next->kind == prev->kind : op_starts(next);
}

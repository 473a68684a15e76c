/* SPDX-License-Identifier: MIT */
#include "emu/facts/opcode.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/op_header.h"

enum { NOT_YET, CARRIED };

static const struct op_info ops[256] = {
#define OP(code, nm, svc, knd, ps, hd, crr)                                                        \
    [code] = {#nm, OPS_##svc, OPK_##knd, OPP_##ps, (hd), (crr)},
#include "emu/facts/opcodes.def"
#undef OP
};

const struct op_header_info op_headers[] = {
#define HEADER(nm, bit, sz, text) {H_##nm, (text), (sz)},
#include "emu/facts/headers.def"
#undef HEADER
};
const size_t n_op_headers = ARRAY_LEN(op_headers);

const struct op_info *op_info(uint8_t code)
{
    return &ops[code];
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

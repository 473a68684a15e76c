/* SPDX-License-Identifier: MIT */
#include "emu/wire/bth.h"

enum drop_reason bth_parse(struct bth *out, struct rd_cur *in)
{
    struct rd_cur h = rd_part(in, BTH_BYTES);
    const uint8_t opcode = (uint8_t)rd_be(&h, 1);
    const uint8_t flags = (uint8_t)rd_be(&h, 1);
    const uint16_t pkey = (uint16_t)rd_be(&h, 2);
    const uint32_t qp_word = (uint32_t)rd_be(&h, 4);
    const uint32_t psn_word = (uint32_t)rd_be(&h, 4);

    if (h.bad)
        return DROP_SHORT;
    if ((flags & BTH_TVER) != 0)
        return DROP_BAD_VERSION;

    *out = (struct bth){
        .opcode = opcode,
        .solicited = (flags & BTH_SE) != 0,
        .migrated = (flags & BTH_MIG) != 0,
        .pad_bytes = (uint8_t)(flags >> 4 & 3u),
        .pkey = pkey,
        .fecn = (qp_word & BTH_FECN) != 0,
        .becn = (qp_word & BTH_BECN) != 0,
        .dest_qpn = qp_word & BTH_LOW24,
        .ack_req = (psn_word & BTH_ACK) != 0,
        .psn = {psn_word & BTH_LOW24},
    };
    return DROP_NONE;
}

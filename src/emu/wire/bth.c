/* SPDX-License-Identifier: MIT */
#include "emu/wire/bth.h"

#include "emu/base/assert.h"

#define F_SE   0x80u
#define F_MIG  0x40u
#define F_TVER 0x0fu

#define QP_FECN 0x80000000u
#define QP_BECN 0x40000000u
#define PSN_ACK 0x80000000u
#define LOW24   0xffffffu

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
    if ((flags & F_TVER) != 0)
        return DROP_BAD_VERSION;

    *out = (struct bth){
        .opcode = opcode,
        .solicited = (flags & F_SE) != 0,
        .migrated = (flags & F_MIG) != 0,
        .pad_bytes = (uint8_t)(flags >> 4 & 3u),
        .pkey = pkey,
        .fecn = (qp_word & QP_FECN) != 0,
        .becn = (qp_word & QP_BECN) != 0,
        .dest_qpn = qp_word & LOW24,
        .ack_req = (psn_word & PSN_ACK) != 0,
        .psn = {psn_word & LOW24},
    };
    return DROP_NONE;
}

void bth_build(const struct bth *h, struct wr_cur *out)
{
    struct wr_cur to = wr_part(out, BTH_BYTES);

    RDL_ASSERT(h->pad_bytes <= 3);
    RDL_ASSERT(h->dest_qpn <= LOW24);
    RDL_ASSERT(h->psn.v <= LOW24);

    wr_be(&to, 1, h->opcode);
    wr_be(&to, 1,
          (h->solicited ? F_SE : 0) | (h->migrated ? F_MIG : 0) | (uint32_t)h->pad_bytes << 4);
    wr_be(&to, 2, h->pkey);
    wr_be(&to, 4, (h->fecn ? QP_FECN : 0) | (h->becn ? QP_BECN : 0) | h->dest_qpn);
    wr_be(&to, 4, (h->ack_req ? PSN_ACK : 0) | h->psn.v);
}

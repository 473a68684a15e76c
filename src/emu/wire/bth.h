/* SPDX-License-Identifier: MIT */
/* The base transport header (BTH), which follows UDP in every RoCEv2 packet. */
#ifndef EMU_WIRE_BTH_H
#define EMU_WIRE_BTH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"

/* Bits of byte 1 (SE, MIG, TVER), of the big-endian word at byte 4 (FECN, BECN) and of the one at
 * byte 8 (ACK).  LOW24 is the QPN or PSN in these words.
 */
#define BTH_SE    0x80u
#define BTH_MIG   0x40u
#define BTH_TVER  0x0fu
#define BTH_FECN  0x80000000u
#define BTH_BECN  0x40000000u
#define BTH_ACK   0x80000000u
#define BTH_LOW24 0xffffffu

/* The decoded BTH.  [IBTA1 9.2]
 *
 * byte 0: opcode | 1: SE M Pad TVer | 2-3: P_Key | 4: F B resv6 | 5-7: DestQP
 * byte 8: A resv7 | 9-11: PSN
 */
struct bth {
    uint8_t opcode;    /* row of opcodes.def */
    bool solicited;    /* SE: solicited event */
    bool migrated;     /* M: migration request (MigReq) */
    uint8_t pad_bytes; /* PadCnt, 0..3 */
    uint16_t pkey;     /* partition key */
    bool fecn, becn;   /* F, B: congestion marks, forward and backward */
    uint32_t dest_qpn; /* 24 bits */
    bool ack_req;      /* A: the requester asks for an acknowledge */
    struct psn psn;
};

/* Decodes the header at @h, without checks: the caller checks TVer and the opcode.  Reserved bits
 * are ignored on receipt and sent as zero.
 */
static inline void bth_read(struct bth *out, const uint8_t h[BTH_BYTES])
{
    const uint32_t qp_word = ld_be32(h + 4), psn_word = ld_be32(h + 8);

    *out = (struct bth){
        .opcode = h[0],
        .solicited = (h[1] & BTH_SE) != 0,
        .migrated = (h[1] & BTH_MIG) != 0,
        .pad_bytes = (uint8_t)(h[1] >> 4 & 3u),
        .pkey = ld_be16(h + 2),
        .fecn = (qp_word & BTH_FECN) != 0,
        .becn = (qp_word & BTH_BECN) != 0,
        .dest_qpn = qp_word & BTH_LOW24,
        .ack_req = (psn_word & BTH_ACK) != 0,
        .psn = {psn_word & BTH_LOW24},
    };
}

/* Encodes @h to @out, with @pad_bytes (0..3) instead of h->pad_bytes, TVer 0 and reserved bits 0.
 * dest_qpn and psn must fit in 24 bits (asserted).
 */
static inline void bth_build(const struct bth *h, uint32_t pad_bytes, uint8_t out[BTH_BYTES])
{
    RDL_ASSERT(pad_bytes <= 3);
    RDL_ASSERT(h->dest_qpn <= BTH_LOW24);
    RDL_ASSERT(h->psn.v <= BTH_LOW24);

    out[0] = h->opcode;
    out[1] = (uint8_t)((h->solicited ? BTH_SE : 0) | (h->migrated ? BTH_MIG : 0) | pad_bytes << 4);
    st_be16(out + 2, h->pkey);
    st_be32(out + 4, (h->fecn ? BTH_FECN : 0) | (h->becn ? BTH_BECN : 0) | h->dest_qpn);
    st_be32(out + 8, (h->ack_req ? BTH_ACK : 0) | h->psn.v);
}

/* Returns the PadCnt of an encoded BTH. */
static inline size_t bth_peek_pad(const uint8_t bytes[BTH_BYTES])
{
    return bytes[1] >> 4 & 3u;
}

/* Returns the TVer of an encoded BTH. */
static inline uint8_t bth_peek_version(const uint8_t bytes[BTH_BYTES])
{
    return bytes[1] & BTH_TVER;
}

#endif

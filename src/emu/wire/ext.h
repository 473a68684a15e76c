/* SPDX-License-Identifier: MIT */
/* The extension headers (ETH) that may follow a BTH.  [IBTA1 9.3]
 *
 * The opcode determines the headers of a packet and their order (facts/opcode.h).  The parse
 * functions do not check values.  If the bytes of @in do not suffice, they set in->bad, and the
 * fields that are missing are zero.
 */
#ifndef EMU_WIRE_EXT_H
#define EMU_WIRE_EXT_H

#include <stdint.h>

#include "emu/base/cursor.h"

/* Datagram ETH, 8 bytes: Q_Key | reserved, source QPN.  [IBTA1 9.3.2] */
struct deth {
    uint32_t qkey;
    uint32_t src_qpn; /* 24 bits */
};

/* RDMA ETH, 16 bytes: the remote memory of a READ or WRITE.  [IBTA1 9.3.3] */
struct reth {
    uint64_t va;
    uint32_t rkey;
    uint32_t dma_bytes; /* length of the whole message */
};

/* The FETH's placement types, a set, and selectivity levels. */
#define FETH_GLOBAL     1u /* visible to all of the responder's host */
#define FETH_PERSISTENT 2u /* survives a power failure */
#define FETH_RANGE      0u /* flushes the bytes that the RETH names */
#define FETH_REGION     1u /* flushes the whole region of the R_Key */

/* Flush ETH, 4 bytes: reserved | selectivity level, 2 bits | placement type, 4 bits.
 * [Linux 7.3, rxe_hdr.h]
 */
struct feth {
    uint8_t placement; /* set of FETH_GLOBAL and FETH_PERSISTENT */
    uint8_t level;     /* FETH_RANGE or FETH_REGION */
};

/* Atomic ETH, 28 bytes.  [IBTA1 9.3.4] */
struct atomic_eth {
    uint64_t va;
    uint32_t rkey;
    uint64_t swap_add; /* swap value or addend */
    uint64_t compare;
};

/* ACK ETH, 4 bytes: syndrome | message sequence number.  [IBTA1 9.3.5] */
struct aeth {
    uint8_t syndrome; /* see facts/aeth.h */
    uint32_t msn;     /* 24 bits */
};

/* Decode the next header of @in to @out. */
void deth_parse(struct deth *out, struct rd_cur *in);
void feth_parse(struct feth *out, struct rd_cur *in);
void reth_parse(struct reth *out, struct rd_cur *in);
void atomic_eth_parse(struct atomic_eth *out, struct rd_cur *in);
void aeth_parse(struct aeth *out, struct rd_cur *in);

/* Append the header @h to @out.  src_qpn and msn must fit in 24 bits, placement in 4 and level in 2
 * (asserted).
 */
void deth_build(const struct deth *h, struct wr_cur *out);
void feth_build(const struct feth *h, struct wr_cur *out);
void reth_build(const struct reth *h, struct wr_cur *out);
void atomic_eth_build(const struct atomic_eth *h, struct wr_cur *out);
void aeth_build(const struct aeth *h, struct wr_cur *out);

#endif

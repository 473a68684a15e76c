/* SPDX-License-Identifier: MIT */
#include "emu/wire/ext.h"

#include "emu/base/assert.h"

#define LOW24 0xffffffu

#define FETH_PLACEMENT_MASK 0xfu
#define FETH_LEVEL_SHIFT    4u
#define FETH_LEVEL_MASK     3u

void deth_parse(struct deth *out, struct rd_cur *in)
{
    out->qkey = (uint32_t)rd_be(in, 4);
    out->src_qpn = (uint32_t)rd_be(in, 4) & LOW24;
}

void deth_build(const struct deth *h, struct wr_cur *out)
{
    RDL_ASSERT(h->src_qpn <= LOW24);
    wr_be(out, 4, h->qkey);
    wr_be(out, 4, h->src_qpn);
}

void feth_parse(struct feth *out, struct rd_cur *in)
{
    const uint32_t word = (uint32_t)rd_be(in, 4);

    out->placement = word & FETH_PLACEMENT_MASK;
    out->level = word >> FETH_LEVEL_SHIFT & FETH_LEVEL_MASK;
}

void feth_build(const struct feth *h, struct wr_cur *out)
{
    RDL_ASSERT(h->placement <= FETH_PLACEMENT_MASK && h->level <= FETH_LEVEL_MASK);
    wr_be(out, 4, (uint32_t)h->level << FETH_LEVEL_SHIFT | h->placement);
}

void reth_parse(struct reth *out, struct rd_cur *in)
{
    out->va = rd_be(in, 8);
    out->rkey = (uint32_t)rd_be(in, 4);
    out->dma_bytes = (uint32_t)rd_be(in, 4);
}

void reth_build(const struct reth *h, struct wr_cur *out)
{
    wr_be(out, 8, h->va);
    wr_be(out, 4, h->rkey);
    wr_be(out, 4, h->dma_bytes);
}

void atomic_eth_parse(struct atomic_eth *out, struct rd_cur *in)
{
    out->va = rd_be(in, 8);
    out->rkey = (uint32_t)rd_be(in, 4);
    out->swap_add = rd_be(in, 8);
    out->compare = rd_be(in, 8);
}

void atomic_eth_build(const struct atomic_eth *h, struct wr_cur *out)
{
    wr_be(out, 8, h->va);
    wr_be(out, 4, h->rkey);
    wr_be(out, 8, h->swap_add);
    wr_be(out, 8, h->compare);
}

void aeth_parse(struct aeth *out, struct rd_cur *in)
{
    out->syndrome = (uint8_t)rd_be(in, 1);
    out->msn = (uint32_t)rd_be(in, 3);
}

void aeth_build(const struct aeth *h, struct wr_cur *out)
{
    RDL_ASSERT(h->msn <= LOW24);
    wr_be(out, 1, h->syndrome);
    wr_be(out, 3, h->msn);
}

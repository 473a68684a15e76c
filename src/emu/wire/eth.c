/* SPDX-License-Identifier: MIT */
#include "emu/wire/eth.h"

enum drop_reason eth_parse(struct eth *out, struct rd_cur *in)
{
    struct rd_cur h = rd_part(in, ETH_BYTES);

    if (h.bad)
        return DROP_SHORT;
    rd_bytes(&h, out->dst, MAC_BYTES);
    rd_bytes(&h, out->src, MAC_BYTES);
    out->ethertype = (uint16_t)rd_be(&h, 2);
    return DROP_NONE;
}

void eth_build(const struct eth *h, struct wr_cur *out)
{
    struct wr_cur to = wr_part(out, ETH_BYTES);

    wr_bytes(&to, h->dst, MAC_BYTES);
    wr_bytes(&to, h->src, MAC_BYTES);
    wr_be(&to, 2, h->ethertype);
}

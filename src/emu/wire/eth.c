/* SPDX-License-Identifier: MIT */
#include "emu/wire/eth.h"

enum drop_reason eth_parse(struct eth *out, struct rd_cur *in)
{
    struct eth h;

    rd_bytes(in, h.dst, MAC_BYTES);
    rd_bytes(in, h.src, MAC_BYTES);
    h.ethertype = (uint16_t)rd_be(in, 2);
    if (in->bad)
        return DROP_SHORT;

    *out = h;
    return DROP_NONE;
}

void eth_build(const struct eth *h, struct wr_cur *out)
{
    wr_bytes(out, h->dst, MAC_BYTES);
    wr_bytes(out, h->src, MAC_BYTES);
    wr_be(out, 2, h->ethertype);
}

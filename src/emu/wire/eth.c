/* SPDX-License-Identifier: MIT */
#include "emu/wire/eth.h"

void eth_build(const struct eth *h, struct wr_cur *out)
{
    struct wr_cur to = wr_part(out, ETH_BYTES);

    wr_bytes(&to, h->dst, MAC_BYTES);
    wr_bytes(&to, h->src, MAC_BYTES);
    wr_be(&to, 2, h->ethertype);
}

/* SPDX-License-Identifier: MIT */
#include "emu/wire/udp.h"

void udp_build(const struct udp *h, struct wr_cur *out)
{
    struct wr_cur to = wr_part(out, UDP_BYTES);

    wr_be(&to, 2, h->src_port);
    wr_be(&to, 2, h->dst_port);
    wr_be(&to, 2, h->bytes);
    wr_be(&to, 2, 0);
}

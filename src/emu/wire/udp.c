/* SPDX-License-Identifier: MIT */
#include "emu/wire/udp.h"

enum drop_reason udp_parse(struct udp *out, struct rd_cur *in)
{
    struct rd_cur h = rd_part(in, UDP_BYTES);
    const uint16_t src_port = (uint16_t)rd_be(&h, 2);
    const uint16_t dst_port = (uint16_t)rd_be(&h, 2);
    const uint16_t bytes = (uint16_t)rd_be(&h, 2);
    const uint16_t checksum = (uint16_t)rd_be(&h, 2);

    (void)checksum; /* see udp.h */
    if (h.bad)
        return DROP_SHORT;
    *out = (struct udp){.src_port = src_port, .dst_port = dst_port, .bytes = bytes};
    return DROP_NONE;
}

void udp_build(const struct udp *h, struct wr_cur *out)
{
    struct wr_cur to = wr_part(out, UDP_BYTES);

    wr_be(&to, 2, h->src_port);
    wr_be(&to, 2, h->dst_port);
    wr_be(&to, 2, h->bytes);
    wr_be(&to, 2, 0);
}

/* SPDX-License-Identifier: MIT */
#include "emu/wire/udp.h"

enum drop_reason udp_parse(struct udp *out, struct rd_cur *in)
{
    const uint16_t src_port = (uint16_t)rd_be(in, 2);
    const uint16_t dst_port = (uint16_t)rd_be(in, 2);
    const uint16_t bytes = (uint16_t)rd_be(in, 2);
    const uint16_t checksum = (uint16_t)rd_be(in, 2);

    (void)checksum; /* see udp.h */
    if (in->bad)
        return DROP_SHORT;
    *out = (struct udp){.src_port = src_port, .dst_port = dst_port, .bytes = bytes};
    return DROP_NONE;
}

void udp_build(const struct udp *h, struct wr_cur *out)
{
    wr_be(out, 2, h->src_port);
    wr_be(out, 2, h->dst_port);
    wr_be(out, 2, h->bytes);
    wr_be(out, 2, 0);
}

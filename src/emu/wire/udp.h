/* SPDX-License-Identifier: MIT */
/* UDP header.
 *
 * The checksum is sent as 0 ("none"), as Linux rxe does, also over IPv6.  A received checksum is
 * not verified.  The ICRC covers the same data, including the addresses.
 */
#ifndef EMU_WIRE_UDP_H
#define EMU_WIRE_UDP_H

#include <stdint.h>

#include "emu/base/cursor.h"

#define UDP_BYTES     8u
#define UDP_PORT_ROCE 4791u

struct udp {
    uint16_t src_port, dst_port;
    uint16_t bytes; /* header and payload */
};

/* Returns the decoded header at @h. */
static inline struct udp udp_read(const uint8_t h[UDP_BYTES])
{
    return (struct udp){
        .src_port = ld_be16(h), .dst_port = ld_be16(h + 2), .bytes = ld_be16(h + 4)};
}

/* Appends the header @h to @out, with checksum 0. */
void udp_build(const struct udp *h, struct wr_cur *out);

/* Sets the length in an encoded header: @bytes counts the header and the payload. */
static inline void udp_set_bytes(uint8_t header[UDP_BYTES], uint16_t bytes)
{
    st_be16(header + 4, bytes);
}

#endif

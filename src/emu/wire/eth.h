/* SPDX-License-Identifier: MIT */
/* Ethernet II header, without the tag of a VLAN (vlan.h).  For a tagged frame eth_read() sets the
 * ethertype of the tag.
 */
#ifndef EMU_WIRE_ETH_H
#define EMU_WIRE_ETH_H

#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/wire/addr.h"

#define ETH_BYTES        14u
#define ETH_ETHERTYPE_AT 12u

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_ARP  0x0806u
#define ETHERTYPE_IPV6 0x86ddu

/* Group bit (multicast and broadcast) in the first byte of a MAC. */
#define MAC_GROUP_BIT 1u

struct eth {
    uint8_t dst[MAC_BYTES], src[MAC_BYTES];
    uint16_t ethertype;
};

/* Decodes the header at @h. */
static inline void eth_read(struct eth *out, const uint8_t h[ETH_BYTES])
{
    memcpy(out->dst, h, MAC_BYTES);
    memcpy(out->src, h + MAC_BYTES, MAC_BYTES);
    out->ethertype = ld_be16(h + ETH_ETHERTYPE_AT);
}

/* Appends the header @h to @out. */
void eth_build(const struct eth *h, struct wr_cur *out);

#endif

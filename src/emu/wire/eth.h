/* SPDX-License-Identifier: MIT */
/* Ethernet II header.  A VLAN tag is not taken apart: its ethertype is one that nobody here knows.
 */
#ifndef EMU_WIRE_ETH_H
#define EMU_WIRE_ETH_H

#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enums.h"
#include "emu/wire/addr.h"

#define ETH_BYTES 14u

#define ETHERTYPE_IPV4 0x0800u
#define ETHERTYPE_ARP  0x0806u
#define ETHERTYPE_IPV6 0x86ddu

/* Of a group, which broadcast is too: a bit of the first byte of a MAC. */
#define MAC_GROUP_BIT 1u

struct eth {
    uint8_t dst[MAC_BYTES], src[MAC_BYTES];
    uint16_t ethertype;
};

/* DROP_NONE or DROP_SHORT; any ethertype is accepted.  @out is untouched on failure. */
enum drop_reason eth_parse(struct eth *out, struct rd_cur *in);

void eth_build(const struct eth *h, struct wr_cur *out);

#endif

/* SPDX-License-Identifier: MIT */
/* ARP for IPv4 over Ethernet.  [RFC 826] */
#ifndef EMU_WIRE_ARP_H
#define EMU_WIRE_ARP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/wire/addr.h"

#define ARP_BYTES 28u /* length of a message, without the Ethernet header */

struct arp {
    bool reply; /* otherwise a request */
    uint8_t sender_mac[MAC_BYTES], target_mac[MAC_BYTES];
    uint8_t sender[GID_BYTES], target[GID_BYTES]; /* IPv4 addresses as GIDs */
};

/* Parses an ARP message.  Returns DROP_NONE, or DROP_BAD_ARP: too short, not IPv4 over Ethernet,
 * neither request nor reply, or a sender with a group MAC.  On failure @out is unchanged.
 */
enum drop_reason arp_parse(struct arp *out, struct rd_cur *in);

/* Appends the ARP message @h to @out.  h->sender and h->target must be IPv4 addresses. */
void arp_build(const struct arp *h, struct wr_cur *out);

#endif

/* SPDX-License-Identifier: MIT */
/* ARP between Ethernet and IPv4: the only pair that is spoken here.  [RFC 826] */
#ifndef EMU_WIRE_ARP_H
#define EMU_WIRE_ARP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enums.h"
#include "emu/wire/addr.h"

#define ARP_BYTES 28u /* after the Ethernet header */

struct arp {
    bool reply; /* otherwise a request */
    uint8_t sender_mac[MAC_BYTES], target_mac[MAC_BYTES];
    uint8_t sender[GID_BYTES], target[GID_BYTES]; /* IPv4 addresses as GIDs */
};

/* DROP_NONE, or DROP_BAD_ARP: too short, other kinds of addresses, an operation other than request
 * and reply, a sender whose MAC is a group's.  @out is untouched on failure.
 */
enum drop_reason arp_parse(struct arp *out, struct rd_cur *in);

/* Both addresses must be IPv4. */
void arp_build(const struct arp *h, struct wr_cur *out);

#endif

/* SPDX-License-Identifier: MIT */
/* The tag of a virtual LAN, four bytes between source MAC and ethertype.  [IEEE 802.1Q, 9.3]
 *
 *	TPID    16 bits  0x8100
 *	PCP      3 bits  priority
 *	DEI      1 bit   may be dropped before others
 *	VID     12 bits  number of the VLAN; 0: the frame has a priority, and no VLAN
 *
 * The last two bytes are the TCI.  A frame has at most one tag here.  A second tag, or one with
 * another TPID (0x88a8), is an unknown protocol.
 *
 * The bytes of a tagged frame from VLAN_TAG_BYTES on look like an untagged frame with other MACs.
 * Functions that do not read MACs therefore handle both with vlan_bytes().
 */
#ifndef EMU_WIRE_VLAN_H
#define EMU_WIRE_VLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/wire/eth.h"

#define ETHERTYPE_VLAN 0x8100u

#define VLAN_TAG_BYTES 4u
#define VLAN_TCI_AT    (ETH_ETHERTYPE_AT + 2u)

#define VLAN_VID_MASK 0xfffu
#define VLAN_VID_MAX  4094u /* 4095 is reserved */
#define VLAN_PCP_MAX  7u

static inline uint16_t vlan_tci(uint32_t vid, uint32_t pcp)
{
    return (uint16_t)(pcp << 13 | vid);
}

/* Returns true if the frame has a complete tag. */
static inline bool vlan_is_tagged(const uint8_t *frame, size_t len)
{
    return len >= ETH_BYTES + VLAN_TAG_BYTES && ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_VLAN;
}

/* Returns the length of the frame's tag: VLAN_TAG_BYTES or 0. */
static inline size_t vlan_bytes(const uint8_t *frame, size_t len)
{
    return vlan_is_tagged(frame, len) ? VLAN_TAG_BYTES : 0;
}

/* Returns the VLAN of the frame; 0: none. */
static inline uint32_t vlan_vid(const uint8_t *frame, size_t len)
{
    return vlan_is_tagged(frame, len) ? ld_be16(frame + VLAN_TCI_AT) & VLAN_VID_MASK : 0;
}

/* vlan_push() inserts a tag in front of the ethertype of a frame of @len bytes, at least ETH_BYTES.
 * The buffer has room for VLAN_TAG_BYTES more.  vlan_pop() removes the tag of a frame that has one.
 * Both return the new length.
 */
size_t vlan_push(uint8_t *frame, size_t len, uint16_t tci);
size_t vlan_pop(uint8_t *frame, size_t len);

#endif

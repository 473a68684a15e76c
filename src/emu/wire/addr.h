/* SPDX-License-Identifier: MIT */
/* MAC addresses, IP addresses as 16-byte GIDs, and their text forms.
 *
 * A RoCEv2 GID is an IPv6 address.  The IPv4 address a.b.c.d is the GID ::ffff:a.b.c.d.
 */
#ifndef EMU_WIRE_ADDR_H
#define EMU_WIRE_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

#define MAC_BYTES   6u
#define GID_BYTES   16u
#define EUI64_BYTES 8u

/* Offset of the four IPv4 bytes in a GID. */
#define GID_IPV4_AT 12u

/* Buffer sizes for addresses as text, including the NUL. */
#define MAC_TEXT_MAX  18u
#define ADDR_TEXT_MAX 46u

/* Returns true if @gid is ::ffff:a.b.c.d. */
bool gid_is_ipv4(const uint8_t gid[GID_BYTES]);

/* Returns true if @gid is a multicast address: in 224.0.0.0/4 or ff00::/8. */
bool gid_is_group(const uint8_t gid[GID_BYTES]);

/* Sets @gid to the GID of the IPv4 address @ip. */
void gid_from_ipv4(uint8_t gid[GID_BYTES], const uint8_t ip[4]);

/* Sets @mac to the MAC of the multicast group @gid: 01:00:5e and the last 23 bits of an IPv4
 * address, or 33:33 and the last 32 bits of an IPv6 address.  [RFC 1112, 6.4; RFC 2464, 7]
 */
void mac_from_multicast(uint8_t mac[MAC_BYTES], const uint8_t gid[GID_BYTES]);

/* Sets @id to the interface identifier of @mac: inserts ff:fe and inverts the universal/local bit.
 * [RFC 4291, A]
 */
void eui64_from_mac(uint8_t id[EUI64_BYTES], const uint8_t mac[MAC_BYTES]);

/* Appends @mac: "02:00:00:00:00:01". */
void mac_add(struct text *t, const uint8_t mac[MAC_BYTES]);

/* Parses the whole of @s: six groups of two hexadecimal digits, separated by colons.  On failure
 * returns false and leaves @ret unchanged.
 */
bool mac_parse(const char *s, uint8_t ret[MAC_BYTES]);

/* Appends "10.0.0.1" for an IPv4 address; otherwise the text form of RFC 5952. */
void addr_add(struct text *t, const uint8_t gid[GID_BYTES]);

/* Writes the text of addr_add() to @buf, which has ADDR_TEXT_MAX bytes.  Returns @buf. */
const char *addr_text(const uint8_t gid[GID_BYTES], char *buf);

/* Parses the whole of @s as an IPv4 or IPv6 address.  On failure returns false and leaves @ret
 * unchanged.
 */
bool addr_parse(const char *s, uint8_t ret[GID_BYTES]);

#endif

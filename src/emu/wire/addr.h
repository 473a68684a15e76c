/* SPDX-License-Identifier: MIT */
/* MAC addresses, and IP addresses as 16-byte GIDs, with their text.
 *
 * A RoCEv2 GID is an IPv6 address; an IPv4 address a.b.c.d is the GID ::ffff:a.b.c.d.
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

/* Room for an address as text, with the NUL. */
#define MAC_TEXT_MAX  18u
#define ADDR_TEXT_MAX 46u

/* Is @gid ::ffff:a.b.c.d? */
bool gid_is_ipv4(const uint8_t gid[GID_BYTES]);

/* Is @gid the address of a multicast group: in 224.0.0.0/4, or in ff00::/8? */
bool gid_is_group(const uint8_t gid[GID_BYTES]);

/* The GID of the IPv4 address @ip. */
void gid_from_ipv4(uint8_t gid[GID_BYTES], const uint8_t ip[4]);

/* The MAC to which frames for the multicast group @gid go: 01:00:5e and the last 23 bits of an IPv4
 * address, 33:33 and the last 32 bits of an IPv6 address.  [RFC 1112, 6.4; RFC 2464, 7]
 */
void mac_from_multicast(uint8_t mac[MAC_BYTES], const uint8_t gid[GID_BYTES]);

/* The identifier of the interface with @mac: ff:fe in the middle, one bit turned.  [RFC 4291, A] */
void eui64_from_mac(uint8_t id[EUI64_BYTES], const uint8_t mac[MAC_BYTES]);

/* Appends "02:00:00:00:00:01". */
void mac_add(struct text *t, const uint8_t mac[MAC_BYTES]);

/* Reads the whole of @s, six groups of two hexadecimal digits with colons between them.  False if
 * it is no such thing, and @ret is untouched.
 */
bool mac_parse(const char *s, uint8_t ret[MAC_BYTES]);

/* Appends "10.0.0.1" or, for what is not IPv4, the text that RFC 5952 prescribes. */
void addr_add(struct text *t, const uint8_t gid[GID_BYTES]);

/* The same in @buf, of ADDR_TEXT_MAX bytes; returns @buf. */
const char *addr_text(const uint8_t gid[GID_BYTES], char *buf);

/* Reads the whole of @s, an IPv4 or IPv6 address.  False if it is none; @ret is untouched then. */
bool addr_parse(const char *s, uint8_t ret[GID_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/* IPv4 and IPv6 headers in one decoded form, as far as RoCEv2 uses them.
 *
 * IPv4 options and IPv6 extension headers are not supported: RoCEv2 packets have none.  Received
 * fragments are refused.  Sent packets forbid fragmentation: DF in IPv4; IPv6 routers never
 * fragment.
 */
#ifndef EMU_WIRE_IP_H
#define EMU_WIRE_IP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/wire/addr.h"

#define IPV4_BYTES 20u
#define IPV6_BYTES 40u

#define IP_PROTOCOL_ICMP   1u
#define IP_PROTOCOL_TCP    6u
#define IP_PROTOCOL_UDP    17u
#define IP_PROTOCOL_ICMPV6 58u

#define IPV4_VERSION_IHL   0x45u   /* version 4, five words of header */
#define IPV4_FRAGMENT_MASK 0x3fffu /* more fragments, and the offset */

struct ip {
    uint8_t version;        /* 4 or 6 */
    uint8_t tclass;         /* traffic class; IPv4: type of service */
    uint8_t ttl;            /* IPv6: hop limit */
    uint8_t protocol;       /* IPv6: next header */
    uint16_t id;            /* IPv4 identification; 0 in IPv6 */
    uint16_t payload_bytes; /* length of the data after the header */
    uint32_t flow_label;    /* IPv6, 20 bits; 0 in IPv4 */
    uint8_t src[GID_BYTES], dst[GID_BYTES];
};

/* Returns the length of an IPv6 header if @version is 6, otherwise that of an IPv4 header. */
static inline size_t ip_header_bytes(unsigned version)
{
    return version == 6 ? IPV6_BYTES : IPV4_BYTES;
}

/* Returns true if the checksum of the header @h is correct.  Ones' complement addition is addition
 * modulo 0xffff, where 0x10000 is 1.  Words of any width can therefore be added at once.  Their
 * byte order does not matter, because only a sum of zero is tested.  [RFC 1071, 2]
 */
static inline bool ipv4_sum_is_right(const uint8_t h[IPV4_BYTES])
{
    const uint64_t sum =
        (uint64_t)ld_le32(h) + ld_le32(h + 4) + ld_le32(h + 8) + ld_le32(h + 12) + ld_le32(h + 16);

    return sum % 0xffffu == 0;
}

/* Decodes the header @h into @out without checks.  The caller has checked @h, for example with
 * ipv4_is_sound().  [RFC 791]
 *
 * byte 0: version, IHL | 1: TOS | 2-3: total length | 4-5: id | 6-7: flags, fragment offset
 * byte 8: TTL | 9: protocol | 10-11: checksum | 12-15: source | 16-19: destination
 */
static inline void ipv4_read(struct ip *out, const uint8_t h[IPV4_BYTES])
{
    out->version = 4;
    out->tclass = h[1];
    out->ttl = h[8];
    out->protocol = h[9];
    out->id = ld_be16(h + 4);
    out->payload_bytes = (uint16_t)(ld_be16(h + 2) - IPV4_BYTES);
    out->flow_label = 0;
    gid_from_ipv4(out->src, h + 12);
    gid_from_ipv4(out->dst, h + 16);
}

/* Returns true if ip_parse() would accept the IPv4 header @h in a packet that has @bytes from the
 * header on.  ip_parse() itself returns the reason of a refusal.
 */
static inline bool ipv4_is_sound(const uint8_t h[IPV4_BYTES], size_t bytes)
{
    const uint32_t total_bytes = ld_be16(h + 2);

    return h[0] == IPV4_VERSION_IHL && total_bytes >= IPV4_BYTES && total_bytes <= bytes &&
           (ld_be16(h + 6) & IPV4_FRAGMENT_MASK) == 0 && ipv4_sum_is_right(h);
}

/* Appends the header @h to @out, with its checksum in IPv4.  Both addresses must be of the version
 * h->version.
 */
void ip_build(const struct ip *h, struct wr_cur *out);

/* Set the length of a header that ip_build() wrote with payload_bytes 0.  ipv4_set_payload() also
 * updates the header checksum.
 */
void ipv4_set_payload(uint8_t header[IPV4_BYTES], uint16_t payload_bytes);
void ipv6_set_payload(uint8_t header[IPV6_BYTES], uint16_t payload_bytes);

#endif

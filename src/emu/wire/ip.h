/* SPDX-License-Identifier: MIT */
/* IPv4 and IPv6 headers in one decoded form: what RoCEv2 uses of them.
 *
 * No IPv4 options and no IPv6 extension headers: RoCEv2 packets carry none.  Fragments are refused,
 * and what is sent forbids them (DF in IPv4; IPv6 routers never fragment).
 */
#ifndef EMU_WIRE_IP_H
#define EMU_WIRE_IP_H

#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enums.h"
#include "emu/wire/addr.h"

#define IPV4_BYTES 20u
#define IPV6_BYTES 40u

#define IP_PROTOCOL_ICMP   1u
#define IP_PROTOCOL_TCP    6u
#define IP_PROTOCOL_UDP    17u
#define IP_PROTOCOL_ICMPV6 58u

struct ip {
    uint8_t version;        /* 4 or 6 */
    uint8_t tclass;         /* traffic class; IPv4: type of service */
    uint8_t ttl;            /* IPv6: hop limit */
    uint8_t protocol;       /* IPv6: next header */
    uint16_t id;            /* IPv4 identification; 0 in IPv6 */
    uint16_t payload_bytes; /* what follows the header */
    uint32_t flow_label;    /* IPv6, 20 bits; 0 in IPv4 */
    uint8_t src[GID_BYTES], dst[GID_BYTES];
};

/* Bytes of the header of IP version @version. */
static inline size_t ip_header_bytes(unsigned version)
{
    return version == 6 ? IPV6_BYTES : IPV4_BYTES;
}

/* Checks in this order: DROP_SHORT, DROP_BAD_IP_HEADER (version, header length),
 * DROP_BAD_IP_CHECKSUM, DROP_BAD_IP_HEADER (more bytes announced than there are), DROP_FRAGMENT.
 * On success @in ends where the IP packet does, so that Ethernet padding is out of reach.
 * @out is untouched on failure.
 */
enum drop_reason ip_parse(struct ip *out, struct rd_cur *in);

/* Writes the header with its checksum.  Both addresses must be of the family of @h->version. */
void ip_build(const struct ip *h, struct wr_cur *out);

/* Sets the length, and the checksum, in the bytes of a header that ip_build() wrote for a payload
 * of no bytes.
 */
void ipv4_set_payload(uint8_t header[IPV4_BYTES], uint16_t payload_bytes);
void ipv6_set_payload(uint8_t header[IPV6_BYTES], uint16_t payload_bytes);

#endif

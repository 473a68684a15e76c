/* SPDX-License-Identifier: MIT */
/* ICMP over IPv4 [RFC 792] and ICMPv6 [RFC 4443]: what both have in common, and echo.
 *
 * A message is type, code, checksum, and a body; the checksum covers all of it and, in ICMPv6, a
 * pseudo header.  Neighbour discovery is in nd.h.
 */
#ifndef EMU_WIRE_ICMP_H
#define EMU_WIRE_ICMP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enums.h"
#include "emu/wire/ip.h"

#define ICMP_BYTES      4u /* type, code, checksum */
#define ICMP_ECHO_BYTES 8u /* these, identifier and sequence number; the data follow */

enum icmpv4_type { ICMPV4_ECHO_REPLY = 0, ICMPV4_ECHO_REQUEST = 8 };
enum icmpv6_type {
    ICMPV6_ECHO_REQUEST = 128,
    ICMPV6_ECHO_REPLY = 129,
    ICMPV6_ND_SOLICIT = 135,
    ICMPV6_ND_ADVERT = 136
};

struct icmp {
    enum frame_kind kind; /* FRAME_ICMP: a type that is not taken apart here */
    uint8_t type, code;
};

struct icmp_echo {
    bool reply; /* otherwise a request */
    uint16_t id, seq;
    const uint8_t *data; /* in the frame */
    uint32_t data_bytes;
};

/* What a message of this IP version and type is. */
enum frame_kind icmp_kind(unsigned ip_version, uint8_t type);

/* Reads the head of a message that follows the IP header @ip and takes the whole rest of @in.
 * DROP_NONE, DROP_BAD_ICMP (too short), DROP_BAD_ICMP_CHECKSUM.  @out is untouched on failure.
 */
enum drop_reason icmp_parse(struct icmp *out, const struct ip *ip, struct rd_cur *in);

/* The rest of an echo request or reply.  DROP_NONE or DROP_BAD_ICMP; @out is untouched then. */
enum drop_reason icmp_echo_parse(struct icmp_echo *out, const struct icmp *h, struct rd_cur *in);

/* Writes a whole echo message.  ip->version, and for IPv6 all of @ip, count for type and checksum.
 */
void icmp_echo_build(const struct icmp_echo *e, const struct ip *ip, struct wr_cur *out);

/* Puts the checksum into a message of @n bytes that is complete but for it. */
void icmp_finish(const struct ip *ip, uint8_t *message, size_t n);

#endif

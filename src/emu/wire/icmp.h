/* SPDX-License-Identifier: MIT */
/* ICMP over IPv4 [RFC 792] and ICMPv6 [RFC 4443]: the common header, and echo messages.
 *
 * A message is type, code, checksum and a body.  The checksum covers all of it and, in ICMPv6, a
 * pseudo header.  Neighbour discovery is in nd.h.
 */
#ifndef EMU_WIRE_ICMP_H
#define EMU_WIRE_ICMP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/wire/ip.h"

#define ICMP_BYTES      4u /* type, code, checksum */
#define ICMP_ECHO_BYTES 8u /* with identifier and sequence number; data follow */

enum icmpv4_type { ICMPV4_ECHO_REPLY = 0, ICMPV4_ECHO_REQUEST = 8 };
enum icmpv6_type {
    ICMPV6_ECHO_REQUEST = 128,
    ICMPV6_ECHO_REPLY = 129,
    ICMPV6_ND_SOLICIT = 135,
    ICMPV6_ND_ADVERT = 136
};

struct icmp {
    enum frame_kind kind; /* FRAME_ICMP: a type other than those above */
    uint8_t type, code;
};

struct icmp_echo {
    bool reply; /* otherwise a request */
    uint16_t id, seq;
    const uint8_t *data; /* points into the frame, or to the data to send */
    uint32_t data_bytes;
};

/* Returns the kind of a message of @type over IP version @ip_version.  Returns FRAME_ICMP for other
 * types than those above.
 */
enum frame_kind icmp_kind(unsigned ip_version, uint8_t type);

/* Decodes the common header of the message in @in, which ends with the message.  @ip is the IP
 * header before the message.  Returns DROP_NONE, DROP_BAD_ICMP (too short) or
 * DROP_BAD_ICMP_CHECKSUM.  On failure @out is unchanged.
 */
enum drop_reason icmp_parse(struct icmp *out, const struct ip *ip, struct rd_cur *in);

/* Decodes the rest of an echo request or reply after its common header @h.  Returns DROP_NONE, or
 * DROP_BAD_ICMP if the message is too short or its code is not 0.  On failure @out is unchanged.
 */
enum drop_reason icmp_echo_parse(struct icmp_echo *out, const struct icmp *h, struct rd_cur *in);

/* Appends the complete echo message @e to @out.  Its type depends on ip->version.  For IPv6 the
 * checksum covers fields of @ip, the header of the packet.
 */
void icmp_echo_build(const struct icmp_echo *e, const struct ip *ip, struct wr_cur *out);

/* Computes the checksum of the @n bytes at @message and writes it into the message.  The old value
 * of the checksum field does not matter.  For IPv6 the checksum covers fields of @ip, the header of
 * the packet.
 */
void icmp_finish(const struct ip *ip, uint8_t *message, size_t n);

#endif

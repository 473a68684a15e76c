/* SPDX-License-Identifier: MIT */
#include "emu/wire/mld.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/wire/icmp.h"

#define TYPE_QUERY     130u
#define TYPE_REPORT_V2 143u
#define QUERY_BYTES    28u /* of version 2, without sources */
#define REPORT_BYTES   28u
#define HBH_BYTES      8u
#define CODE_EXACT     0x8000u /* smaller codes are milliseconds, not floating point */

/* The hop-by-hop header of eight bytes, without its first: length, Router Alert for MLD, padding.
 * [RFC 8200, 4.3; RFC 2711, 2.1]
 */
static const uint8_t hbh_rest[HBH_BYTES - 1] = {0, 5, 2, 0, 0, 1, 0};

void mld_routers(uint8_t ret[GID_BYTES])
{
    static const uint8_t routers[GID_BYTES] = {0xff, 0x02, [15] = 0x16};

    memcpy(ret, routers, GID_BYTES);
}

bool mld_is_report(uint8_t type)
{
    return type == TYPE_REPORT_V2;
}

bool mld_is_query(uint8_t type)
{
    return type == TYPE_QUERY;
}

static bool is_link_local(const uint8_t addr[GID_BYTES])
{
    return addr[0] == 0xfe && (addr[1] & 0xc0u) == 0x80;
}

/* Decodes a response time in ms.  From 0x8000 on it is a floating-point number with a mantissa of
 * twelve bits.  [RFC 3810, 5.1.3]
 */
static uint32_t max_response_ms(uint32_t code)
{
    return code < CODE_EXACT ? code : ((code & 0xfffu) | 0x1000u) << ((code >> 12 & 7u) + 3);
}

enum drop_reason mld_parse(struct group_query *out, const struct ip *ip, struct rd_cur *in)
{
    struct ip icmp_ip = *ip; /* the header that the checksum covers */
    uint8_t hbh[HBH_BYTES];
    struct group_query q;
    struct icmp h;
    enum drop_reason why;
    uint16_t code;

    rd_bytes(in, hbh, sizeof(hbh));
    if (in->bad)
        return DROP_BAD_ICMP;
    if (hbh[0] != IP_PROTOCOL_ICMPV6 || memcmp(hbh + 1, hbh_rest, sizeof(hbh_rest)) != 0)
        return DROP_NO_LISTENER;
    icmp_ip.protocol = IP_PROTOCOL_ICMPV6;
    icmp_ip.payload_bytes = (uint16_t)rd_left(in);
    if (rd_left(in) < QUERY_BYTES)
        return DROP_NO_LISTENER;
    why = icmp_parse(&h, &icmp_ip, in);
    if (why != DROP_NONE)
        return why;
    code = (uint16_t)rd_be(in, 2);
    (void)rd_be(in, 2);
    rd_bytes(in, q.group, GID_BYTES);
    if (!mld_is_query(h.type) || h.code != 0 || ip->ttl != 1 || !is_link_local(ip->src))
        return DROP_NO_LISTENER;
    q.max_response_ms = max_response_ms(code);
    *out = q;
    return DROP_NONE;
}

void mld_build(enum group_record record, const uint8_t src[GID_BYTES],
               const uint8_t group[GID_BYTES], struct wr_cur *out)
{
    struct ip ip = {.version = 6,
                    .ttl = 1,
                    .protocol = IP_PROTOCOL_HOP_BY_HOP,
                    .payload_bytes = HBH_BYTES + REPORT_BYTES};
    uint8_t *message;

    memcpy(ip.src, src, GID_BYTES);
    mld_routers(ip.dst);
    ip_build(&ip, out);
    wr_be(out, 1, IP_PROTOCOL_ICMPV6);
    wr_bytes(out, hbh_rest, sizeof(hbh_rest));
    message = out->p;
    group_report(TYPE_REPORT_V2, record, group, GID_BYTES, out);
    if (out->bad)
        return;
    ip.protocol = IP_PROTOCOL_ICMPV6;
    ip.payload_bytes = REPORT_BYTES;
    icmp_finish(&ip, message, REPORT_BYTES);
}

/* SPDX-License-Identifier: MIT */
#include "emu/wire/igmp.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/wire/checksum.h"
#include "emu/wire/ip.h"
#include "emu/wire/parse.h"

#define TYPE_QUERY     0x11u
#define TYPE_REPORT_V3 0x22u
#define QUERY_BYTES    12u /* of version 3, without sources */
#define REPORT_BYTES   16u
#define HEADER_BYTES   24u /* IP header with the Router Alert option */
#define VERSION_IHL    0x46u
#define TCLASS         0xc0u /* internetwork control */
#define DONT_FRAGMENT  0x4000u
#define FRAGMENT_BITS  0x3fffu     /* more fragments, or an offset */
#define ROUTER_ALERT   0x94040000u /* [RFC 2113, 2.1] */
#define PROTOCOL_AT    9u
#define IHL_MASK       0xfu
#define WORD           4u

void igmp_routers(uint8_t ret[GID_BYTES])
{
    gid_from_ipv4(ret, (const uint8_t[]){224, 0, 0, 22});
}

bool igmp_is_report(uint8_t type)
{
    return type == TYPE_REPORT_V3;
}

bool igmp_is_query(uint8_t type)
{
    return type == TYPE_QUERY;
}

bool igmp_is(const struct rd_cur *in)
{
    return rd_left(in) >= IPV4_BYTES && in->p[0] >> 4 == 4 &&
           in->p[PROTOCOL_AT] == IP_PROTOCOL_IGMP;
}

/* Checks the IP header, with any options, and moves @in behind it.  @in then ends with the packet.
 */
static enum drop_reason parse_ip(struct rd_cur *in)
{
    const uint8_t *ip = in->p;
    const size_t header = (size_t)(ip[0] & IHL_MASK) * WORD;
    const size_t total = ld_be16(ip + 2);

    if (header < IPV4_BYTES || header > rd_left(in))
        return DROP_BAD_IP_HEADER;
    if (checksum_fold(checksum_add(0, ip, header)) != 0)
        return DROP_BAD_IP_CHECKSUM;
    if (total < header || total > rd_left(in))
        return DROP_BAD_IP_HEADER;
    if (ld_be16(ip + 6) & FRAGMENT_BITS)
        return DROP_FRAGMENT;
    in->p += header;
    in->end = ip + total;
    return DROP_NONE;
}

/* Decodes a response time in units of 0.1 s.  From 128 on it is a floating-point number with a
 * mantissa of four bits.  [RFC 3376, 4.1.1]
 */
static uint32_t max_response_ms(uint32_t code)
{
    const uint32_t tenths = code < 128 ? code : ((code & 0xfu) | 0x10u) << ((code >> 4 & 7u) + 3);

    return tenths * 100;
}

enum drop_reason igmp_parse(struct group_query *out, struct rd_cur *in)
{
    struct group_query q = {.max_response_ms = 0};
    enum drop_reason why;

    if (!igmp_is(in))
        return DROP_SHORT;
    why = parse_ip(in);
    if (why != DROP_NONE)
        return why;
    if (rd_left(in) < QUERY_BYTES || in->p[0] != TYPE_QUERY ||
        checksum_fold(checksum_add(0, in->p, rd_left(in))) != 0)
        return DROP_NO_LISTENER;
    q.max_response_ms = max_response_ms(in->p[1]);
    if (ld_be32(in->p + WORD) != 0)
        gid_from_ipv4(q.group, in->p + WORD);
    *out = q;
    return DROP_NONE;
}

void group_report(uint8_t type, enum group_record record, const uint8_t *group, size_t n,
                  struct wr_cur *out)
{
    wr_be(out, 1, type);
    wr_be(out, 1, 0);
    wr_be(out, 2, 0); /* checksum */
    wr_be(out, 2, 0);
    wr_be(out, 2, 1); /* records */
    wr_be(out, 1, (uint64_t)record);
    wr_be(out, 1, 0); /* auxiliary data */
    wr_be(out, 2, 0); /* sources */
    wr_bytes(out, group, n);
}

static void put_checksum(uint8_t *at, const uint8_t *bytes, size_t n)
{
    const uint16_t checksum = checksum_fold(checksum_add(0, bytes, n));

    at[0] = (uint8_t)(checksum >> 8);
    at[1] = (uint8_t)checksum;
}

void igmp_build(enum group_record record, const uint8_t src[GID_BYTES],
                const uint8_t group[GID_BYTES], struct wr_cur *out)
{
    uint8_t *ip = out->p, *message = ip + HEADER_BYTES;
    uint8_t routers[GID_BYTES];

    RDL_ASSERT(gid_is_ipv4(src) && gid_is_ipv4(group));
    igmp_routers(routers);
    wr_be(out, 1, VERSION_IHL);
    wr_be(out, 1, TCLASS);
    wr_be(out, 2, HEADER_BYTES + REPORT_BYTES);
    wr_be(out, 2, 0); /* identification */
    wr_be(out, 2, DONT_FRAGMENT);
    wr_be(out, 1, 1); /* hop limit: never leaves this link */
    wr_be(out, 1, IP_PROTOCOL_IGMP);
    wr_be(out, 2, 0); /* checksum */
    wr_bytes(out, src + GID_IPV4_AT, WORD);
    wr_bytes(out, routers + GID_IPV4_AT, WORD);
    wr_be(out, 4, ROUTER_ALERT);
    group_report(TYPE_REPORT_V3, record, group + GID_IPV4_AT, WORD, out);
    if (out->bad)
        return;
    put_checksum(ip + 10, ip, HEADER_BYTES);
    put_checksum(message + 2, message, REPORT_BYTES);
}

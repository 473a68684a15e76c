/* SPDX-License-Identifier: MIT */
#include "emu/wire/nd.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/wire/eth.h"

#define F_ROUTER    0x80000000u
#define F_SOLICITED 0x40000000u
#define F_OVERRIDE  0x20000000u

/* Options: type, length in units of 8 bytes, data.  [RFC 4861, 4.6] */
#define OPTION_SOURCE_MAC  1u
#define OPTION_TARGET_MAC  2u
#define OPTION_UNIT_BYTES  8u
#define OPTION_MAC_UNITS   1u
#define OPTION_DATA_OFFSET 2u

static bool is_unspecified(const uint8_t addr[GID_BYTES])
{
    static const uint8_t none[GID_BYTES];

    return memcmp(addr, none, GID_BYTES) == 0;
}

static bool is_solicited_group(const uint8_t addr[GID_BYTES])
{
    uint8_t group[GID_BYTES];

    ipv6_solicited_group(group, addr);
    return memcmp(group, addr, GID_BYTES) == 0;
}

/* Reads the options, and takes the MAC from the option of type @wanted.  Returns false if an option
 * is too long or has length 0.
 */
static bool read_options(struct nd *n, unsigned wanted, struct rd_cur *in)
{
    while (rd_left(in) > 0) {
        const uint8_t *option = in->p;
        const unsigned type = (unsigned)rd_be(in, 1);
        const size_t units = (size_t)rd_be(in, 1);
        const size_t bytes = units * OPTION_UNIT_BYTES;

        if (units == 0 || bytes > (size_t)(in->end - option))
            return false;
        if (type == wanted && units == OPTION_MAC_UNITS) {
            memcpy(n->mac, option + OPTION_DATA_OFFSET, MAC_BYTES);
            n->has_mac = true;
        }
        in->p = option + bytes;
    }
    return true;
}

/* Checks the rest of a message whose options are well-formed.  [RFC 4861, 7.1.1, 7.1.2] */
static bool is_valid(const struct nd *n, const struct icmp *h, const struct ip *ip)
{
    if (ip->ttl != ND_HOP_LIMIT || h->code != 0 || ipv6_is_group(n->target))
        return false;
    if (ipv6_is_group(ip->src)) /* no station sends from a group  [RFC 4291, 2.7] */
        return false;
    if (n->has_mac && (n->mac[0] & MAC_GROUP_BIT))
        return false;
    if (n->advert)
        return !(n->solicited && ipv6_is_group(ip->dst));
    if (is_unspecified(ip->src)) /* duplicate address detection */
        return is_solicited_group(ip->dst) && !n->has_mac;
    return true;
}

enum drop_reason nd_parse(struct nd *out, const struct icmp *h, const struct ip *ip,
                          struct rd_cur *in)
{
    const uint32_t flags = (uint32_t)rd_be(in, 4);
    struct nd n = {.advert = h->kind == FRAME_ND_ADVERT};

    rd_bytes(in, n.target, GID_BYTES);
    if (in->bad || !read_options(&n, n.advert ? OPTION_TARGET_MAC : OPTION_SOURCE_MAC, in))
        return DROP_BAD_ND;
    if (n.advert) {
        n.router = (flags & F_ROUTER) != 0;
        n.solicited = (flags & F_SOLICITED) != 0;
        n.override = (flags & F_OVERRIDE) != 0;
    }
    if (!is_valid(&n, h, ip))
        return DROP_BAD_ND;
    *out = n;
    return DROP_NONE;
}

void nd_build(const struct nd *n, const struct ip *ip, struct wr_cur *out)
{
    uint8_t *message = out->p;
    uint32_t flags = 0;

    RDL_ASSERT(n->has_mac && ip->version == 6);
    if (n->advert)
        flags = (n->router ? F_ROUTER : 0) | (n->solicited ? F_SOLICITED : 0) |
                (n->override ? F_OVERRIDE : 0);
    wr_be(out, 1, n->advert ? ICMPV6_ND_ADVERT : ICMPV6_ND_SOLICIT);
    wr_be(out, 1, 0); /* code */
    wr_be(out, 2, 0); /* checksum */
    wr_be(out, 4, flags);
    wr_bytes(out, n->target, GID_BYTES);
    wr_be(out, 1, n->advert ? OPTION_TARGET_MAC : OPTION_SOURCE_MAC);
    wr_be(out, 1, OPTION_MAC_UNITS);
    wr_bytes(out, n->mac, MAC_BYTES);
    if (!out->bad)
        icmp_finish(ip, message, (size_t)(out->p - message));
}

void ipv6_solicited_group(uint8_t ret[GID_BYTES], const uint8_t addr[GID_BYTES])
{
    static const uint8_t prefix[13] = {0xff, 0x02, [11] = 1, [12] = 0xff};
    uint8_t group[GID_BYTES];

    memcpy(group, prefix, sizeof(prefix));
    memcpy(group + sizeof(prefix), addr + sizeof(prefix), GID_BYTES - sizeof(prefix));
    memcpy(ret, group, GID_BYTES);
}

void ipv6_all_nodes(uint8_t ret[GID_BYTES])
{
    static const uint8_t all[GID_BYTES] = {0xff, 0x02, [15] = 1};

    memcpy(ret, all, GID_BYTES);
}

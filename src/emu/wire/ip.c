/* SPDX-License-Identifier: MIT */
#include "emu/wire/ip.h"

#include "emu/base/assert.h"
#include "emu/wire/checksum.h"
#include "emu/wire/parse.h"

#define IPV4_DONT_FRAGMENT   0x4000u
#define IPV6_FRAGMENT_HEADER 44u
#define FLOW_LABEL_MASK      0xfffffu

/* Offsets of fields that are set after the rest of the header. */
#define IPV4_TOTAL_AT    2u
#define IPV4_CHECKSUM_AT 10u
#define IPV6_PAYLOAD_AT  4u

static enum drop_reason ipv4_parse(struct ip *out, struct rd_cur *in)
{
    const uint8_t *h = rd_take(in, IPV4_BYTES);
    uint32_t total_bytes;

    if (!h)
        return DROP_SHORT;
    total_bytes = ld_be16(h + IPV4_TOTAL_AT);
    if (h[0] != IPV4_VERSION_IHL)
        return DROP_BAD_IP_HEADER;
    if (!ipv4_sum_is_right(h))
        return DROP_BAD_IP_CHECKSUM;
    if (total_bytes < IPV4_BYTES || total_bytes - IPV4_BYTES > rd_left(in))
        return DROP_BAD_IP_HEADER;
    if ((ld_be16(h + 6) & IPV4_FRAGMENT_MASK) != 0)
        return DROP_FRAGMENT;

    ipv4_read(out, h);
    in->end = h + total_bytes;
    return DROP_NONE;
}

/* IPv6, byte 0-3: version, traffic class, flow label | 4-5: payload length | 6: next header
 * byte 7: hop limit | 8-23: source | 24-39: destination  [RFC 8200, 3]
 */
static enum drop_reason ipv6_parse(struct ip *out, struct rd_cur *in)
{
    const uint32_t first_word = (uint32_t)rd_be(in, 4);
    struct ip h = {
        .version = 6,
        .tclass = (uint8_t)(first_word >> 20),
        .flow_label = first_word & FLOW_LABEL_MASK,
    };

    h.payload_bytes = (uint16_t)rd_be(in, 2);
    h.protocol = (uint8_t)rd_be(in, 1);
    h.ttl = (uint8_t)rd_be(in, 1);
    rd_bytes(in, h.src, GID_BYTES);
    rd_bytes(in, h.dst, GID_BYTES);
    if (in->bad)
        return DROP_SHORT;
    if (h.payload_bytes > rd_left(in))
        return DROP_BAD_IP_HEADER;
    if (h.protocol == IPV6_FRAGMENT_HEADER)
        return DROP_FRAGMENT;

    *out = h;
    in->end = in->p + h.payload_bytes;
    return DROP_NONE;
}

enum drop_reason ip_parse(struct ip *out, struct rd_cur *in)
{
    if (rd_left(in) == 0)
        return DROP_SHORT;
    switch (in->p[0] >> 4) {
    case 4:
        return ipv4_parse(out, in);
    case 6:
        return ipv6_parse(out, in);
    default:
        return DROP_BAD_IP_HEADER;
    }
}

static void ipv4_build(const struct ip *h, struct wr_cur *out)
{
    uint8_t *start = out->p;
    struct wr_cur to = wr_part(out, IPV4_BYTES);
    uint16_t checksum;

    RDL_ASSERT(gid_is_ipv4(h->src) && gid_is_ipv4(h->dst));
    RDL_ASSERT(h->payload_bytes <= UINT16_MAX - IPV4_BYTES);
    wr_be(&to, 1, IPV4_VERSION_IHL);
    wr_be(&to, 1, h->tclass);
    wr_be(&to, 2, h->payload_bytes + IPV4_BYTES);
    wr_be(&to, 2, h->id);
    wr_be(&to, 2, IPV4_DONT_FRAGMENT);
    wr_be(&to, 1, h->ttl);
    wr_be(&to, 1, h->protocol);
    wr_be(&to, 2, 0);
    wr_bytes(&to, h->src + GID_IPV4_AT, 4);
    wr_bytes(&to, h->dst + GID_IPV4_AT, 4);
    if (to.bad)
        return;
    checksum = checksum_fold(checksum_add(0, start, IPV4_BYTES));
    st_be16(start + IPV4_CHECKSUM_AT, checksum);
}

static void ipv6_build(const struct ip *h, struct wr_cur *out)
{
    RDL_ASSERT(h->flow_label <= FLOW_LABEL_MASK);
    wr_be(out, 4, 6u << 28 | (uint32_t)h->tclass << 20 | h->flow_label);
    wr_be(out, 2, h->payload_bytes);
    wr_be(out, 1, h->protocol);
    wr_be(out, 1, h->ttl);
    wr_bytes(out, h->src, GID_BYTES);
    wr_bytes(out, h->dst, GID_BYTES);
}

void ip_build(const struct ip *h, struct wr_cur *out)
{
    RDL_ASSERT(h->version == 4 || h->version == 6);
    if (h->version == 4)
        ipv4_build(h, out);
    else
        ipv6_build(h, out);
}

void ipv4_set_payload(uint8_t header[IPV4_BYTES], uint16_t payload_bytes)
{
    const uint32_t sum = (uint16_t)~ld_be16(header + IPV4_CHECKSUM_AT);

    RDL_ASSERT(header[0] == IPV4_VERSION_IHL);
    st_be16(header + IPV4_TOTAL_AT, (uint16_t)(IPV4_BYTES + payload_bytes));
    /* The sum of all words grows by the same amount.  [RFC 1624] */
    st_be16(header + IPV4_CHECKSUM_AT, checksum_fold(sum + payload_bytes));
}

void ipv6_set_payload(uint8_t header[IPV6_BYTES], uint16_t payload_bytes)
{
    st_be16(header + IPV6_PAYLOAD_AT, payload_bytes);
}

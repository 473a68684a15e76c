/* SPDX-License-Identifier: MIT */
#include "emu/wire/grh.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/wire/checksum.h"

#define IPV4_AT      (GRH_BYTES - IPV4_BYTES)
#define IPV4_PLAIN   0x45u /* version 4, a header without options */
#define FLOW_BITS    20u
#define SIX          6u
#define IPV4_TTL_AT  8u
#define IPV4_SRC_AT  12u
#define IPV4_DST_AT  16u
#define IPV6_HOPS_AT 7u
#define IPV6_SRC_AT  8u
#define IPV6_DST_AT  24u
#define NEXT_IS_BTH  0x1bu /* next header of a GRH: InfiniBand's transport follows */

_Static_assert(GRH_BYTES == IPV6_BYTES, "a global route header has the form of an IPv6 header");

/* Returns the IP header of @p in its frame. */
static const uint8_t *ip_of(const struct packet *p)
{
    const size_t between =
        ip_header_bytes(p->ip.version) + UDP_BYTES + BTH_BYTES + op_headers_bytes(p->op->headers);

    RDL_ASSERT(p->payload);
    return p->payload - between;
}

void grh_from_packet(uint8_t out[GRH_BYTES], const struct packet *p)
{
    const size_t n = ip_header_bytes(p->ip.version);

    memset(out, 0, GRH_BYTES - n);
    memcpy(out + GRH_BYTES - n, ip_of(p), n);
}

void grh_global_from_packet(uint8_t out[GRH_BYTES], const struct packet *p)
{
    const uint32_t behind = BTH_BYTES + (uint32_t)op_headers_bytes(p->op->headers) +
                            p->payload_bytes + packet_pad_bytes(p->payload_bytes) + ICRC_BYTES;

    st_be32(out, SIX << 28 | (uint32_t)p->ip.tclass << FLOW_BITS | p->ip.flow_label);
    st_be16(out + 4, (uint16_t)behind);
    out[6] = NEXT_IS_BTH;
    out[IPV6_HOPS_AT] = p->ip.ttl;
    memcpy(out + IPV6_SRC_AT, p->ip.src, GID_BYTES);
    memcpy(out + IPV6_DST_AT, p->ip.dst, GID_BYTES);
}

static bool is_sound_ipv4(const uint8_t *ip)
{
    return ip[0] == IPV4_PLAIN && checksum_fold(checksum_add(0, ip, IPV4_BYTES)) == 0;
}

/* Returns the IP version: 4, 6, or 0 for neither. */
static unsigned version_of(const uint8_t area[GRH_BYTES])
{
    const uint8_t *ipv4 = area + IPV4_AT;

    if (area[0] >> 4 == SIX)
        return is_sound_ipv4(ipv4) ? 4 : SIX;
    return ipv4[0] >> 4 == 4 ? 4 : 0;
}

bool grh_parse(struct grh *out, const uint8_t area[GRH_BYTES])
{
    const uint8_t *ipv4 = area + IPV4_AT;
    const unsigned version = version_of(area);

    if (version == 4) {
        *out = (struct grh){.version = 4, .tclass = ipv4[1], .hop_limit = ipv4[IPV4_TTL_AT]};
        gid_from_ipv4(out->src, ipv4 + IPV4_SRC_AT);
        gid_from_ipv4(out->dst, ipv4 + IPV4_DST_AT);
    } else if (version == SIX) {
        const uint32_t first_word = ld_be32(area);

        *out = (struct grh){.version = SIX,
                            .tclass = (uint8_t)(first_word >> FLOW_BITS),
                            .hop_limit = area[IPV6_HOPS_AT],
                            .flow_label = first_word & ((1u << FLOW_BITS) - 1)};
        memcpy(out->src, area + IPV6_SRC_AT, GID_BYTES);
        memcpy(out->dst, area + IPV6_DST_AT, GID_BYTES);
    }
    return version != 0;
}

/* SPDX-License-Identifier: MIT */
#include "frame_repair.h"

#include <string.h>

#include "emu/wire/checksum.h"
#include "emu/wire/eth.h"
#include "emu/wire/icmp.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "emu/wire/vlan.h"

#define IPV4_TOTAL_AT    (ETH_BYTES + 2u)
#define IPV4_PROTOCOL_AT (ETH_BYTES + 9u)
#define IPV4_CHECKSUM_AT (ETH_BYTES + 10u)
#define IPV6_PAYLOAD_AT  (ETH_BYTES + 4u)
#define IPV6_NEXT_AT     (ETH_BYTES + 6u)
#define IPV6_SRC_AT      (ETH_BYTES + 8u)

/* 4 or 6; 0: neither. */
static unsigned version_of(const uint8_t *frame, size_t n)
{
    const unsigned ethertype = n >= ETH_BYTES ? ld_be16(frame + ETH_ETHERTYPE_AT) : 0;

    if (ethertype == ETHERTYPE_IPV4 && n >= ETH_BYTES + IPV4_BYTES)
        return 4;
    return ethertype == ETHERTYPE_IPV6 && n >= ETH_BYTES + IPV6_BYTES ? 6 : 0;
}

static void repair_lengths(uint8_t *frame, size_t n, unsigned version, unsigned protocol)
{
    const size_t at = ETH_BYTES + ip_header_bytes(version);

    if (version == 4)
        st_be16(frame + IPV4_TOTAL_AT, (uint16_t)(n - ETH_BYTES));
    else
        st_be16(frame + IPV6_PAYLOAD_AT, (uint16_t)(n - at));
    if (protocol == IP_PROTOCOL_UDP && n >= at + UDP_BYTES)
        udp_set_bytes(frame + at, (uint16_t)(n - at));
}

static void repair_sums(uint8_t *frame, size_t n, unsigned version, unsigned protocol)
{
    const size_t at = ETH_BYTES + ip_header_bytes(version);
    struct ip ip = {.version = (uint8_t)version, .payload_bytes = (uint16_t)(n - at)};

    if (version == 4) {
        st_be16(frame + IPV4_CHECKSUM_AT, 0);
        st_be16(frame + IPV4_CHECKSUM_AT,
                checksum_fold(checksum_add(0, frame + ETH_BYTES, IPV4_BYTES)));
    } else {
        ip.protocol = IP_PROTOCOL_ICMPV6;
        memcpy(ip.src, frame + IPV6_SRC_AT, GID_BYTES);
        memcpy(ip.dst, frame + IPV6_SRC_AT + GID_BYTES, GID_BYTES);
    }
    if (protocol == (version == 4 ? IP_PROTOCOL_ICMP : IP_PROTOCOL_ICMPV6) && n >= at + ICMP_BYTES)
        icmp_finish(&ip, frame + at, n - at);
}

void frame_repair(uint8_t *frame, size_t n, unsigned what)
{
    const size_t tag_bytes = vlan_bytes(frame, n);
    unsigned version, protocol;
    size_t icrc_at;

    frame += tag_bytes;
    n -= tag_bytes;
    version = version_of(frame, n);
    if (version == 0 || n > UINT16_MAX)
        return;
    protocol = frame[version == 4 ? IPV4_PROTOCOL_AT : IPV6_NEXT_AT];
    if (what & REPAIR_LENGTHS)
        repair_lengths(frame, n, version, protocol);
    if (what & REPAIR_SUMS)
        repair_sums(frame, n, version, protocol);
    icrc_at = what & REPAIR_ICRC ? packet_icrc_at(frame, n) : 0;
    if (icrc_at)
        st_le32(frame + icrc_at, icrc_compute(frame + ETH_BYTES, icrc_at - ETH_BYTES));
}

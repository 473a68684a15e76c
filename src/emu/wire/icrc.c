/* SPDX-License-Identifier: MIT */
#include "emu/wire/icrc.h"

#include <isa-l/crc.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/opcode.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"

/* CRC-32 of the eight leading bytes 0xff; zlib's convention, so complemented. */
#define CRC_OF_EIGHT_ONES 0x2144df1cu

static void mask_ipv4(uint8_t *ip)
{
    ip[1] = 0xff;  /* TOS */
    ip[8] = 0xff;  /* TTL */
    ip[10] = 0xff; /* header checksum */
    ip[11] = 0xff;
}

static void mask_ipv6(uint8_t *ip)
{
    ip[0] |= 0x0f; /* traffic class, flow label */
    ip[1] = 0xff;
    ip[2] = 0xff;
    ip[3] = 0xff;
    ip[7] = 0xff; /* hop limit */
}

uint32_t icrc_compute(const uint8_t *ip, size_t bytes)
{
    uint8_t masked[IPV6_BYTES + UDP_BYTES + BTH_BYTES];
    const size_t ip_bytes = ip_header_bytes(ip[0] >> 4);
    const size_t masked_bytes = ip_bytes + UDP_BYTES + BTH_BYTES;
    uint8_t *udp = masked + ip_bytes;
    uint8_t *bth = udp + UDP_BYTES;
    uint32_t crc;

    RDL_ASSERT(bytes >= masked_bytes);
    memcpy(masked, ip, masked_bytes);
    if (ip_bytes == IPV6_BYTES)
        mask_ipv6(masked);
    else
        mask_ipv4(masked);
    udp[6] = 0xff; /* checksum */
    udp[7] = 0xff;
    bth[4] = 0xff; /* FECN, BECN, reserved */

    crc = crc32_gzip_refl(CRC_OF_EIGHT_ONES, masked, masked_bytes);
    return crc32_gzip_refl(crc, ip + masked_bytes, bytes - masked_bytes);
}

/* SPDX-License-Identifier: MIT */
#include "emu/wire/icrc.h"

#include <isa-l/crc.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/opcode.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"

/* CRC-32 of the eight leading bytes 0xff, complemented as by zlib. */
#define CRC_OF_EIGHT_ONES 0x2144df1cu

#define SMALL_BYTES 128u

/* Bytes that can contain masked fields: from the IP header to the end of the BTH. */
#define IPV4_MASKED_BYTES (IPV4_BYTES + UDP_BYTES + BTH_BYTES)
#define IPV6_MASKED_BYTES (IPV6_BYTES + UDP_BYTES + BTH_BYTES)

/* Masks the UDP checksum, and FECN, BECN and the reserved bits of the BTH. */
#define TRANSPORT_MASK(udp) [(udp) + 6] = 0xff, [(udp) + 7] = 0xff, [(udp) + UDP_BYTES + 4] = 0xff

static const uint8_t ipv4_mask[IPV4_MASKED_BYTES] = {
    [1] = 0xff,  /* TOS */
    [8] = 0xff,  /* TTL */
    [10] = 0xff, /* header checksum */
    [11] = 0xff, TRANSPORT_MASK(IPV4_BYTES),
};

static const uint8_t ipv6_mask[IPV6_MASKED_BYTES] = {
    [0] = 0x0f, /* traffic class, flow label */
    [1] = 0xff,
    [2] = 0xff,
    [3] = 0xff,
    [7] = 0xff, /* hop limit */
    TRANSPORT_MASK(IPV6_BYTES),
};

static inline void mask(uint8_t *out, const uint8_t *in, const uint8_t *ones, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] | ones[i];
}

/* Writes the headers up to the end of the BTH to @out, with masked fields set to ones.  Returns
 * their length.  The copy is in pieces that compilers write with one store each: the CRC reads 16
 * bytes at once, and a load that spans several recent stores stalls.
 */
static size_t mask_headers(uint8_t out[IPV6_MASKED_BYTES], const uint8_t *ip, size_t bytes)
{
    if (ip_header_bytes(ip[0] >> 4) == IPV4_BYTES) {
        RDL_ASSERT(bytes >= IPV4_MASKED_BYTES);
        mask(out, ip, ipv4_mask, 32);
        mask(out + 32, ip + 32, ipv4_mask + 32, IPV4_MASKED_BYTES - 32);
        return IPV4_MASKED_BYTES;
    }
    RDL_ASSERT(bytes >= IPV6_MASKED_BYTES);
    mask(out, ip, ipv6_mask, 48);
    mask(out + 48, ip + 48, ipv6_mask + 48, IPV6_MASKED_BYTES - 48);
    return IPV6_MASKED_BYTES;
}

uint32_t icrc_compute(const uint8_t *ip, size_t bytes)
{
    uint8_t masked[SMALL_BYTES];
    const size_t headers = mask_headers(masked, ip, bytes);
    uint32_t crc;

    if (bytes <= SMALL_BYTES) { /* copying is cheaper than starting a second CRC */
        memcpy(masked + headers, ip + headers, bytes - headers);
        return crc32_gzip_refl(CRC_OF_EIGHT_ONES, masked, bytes);
    }
    crc = crc32_gzip_refl(CRC_OF_EIGHT_ONES, masked, headers);
    return icrc_more(crc, ip + headers, bytes - headers);
}

uint32_t icrc_more(uint32_t icrc, const uint8_t *more, size_t bytes)
{
    return crc32_gzip_refl(icrc, more, bytes);
}

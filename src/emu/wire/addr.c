/* SPDX-License-Identifier: MIT */
#include "emu/wire/addr.h"

#include <arpa/inet.h>
#include <string.h>

#include "emu/base/assert.h"

static const uint8_t ipv4_prefix[GID_IPV4_AT] = {[10] = 0xff, [11] = 0xff};

bool gid_is_ipv4(const uint8_t gid[GID_BYTES])
{
    return memcmp(gid, ipv4_prefix, GID_IPV4_AT) == 0;
}

bool gid_is_group(const uint8_t gid[GID_BYTES])
{
    return gid_is_ipv4(gid) ? (gid[GID_IPV4_AT] & 0xf0u) == 0xe0u : gid[0] == 0xff;
}

void gid_from_ipv4(uint8_t gid[GID_BYTES], const uint8_t ip[4])
{
    memcpy(gid, ipv4_prefix, GID_IPV4_AT);
    memcpy(gid + GID_IPV4_AT, ip, 4);
}

void mac_from_multicast(uint8_t mac[MAC_BYTES], const uint8_t gid[GID_BYTES])
{
    RDL_ASSERT(gid_is_group(gid));
    mac[0] = mac[1] = 0x33;
    memcpy(mac + 2, gid + GID_IPV4_AT, 4);
    if (gid_is_ipv4(gid)) {
        memcpy(mac, (const uint8_t[]){0x01, 0x00, 0x5e}, 3);
        mac[3] &= 0x7fu;
    }
}

void eui64_from_mac(uint8_t id[EUI64_BYTES], const uint8_t mac[MAC_BYTES])
{
    memcpy(id, mac, 3);
    id[0] ^= 2u; /* the universal/local bit has the opposite meaning in a MAC */
    id[3] = 0xff;
    id[4] = 0xfe;
    memcpy(id + 5, mac + 3, 3);
}

void mac_add(struct text *t, const uint8_t mac[MAC_BYTES])
{
    text_add_hex(t, mac, MAC_BYTES, ":");
}

bool mac_parse(const char *s, uint8_t ret[MAC_BYTES])
{
    uint8_t mac[MAC_BYTES];

    if (strlen(s) != MAC_TEXT_MAX - 1)
        return false;
    for (size_t i = 0; i < MAC_BYTES; i++, s += 3) {
        const int high = text_hex_digit(s[0]), low = text_hex_digit(s[1]);

        if (high < 0 || low < 0 || s[2] != (i + 1 < MAC_BYTES ? ':' : '\0'))
            return false;
        mac[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(ret, mac, MAC_BYTES);
    return true;
}

void addr_add(struct text *t, const uint8_t gid[GID_BYTES])
{
    char buf[ADDR_TEXT_MAX];
    const char *s = gid_is_ipv4(gid) ? inet_ntop(AF_INET, gid + GID_IPV4_AT, buf, sizeof(buf))
                                     : inet_ntop(AF_INET6, gid, buf, sizeof(buf));

    RDL_ASSERT(s);
    text_add(t, s);
}

const char *addr_text(const uint8_t gid[GID_BYTES], char *buf)
{
    struct text t = text_on(buf, ADDR_TEXT_MAX);

    addr_add(&t, gid);
    return buf;
}

bool addr_parse(const char *s, uint8_t ret[GID_BYTES])
{
    uint8_t ip[4], gid[GID_BYTES];

    if (inet_pton(AF_INET, s, ip) == 1)
        gid_from_ipv4(gid, ip);
    else if (inet_pton(AF_INET6, s, gid) != 1)
        return false;
    memcpy(ret, gid, GID_BYTES);
    return true;
}

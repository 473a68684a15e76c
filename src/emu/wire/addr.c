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

void gid_from_ipv4(uint8_t gid[GID_BYTES], const uint8_t ip[4])
{
    memcpy(gid, ipv4_prefix, GID_IPV4_AT);
    memcpy(gid + GID_IPV4_AT, ip, 4);
}

void mac_add(struct text *t, const uint8_t mac[MAC_BYTES])
{
    text_addf(t, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

/* The value of a hexadecimal digit, or -1. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool mac_parse(const char *s, uint8_t ret[MAC_BYTES])
{
    uint8_t mac[MAC_BYTES];

    if (strlen(s) != MAC_TEXT_MAX - 1)
        return false;
    for (size_t i = 0; i < MAC_BYTES; i++, s += 3) {
        const int high = hex_digit(s[0]), low = hex_digit(s[1]);

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

/* SPDX-License-Identifier: MIT */
/* The drill of frames: correct frames of stations to h1, byte by byte, without their checksums. */
#include <string.h>

#include "emu/base/cursor.h"
#include "swarm/drills/frames.h"

/* Offsets of the fields behind the Ethernet header.  [RFC 826, 791, 8200, 4861] */
#define AT      14u
#define ARP     28u
#define IPV4    20u
#define IPV6    40u
#define ECHO    8u
#define SOLICIT 32u /* with its option */
#define ICMPV6  58u /* the protocol */

void frames_put_mac(uint8_t *at, uint32_t who)
{
    memcpy(at, (uint8_t[]){2, 0, 0xcc, 0, (uint8_t)(who >> 8), (uint8_t)who}, 6);
}

void frames_put_ip(uint8_t *at, uint32_t who)
{
    memcpy(at, (uint8_t[]){10, 9, (uint8_t)(who >> 8), (uint8_t)who}, 4);
}

void frames_put_address(uint8_t at[16], uint32_t who, bool is_ipv6)
{
    memset(at, 0, 16);
    if (is_ipv6) {
        memcpy(at, (uint8_t[]){0xfe, 0x80}, 2);
        frames_put_mac(at + 10, who);
    } else {
        memset(at + 10, 0xff, 2);
        frames_put_ip(at + 12, who);
    }
}

void frames_begin(const struct frames *k, uint32_t who, uint16_t type, uint8_t f[FRAMES_BYTES_MAX])
{
    memset(f, 0, FRAMES_BYTES_MAX);
    memcpy(f, k->mac, 6);
    frames_put_mac(f + 6, who);
    st_be16(f + 12, type);
}

uint32_t frames_pseudo_sum(const uint8_t *ip, size_t bytes)
{
    return ICMPV6 + (uint32_t)bytes + (uint16_t)~rig_sum(0, ip + 8, 32);
}

size_t frames_write_arp(const struct frames *k, uint32_t who, bool reply, const uint8_t target[4],
                        uint8_t f[FRAMES_BYTES_MAX])
{
    frames_begin(k, who, 0x0806, f);
    if (reply)
        memcpy(f + AT + 18, k->mac, 6);
    else
        memset(f, 0xff, 6);
    memcpy(f + AT, (uint8_t[]){0, 1, 8, 0, 6, 4, 0, reply ? 2 : 1}, 8);
    frames_put_mac(f + AT + 8, who);
    frames_put_ip(f + AT + 14, who);
    memcpy(f + AT + 24, target, 4);
    return AT + ARP;
}

size_t frames_write_echo_4(const struct frames *k, uint32_t who, uint8_t type, uint32_t data,
                           uint8_t f[FRAMES_BYTES_MAX])
{
    frames_begin(k, who, 0x0800, f);
    f[AT] = 0x45;
    st_be16(f + AT + 2, (uint16_t)(IPV4 + ECHO + data));
    f[AT + 8] = 64;
    f[AT + 9] = 1;
    frames_put_ip(f + AT + 12, who);
    memcpy(f + AT + 16, k->gid[0] + 12, 4);
    f[AT + IPV4] = type;
    return AT + IPV4 + ECHO + data;
}

static void begin_ipv6(const struct frames *k, uint32_t who, uint32_t bytes, uint8_t *f)
{
    frames_begin(k, who, 0x86dd, f);
    f[AT] = 0x60;
    st_be16(f + AT + 4, (uint16_t)bytes);
    f[AT + 6] = ICMPV6;
    f[AT + 7] = 255;
    frames_put_address(f + AT + 8, who, true);
}

size_t frames_write_echo_6(const struct frames *k, uint32_t who, uint32_t data,
                           uint8_t f[FRAMES_BYTES_MAX])
{
    begin_ipv6(k, who, ECHO + data, f);
    memcpy(f + AT + 24, k->gid[1], 16);
    f[AT + IPV6] = 128;
    return AT + IPV6 + ECHO + data;
}

size_t frames_write_solicitation(const struct frames *k, uint32_t who, uint8_t f[FRAMES_BYTES_MAX])
{
    static const uint8_t group[] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
    uint8_t *message = f + AT + IPV6;

    begin_ipv6(k, who, SOLICIT, f);
    memcpy(f, (uint8_t[]){0x33, 0x33, 0xff}, 3);
    memcpy(f + 3, k->gid[1] + 13, 3);
    memcpy(f + AT + 24, group, sizeof(group));
    memcpy(f + AT + 37, k->gid[1] + 13, 3);
    message[0] = 135;
    memcpy(message + 8, k->gid[1], 16);
    message[24] = message[25] = 1;
    frames_put_mac(message + 26, who);
    return AT + IPV6 + SOLICIT;
}

/* SPDX-License-Identifier: MIT */
/* The drill of frames: ARP, ICMP echo and neighbour discovery at the edges of what is correct.
 *
 * A row changes one byte, or the length, of a correct frame.  The checksums are corrected
 * afterwards, so that the changed value alone decides whether h1 answers.  [RFC 826, 791, 792,
 * 8200, 4443, 4861]
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "swarm/drills/frames.h"

#define ETH    14u
#define IPV4   20u
#define IPV6   40u
#define ECHO   8u
#define DATA   24u
#define OPTION 8u /* of neighbour discovery, with a MAC */

/* The correct frames. */
enum corner_frame { ARP_REQUEST, ECHO_4, ECHO_6, SOLICITATION };

struct corner {
    enum corner_frame frame;
    uint16_t at;   /* offset behind the Ethernet header; NOT_CHANGED: no byte is changed */
    uint8_t to;    /* value of this byte */
    int8_t longer; /* bytes that are added to the end of the frame, or cut off */
    bool is_answered;
    const char *text;
};

#define NOT_CHANGED UINT16_MAX
#define V4(n)       (IPV4 + (n)) /* byte @n of the message behind an IPv4 header */
#define V6(n)       (IPV6 + (n))

static const struct corner corners[] = {
    {ARP_REQUEST, NOT_CHANGED, 0, 18, true, "padding to the shortest frame"},
    {ARP_REQUEST, NOT_CHANGED, 0, -1, false, "one byte missing"},
    {ARP_REQUEST, 1, 6, 0, false, "another hardware type"},
    {ARP_REQUEST, 2, 0x86, 0, false, "another protocol"},
    {ARP_REQUEST, 4, 8, 0, false, "hardware addresses of 8 bytes"},
    {ARP_REQUEST, 5, 16, 0, false, "protocol addresses of 16 bytes"},
    {ARP_REQUEST, 6, 1, 0, false, "operation 257"},
    {ARP_REQUEST, 7, 0, 0, false, "operation 0"},
    {ARP_REQUEST, 7, 3, 0, false, "operation 3"},
    {ARP_REQUEST, 8, 3, 0, false, "a group as the sender's MAC"},
    {ARP_REQUEST, 18, 0xff, 0, true, "a target MAC, which a request need not have"},
    {ECHO_4, NOT_CHANGED, 0, 0, true, "nothing changed"},
    {ECHO_4, NOT_CHANGED, 0, 18, true, "padding behind the packet"},
    {ECHO_4, NOT_CHANGED, 0, -1, false, "a frame shorter than its packet"},
    {ECHO_4, 0, 0x46, 0, false, "a header with options"},
    {ECHO_4, 0, 0x44, 0, false, "a header of 16 bytes"},
    {ECHO_4, 0, 0x55, 0, false, "IP version 5"},
    {ECHO_4, 0, 0x65, 0, false, "IP version 6"},
    {ECHO_4, 1, 0xff, 0, true, "a type of service"},
    {ECHO_4, 3, IPV4 + ECHO, 0, true, "no data"},
    {ECHO_4, 3, IPV4 + ECHO - 1, 0, false, "half a sequence number"},
    {ECHO_4, 3, IPV4 - 1, 0, false, "a packet shorter than its header"},
    {ECHO_4, 6, 0x20, 0, false, "more fragments"},
    {ECHO_4, 6, 0x1f, 0, false, "a fragment offset"},
    {ECHO_4, 7, 0x01, 0, false, "the smallest fragment offset"},
    {ECHO_4, 6, 0x40, 0, true, "Don't Fragment"},
    {ECHO_4, 8, 1, 0, true, "TTL 1"},
    {ECHO_4, 8, 0, 0, true, "TTL 0, which only a router must not forward"},
    {ECHO_4, 9, 17, 0, false, "UDP"},
    {ECHO_4, 9, 58, 0, false, "ICMPv6 in IPv4"},
    {ECHO_4, 12, 0, 0, false, "a source in network 0"},
    {ECHO_4, 12, 224, 0, false, "a group as the source"},
    {ECHO_4, 12, 255, 0, false, "a reserved source"},
    {ECHO_4, 16, 11, 0, false, "another destination"},
    {ECHO_4, 16, 255, 0, false, "a reserved destination"},
    {ECHO_4, V4(0), 13, 0, false, "a request for a timestamp"},
    {ECHO_4, V4(0), 0, 0, false, "a reply to no request"},
    {ECHO_4, V4(0), 128, 0, false, "the type of ICMPv6"},
    {ECHO_4, V4(1), 1, 0, false, "code 1"},
    {ECHO_6, NOT_CHANGED, 0, 0, true, "nothing changed"},
    {ECHO_6, NOT_CHANGED, 0, 4, true, "padding behind the packet"},
    {ECHO_6, NOT_CHANGED, 0, -1, false, "a frame shorter than its packet"},
    {ECHO_6, 0, 0x40, 0, false, "IP version 4"},
    {ECHO_6, 0, 0x6f, 0, true, "a traffic class"},
    {ECHO_6, 1, 0x0f, 0, true, "a flow label"},
    {ECHO_6, 5, ECHO, 0, true, "no data"},
    {ECHO_6, 5, ECHO - 1, 0, false, "half a sequence number"},
    {ECHO_6, 6, 44, 0, false, "a fragment header"},
    {ECHO_6, 6, 59, 0, false, "no next header"},
    {ECHO_6, 6, 1, 0, false, "ICMPv4 in IPv6"},
    {ECHO_6, 7, 0, 0, true, "hop limit 0, which only a router must not forward"},
    {ECHO_6, 8, 0xff, 0, false, "a group as the source"},
    {ECHO_6, 39, 0xee, 0, false, "another destination"},
    {ECHO_6, V6(0), 8, 0, false, "the type of ICMPv4"},
    {ECHO_6, V6(0), 129, 0, false, "a reply to no request"},
    {ECHO_6, V6(1), 1, 0, false, "code 1"},
    {SOLICITATION, NOT_CHANGED, 0, 0, true, "nothing changed"},
    {SOLICITATION, 7, 254, 0, false, "hop limit 254"},
    {SOLICITATION, V6(1), 1, 0, false, "code 1"},
    {SOLICITATION, V6(4), 0xff, 0, true, "reserved bits"},
    {SOLICITATION, V6(8), 0xff, 0, false, "a group as the target"},
    {SOLICITATION, V6(23), 0xee, 0, false, "another target"},
    {SOLICITATION, V6(25), 0, 0, false, "an option of length 0"},
    {SOLICITATION, V6(25), 2, 0, false, "an option longer than the message"},
    {SOLICITATION, V6(26), 3, 0, false, "a group as the MAC"},
    {SOLICITATION, 8, 0xff, 0, false, "a group as the source"},
};

/* --- Frames ----------------------------------------------------------------------------------- */

/* Corrects the checksums of a frame whose packet ends at @end.  The data of an echo request is such
 * sometimes that its checksum is 0, which can also be written as 0xffff.
 */
static void sum_again(struct drill *d, enum corner_frame frame, uint8_t *f, size_t end)
{
    uint8_t *ip = f + ETH;
    const bool is_4 = frame == ECHO_4;
    uint8_t *message = ip + (is_4 ? IPV4 : IPV6);
    const size_t bytes = end > (size_t)(message - f) ? end - (size_t)(message - f) : 0;
    uint32_t pseudo = 0;

    if (frame == ARP_REQUEST)
        return;
    if (is_4) {
        st_be16(ip + 10, 0);
        st_be16(ip + 10, rig_sum(0, ip, IPV4));
    } else {
        pseudo = frames_pseudo_sum(ip, bytes);
    }
    if (bytes < ECHO)
        return;
    st_be16(message + 2, 0);
    if (bytes >= ECHO + 2 && frame != SOLICITATION && drill_one_in(d, 4)) {
        st_be16(message + ECHO, 0);
        st_be16(message + ECHO, rig_sum(pseudo, message, bytes));
        st_be16(message + 2, drill_one_in(d, 2) ? 0xffff : 0);
        return;
    }
    st_be16(message + 2, rig_sum(pseudo, message, bytes));
}

static size_t write_correct(const struct frames *k, enum corner_frame frame, uint32_t who,
                            uint8_t f[FRAMES_BYTES_MAX])
{
    switch (frame) {
    case ARP_REQUEST:
        return frames_write_arp(k, who, false, k->gid[0] + 12, f);
    case ECHO_4:
        return frames_write_echo_4(k, who, 8, DATA, f);
    case ECHO_6:
        return frames_write_echo_6(k, who, DATA, f);
    default:
        return frames_write_solicitation(k, who, f);
    }
}

static size_t write_frame(struct drill *d, const struct corner *c, uint32_t who, uint8_t *f)
{
    const size_t bytes = write_correct(d->own, c->frame, who, f);
    size_t end;

    if (c->frame == ECHO_4 || c->frame == ECHO_6) {
        for (uint32_t i = 4; i < ECHO + DATA; i++)
            f[bytes - ECHO - DATA + i] = (uint8_t)drill_below(d, 256);
    }
    if (c->at != NOT_CHANGED)
        f[ETH + c->at] = c->to;
    end = bytes;
    if (c->frame == ECHO_4)
        end = ETH + (size_t)ld_be16(f + ETH + 2);
    else if (c->frame == ECHO_6)
        end = ETH + IPV6 + (size_t)ld_be16(f + ETH + 4);
    sum_again(d, c->frame, f, end < bytes ? end : bytes);
    return (size_t)((int64_t)bytes + c->longer);
}

/* Returns true if h1's frame @r answers a frame of the kind @frame. */
static bool is_answer(enum corner_frame frame, const uint8_t *r)
{
    switch (frame) {
    case ARP_REQUEST:
        return r[12] == 8 && r[13] == 6 && r[ETH + 7] == 2;
    case ECHO_4:
        return r[12] == 8 && r[13] == 0 && r[ETH + V4(0)] == 0;
    case ECHO_6:
        return r[12] == 0x86 && r[ETH + V6(0)] == 129;
    default:
        return r[12] == 0x86 && r[ETH + V6(0)] == 136;
    }
}

/* Sends a correct solicitation, from which h1 learns the MAC for @who's IPv6 address. */
static bool introduce_6(struct drill *d, uint32_t who)
{
    static const struct corner plain = {.frame = SOLICITATION, .at = NOT_CHANGED};
    uint8_t f[FRAMES_BYTES_MAX] = {0};
    const size_t bytes = write_frame(d, &plain, who, f);

    return frames_send_as(d, who, f, bytes);
}

void frames_take_corner(struct drill *d)
{
    const struct corner *c = &corners[drill_below(d, ARRAY_LEN(corners))];
    const uint32_t who = frames_meet(d);
    uint8_t f[FRAMES_BYTES_MAX] = {0};
    const size_t bytes = write_frame(d, c, who, f);
    uint32_t n = 0;

    if (c->frame == ECHO_4 && !frames_introduce(d, who))
        return;
    if (c->frame == ECHO_6 && !introduce_6(d, who))
        return;
    if (!frames_send_as(d, who, f, bytes))
        return;
    for (uint32_t i = 0; frames_heard(d, who, i); i++)
        n += is_answer(c->frame, frames_heard(d, who, i));
    drill_expect(d, n == c->is_answered, "a host answers what is correct, and nothing else",
                 "%u answers to a frame with %s", n, c->text);
}

/* A station without an address asks whether h1's address is free: duplicate address detection.
 * Such a question goes to the group of the address, and has no MAC.  The answer goes to all nodes.
 * [RFC 4862, 5.4; RFC 4861, 7.1.1, 7.2.4]
 */
void frames_take_detection(struct drill *d)
{
    const struct frames *k = d->own;
    const uint32_t who = frames_meet(d);
    const bool has_mac = drill_one_in(d, 3), is_to_group = !drill_one_in(d, 3);
    uint8_t f[FRAMES_BYTES_MAX] = {0}, *ip = f + ETH;
    size_t bytes = frames_write_solicitation(k, who, f);
    const uint8_t *r;

    memset(ip + 8, 0, 16);
    if (!is_to_group) {
        memcpy(f, k->mac, 6);
        memcpy(ip + 24, k->gid[1], 16);
    }
    if (!has_mac) {
        bytes -= OPTION;
        st_be16(ip + 4, (uint16_t)(bytes - ETH - IPV6));
    }
    sum_again(d, SOLICITATION, f, bytes);
    if (!frames_send_as(d, who, f, bytes))
        return;
    r = frames_heard(d, who, 0);
    if (!drill_expect(d, (r != NULL) == (is_to_group && !has_mac),
                      "who looks for another one with its address is answered, if it asks rightly",
                      "%s its group, %s MAC: %s answer", is_to_group ? "to" : "not to",
                      has_mac ? "with" : "without", r ? "an" : "no") ||
        !r)
        return;
    drill_expect(d,
                 memcmp(r, (uint8_t[]){0x33, 0x33, 0, 0, 0, 1}, 6) == 0 && r[ETH + V6(0)] == 136 &&
                     r[ETH + V6(4)] == 0x20 && r[ETH + 24] == 0xff && r[ETH + 25] == 2 &&
                     r[ETH + 39] == 1 && memcmp(r + ETH + V6(8), k->gid[1], 16) == 0 &&
                     memcmp(r + ETH + V6(26), k->mac, 6) == 0,
                 "all nodes hear that the address is in use", "they hear something else");
}

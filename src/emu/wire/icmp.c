/* SPDX-License-Identifier: MIT */
#include "emu/wire/icmp.h"

#include "emu/wire/checksum.h"

static uint16_t checksum_of(const struct ip *ip, const uint8_t *message, size_t n)
{
    const uint32_t pseudo = ip->version == 6 ? checksum_add_pseudo_header(0, ip) : 0;

    return checksum_fold(checksum_add(pseudo, message, n));
}

enum frame_kind icmp_kind(unsigned ip_version, uint8_t type)
{
    static const struct {
        unsigned version, type;
        enum frame_kind kind;
    } rows[] = {
        {4, ICMPV4_ECHO_REQUEST, FRAME_ECHO_REQUEST}, {4, ICMPV4_ECHO_REPLY, FRAME_ECHO_REPLY},
        {6, ICMPV6_ECHO_REQUEST, FRAME_ECHO_REQUEST}, {6, ICMPV6_ECHO_REPLY, FRAME_ECHO_REPLY},
        {6, ICMPV6_ND_SOLICIT, FRAME_ND_SOLICIT},     {6, ICMPV6_ND_ADVERT, FRAME_ND_ADVERT},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].version == ip_version && rows[i].type == type)
            return rows[i].kind;
    }
    return FRAME_ICMP;
}

enum drop_reason icmp_parse(struct icmp *out, const struct ip *ip, struct rd_cur *in)
{
    const uint8_t *message = in->p;
    const size_t n = rd_left(in);
    const uint8_t type = (uint8_t)rd_be(in, 1);
    const uint8_t code = (uint8_t)rd_be(in, 1);
    const uint16_t checksum = (uint16_t)rd_be(in, 2);

    (void)checksum; /* covered by the sum */
    if (in->bad)
        return DROP_BAD_ICMP;
    if (checksum_of(ip, message, n) != 0)
        return DROP_BAD_ICMP_CHECKSUM;
    *out = (struct icmp){.kind = icmp_kind(ip->version, type), .type = type, .code = code};
    return DROP_NONE;
}

enum drop_reason icmp_echo_parse(struct icmp_echo *out, const struct icmp *h, struct rd_cur *in)
{
    const uint16_t id = (uint16_t)rd_be(in, 2);
    const uint16_t seq = (uint16_t)rd_be(in, 2);

    if (in->bad || h->code != 0)
        return DROP_BAD_ICMP;
    *out = (struct icmp_echo){
        .reply = h->kind == FRAME_ECHO_REPLY,
        .id = id,
        .seq = seq,
        .data = in->p,
        .data_bytes = (uint32_t)rd_left(in),
    };
    return DROP_NONE;
}

static uint8_t echo_type(const struct icmp_echo *e, unsigned ip_version)
{
    if (ip_version == 6)
        return e->reply ? ICMPV6_ECHO_REPLY : ICMPV6_ECHO_REQUEST;
    return e->reply ? ICMPV4_ECHO_REPLY : ICMPV4_ECHO_REQUEST;
}

void icmp_echo_build(const struct icmp_echo *e, const struct ip *ip, struct wr_cur *out)
{
    uint8_t *message = out->p;

    wr_be(out, 1, echo_type(e, ip->version));
    wr_be(out, 1, 0); /* code */
    wr_be(out, 2, 0); /* checksum */
    wr_be(out, 2, e->id);
    wr_be(out, 2, e->seq);
    wr_bytes(out, e->data, e->data_bytes);
    if (!out->bad)
        icmp_finish(ip, message, (size_t)(out->p - message));
}

void icmp_finish(const struct ip *ip, uint8_t *message, size_t n)
{
    uint16_t checksum;

    message[2] = message[3] = 0;
    checksum = checksum_of(ip, message, n);
    message[2] = (uint8_t)(checksum >> 8);
    message[3] = (uint8_t)checksum;
}

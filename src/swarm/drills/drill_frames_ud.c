/* SPDX-License-Identifier: MIT */
/* The drill of frames: RoCEv2 datagrams.  The drill writes those for a queue pair of h1 byte by
 * byte, and reads those that h1 sends to a multicast group.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/inspect.h"
#include "rdmalab/work.h"
#include "swarm/drills/frames.h"

#define IP_AT      14u
#define GRH        40u
#define BUF_BYTES  512u
#define UD_HEADERS 28u /* UDP, BTH, DETH */
#define ICRC       4u
#define DATA_MAX   64u

/* --- ICRC, bit by bit ------------------------------------------------------------------------- */

static uint32_t crc_byte(uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    for (int i = 0; i < 8; i++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    return crc;
}

/* Returns true if routers may change byte @i of an IP packet, so that the ICRC covers it as 0xff.
 */
static bool is_masked(bool is_v6, size_t i)
{
    const size_t udp = is_v6 ? 40 : 20;

    if (i == udp + 6 || i == udp + 7 || i == udp + 12)
        return true;
    return is_v6 ? i == 7 || (i > 0 && i < 4) : i == 1 || i == 8 || i == 10 || i == 11;
}

/* Computes the ICRC of the packet at @ip, @bytes long without its ICRC. */
static uint32_t own_icrc(const uint8_t *ip, size_t bytes)
{
    const bool is_v6 = ip[0] >> 4 == 6;
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < 8; i++)
        crc = crc_byte(crc, 0xff);
    for (size_t i = 0; i < bytes; i++)
        crc = crc_byte(crc, (uint8_t)(is_masked(is_v6, i) ? 0xff
                                      : is_v6 && i == 0   ? ip[0] | 0x0f
                                                          : ip[i]));
    return ~crc;
}

/* --- A queue pair ----------------------------------------------------------------------------- */

static bool add_ah(struct drill *d)
{
    struct frames *k = d->own;
    struct rdl_ah_attr a = {
        .dgid = {[10] = 0xff, [11] = 0xff, [12] = 239}, .hop_limit = 1, .port = 1};

    for (uint32_t i = 13; i < 16; i++)
        a.dgid[i] = (uint8_t)(1 + drill_below(d, 255));
    a.traffic_class = (uint8_t)drill_below(d, 256);
    memcpy(k->group, a.dgid, 16);
    return drill_is_done(d, k->host, rdl_create_ah(d->lab, k->pd, &a, "ah", &k->ah),
                         "an address handle can be made") &&
           drill_is_done(d, k->host, rdl_attach_mcast(d->lab, k->ud.qp, k->group),
                         "a queue pair can join a group");
}

bool frames_add_ud(struct drill *d)
{
    struct frames *k = d->own;
    struct rdl_qp_config c = {.type = QPT_UD};
    struct rdl_mr_info info;
    rdl_mr mr;

    d->n_unsaid++;
    k->ud = (struct rig_end){.host = k->host, .name = "qp"};
    if (!drill_is_done(d, k->host, rdl_alloc_pd(d->lab, k->host, "pd", &k->pd), "a PD is made") ||
        !drill_is_done(d, k->host, rdl_create_cq(d->lab, k->host, 64, "cq", &k->cq),
                       "a CQ is made") ||
        !drill_works(d, rdl_mem_alloc(d->lab, k->host, BUF_BYTES, &k->mem), "memory is there") ||
        !drill_is_done(d, k->host,
                       rdl_reg_mr(d->lab, k->pd, k->mem, BUF_BYTES, ACC_LOCAL_WRITE, "mr", &mr),
                       "a region is made") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has keys"))
        return false;
    k->lkey = info.lkey;
    c.pd = k->pd;
    c.send_cq = k->cq;
    c.recv_cq = k->cq;
    c.sq_sig_all = true;
    return rig_add_qp(d, &k->ud, &c) && rig_raise_ud(d, &k->ud) && add_ah(d);
}

/* Posts a receive unless one is posted already. */
static bool post_receive(struct drill *d)
{
    struct frames *k = d->own;
    const struct rdl_sge sge = {k->mem, BUF_BYTES / 2, k->lkey};
    const struct rdl_recv_wr wr = {.sge = &sge, .n_sge = 1};

    if (k->has_receive)
        return true;
    k->has_receive = true;
    return drill_works(d, rdl_post_recv(d->lab, k->ud.qp, &wr, false), "a receive can be posted");
}

/* Checks that the receive buffer holds the @n bytes of @data, after a GRH that ends with the IP
 * header @ip.
 */
static bool is_received(struct drill *d, const uint8_t *ip, const uint8_t *data, size_t n)
{
    struct frames *k = d->own;
    uint8_t got[GRH + DATA_MAX];
    const size_t head = ip[0] >> 4 == 6 ? 40 : 20;

    k->has_receive = false;
    if (!drill_works(d, rdl_mem_read(d->lab, k->host, k->mem, got, GRH + n), "memory can be read"))
        return false;
    return drill_expect(d, memcmp(got + GRH - head, ip, head) == 0,
                        "the IP header of a datagram is in the last bytes of the GRH's place",
                        "something else is there") &&
           drill_expect(d, memcmp(got + GRH, data, n) == 0, "a datagram brings its data",
                        "other bytes came");
}

/* --- Datagrams to h1 -------------------------------------------------------------------------- */

static size_t write_ip(struct drill *d, bool is_v6, uint8_t *f, size_t behind)
{
    const struct frames *k = d->own;
    uint8_t *ip = f + IP_AT;

    memcpy(f, k->mac, 6);
    memcpy(f + 6, (uint8_t[]){2, 0, 0xdd, 0, 0, 1}, 6);
    if (is_v6) {
        st_be16(f + 12, 0x86dd);
        st_be32(ip, 0x60000000 | drill_below(d, 1u << 28));
        st_be16(ip + 4, (uint16_t)behind);
        ip[6] = 17;
        ip[7] = (uint8_t)(1 + drill_below(d, 255));
        memcpy(ip + 8, (uint8_t[]){0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0xdd, 1},
               16);
        memcpy(ip + 24, k->gid[1], 16);
        return 40;
    }
    st_be16(f + 12, 0x0800);
    ip[0] = 0x45;
    ip[1] = (uint8_t)drill_below(d, 256);
    st_be16(ip + 2, (uint16_t)(20 + behind));
    ip[6] = 0x40;
    ip[8] = (uint8_t)(1 + drill_below(d, 255));
    ip[9] = 17;
    memcpy(ip + 12, (uint8_t[]){10, 8, 0, 1}, 4);
    memcpy(ip + 16, k->gid[0] + 12, 4);
    st_be16(ip + 10, rig_sum(0, ip, 20));
    return 20;
}

enum flaw { FLAWLESS, BAD_VERSION, BAD_PKEY, BAD_QKEY, BAD_UDP_LENGTH, BAD_ICRC, FLAWS };

static size_t write_ud(struct drill *d, enum flaw flaw, uint32_t data, uint8_t *f, size_t *ret_ip)
{
    const struct frames *k = d->own;
    const size_t ip = write_ip(d, drill_one_in(d, 3), f, UD_HEADERS + data + ICRC);
    uint8_t *udp = f + IP_AT + ip;
    uint32_t udp_bytes = UD_HEADERS + data + ICRC;

    if (flaw == BAD_UDP_LENGTH && drill_one_in(d, 2))
        udp_bytes += 1 + drill_below(d, 8);
    else if (flaw == BAD_UDP_LENGTH)
        udp_bytes -= 1 + drill_below(d, 8);
    st_be16(udp, (uint16_t)(0xc000 + drill_below(d, 0x4000)));
    st_be16(udp + 2, 4791);
    st_be16(udp + 4, (uint16_t)udp_bytes);
    udp[8] = 0x64; /* UD SEND Only */
    udp[9] = flaw == BAD_VERSION ? (uint8_t)(1 + drill_below(d, 15)) : 0;
    st_be16(udp + 10, flaw == BAD_PKEY ? 0x8123 : 0xffff);
    st_be32(udp + 12, k->ud.qpn | drill_below(d, 64) << 24);
    st_be32(udp + 16, drill_below(d, 1u << 24));
    st_be32(udp + 20, RIG_QKEY ^ (flaw == BAD_QKEY ? 1u << drill_below(d, 31) : 0));
    st_be32(udp + 24, 5);
    for (uint32_t i = 0; i < data; i++)
        udp[UD_HEADERS + i] = (uint8_t)drill_below(d, 256);
    st_le32(udp + UD_HEADERS + data, own_icrc(f + IP_AT, ip + UD_HEADERS + data) ^
                                         (flaw == BAD_ICRC ? 1u << drill_below(d, 32) : 0));
    *ret_ip = ip;
    return IP_AT + ip + UD_HEADERS + data + ICRC;
}

static bool has_counted(struct drill *d, const char *path, uint32_t n)
{
    return drill_number_is(d, path, n, "a port counts each packet with a wrong P_Key or Q_Key");
}

void frames_take_datagram(struct drill *d)
{
    struct frames *k = d->own;
    static const char *const rules[FLAWS] = {
        [FLAWLESS] = "a datagram that is right arrives",
        [BAD_VERSION] = "a packet of another transport version is thrown away",
        [BAD_PKEY] = "a packet of another partition is thrown away",
        [BAD_QKEY] = "a datagram with another Q_Key is thrown away",
        [BAD_UDP_LENGTH] = "a packet whose two lengths do not agree is thrown away",
        [BAD_ICRC] = "a packet with a wrong ICRC is thrown away"};
    const enum flaw flaw = drill_one_in(d, 2) ? FLAWLESS : (enum flaw)drill_below(d, FLAWS);
    const uint32_t data = 4 * (1 + drill_below(d, DATA_MAX / 4));
    uint8_t f[FRAMES_BYTES_MAX] = {0};
    size_t ip;
    const size_t bytes = write_ud(d, flaw, data, f, &ip);
    struct rdl_wc wc;
    bool came;

    if (!post_receive(d) || !frames_send(d, drill_below(d, FRAMES_SWITCHED), f, bytes))
        return;
    k->n_bad_pkeys += flaw == BAD_PKEY;
    k->n_bad_qkeys += flaw == BAD_QKEY;
    came = rig_poll(d, k->cq, &wc);
    if (!drill_expect(d, came == (flaw == FLAWLESS), rules[flaw], "it %s",
                      came ? "arrives" : "does not") ||
        (came && !is_received(d, f + IP_AT, f + IP_AT + ip + UD_HEADERS, data)))
        return;
    (void)(has_counted(d, "h1.port.bad_pkeys", k->n_bad_pkeys) &&
           has_counted(d, "h1.port.bad_qkeys", k->n_bad_qkeys));
}

/* --- Datagrams of h1 to a group --------------------------------------------------------------- */

static bool check_sent(struct drill *d, const uint8_t *data, uint32_t n, uint8_t ret_ip[20])
{
    const struct frames *k = d->own;
    const struct frames_seen *s = &k->seen[0];
    const uint8_t *ip = s->frame + IP_AT;
    const uint8_t mac[6] = {1, 0, 0x5e, k->group[13] & 0x7f, k->group[14], k->group[15]};
    const size_t icrc_at = 20 + UD_HEADERS + n;

    memcpy(ret_ip, ip, 20);
    return drill_expect(d, k->n_seen == FRAMES_SWITCHED && s->bytes == IP_AT + icrc_at + ICRC,
                        "a datagram to a group comes to every station",
                        "%u frames, the first of %u bytes", k->n_seen, (unsigned)s->bytes) &&
           drill_expect(d, memcmp(s->frame, mac, 6) == 0,
                        "the MAC of an IPv4 group has the low 23 bits of its address",
                        "%02x in the middle", s->frame[3]) &&
           drill_expect(d, rig_sum(0, ip, 20) == 0, "an IPv4 header has its checksum",
                        "it has not") &&
           drill_expect(d, memcmp(ip + 20 + UD_HEADERS, data, n) == 0, "a frame has the message",
                        "it has not") &&
           drill_expect(d, ld_le32(ip + icrc_at) == own_icrc(ip, icrc_at),
                        "a frame has the ICRC that its bytes give", "it has another");
}

void frames_take_group(struct drill *d)
{
    struct frames *k = d->own;
    const uint32_t n = 4 * (1 + drill_below(d, DATA_MAX / 4));
    const struct rdl_sge sge = {k->mem + BUF_BYTES / 2, n, k->lkey};
    const struct rdl_send_wr wr = {
        .wr_id = 1, .opcode = WR_SEND, .sge = &sge, .n_sge = 1, .ud = {k->ah, 0xffffff, RIG_QKEY}};
    uint8_t data[DATA_MAX], ip[20];
    struct rdl_wc wc;
    uint32_t got = 0;

    for (uint32_t i = 0; i < n; i++)
        data[i] = (uint8_t)drill_below(d, 256);
    frames_forget(k);
    d->n_unsaid++;
    if (!post_receive(d) ||
        !drill_works(d, rdl_mem_write(d->lab, k->host, sge.addr, data, n), "memory is there") ||
        !drill_works(d, rdl_post_send(d->lab, k->ud.qp, &wr, false), "a send can be posted") ||
        !drill_settle(d) || !check_sent(d, data, n, ip))
        return;
    while (rig_poll(d, k->cq, &wc))
        got++;
    if (drill_expect(d, got == 2, "who sends to a group that it is in gets a copy",
                     "%u completions", got))
        (void)is_received(d, ip, data, n);
}

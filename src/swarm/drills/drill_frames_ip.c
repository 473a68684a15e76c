/* SPDX-License-Identifier: MIT */
/* The drill of frames: ARP, ICMP echo and neighbour discovery between h1 and stations behind
 * external ports.  The drill writes and reads all frames byte by byte.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "rdmalab/fault.h"
#include "rdmalab/ip.h"
#include "swarm/drills/frames.h"

#define IP_AT       14u
#define ICMP_AT     34u
#define ND_AT       54u
#define SHORTLY_NS  100000000u
#define SECOND_NS   UINT64_C(1000000000)
#define MOMENT_NS   1000000u /* longer than a frame is on the way */
#define BELIEVED_S  60u      /* lifetime of a neighbour cache entry */
#define TRIES       3u
#define PINGS_MAX   3u
#define PING_TIME_S 20u

uint32_t frames_meet(struct drill *d)
{
    struct frames *k = d->own;

    return (d->step + 1) * 4 + k->stranger++ % 4;
}

static uint32_t port_of(uint32_t who)
{
    return who % FRAMES_SWITCHED;
}

bool frames_send_as(struct drill *d, uint32_t who, const uint8_t *frame, size_t bytes)
{
    struct frames *k = d->own;

    d->n_unsaid++;
    frames_forget(k);
    return drill_works(d, rdl_port_receive(d->lab, k->port[port_of(who)], frame, bytes),
                       "a frame can come in through an external port") &&
           drill_run_for(d, SHORTLY_NS);
}

const uint8_t *frames_heard(struct drill *d, uint32_t who, uint32_t skip)
{
    const struct frames *k = d->own;

    for (uint32_t i = 0; i < k->n_seen; i++) {
        if (k->seen[i].port == port_of(who) && memcmp(k->seen[i].frame + 6, k->mac, 6) == 0 &&
            skip-- == 0)
            return k->seen[i].frame;
    }
    return NULL;
}

/* --- ARP -------------------------------------------------------------------------------------- */

static bool say_arp(struct drill *d, uint32_t who, bool reply, const uint8_t target[4])
{
    const struct frames *k = d->own;
    uint8_t f[FRAMES_BYTES_MAX];
    const size_t bytes = frames_write_arp(k, who, reply, target, f);

    return frames_send_as(d, who, f, bytes);
}

static bool is_arp(const uint8_t *f, bool reply)
{
    return f && memcmp(f + 12, (uint8_t[]){8, 6, 0, 1, 8, 0, 6, 4, 0, reply ? 2 : 1}, 10) == 0;
}

/* Returns true if @f is h1's ARP reply to station @who. */
static bool is_answer(const struct frames *k, uint32_t who, const uint8_t *f)
{
    uint8_t mac[6], ip[4];

    frames_put_mac(mac, who);
    frames_put_ip(ip, who);
    return is_arp(f, true) && memcmp(f, mac, 6) == 0 && memcmp(f + 22, k->mac, 6) == 0 &&
           memcmp(f + 28, k->gid[0] + 12, 4) == 0 && memcmp(f + 32, mac, 6) == 0 &&
           memcmp(f + 38, ip, 4) == 0;
}

bool frames_introduce(struct drill *d, uint32_t who)
{
    const struct frames *k = d->own;

    return say_arp(d, who, false, k->gid[0] + 12) &&
           drill_expect(d, is_answer(k, who, frames_heard(d, who, 0)) && !frames_heard(d, who, 1),
                        "who asks a host for its MAC by ARP gets one answer, which says so",
                        "%u frames were seen", k->n_seen);
}

static void take_arp(struct drill *d)
{
    const struct frames *k = d->own;
    const uint32_t who = frames_meet(d);
    uint8_t other[4];

    memcpy(other, k->gid[0] + 12, 4);
    other[drill_below(d, 4)] ^= (uint8_t)(1 + drill_below(d, 100));
    if (!frames_introduce(d, who) || !say_arp(d, who, false, other))
        return;
    drill_expect(d, !frames_heard(d, who, 0), "a host answers only for its own addresses",
                 "it answers for another");
}

/* --- Echo ------------------------------------------------------------------------------------- */

static void sum_again(uint8_t *f, size_t bytes)
{
    st_be16(f + IP_AT + 10, 0);
    st_be16(f + IP_AT + 10, rig_sum(0, f + IP_AT, 20));
    st_be16(f + ICMP_AT + 2, 0);
    st_be16(f + ICMP_AT + 2, rig_sum(0, f + ICMP_AT, bytes - ICMP_AT));
}

/* Damages one field, or changes some in a permitted way.  Returns true if h1 must still answer. */
static bool spoil(struct drill *d, uint8_t *f)
{
    switch (drill_below(d, 6)) {
    case 0:
        f[IP_AT + 10 + drill_below(d, 2)] ^= (uint8_t)(1 + drill_below(d, 254));
        return false;
    case 1:
        st_be16(f + IP_AT + 6, (uint16_t)(drill_one_in(d, 2) ? 0x2000 : 1 + drill_below(d, 4000)));
        break;
    case 2:
        f[3 + drill_below(d, 3)] ^= 0x55;
        return false;
    case 3:
        f[ICMP_AT + 8] ^= 0x10; /* the ICMP checksum is wrong then */
        return false;
    default:
        f[IP_AT + 6] = 0x40; /* the Don't Fragment bit, which is permitted */
        f[IP_AT + 8] = (uint8_t)(1 + drill_below(d, 255));
        st_be16(f + IP_AT + 10, 0);
        st_be16(f + IP_AT + 10, rig_sum(0, f + IP_AT, 20));
        return true;
    }
    st_be16(f + IP_AT + 10, 0);
    st_be16(f + IP_AT + 10, rig_sum(0, f + IP_AT, 20));
    return false;
}

static void take_echo(struct drill *d)
{
    const struct frames *k = d->own;
    const uint32_t who = frames_meet(d), data = 1 + drill_below(d, 200);
    uint8_t f[FRAMES_BYTES_MAX];
    const size_t bytes = frames_write_echo_4(k, who, 8, data, f);
    const uint8_t *r;
    bool is_good;

    for (size_t i = ICMP_AT + 4; i < bytes; i++)
        f[i] = (uint8_t)drill_below(d, 256);
    sum_again(f, bytes);
    is_good = spoil(d, f);
    if (!frames_introduce(d, who) || !frames_send_as(d, who, f, bytes))
        return;
    r = frames_heard(d, who, 0);
    if (!drill_expect(d, (r != NULL) == is_good,
                      "a host answers a ping, but none that is a fragment, another's or damaged",
                      "%s", r ? "it answers" : "it does not answer") ||
        !r)
        return;
    drill_expect(d,
                 rig_sum(0, r + IP_AT, 20) == 0 && rig_sum(0, r + ICMP_AT, bytes - ICMP_AT) == 0 &&
                     r[ICMP_AT] == 0 &&
                     memcmp(r + ICMP_AT + 4, f + ICMP_AT + 4, bytes - ICMP_AT - 4) == 0,
                 "the answer of a ping has its data and right checksums", "it has not");
}

/* --- Neighbour discovery ---------------------------------------------------------------------- */

/* Sets the checksum of the neighbour discovery message @f. */
static void sum_nd(uint8_t *f)
{
    st_be16(f + ND_AT + 2, 0);
    st_be16(f + ND_AT + 2, rig_sum(frames_pseudo_sum(f + IP_AT, 32), f + ND_AT, 32));
}

static void take_nd(struct drill *d)
{
    const struct frames *k = d->own;
    const uint32_t who = frames_meet(d);
    const bool is_near = drill_one_in(d, 2);
    uint8_t f[FRAMES_BYTES_MAX];
    const size_t bytes = frames_write_solicitation(k, who, f);
    const uint8_t *r;

    f[21] = is_near ? 255 : (uint8_t)drill_below(d, 255);
    sum_nd(f);
    if (!frames_send_as(d, who, f, bytes))
        return;
    r = frames_heard(d, who, 0);
    if (!drill_expect(d, (r != NULL) == is_near,
                      "a host answers a solicitation, but none with another hop limit than 255",
                      "hop limit %u, and it %s", f[21], r ? "answers" : "does not answer") ||
        !r)
        return;
    drill_expect(d,
                 r[ND_AT] == 136 && r[21] == 255 && memcmp(r + 62, k->gid[1], 16) == 0 &&
                     r[78] == 2 && memcmp(r + 80, k->mac, 6) == 0,
                 "an advertisement has the address and the MAC that was asked for", "type %u",
                 r[ND_AT]);
}

/* --- Requests of h1 --------------------------------------------------------------------------- */

static bool start_ping(struct drill *d, uint32_t who, bool is_ipv6, uint32_t bytes,
                       rdl_ping_id *ret)
{
    const struct frames *k = d->own;
    struct rdl_ping_config c = {.bytes = bytes, .timeout_ns = PING_TIME_S * SECOND_NS};

    frames_put_address(c.address, who, is_ipv6);
    return drill_works(d, rdl_ping(d->lab, k->host, &c, ret), "a host can send a ping");
}

/* Answers the echo request @request, sometimes with different data.  *@ret_good: the data is the
 * same.
 */
static bool answer_ping(struct drill *d, uint32_t who, const uint8_t *request, uint32_t data,
                        bool *ret_good)
{
    const struct frames *k = d->own;
    uint8_t f[FRAMES_BYTES_MAX];
    const size_t bytes = frames_write_echo_4(k, who, 0, data, f);

    memcpy(f + ICMP_AT + 4, request + ICMP_AT + 4, 4 + data);
    *ret_good = drill_one_in(d, 2);
    if (!*ret_good)
        f[ICMP_AT + 8 + drill_below(d, data)] ^= (uint8_t)(1 + drill_below(d, 254));
    sum_again(f, bytes);
    return frames_send_as(d, who, f, bytes);
}

static bool check_pings(struct drill *d, uint32_t who, const rdl_ping_id *id, uint32_t n,
                        uint32_t data)
{
    uint8_t requests[PINGS_MAX][FRAMES_BYTES_MAX];
    struct rdl_ping_result res;
    bool is_good;

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *f = frames_heard(d, who, i);

        if (!drill_expect(d, f && f[12] == 8 && f[13] == 0 && f[ICMP_AT] == 8,
                          "all that waited for a neighbour is sent once it answers",
                          "%u pings of %u", i, n) ||
            !f)
            return false;
        memcpy(requests[i], f, FRAMES_BYTES_MAX);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum rdl_status st;

        if (!answer_ping(d, who, requests[i], data, &is_good))
            return false;
        st = rdl_ping_result(d->lab, id[i], &res);
        if (!drill_expect(d, st == (is_good ? RDL_OK : RDL_ERR_BUSY),
                          "a ping is answered by its own data only", "%s", rdl_status_name(st)))
            return false;
    }
    return true;
}

/* Pings an unknown station.  h1 must send three ARP requests, one second apart. */
static void take_ask(struct drill *d)
{
    struct frames *k = d->own;
    const uint32_t who = frames_meet(d), n = 1 + drill_below(d, PINGS_MAX);
    const uint32_t silent = drill_below(d, TRIES + 1), data = 1 + drill_below(d, 100);
    struct rdl_ping_result res;
    rdl_ping_id id[PINGS_MAX];

    if (drill_one_in(d, 2) && !say_arp(d, who, true, k->gid[0] + 12))
        return; /* an unsolicited ARP reply, which h1 must ignore */
    frames_forget(k);
    for (uint32_t i = 0; i < n; i++) {
        if (!start_ping(d, who, false, data, &id[i]))
            return;
    }
    for (uint32_t i = 0;; i++) {
        if (!drill_run_for(d, SHORTLY_NS) ||
            !drill_expect(d, is_arp(frames_heard(d, who, 0), false) == (i < TRIES),
                          "a host asks three times for a neighbour that it was not asked by",
                          "after %u seconds it %s", i, i < TRIES ? "does not" : "does again"))
            return;
        if (i == silent || i == TRIES)
            break;
        frames_forget(k);
        if (!drill_run_for(d, SECOND_NS - SHORTLY_NS))
            return;
    }
    if (silent == TRIES)
        drill_expect(d, rdl_ping_result(d->lab, id[0], &res) == RDL_ERR_NO_ROUTE,
                     "a ping to nobody is given up", "it is not");
    else if (say_arp(d, who, true, k->gid[0] + 12))
        (void)check_pings(d, who, id, n, data);
}

/* Sends h1 a frame from which it learns the MAC of station @who: with IPv6 a neighbour solicitation
 * for h1's address; with IPv4 an ARP reply that it did not ask for, or an ARP request for another
 * address.  With IPv4, h1 must already know the station.
 */
static bool hear_again(struct drill *d, uint32_t who, bool is_ipv6)
{
    const struct frames *k = d->own;
    uint8_t f[FRAMES_BYTES_MAX];
    size_t bytes;

    if (!is_ipv6 && drill_one_in(d, 2))
        return say_arp(d, who, true, k->gid[0] + 12);
    if (!is_ipv6)
        return say_arp(d, who, false, (uint8_t[]){10, 9, 255, (uint8_t)drill_below(d, 250)});
    bytes = frames_write_solicitation(k, who, f);
    sum_nd(f);
    return frames_send_as(d, who, f, bytes);
}

/* Returns true if @f asks for the MAC of a station. */
static bool is_question(const uint8_t *f, bool is_ipv6)
{
    return is_ipv6 ? f && f[12] == 0x86 && f[ND_AT] == 135 : is_arp(f, false);
}

/* Checks that a host believes for a minute what it heard last of a neighbour. */
static void take_belief(struct drill *d)
{
    struct frames *k = d->own;
    const uint32_t who = frames_meet(d);
    const bool is_ipv6 = drill_one_in(d, 3), is_old = drill_one_in(d, 2);
    uint64_t heard_ns = rdl_now_ns(d->lab);
    rdl_ping_id id;

    if (!(is_ipv6 ? hear_again(d, who, true) : frames_introduce(d, who)))
        return;
    while (drill_one_in(d, 2)) {
        if (!drill_run_until(d, heard_ns + 1 + drill_below(d, BELIEVED_S + 20) * SECOND_NS))
            return;
        heard_ns = rdl_now_ns(d->lab);
        if (!hear_again(d, who, is_ipv6))
            return;
    }
    if (!drill_run_until(d, heard_ns + BELIEVED_S * SECOND_NS - MOMENT_NS +
                                (is_old ? 2 * MOMENT_NS : 0)))
        return;
    frames_forget(k);
    if (!start_ping(d, who, is_ipv6, 10, &id) || !drill_run_for(d, SHORTLY_NS))
        return;
    drill_expect(d, is_question(frames_heard(d, who, 0), is_ipv6) == is_old,
                 "what a host has heard of a neighbour is believed for a minute", "%s",
                 is_old ? "it is older" : "it is younger");
}

/* Pings h1 from itself: the packets are looped back in its port. */
static void take_self(struct drill *d)
{
    const struct frames *k = d->own;
    const struct rdl_limits limits = {.ticks = 1000000};
    struct rdl_ping_config c = {.bytes = drill_below(d, 100)};
    struct rdl_ping_result res;
    rdl_ping_id id;

    memcpy(c.address, k->gid[0], 16);
    drill_say(d, "ping h1 h1 bytes=%u", c.bytes);
    if (drill_works(d, rdl_ping(d->lab, k->host, &c, &id), "a host can send a ping") &&
        drill_works(d, rdl_ping_wait(d->lab, id, limits), "a ping ends") &&
        drill_works(d, rdl_ping_result(d->lab, id, &res), "a host answers itself"))
        drill_expect(d, res.bytes == c.bytes, "a ping has its bytes", "%u", res.bytes);
}

void frames_take_host(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {take_arp,
                                                    take_echo,
                                                    take_echo,
                                                    take_echo,
                                                    frames_take_corner,
                                                    frames_take_corner,
                                                    frames_take_corner,
                                                    take_nd,
                                                    frames_take_detection,
                                                    take_belief,
                                                    take_ask,
                                                    take_ask,
                                                    take_self,
                                                    frames_take_datagram,
                                                    frames_take_datagram,
                                                    frames_take_datagram,
                                                    frames_take_group,
                                                    frames_take_query,
                                                    frames_take_query};
    struct frames *k = d->own;

    for (uint32_t i = 0; i < FRAMES_FAULTS && k->fault[i].is_there; i++) {
        k->fault[i].is_there = false;
        if (!drill_works(d, rdl_fault_remove(d->lab, k->fault[i].fault),
                         "a fault that is left can be removed"))
            return;
    }
    steps[drill_below(d, sizeof(steps) / sizeof(*steps))](d);
    if (!d->wrong)
        drill_settle(d);
}

/* SPDX-License-Identifier: MIT */
/* The drill of frames: multicast routers, which ask h1 for its groups.
 *
 * h1 is in groups of IPv4 and IPv6.  A station asks for all of a version, for one of them or for
 * another, by IGMPv3 [RFC 3376] or MLDv2 [RFC 3810].  The drill writes the queries and reads the
 * reports byte by byte.
 */
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "swarm/drills/frames.h"

#define AT          14u /* the IP header */
#define IGMP_AT     38u /* behind an IP header with the Router Alert option */
#define MLD_AT      62u /* behind an IP and a hop-by-hop header */
#define IGMP_QUERY  12u
#define IGMP_REPORT 16u
#define MLD_BYTES   28u /* of a query and of a report */
#define IS_EXCLUDE  2u  /* the report of a member that wants all senders */
#define NS_PER_MS   UINT64_C(1000000)
#define TRAVEL_NS   NS_PER_MS /* more than any frame takes from station to station */
/* If all groups are asked for and the time is long, one answer comes after 1 / SPREAD of it. */
#define SPREAD        16u
#define SPREAD_MIN_MS 12800u

/* Flaws of a query.  A wrong TTL of IGMP is none: no rule of RFC 3376 lets a host refuse a query
 * for it. */
enum query_flaw {
    FLAWLESS,
    BAD_CHECKSUM,
    SHORT,
    FIRST_FRAGMENT, /* IGMP */
    FAR,            /* MLD: a hop limit other than 1 */
    FROM_AFAR       /* MLD: a source that is not link-local */
};

struct query {
    bool is_v6;
    enum query_flaw flaw;
    /* Index of the group; FRAMES_GROUPS: one that h1 is not in; FRAMES_NOWHERE: all groups. */
    uint32_t group;
    uint32_t code;     /* the coded response time */
    uint64_t max_ms;   /* the time that it means */
    uint32_t times;    /* how many times it is sent, 1 or 2 */
    uint64_t asked_ns; /* when it is sent */
};

static const uint8_t *group_gid(const struct frames *k, bool is_v6, uint32_t i)
{
    return k->joined[is_v6 ? 1 : 0][i];
}

bool frames_join_groups(struct drill *d)
{
    struct frames *k = d->own;

    for (uint32_t i = 0; i < 2 * FRAMES_GROUPS; i++) {
        uint8_t *gid = k->joined[i / FRAMES_GROUPS][i % FRAMES_GROUPS];

        if (i < FRAMES_GROUPS)
            memcpy(gid, (uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 238, 1}, 14);
        else
            memcpy(gid, (uint8_t[]){0xff, (uint8_t)(2 + drill_below(d, 13)), 7}, 3);
        gid[14] = (uint8_t)drill_below(d, 256);
        gid[15] = (uint8_t)(1 + i);
        if (!drill_is_done(d, k->host, rdl_attach_mcast(d->lab, k->ud.qp, gid),
                           "a queue pair can join a group"))
            return false;
    }
    return true;
}

/* --- The query -------------------------------------------------------------------------------- */

/* Draws a code and the time that it means.  A code below @exact is the time itself, in units;
 * another is a mantissa of @bits bits, without its first 1, and an exponent of three bits.
 */
static void draw_time(struct drill *d, struct query *q)
{
    const uint32_t bits = q->is_v6 ? 12 : 4, exact = 8u << bits, unit_ms = q->is_v6 ? 1 : 100;
    const uint32_t exponent = drill_below(d, 8), mantissa = drill_below(d, 1u << bits);

    if (drill_one_in(d, 3)) {
        q->code = drill_one_in(d, 4) ? exact - 1 : drill_below(d, exact);
        q->max_ms = (uint64_t)q->code * unit_ms;
    } else {
        q->code = exact | exponent << bits | mantissa;
        q->max_ms = (uint64_t)((1u << bits) + mantissa) * (8u << exponent) * unit_ms;
    }
}

static void put_group(const struct frames *k, const struct query *q, uint8_t *at)
{
    const uint8_t *gid = group_gid(k, q->is_v6, q->group < FRAMES_GROUPS ? q->group : 0);
    const size_t n = q->is_v6 ? 16 : 4;

    if (q->group == FRAMES_NOWHERE)
        return;
    memcpy(at, gid + 16 - n, n);
    if (q->group == FRAMES_GROUPS)
        at[n - 1] = 0xee; /* h1 has joined no such group */
}

static size_t write_igmp(const struct frames *k, const struct query *q, uint32_t who, uint8_t *f)
{
    const size_t n = q->flaw == SHORT ? IGMP_QUERY - 4 : IGMP_QUERY;
    uint8_t *ip = f + AT;

    frames_begin(k, who, 0x0800, f);
    memcpy(f, (uint8_t[]){1, 0, 0x5e, 0, 0, 1}, 6);
    memcpy(ip, (uint8_t[]){0x46, 0xc0}, 2);
    st_be16(ip + 2, (uint16_t)(24 + n));
    st_be16(ip + 6, q->flaw == FIRST_FRAGMENT ? 0x2000 : 0);
    memcpy(ip + 8, (uint8_t[]){1, 2}, 2);
    frames_put_ip(ip + 12, who);
    memcpy(ip + 16, (uint8_t[]){224, 0, 0, 1, 0x94, 4}, 6);
    st_be16(ip + 10, rig_sum(0, ip, 24));
    memcpy(f + IGMP_AT, (uint8_t[]){0x11, (uint8_t)q->code}, 2);
    put_group(k, q, f + IGMP_AT + 4);
    st_be16(f + IGMP_AT + 2, rig_sum(0, f + IGMP_AT, n));
    if (q->flaw == BAD_CHECKSUM)
        f[IGMP_AT + 1] ^= 1;
    return IGMP_AT + n;
}

/* The checksum of the @n bytes of ICMPv6 in @f, with the addresses of the IP header. */
static uint16_t mld_sum(const uint8_t *f, size_t n)
{
    return rig_sum(frames_pseudo_sum(f + AT, n), f + MLD_AT, n);
}

static size_t write_mld(const struct frames *k, const struct query *q, uint32_t who, uint8_t *f)
{
    const size_t n = q->flaw == SHORT ? MLD_BYTES - 4 : MLD_BYTES;
    uint8_t *ip = f + AT;

    frames_begin(k, who, 0x86dd, f);
    memcpy(f, (uint8_t[]){0x33, 0x33, 0, 0, 0, 1}, 6);
    ip[0] = 0x60;
    st_be16(ip + 4, (uint16_t)(8 + n));
    memcpy(ip + 6, (uint8_t[]){0, q->flaw == FAR ? 2 : 1, 0xfe, 0x80}, 4);
    if (q->flaw == FROM_AFAR)
        ip[8] = 0x20;
    frames_put_mac(ip + 18, who);
    memcpy(ip + 24, (uint8_t[]){0xff, 2}, 2);
    ip[39] = 1;
    memcpy(ip + 40, (uint8_t[]){58, 0, 5, 2, 0, 0, 1, 0}, 8);
    f[MLD_AT] = 130;
    st_be16(f + MLD_AT + 4, (uint16_t)q->code);
    put_group(k, q, f + MLD_AT + 8);
    st_be16(f + MLD_AT + 2, mld_sum(f, n));
    if (q->flaw == BAD_CHECKSUM)
        f[MLD_AT + 5] ^= 1;
    return MLD_AT + n;
}

/* --- The reports ------------------------------------------------------------------------------ */

/* Returns true if @f, of @bytes bytes, is a correct report that h1 is in the group @gid. */
static bool is_report(const struct frames *k, bool is_v6, const uint8_t *gid, const uint8_t *f,
                      size_t bytes)
{
    const uint8_t *ip = f + AT, *message = f + (is_v6 ? MLD_AT : IGMP_AT);
    const uint8_t fixed[] = {0, 0, 0, 1, IS_EXCLUDE, 0, 0, 0}; /* from byte 4 of the message on */

    if (memcmp(message + 4, fixed, sizeof(fixed)) != 0)
        return false;
    if (is_v6)
        return bytes == MLD_AT + MLD_BYTES && message[0] == 143 && ip[7] == 1 &&
               memcmp(f, (uint8_t[]){0x33, 0x33, 0, 0, 0, 0x16}, 6) == 0 &&
               memcmp(ip + 8, k->gid[1], 16) == 0 && memcmp(message + 12, gid, 16) == 0 &&
               mld_sum(f, MLD_BYTES) == 0;
    return bytes == IGMP_AT + IGMP_REPORT && message[0] == 0x22 && ip[8] == 1 &&
           memcmp(f, (uint8_t[]){1, 0, 0x5e, 0, 0, 0x16}, 6) == 0 &&
           memcmp(ip + 12, k->gid[0] + 12, 4) == 0 && memcmp(message + 12, gid + 12, 4) == 0 &&
           rig_sum(0, ip, 24) == 0 && rig_sum(0, message, IGMP_REPORT) == 0;
}

/* Counts the reports of a group at the first port.  *@io_last_ns becomes the time of the last one
 * if that is later.
 */
static uint32_t count_reports(const struct frames *k, bool is_v6, const uint8_t *gid,
                              uint64_t *io_last_ns)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_seen; i++) {
        const struct frames_seen *s = &k->seen[i];

        if (s->port != 0 || !is_report(k, is_v6, gid, s->frame, s->bytes))
            continue;
        n++;
        *io_last_ns = s->at_ns > *io_last_ns ? s->at_ns : *io_last_ns;
    }
    return n;
}

/* Counts the frames of h1 at the first port. */
static uint32_t count_frames(const struct frames *k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_seen; i++)
        n += k->seen[i].port == 0 && memcmp(k->seen[i].frame + 6, k->mac, 6) == 0;
    return n;
}

/* Returns true if @n reports of a group are right, the last of them at @last_ns.  A query that
 * comes twice has one answer, unless the answer to the first is sent before the second comes.
 */
static bool is_right_number(const struct query *q, bool is_asked, uint32_t n, uint64_t last_ns)
{
    const bool is_soon = q->times == 2 && last_ns <= q->asked_ns + TRAVEL_NS;

    return is_asked ? n == 1 || (n == 2 && is_soon) : n == 0;
}

static bool check_reports(struct drill *d, const struct query *q)
{
    const struct frames *k = d->own;
    const bool is_general = q->flaw == FLAWLESS && q->group == FRAMES_NOWHERE;
    uint64_t last_ns = q->asked_ns;
    uint32_t all = 0;

    for (uint32_t i = 0; i < FRAMES_GROUPS; i++) {
        const bool is_asked =
            !k->has_left[q->is_v6][i] && (is_general || (q->flaw == FLAWLESS && q->group == i));
        uint64_t at_ns = q->asked_ns;
        const uint32_t n = count_reports(k, q->is_v6, group_gid(k, q->is_v6, i), &at_ns);

        all += n;
        last_ns = at_ns > last_ns ? at_ns : last_ns;
        if (!drill_expect(d, is_right_number(q, is_asked, n, at_ns),
                          "a host answers a right query with one report for each group asked for",
                          "%u reports of IPv%d group %u", n, q->is_v6 ? 6 : 4, i))
            return false;
    }
    if (is_general && !q->is_v6) /* k->group, too, is one of IPv4 */
        all += count_reports(k, false, k->group, &last_ns);
    return drill_expect(d, count_frames(k) == all, "a query is answered for its groups only",
                        "%u frames, %u of them for these", count_frames(k), all) &&
           drill_expect(d, last_ns <= q->asked_ns + q->max_ms * NS_PER_MS + TRAVEL_NS,
                        "a query is answered within its time",
                        "%" PRIu64 " ns after it, and %" PRIu64 " ms are allowed",
                        last_ns - q->asked_ns, q->max_ms) &&
           drill_expect(d,
                        all < FRAMES_GROUPS || q->max_ms < SPREAD_MIN_MS ||
                            last_ns >= q->asked_ns + q->max_ms * NS_PER_MS / SPREAD,
                        "the answers of many groups are spread over the time",
                        "the last comes %" PRIu64 " ns after a query with %" PRIu64 " ms",
                        last_ns - q->asked_ns, q->max_ms);
}

/* --- The step --------------------------------------------------------------------------------- */

static void draw_query(struct drill *d, struct query *q)
{
    static const enum query_flaw of_igmp[] = {BAD_CHECKSUM, SHORT, FIRST_FRAGMENT};
    static const enum query_flaw of_mld[] = {BAD_CHECKSUM, SHORT, FAR, FROM_AFAR};

    *q = (struct query){.is_v6 = drill_one_in(d, 2), .group = FRAMES_NOWHERE};
    q->times = drill_one_in(d, 3) ? 2 : 1;
    q->asked_ns = rdl_now_ns(d->lab);
    if (drill_one_in(d, 4))
        q->flaw = q->is_v6 ? of_mld[drill_below(d, ARRAY_LEN(of_mld))]
                           : of_igmp[drill_below(d, ARRAY_LEN(of_igmp))];
    if (drill_one_in(d, 2))
        q->group = drill_below(d, FRAMES_GROUPS + 1);
    draw_time(d, q);
}

/* Leaves a group, or joins it again. */
static bool change_group(struct drill *d)
{
    struct frames *k = d->own;
    const uint32_t is_v6 = drill_below(d, 2), i = drill_below(d, FRAMES_GROUPS);
    const uint8_t *gid = k->joined[is_v6][i];
    const bool joins = k->has_left[is_v6][i];

    k->has_left[is_v6][i] = !joins;
    return drill_is_done(d, k->host,
                         joins ? rdl_attach_mcast(d->lab, k->ud.qp, gid)
                               : rdl_detach_mcast(d->lab, k->ud.qp, gid),
                         "a queue pair can join and leave a group") &&
           drill_settle(d);
}

void frames_take_query(struct drill *d)
{
    struct frames *k = d->own;
    uint8_t f[FRAMES_BYTES_MAX];
    const uint32_t who = frames_meet(d);
    struct query q;
    size_t bytes;

    if (drill_one_in(d, 4) && !change_group(d))
        return;
    draw_query(d, &q);
    bytes = (q.is_v6 ? write_mld : write_igmp)(k, &q, who, f);
    frames_forget(k);
    d->n_unsaid++;
    for (uint32_t n = 0; n < q.times; n++) {
        if (!drill_works(
                d, rdl_port_receive(d->lab, k->port[drill_below(d, FRAMES_SWITCHED)], f, bytes),
                "a frame can come in through an external port"))
            return;
    }
    if (drill_run_until(d, q.asked_ns + q.max_ms * NS_PER_MS + 2 * TRAVEL_NS))
        (void)check_reports(d, &q);
}

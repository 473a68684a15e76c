/* SPDX-License-Identifier: MIT */
/* The drill of datagrams: several queue pairs of two hosts send datagrams to one another and to a
 * multicast group.  The model says exactly who receives a copy.
 */
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/feature.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/kinds.h"
#include "swarm/drills/rig.h"

#define STEPS      40u
#define ENDS       3u /* queue pairs per host; the last one is in the other protection domain */
#define RECVS      4u
#define ROOM       16384u
#define DATAGRAM   4096u /* size of the longest datagram */
#define GRH        40u
#define PLACE      4300u /* bytes reserved for a receive */
#define GROUP_QPN  0xffffffu
#define WRONG_QKEY 0x22222222u
#define CQ_ENTRIES 64u
#define EVERYBODY  (RIG_HOSTS * ENDS)

/* The destination of an address handle. */
enum datagram_target { TO_OTHER, TO_SELF, TO_GROUP, WAYS };

struct posted_recv {
    uint64_t wr_id;
    uint32_t bytes;
    uint64_t addr;
};

struct member {
    struct rig_end e;
    unsigned domain;
    bool blocks_own, in_group;
    bool is_down; /* a send failed: it is in SQE, at rxe in ERR */
    uint32_t n_recvs;
    struct posted_recv recv[RECVS];
};

struct datagrams {
    uint32_t profile; /* of the hosts, enum profile */
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS][2];
    rdl_cq cq[RIG_HOSTS];
    rdl_ah ah[RIG_HOSTS][2][WAYS];
    uint64_t base[RIG_HOSTS];
    uint32_t key[RIG_HOSTS][2];
    struct member member[EVERYBODY]; /* those of h1 come first */
    bool is_v6;                      /* addresses and group are of IPv6 */
    uint8_t group[16];
    char group_text[32];
    uint64_t wr_id;
    uint32_t n_bad_qkeys[RIG_HOSTS]; /* datagrams to one queue pair with a wrong Q_Key */
    bool is_over;                    /* the device of a host was reset */
    uint8_t data[DATAGRAM + 1], have[DATAGRAM + GRH];
};

/* One datagram, and the error in it. */
struct shot {
    uint32_t from, to; /* indexes of members */
    enum datagram_target way;
    bool has_wrong_qkey, has_wrong_ah, has_wrong_qpn;
    uint32_t bytes;
    uint64_t wr_id;
};

/* --- Receivers -------------------------------------------------------------------------------- */

/* Returns true if @t leaves its queue pair. */
static bool is_sent(const struct datagrams *s, const struct shot *t)
{
    return !s->member[t->from].is_down && !t->has_wrong_ah && t->bytes <= DATAGRAM;
}

static bool is_for(const struct datagrams *s, const struct shot *t, uint32_t who)
{
    const struct member *m = &s->member[who];

    if (!is_sent(s, t) || (m->is_down && rig_is_rxe(s->profile)) || t->has_wrong_qkey)
        return false;
    if (t->way != TO_GROUP)
        return who == t->to;
    return m->in_group && !t->has_wrong_qpn && !(who == t->from && m->blocks_own);
}

/* Checks that @wc completes the first receive of member @who with the datagram @t. */
static bool judge_copy(struct drill *d, uint32_t who, const struct shot *t, const struct rdl_wc *wc)
{
    struct datagrams *s = d->own;
    struct member *m = &s->member[who];
    const unsigned host = m->e.number;
    const struct posted_recv r = m->recv[0];

    memmove(m->recv, m->recv + 1, (RECVS - 1) * sizeof(m->recv[0]));
    m->n_recvs--;
    return drill_expect(d,
                        wc->wr_id == r.wr_id && wc->status == WCS_SUCCESS &&
                            wc->byte_len == GRH + t->bytes && wc->wc_flags == (uint32_t)WCF_GRH &&
                            wc->src_qp == s->member[t->from].e.qpn,
                        "a datagram takes the first receive, and tells who sent it",
                        "wr_id %u, %u bytes of QPN %u", (unsigned)wc->wr_id, wc->byte_len,
                        wc->src_qp) &&
           drill_works(d, rdl_mem_read(d->lab, s->host[host], r.addr, s->have, GRH + t->bytes),
                       "memory can be read") &&
           drill_expect(d, memcmp(s->have + GRH, s->data, t->bytes) == 0,
                        "a datagram arrives behind its GRH", "as other bytes");
}

/* Checks that @wc flushes the first receive of member @who, which is in ERR. */
static bool judge_flushed(struct drill *d, uint32_t who, const struct rdl_wc *wc)
{
    struct datagrams *s = d->own;
    struct member *m = &s->member[who];
    const bool is_next = m->n_recvs > 0 && wc->wr_id == m->recv[0].wr_id;

    memmove(m->recv, m->recv + 1, (RECVS - 1) * sizeof(m->recv[0]));
    m->n_recvs -= is_next;
    return drill_expect(d, is_next && wc->status == WCS_WR_FLUSH_ERR,
                        "in ERR each receive is flushed, in order", "wr_id %u, %s",
                        (unsigned)wc->wr_id, enum_name(&enum_wc_status, wc->status));
}

static uint32_t member_of(const struct datagrams *s, unsigned host, uint32_t qpn)
{
    uint32_t who = 0;

    while (who < EVERYBODY && (s->member[who].e.number != host || s->member[who].e.qpn != qpn))
        who++;
    return who;
}

/* Polls all completions of @host: each must be of a member that gets a copy of @t, once, or whose
 * receives are flushed.  Clears @gets_one[] for each copy.
 */
static void judge_host(struct drill *d, unsigned host, const struct shot *t, bool *gets_one)
{
    struct datagrams *s = d->own;
    struct rdl_wc wc;

    while (!d->wrong && rig_poll(d, s->cq[host], &wc)) {
        const uint32_t who = member_of(s, host, wc.qp_num);

        if (wc.wr_id == t->wr_id)
            continue;
        if (who < EVERYBODY && rig_is_rxe(s->profile) && s->member[who].is_down) {
            (void)judge_flushed(d, who, &wc);
            continue;
        }
        if (!drill_expect(d, who < EVERYBODY && gets_one[who],
                          "a datagram is for whom it names, once", "QPN %u got one", wc.qp_num))
            return;
        gets_one[who] = false;
        (void)judge_copy(d, who, t, &wc);
    }
}

/* Checks the completion of the send request, which must have @status. */
static bool judge_sender(struct drill *d, const struct shot *t, uint32_t status)
{
    struct datagrams *s = d->own;
    const struct member *m = &s->member[t->from];
    struct rdl_wc wc = {0};
    struct rdl_cq_info info;

    if (!drill_works(d, rdl_cq_info(d->lab, s->cq[m->e.number], &info), "a CQ can be looked at") ||
        !drill_expect(d, info.completions > info.polled, "a datagram completes", "it does not") ||
        !rig_poll(d, s->cq[m->e.number], &wc))
        return false;
    if (!drill_expect(d, wc.wr_id == t->wr_id && wc.status == status,
                      "a datagram completes when it is sent, whoever gets it",
                      "wr_id %u, %s, not %s", (unsigned)wc.wr_id,
                      enum_name(&enum_wc_status, wc.status), enum_name(&enum_wc_status, status)))
        return false;
    return true;
}

/* Checks what the driver of @m believes, which has polled all completions. */
static bool knows_state(struct drill *d, const struct member *m)
{
    const struct datagrams *s = d->own;
    const uint32_t state = !m->is_down ? QPS_RTS : rig_is_rxe(s->profile) ? QPS_ERR : QPS_SQE;
    struct rdl_qp_info info;

    return drill_works(d, rdl_qp_info(d->lab, m->e.qp, &info), "a queue pair can be looked at") &&
           drill_expect(d, info.attr.state == state,
                        "a driver learns the state from completions, but not from old ones",
                        "%s, not %s", enum_name(&enum_qp_state, info.attr.state),
                        enum_name(&enum_qp_state, state));
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void post_recv(struct drill *d)
{
    struct datagrams *s = d->own;
    const uint32_t who = drill_below(d, EVERYBODY);
    struct member *m = &s->member[who];
    struct posted_recv *r = &m->recv[m->n_recvs];
    const unsigned host = m->e.number;
    /* A short receive makes the queue pair of rxe of Linux 6.1 fail. */
    const bool is_short = s->profile != PROFILE_rxe && drill_one_in(d, 4);
    struct rdl_sge sge;
    struct rdl_recv_wr wr = {.sge = &sge, .n_sge = 1};
    uint32_t at;

    if (m->n_recvs == RECVS || (m->is_down && rig_is_rxe(s->profile)))
        return;
    at = PLACE * (who % ENDS) + drill_below(d, 100);
    *r = (struct posted_recv){.wr_id = ++s->wr_id,
                              .bytes = is_short ? drill_below(d, 2 * GRH) : PLACE - 100,
                              .addr = s->base[host] + at};
    wr.wr_id = r->wr_id;
    sge = (struct rdl_sge){r->addr, r->bytes, s->key[host][m->domain]};
    drill_say(d, "post_recv h%u.%s wr_id=%u sge=%s[%u:%u]", host + 1, m->e.name, (unsigned)r->wr_id,
              m->domain ? "theirs" : "mine", at, at + r->bytes);
    if (drill_works(d, rdl_post_recv(d->lab, m->e.qp, &wr, false), "a receive can be posted"))
        m->n_recvs++;
}

static void join_or_leave(struct drill *d)
{
    struct datagrams *s = d->own;
    struct member *m = &s->member[drill_below(d, EVERYBODY)];
    const enum rdl_status st = m->in_group ? rdl_detach_mcast(d->lab, m->e.qp, s->group)
                                           : rdl_attach_mcast(d->lab, m->e.qp, s->group);

    drill_say(d, "%s h%u.%s gid=%s", m->in_group ? "detach_mcast" : "attach_mcast", m->e.number + 1,
              m->e.name, s->group_text);
    if (drill_is_done(d, m->e.host, st, "a group can be joined and left") && drill_settle(d))
        m->in_group = !m->in_group;
}

/* Moves a queue pair in SQE back to RTS, or one in ERR through RESET.  @is_early: the failed
 * completion was not polled yet.
 */
static bool recover(struct drill *d, struct member *m, bool is_early)
{
    const struct datagrams *s = d->own;
    struct rdl_qp_attr a = {.cur_state = QPS_SQE};

    if (!m->is_down || (rig_is_rxe(s->profile) && is_early))
        return true;
    m->is_down = false;
    if (rig_is_rxe(s->profile)) {
        drill_say(d, "modify_qp h%u.%s state=RESET", m->e.number + 1, m->e.name);
        return rig_modify(d, &m->e, &a, QPS_RESET, 0) && rig_raise_ud(d, &m->e);
    }
    drill_say(d, "modify_qp h%u.%s state=RTS%s", m->e.number + 1, m->e.name,
              is_early ? " cur_state=SQE" : "");
    return rig_modify(d, &m->e, &a, QPS_RTS, is_early ? QPA_CUR_STATE : 0);
}

static struct shot draw_shot(struct drill *d)
{
    struct datagrams *s = d->own;
    struct shot t = {.from = drill_below(d, EVERYBODY), .to = drill_below(d, EVERYBODY)};
    const bool is_wrong = drill_one_in(d, 5);
    const uint32_t what = drill_below(d, 4);

    t.way = drill_one_in(d, 2)                                       ? TO_GROUP
            : s->member[t.to].e.number == s->member[t.from].e.number ? TO_SELF
                                                                     : TO_OTHER;
    t.bytes = drill_one_in(d, 6) ? DATAGRAM - drill_below(d, 2) : drill_below(d, 60);
    t.has_wrong_qkey = is_wrong && what == 0;
    t.has_wrong_ah = is_wrong && what == 1;
    t.has_wrong_qpn = is_wrong && what == 2 && t.way == TO_GROUP;
    if (is_wrong && what == 3)
        t.bytes = DATAGRAM + 1;
    t.wr_id = ++s->wr_id;
    for (uint32_t i = 0; i < t.bytes; i++)
        s->data[i] = (uint8_t)prng_next(&d->rng);
    return t;
}

static bool post_shot(struct drill *d, const struct shot *t)
{
    static const char *const ways[] = {"other", "self", "group"};
    struct datagrams *s = d->own;
    const struct member *m = &s->member[t->from];
    const unsigned host = m->e.number, domain = t->has_wrong_ah ? !m->domain : m->domain;
    const uint32_t at = PLACE * ENDS - 900;
    const struct rdl_sge sge = {s->base[host] + at, t->bytes, s->key[host][m->domain]};
    struct rdl_send_wr wr = {.wr_id = t->wr_id,
                             .opcode = WR_SEND,
                             .flags = SF_SIGNALED,
                             .sge = &sge,
                             .n_sge = 1,
                             .ud.ah = s->ah[host][domain][t->way],
                             .ud.remote_qkey = t->has_wrong_qkey ? WRONG_QKEY : RIG_QKEY};

    wr.ud.remote_qpn = t->way == TO_GROUP && !t->has_wrong_qpn ? GROUP_QPN : s->member[t->to].e.qpn;
    drill_say(d,
              "post_send h%u.%s wr_id=%u sge=%s[%u:%u] ah=%s%u remote_qpn=%u remote_qkey=0x%x "
              "signaled",
              host + 1, m->e.name, (unsigned)t->wr_id, m->domain ? "theirs" : "mine", at,
              at + t->bytes, ways[t->way], domain, wr.ud.remote_qpn, wr.ud.remote_qkey);
    return drill_works(d,
                       rdl_mem_write(d->lab, s->host[host], s->base[host] + at, s->data, t->bytes),
                       "memory can be written") &&
           drill_works(d, rdl_post_send(d->lab, m->e.qp, &wr, false), "a request can be posted") &&
           drill_settle(d);
}

static uint64_t port_number(struct drill *d, unsigned host, const char *leaf)
{
    char path[48];
    uint64_t n = 0;

    snprintf(path, sizeof(path), "h%u.port.%s", host + 1, leaf);
    (void)drill_number(d, path, &n);
    return n;
}

/* Returns the number of frames that @host has taken. */
static uint64_t taken_by(struct drill *d, unsigned host)
{
    return port_number(d, host, "taken_frames");
}

/* Counts for each host the frames that it takes: one that at least one member gets a copy of.  What
 * is for a group of which a host has no member goes to its virtio-net function.
 */
static void expect_taken(const struct datagrams *s, const struct shot *t, const bool *gets_one,
                         uint64_t *taken)
{
    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        bool is_taken = false, has_member = false;

        for (uint32_t who = h * ENDS; who < (h + 1) * ENDS; who++) {
            is_taken = is_taken || gets_one[who];
            has_member = has_member || s->member[who].in_group;
        }
        if (t->way == TO_GROUP && !has_member && h != s->member[t->from].e.number)
            is_taken = is_sent(s, t);
        taken[h] += is_taken;
    }
}

static void shoot(struct drill *d)
{
    struct datagrams *s = d->own;
    const struct shot t = draw_shot(d);
    struct member *from = &s->member[t.from];
    uint64_t taken[RIG_HOSTS] = {taken_by(d, 0), taken_by(d, 1)};
    bool gets_one[EVERYBODY];
    uint32_t status;

    if (drill_one_in(d, 2) && !recover(d, from, false))
        return;
    if (from->is_down || (t.has_wrong_ah && s->profile == PROFILE_rxe_7_3))
        status = WCS_WR_FLUSH_ERR;
    else
        status = t.has_wrong_ah ? WCS_LOC_QP_OP_ERR : WCS_SUCCESS;
    for (uint32_t who = 0; who < EVERYBODY; who++) {
        const struct member *m = &s->member[who];

        gets_one[who] = is_for(s, &t, who) && m->n_recvs > 0 && m->recv[0].bytes >= GRH + t.bytes;
    }
    expect_taken(s, &t, gets_one, taken);
    if (t.has_wrong_qkey && t.way != TO_GROUP && is_sent(s, &t) && !s->member[t.to].is_down)
        s->n_bad_qkeys[s->member[t.to].e.number]++;
    if (!post_shot(d, &t))
        return;
    drill_say(d, "run");
    from->is_down = from->is_down || t.has_wrong_ah;
    if (drill_one_in(d, 3) && !recover(d, from, true))
        return;
    drill_say(d, "poll_cq h1.cq max=16\npoll_cq h2.cq max=16");
    if (!judge_sender(d, &t, status) || !knows_state(d, from))
        return;
    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        judge_host(d, h, &t, gets_one);
        drill_expect(d, taken_by(d, h) == taken[h], "a frame is taken if one member got a copy",
                     "h%u has taken %u, not %u", h + 1, (unsigned)taken_by(d, h),
                     (unsigned)taken[h]);
    }
    for (uint32_t who = 0; who < EVERYBODY; who++)
        drill_expect(d, !gets_one[who], "everybody gets a copy whom a datagram is for",
                     "h%u.%s got none", s->member[who].e.number + 1, s->member[who].e.name);
    drill_expect(d, !(rig_is_rxe(s->profile) && from->is_down && from->n_recvs > 0),
                 "in ERR each receive is flushed, in order", "%u are not", from->n_recvs);
}

/* A reset of the device clears what its port has counted.  Nothing follows it. */
static void reset_device(struct drill *d)
{
    struct datagrams *s = d->own;
    const unsigned h = drill_below(d, RIG_HOSTS);
    const uint64_t n = port_number(d, h, "bad_qkeys");

    if (!drill_expect(d, n >= s->n_bad_qkeys[h], "a port counts each datagram with a wrong Q_Key",
                      "%u of %u", (unsigned)n, s->n_bad_qkeys[h]))
        return;
    drill_say(d, "reg_write h%u DEVICE_STATUS 0", h + 1);
    s->is_over = true;
    if (drill_works(d, rdl_reg_write(d->lab, s->host[h], FN_RDMA, REG_DEVICE_STATUS, 1, 0),
                    "a register can be written"))
        drill_expect(d, port_number(d, h, "bad_qkeys") == 0 && port_number(d, h, "bad_pkeys") == 0,
                     "a device that was reset has counted nothing", "%u wrong Q_Keys",
                     (unsigned)port_number(d, h, "bad_qkeys"));
}

static void take(struct drill *d)
{
    const struct datagrams *s = d->own;
    const uint32_t pick = drill_below(d, 8);

    if (s->is_over)
        return;
    if (drill_one_in(d, 2 * STEPS))
        reset_device(d);
    else if (pick < 4)
        post_recv(d);
    else if (pick == 4)
        join_or_leave(d);
    else
        shoot(d);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_domain(struct drill *d, unsigned host, unsigned i)
{
    static const char *const domains[] = {"pd", "pd2"}, *const regions[] = {"mine", "theirs"};
    struct datagrams *s = d->own;
    const rdl_host h = s->host[host];
    struct rdl_mr_info info;
    rdl_mr mr;

    drill_say(d, "alloc_pd h%u as %s", host + 1, domains[i]);
    if (i == 0)
        drill_say(d, "reg_mr h%u.pd len=%u access=lw as mine", host + 1, ROOM);
    else
        drill_say(d, "reg_mr h%u.pd2 len=%u addr=h%u.mine[0] access=lw as theirs", host + 1, ROOM,
                  host + 1);
    if (!drill_is_done(d, h, rdl_alloc_pd(d->lab, h, domains[i], &s->pd[host][i]),
                       "a domain can be had"))
        return false;
    if (i == 0 &&
        !drill_works(d, rdl_mem_alloc(d->lab, h, ROOM, &s->base[host]), "memory can be had"))
        return false;
    if (!drill_is_done(d, h,
                       rdl_reg_mr(d->lab, s->pd[host][i], s->base[host], ROOM, ACC_LOCAL_WRITE,
                                  regions[i], &mr),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->key[host][i] = info.lkey;
    return true;
}

static bool add_member(struct drill *d, uint32_t who)
{
    struct datagrams *s = d->own;
    struct member *m = &s->member[who];
    const unsigned host = who / ENDS;
    struct rdl_qp_config c = {.type = QPT_UD, .send_cq = s->cq[host], .recv_cq = s->cq[host]};

    m->e =
        (struct rig_end){.number = host, .host = s->host[host], .sq_psn = drill_below(d, 1u << 24)};
    m->domain = who % ENDS == ENDS - 1;
    m->blocks_own = !rig_is_rxe(s->profile) && drill_one_in(d, 2); /* rxe has no such option */
    c.block_self_mcast_lb = m->blocks_own;
    c.pd = s->pd[host][m->domain];
    snprintf(m->e.name, sizeof(m->e.name), "q%u", who % ENDS);
    d->n_unsaid += m->blocks_own; /* no script line can express it */
    return rig_add_qp(d, &m->e, &c) && rig_raise_ud(d, &m->e);
}

static bool add_handles(struct drill *d, unsigned host, unsigned domain)
{
    static const char *const names[2][WAYS] = {{"other0", "self0", "group0"},
                                               {"other1", "self1", "group1"}};
    struct datagrams *s = d->own;

    for (uint32_t way = 0; way < WAYS; way++) {
        struct rdl_ah_attr a = {.hop_limit = 64, .port = 1, .sgid_index = s->is_v6};
        uint8_t mac[6];

        memcpy(a.dgid, s->group, sizeof(a.dgid));
        if (way != TO_GROUP &&
            !drill_works(d,
                         rdl_host_address(d->lab, s->host[way == TO_SELF ? host : !host], s->is_v6,
                                          a.dgid, mac),
                         "a host has an address"))
            return false;
        if (way == TO_GROUP)
            drill_say(d, "create_ah h%u.%s dgid=%s sgid_index=%u as %s", host + 1,
                      domain ? "pd2" : "pd", s->group_text, s->is_v6, names[domain][way]);
        else
            drill_say(d, "create_ah h%u.%s dgid=h%u sgid_index=%u as %s", host + 1,
                      domain ? "pd2" : "pd", (way == TO_SELF ? host : !host) + 1u, s->is_v6,
                      names[domain][way]);
        if (!drill_is_done(d, s->host[host],
                           rdl_create_ah(d->lab, s->pd[host][domain], &a, names[domain][way],
                                         &s->ah[host][domain][way]),
                           "an address handle can be created"))
            return false;
    }
    return true;
}

static void draw_group(struct drill *d)
{
    struct datagrams *s = d->own;

    s->is_v6 = drill_one_in(d, 3);
    if (s->is_v6)
        memcpy(s->group, (const uint8_t[16]){0xff, 5}, 16);
    else
        memcpy(s->group, (const uint8_t[16]){[10] = 0xff, [11] = 0xff, [12] = 239}, 16);
    for (unsigned i = 13; i < 16; i++)
        s->group[i] = (uint8_t)(1 + drill_below(d, 250));
    snprintf(s->group_text, sizeof(s->group_text), s->is_v6 ? "ff05::%x:%x" : "239.%u.%u.%u",
             s->group[13], s->is_v6 ? ld_be16(s->group + 14) : s->group[14], s->group[15]);
}

static void set_up(struct drill *d)
{
    const struct rig_config c = {.profile = drill_one_in(d, 2) ? rig_draw_rxe(d) : PROFILE_iba};
    struct datagrams *s = d->own;

    s->profile = c.profile;
    draw_group(d);
    if (!rig_add_hosts(d, &c, s->host, &s->link))
        return;
    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        drill_say(d, "create_cq h%u cqe=%u as cq", h + 1, CQ_ENTRIES);
        if (!drill_is_done(d, s->host[h],
                           rdl_create_cq(d->lab, s->host[h], CQ_ENTRIES, "cq", &s->cq[h]),
                           "a CQ can be created") ||
            !add_domain(d, h, 0) || !add_domain(d, h, 1) || !add_handles(d, h, 0) ||
            !add_handles(d, h, 1))
            return;
    }
    for (uint32_t who = 0; who < EVERYBODY; who++) {
        if (!add_member(d, who))
            return;
    }
}

const struct drill_kind drill_of_datagrams = {.name = "datagrams",
                                              .bytes = sizeof(struct datagrams),
                                              .steps = STEPS,
                                              .set_up = set_up,
                                              .take = take,
                                              .extensions = RDMA_EXTENSIONS};

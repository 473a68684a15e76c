/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: the labs, the honest hosts and their messages, the rogue's objects.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "rdmalab/events.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"
#include "swarm/drills/drill_rogue.h"

#define VFS         (ROGUE_GUESTS + ROGUE_HONEST)
#define CQ_ENTRIES  16u
#define LATENCY_NS  1000u
#define ROGUE_GROUP 2u
#define WORD        8u /* bytes of an atomic */
#define TIMEOUT     14u
/* The timer of the rogue runs out soon, so that the labs come to rest. */
#define ROGUE_TIMEOUT 8u

/* The honest hosts that the pairs connect. */
static const uint32_t pairs[ROGUE_PAIRS][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 2}};

/* Runs @act in both labs. */
static bool in_both(struct drill *d, bool (*act)(struct drill *d))
{
    bool right = true;

    for (uint32_t i = 0; i < ROGUE_LABS && right; i++) {
        rogue_switch(d, i);
        right = act(d);
    }
    rogue_switch(d, 0);
    return right;
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

/* Moves @e to @state.  The address is that by which its host reaches that of @peer. */
static bool move(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type,
                 uint32_t state)
{
    struct rdl_qp_attr a = {
        .path_mtu = MTU_1024,
        .access = rig_rights,
        .port = 1,
        .qkey = RIG_QKEY,
        .dest_qpn = peer->qpn,
        .sq_psn = e->sq_psn & PSN_MASK,
        .rq_psn = peer->sq_psn & PSN_MASK,
        .max_rd_atomic = 4,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = 1,
        .timeout = e->timeout,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .ah.hop_limit = 64,
    };
    uint8_t mac[6];

    if (type != QPT_UD &&
        !drill_works(d, rdl_peer_address(d->lab, e->host, peer->host, 0, 0, a.ah.dgid, mac),
                     "a host has an address"))
        return false;
    return rig_modify(d, e, &a, state, qp_fsm_needs(type, state));
}

static bool raise(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type)
{
    return move(d, e, peer, type, QPS_INIT) && move(d, e, peer, type, QPS_RTR) &&
           move(d, e, peer, type, QPS_RTS);
}

/* Creates the queue pair of @e, which has its name, with two completion queues of its own. */
static bool add_qp(struct drill *d, struct rig_end *e, rdl_cq cq[2], rdl_pd pd, rdl_host host,
                   uint32_t type)
{
    struct rdl_qp_config c = {.pd = pd, .type = type, .max_send_wr = 16, .max_recv_wr = 16};
    static const char *const ways[2] = {"scq", "rcq"};
    char name[RDL_NAME_BYTES];

    for (uint32_t i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "%.16s_%s", e->name, ways[i]);
        if (!drill_is_done(d, host, rdl_create_cq(d->lab, host, CQ_ENTRIES, name, &cq[i]),
                           "a CQ can be created"))
            return false;
    }
    c.send_cq = cq[0];
    c.recv_cq = cq[1];
    e->host = host;
    e->timeout = TIMEOUT;
    return rig_add_qp(d, e, &c);
}

static bool add_region(struct drill *d, rdl_host host, const char *prefix, rdl_pd *pd, rdl_mr *mr,
                       uint64_t *base, struct rdl_mr_info *info)
{
    char name[2][RDL_NAME_BYTES];

    snprintf(name[0], sizeof(name[0]), "%spd", prefix);
    snprintf(name[1], sizeof(name[1]), "%smr", prefix);
    return drill_is_done(d, host, rdl_alloc_pd(d->lab, host, name[0], pd), "a domain can be had") &&
           drill_works(d, rdl_mem_alloc(d->lab, host, ROGUE_ROOM, base), "memory can be had") &&
           drill_is_done(d, host,
                         rdl_reg_mr(d->lab, *pd, *base, ROGUE_ROOM, rig_rights, name[1], mr),
                         "memory can be registered") &&
           drill_works(d, rdl_mr_info(d->lab, *mr, info), "a region has a key");
}

/* --- The honest hosts ------------------------------------------------------------------------- */

static bool add_hosts(struct drill *d)
{
    const struct rdl_host_config config[] = {
        {.name = "m1", .vfs = VFS},
        {.name = rogue_names[0], .on = "m1", .vf = 0, .device = drill_device(d, 0)},
        {.name = rogue_names[1],
         .on = "m1",
         .vrnic = true,
         .group = 1,
         .device = drill_device(d, 1)},
        {.name = rogue_names[ROGUE_OUTSIDE], .device = drill_device(d, 2)}};
    const struct rdl_link_config link = {
        .a = "m1", .b = "h1", .latency_ns = LATENCY_NS, .rate_bps = ROGUE_BPS};
    struct rogue_drill *s = rogue_of(d);
    rdl_host *const ret[] = {&s->machine, &s->honest[0].host, &s->honest[1].host,
                             &s->honest[2].host};
    rdl_link unused;

    for (uint32_t i = 0; i < ARRAY_LEN(config); i++) {
        if (!drill_works(d, rdl_host_add(d->lab, &config[i], ret[i]), "a host can be added"))
            return false;
    }
    return drill_works(d, rdl_link_add(d->lab, &link, &unused), "a link can be added");
}

static bool add_honest(struct drill *d, uint32_t h)
{
    struct rogue_drill *s = rogue_of(d);
    struct rogue_host *host = &s->honest[h];
    struct rdl_mr_info info;

    if (!add_region(d, host->host, "", &host->pd, &host->mr, &host->base, &info))
        return false;
    host->lkey = info.lkey;
    host->rkey = info.rkey;
    for (uint32_t i = 0; i < ROGUE_HALF; i++)
        s->room[0][i] = (uint8_t)(i * 7 + (i >> 8) + h);
    if (!drill_works(d, rdl_mem_write(d->lab, host->host, host->base, s->room[0], ROGUE_HALF),
                     "memory can be written"))
        return false;
    for (uint32_t p = 0; p < ROGUE_PAIRS; p++) {
        for (uint32_t e = 0; e < 2; e++) {
            struct rogue_pair *pair = &s->pair[p];

            if (pairs[p][e] != h)
                continue;
            pair->type = p == ROGUE_PAIRS - 1 && s->has_uc ? QPT_UC : QPT_RC;
            pair->end[e] = (struct rig_end){.name = {'p', (char)('0' + p)}};
            if (!add_qp(d, &pair->end[e], pair->cq[e], host->pd, host->host, pair->type))
                return false;
        }
    }
    host->ud = (struct rig_end){.name = "ud"};
    return add_qp(d, &host->ud, host->ud_cq, host->pd, host->host, QPT_UD) &&
           raise(d, &host->ud, &host->ud, QPT_UD);
}

static bool connect_honest(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    for (uint32_t p = 0; p < ROGUE_PAIRS; p++) {
        struct rogue_pair *pair = &s->pair[p];

        pair->end[0].sq_psn = 1000 + p;
        pair->end[1].sq_psn = 2000 + p;
        if (!raise(d, &pair->end[0], &pair->end[1], pair->type) ||
            !raise(d, &pair->end[1], &pair->end[0], pair->type))
            return false;
    }
    return true;
}

static bool add_handle(struct drill *d, rdl_pd pd, rdl_host from, rdl_host to, rdl_ah *ret)
{
    struct rdl_ah_attr a = {.hop_limit = 64, .port = 1};
    uint8_t mac[6];

    return drill_works(d, rdl_peer_address(d->lab, from, to, 0, 0, a.dgid, mac),
                       "a host has an address") &&
           drill_is_done(d, from, rdl_create_ah(d->lab, pd, &a, NULL, ret),
                         "an address handle can be created");
}

static bool add_handles(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        struct rogue_host *from = &s->honest[h];

        if (!add_handle(d, from->pd, from->host, s->honest[(h + 1) % ROGUE_HONEST].host, &from->ah))
            return false;
    }
    return true;
}

static bool build(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    struct rdl_mr_info info;
    rdl_host outside;

    if (!add_hosts(d))
        return false;
    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        if (!add_honest(d, h))
            return false;
    }
    outside = s->honest[ROGUE_OUTSIDE].host;
    if (!connect_honest(d) || !add_handles(d) ||
        !add_region(d, outside, "rogue_", &s->service.pd, &s->service.mr, &s->service.base, &info))
        return false;
    s->service.rkey = info.rkey;
    s->service.end = (struct rig_end){.name = "rogue_qp"};
    return add_qp(d, &s->service.end, s->service.cq, s->service.pd, outside, QPT_RC) &&
           rogue_connect_cm(d);
}

/* Sets a guarantee for g1, in both labs. */
static bool set_guarantee(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    struct rdl_vf_settings to;

    if (!drill_works(d, rdl_vf_get(d->lab, s->machine, 0, &to), "a function is there"))
        return false;
    to.min_tx_bps = s->guarantee_bps;
    return drill_works(d, rdl_vf_set(d->lab, s->machine, 0, &to), "a function can be set");
}

bool rogue_set_up(struct drill *d)
{
    const uint64_t gbps = 1 + drill_below(d, 9);

    rogue_of(d)->guarantee_bps = drill_one_in(d, 2) ? gbps * 1000000000u : 0;
    rogue_of(d)->has_uc =
        drill_device(d, 0) == DEVICE_virtio && drill_device(d, 2) == DEVICE_virtio;
    return rogue_open(d) && in_both(d, build) && in_both(d, set_guarantee) && rogue_add_guest(d) &&
           rogue_settle(d) && rogue_compare(d, true);
}

/* --- The rogue -------------------------------------------------------------------------------- */

static bool reset(struct drill *d, struct rig_end *e)
{
    struct rdl_qp_attr a = {0};

    return rig_modify(d, e, &a, QPS_RESET, 0);
}

/* The program of h1 takes its events: its end of the connection may have failed. */
static bool take_events(struct drill *d)
{
    struct rdl_async_event e;
    size_t n = 1;

    while (n > 0) {
        e = (struct rdl_async_event){0};
        if (!drill_works(
                d, rdl_get_async_event(d->lab, rogue_of(d)->honest[ROGUE_OUTSIDE].host, &e, &n),
                "events can be taken") ||
            (n > 0 &&
             !drill_works(d, rdl_ack_async_event(d->lab, &e), "an event can be acknowledged")) ||
            !drill_expect(
                d, n == 0 || e.type == ASE_PORT_ACTIVE || e.raw == rogue_of(d)->service.end.qp.raw,
                "a host outside has events of its service alone", "%s",
                enum_name(&enum_async_event, e.type)))
            return false;
    }
    return true;
}

static bool reconnect(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    return take_events(d) && reset(d, &s->service.end) && reset(d, &s->guest.end) &&
           raise(d, &s->service.end, &s->guest.end, QPT_RC) &&
           raise(d, &s->guest.end, &s->service.end, QPT_RC);
}

bool rogue_reconnect(struct drill *d)
{
    return in_both(d, reconnect);
}

static bool add_guest(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    struct rogue_guest *g = &s->guest;
    const struct rdl_host_config config = {.name = g->name,
                                           .on = "m1",
                                           .vrnic = g->has_vrnic,
                                           .vf = g->has_vrnic ? 0 : g->vf,
                                           .group = g->has_vrnic ? ROGUE_GROUP : 0,
                                           .device = g->device,
                                           .max_qp = 8,
                                           .limits.max_mr = 16};
    struct rdl_mr_info info;
    char path[64];
    uint64_t vf;

    if (!drill_works(d, rdl_host_add(d->lab, &config, &g->host), "a host can be added") ||
        !add_region(d, g->host, "", &g->pd, &g->mr, &g->base, &info))
        return false;
    g->lkey = info.lkey;
    snprintf(path, sizeof(path), "%s.port.vf", g->name);
    if (!drill_number(d, path, &vf))
        return false;
    g->vf = (uint32_t)vf;
    g->end = (struct rig_end){.name = "qp"};
    g->ud = (struct rig_end){.name = "ud"};
    if (!add_qp(d, &g->end, g->cq, g->pd, g->host, QPT_RC) ||
        !add_qp(d, &g->ud, g->ud_cq, g->pd, g->host, QPT_UD) || !raise(d, &g->ud, &g->ud, QPT_UD))
        return false;
    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        g->ah[h].raw = 0;
        if (!(g->has_vrnic && h == 1) &&
            !add_handle(d, g->pd, g->host, s->honest[h].host, &g->ah[h]))
            return false;
    }
    g->end.timeout = ROGUE_TIMEOUT;
    return reconnect(d);
}

bool rogue_add_guest(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    s->guest = (struct rogue_guest){.has_vrnic = drill_one_in(d, 2),
                                    .device = drill_one_in(d, 2) ? DEVICE_pvrdma : DEVICE_virtio};
    if (!s->guest.has_vrnic)
        s->guest.vf = VFS - ++s->n_functions; /* the pool takes the first ones */
    snprintf(s->guest.name, sizeof(s->guest.name), "rogue%u", ++s->n_guests);
    return in_both(d, add_guest);
}

void rogue_uses_service(struct drill *d)
{
    rogue_differs(d, ROGUE_ANY, "h1.port.");
    rogue_differs(d, ROGUE_ANY, "h1.counters.");
    rogue_differs(d, ROGUE_ANY, "h1.irqs");
    rogue_differs(d, ROGUE_ANY, "h1.device.info.");
}

bool rogue_completes(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    struct rdl_wc wc[CQ_ENTRIES];
    size_t n;

    if (s->guest.is_broken) {
        s->n_wants = 0;
        return true;
    }
    if (!drill_works(d, rdl_poll_cq(d->lab, s->guest.ud_cq[0], CQ_ENTRIES, wc, &n),
                     "a CQ can be polled") ||
        !drill_works(d, rdl_poll_cq(d->lab, s->guest.cq[0], CQ_ENTRIES, wc, &n),
                     "a CQ can be polled") ||
        !drill_expect(d, n == s->n_wants, "each request of the rogue completes once",
                      "%zu completions for %u requests", n, s->n_wants))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!drill_expect(d, wc[i].status == s->wants[i],
                          "a request of the rogue ends as the check says", "%s, and not %s",
                          enum_name(&enum_wc_status, wc[i].status),
                          enum_name(&enum_wc_status, s->wants[i])))
            return false;
    }
    s->n_wants = 0;
    return true;
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Returns the end that sends message @m, and the honest host that has it. */
static struct rig_end *end_of(struct rogue_drill *s, const struct rogue_message *m, bool sends,
                              uint32_t *ret_host)
{
    if (m->pair == ROGUE_PAIRS) {
        *ret_host = sends ? m->from : (m->from + 1) % ROGUE_HONEST;
        return &s->honest[*ret_host].ud;
    }
    *ret_host = pairs[m->pair][sends ? m->from : !m->from];
    return &s->pair[m->pair].end[sends ? m->from : !m->from];
}

bool rogue_draw_messages(struct drill *d)
{
    static const uint32_t ops[] = {WR_SEND, WR_RDMA_WRITE, WR_RDMA_READ, WR_ATOMIC_FETCH_AND_ADD};
    struct rogue_drill *s = rogue_of(d);

    s->n_messages = 2 + drill_below(d, ROGUE_MESSAGES - 1);
    for (uint32_t i = 0; i < s->n_messages; i++) {
        struct rogue_message *m = &s->message[i];
        const uint32_t pair = m->pair = drill_below(d, ROGUE_PAIRS + 1);
        const bool is_ud = pair == ROGUE_PAIRS;
        const bool is_uc = !is_ud && s->pair[pair].type == QPT_UC;

        m->from = drill_below(d, is_ud ? ROGUE_HONEST : 2);
        m->opcode = ops[drill_below(d, is_ud ? 1 : is_uc ? 2 : (uint32_t)ARRAY_LEN(ops))];
        m->bytes = 1 + drill_below(d, is_ud ? ROGUE_MTU : ROGUE_SLOT);
        if (m->opcode == WR_ATOMIC_FETCH_AND_ADD)
            m->bytes = WORD;
        m->at = drill_below(d, ROGUE_HALF - m->bytes);
        m->wr_id = ++s->wr_id;
    }
    return true;
}

/* Posts the receive of message number @i. */
static bool post_receive(struct drill *d, uint32_t i)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_message *m = &s->message[i];
    uint32_t host;
    struct rig_end *e = end_of(s, m, false, &host);
    const struct rdl_sge sge = {.addr = s->honest[host].base + ROGUE_HALF + i * ROGUE_SLOT,
                                .length = ROGUE_SLOT,
                                .lkey = s->honest[host].lkey};
    const struct rdl_recv_wr wr = {.wr_id = m->wr_id, .sge = &sge, .n_sge = 1};

    return m->opcode != WR_SEND ||
           drill_works(d, rdl_post_recv(d->lab, e->qp, &wr, false), "a receive can be posted");
}

static bool post_send(struct drill *d, uint32_t i)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_message *m = &s->message[i];
    uint32_t from, to;
    struct rig_end *e = end_of(s, m, true, &from), *peer = end_of(s, m, false, &to);
    const uint64_t slot = ROGUE_HALF + (uint64_t)i * ROGUE_SLOT;
    const bool fetches = m->opcode == WR_RDMA_READ || m->opcode == WR_ATOMIC_FETCH_AND_ADD;
    const struct rdl_sge sge = {.addr = s->honest[from].base + (fetches ? slot : m->at),
                                .length = m->bytes,
                                .lkey = s->honest[from].lkey};
    const bool reads = m->opcode == WR_RDMA_READ;
    const struct rdl_send_wr wr = {.wr_id = m->wr_id,
                                   .opcode = m->opcode,
                                   .flags = SF_SIGNALED,
                                   .sge = &sge,
                                   .n_sge = 1,
                                   .remote_addr = s->honest[to].base + (reads ? m->at : slot),
                                   .rkey = s->honest[to].rkey,
                                   .compare_add = m->wr_id,
                                   .ud = {s->honest[from].ah, peer->qpn, RIG_QKEY}};

    return drill_works(d, rdl_post_send(d->lab, e->qp, &wr, false), "a request can be posted");
}

static bool post_all(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    for (uint32_t i = 0; i < s->n_messages; i++) {
        if (!post_receive(d, i) || !post_send(d, i))
            return false;
    }
    return true;
}

bool rogue_post_messages(struct drill *d)
{
    return in_both(d, post_all);
}

/* Polls all of @cq in both labs, and compares what they have. */
static bool poll_both(struct drill *d, const struct rig_end *e, rdl_cq cq)
{
    struct rdl_wc wc[ROGUE_LABS][CQ_ENTRIES];
    size_t n[ROGUE_LABS] = {0};

    for (uint32_t i = 0; i < ROGUE_LABS; i++) {
        if (!drill_works(d, rdl_poll_cq(rogue_of(d)->lab[i], cq, CQ_ENTRIES, wc[i], &n[i]),
                         "a CQ can be polled"))
            return false;
    }
    for (size_t i = 0; i < n[0] && i < n[1]; i++) {
        const struct rdl_wc *a = &wc[0][i], *b = &wc[1][i];

        if (!drill_expect(d,
                          a->wr_id == b->wr_id && a->status == b->status &&
                              a->opcode == b->opcode && a->byte_len == b->byte_len &&
                              a->src_qp == b->src_qp && a->wc_flags == b->wc_flags,
                          "honest programs poll what they poll without the rogue",
                          "%s: wr_id %" PRIu64 " and %" PRIu64, e->name, a->wr_id, b->wr_id))
            return false;
    }
    return drill_expect(d, n[0] == n[1], "honest programs poll what they poll without the rogue",
                        "%s: %zu completions and %zu", e->name, n[0], n[1]);
}

bool rogue_poll(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t p = 0; p < ROGUE_PAIRS; p++) {
            struct rogue_pair *pair = &s->pair[p];

            if (!poll_both(d, &pair->end[0], pair->cq[0][i]) ||
                !poll_both(d, &pair->end[1], pair->cq[1][i]))
                return false;
        }
        for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
            if (!poll_both(d, &s->honest[h].ud, s->honest[h].ud_cq[i]))
                return false;
        }
    }
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Builds the lab of a world: hosts, links, objects and connections.  Each call of the public API
 * also writes its script line.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/psn.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/wire/addr.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "rdmalab/layer.h"
#include "rdmalab/trace.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/wire_tap.h"
#include "swarm/worlds/world_fault.h"
#include "swarm/worlds/world_place.h"
#include "swarm/worlds/world_run.h"

#define RECORD_EVENTS 8192u /* enough for frames that arrive late */
#define RECORD_BYTES  ((size_t)4 << 20)
#define CQ_ENTRIES    2048u
#define SMALL_CQ      4u
#define PAGE          4096u
#define PSNS_OF_LIFE  70000u /* so that late frames of one life are old PSNs in the next */
#define FAST_PAGES    512u
#define QUEUE_PAIRS   48u
#define CQS           16u
#define REMOTE_ALL    (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)
/* Feature bits: indirect descriptors, event index. */
#define PLAIN ((uint64_t)1 << 28 | (uint64_t)1 << 29)

static const char *const regions[KEY_FAST + 1] = {"open", "mine", "look", "alien",
                                                  "edge", "anew", "fast"};
static const char *const groups[] = {"239.1.2.3", "ff0e::1:2:3"};

bool world_expect(struct world_run *r, bool right, uint16_t item, const char *what)
{
    if (!right && !r->wrong) {
        r->wrong = what;
        r->wrong_item = item;
    }
    return right;
}

bool world_expect_end(struct world_run *r, bool right, uint16_t end, const char *what)
{
    if (!right && !r->wrong) {
        r->wrong = what;
        r->wrong_end = end;
    }
    return right;
}

bool world_works(struct world_run *r, enum rdl_status st, const char *what)
{
    if (st == RDL_ERR_INVARIANT)
        what = rdl_broken_invariant(r->lab);
    if (st != RDL_OK && !r->wrong)
        r->status = st;
    return world_expect(r, st == RDL_OK, WORLD_NONE, what);
}

void world_say(struct world_run *r, const char *format, ...)
{
    va_list ap;

    if (!r->script)
        return;
    if (r->refused)
        fprintf(r->script, "refused reason=%s { ", r->refused);
    va_start(ap, format);
    vfprintf(r->script, format, ap);
    va_end(ap);
    fputs(r->refused ? " }\n" : "\n", r->script);
    r->refused = NULL;
}

bool world_answered(struct world_run *r, unsigned host)
{
    const struct rdl_limits limits = {.ticks = 1000000};
    struct rdl_response rsp;
    const enum rdl_status st = rdl_wait(r->lab, r->host[host].host, limits, &rsp);

    return st == RDL_OK ||
           (st != RDL_ERR_DEVICE && world_works(r, st, "a control request is answered"));
}

/* Checks that the call returned RDL_OK and that its request succeeded. */
static bool is_done(struct world_run *r, unsigned host, enum rdl_status st, const char *what)
{
    return world_works(r, st, what) && world_expect(r, world_answered(r, host), WORLD_NONE, what);
}

/* --- Hosts and links -------------------------------------------------------------------------- */

static void add_host(struct world_run *r, unsigned h)
{
    const struct world_host *host = &r->w->host[h];
    struct rdl_host_config c = {
        .max_qp = QUEUE_PAIRS,
        .max_cq = CQS,
        .profile = host->profile,
        .device = host->device,
        .extensions = host->extend.extensions,
        .ceqs = host->extend.ceqs,
        .features_off = host->is_plain ? PLAIN : 0,
        .n_pkeys = WORLD_PKEYS,
        .ring = host->ring,
        .indirect = host->indirect,
        .rx_buffer = host->rx_buffer,
    };
    char name[RDL_NAME_BYTES], buffers[RDL_NAME_BYTES] = "", extensions[EXTEND_WORDS_BYTES];
    struct place_text place;

    snprintf(name, sizeof(name), "h%u", h + 1);
    if (host->rx_buffer)
        snprintf(buffers, sizeof(buffers), " rx_buffer=%u", host->rx_buffer);
    c.name = name;
    world_place_config(r->w, h, &c, &place);
    memcpy(c.pkeys, world_pkeys, sizeof(world_pkeys));
    world_say(r, "%s %s%s profile=%s max_qp=%u max_cq=%u pkeys=0x%x,0x%x,0x%x%s%s%s%s%s%s",
              world_place_command(&host->place), name, place.words,
              enum_name(&enum_profile, host->profile), QUEUE_PAIRS, CQS, world_pkeys[0],
              world_pkeys[1], world_pkeys[2], host->device == DEVICE_pvrdma ? " device=pvrdma" : "",
              host->is_plain ? " features_off=INDIRECT_DESC,EVENT_IDX" : "",
              host->ring == VRING_packed ? " ring=packed" : "", host->indirect ? " indirect" : "",
              buffers, extend_words(&host->extend, extensions));
    world_works(r, rdl_host_add(r->lab, &c, &r->host[h].host), "a host can be added");
    world_set_functions(r, h);
    world_move_guest(r, h);
}

static void add_network(struct world_run *r)
{
    const struct world *w = r->w;
    const struct world_host trunk = {.latency_ns = 500};
    rdl_switch sw;
    rdl_link link;
    char a[RDL_NAME_BYTES], b[RDL_NAME_BYTES];

    for (unsigned s = 0; s < w->n_switches; s++) {
        snprintf(a, sizeof(a), "s%u", s + 1);
        world_say(r, "switch %s", a);
        world_works(r, rdl_switch_add(r->lab, a, &sw), "a switch can be added");
    }
    if (w->n_switches > 1)
        world_add_link(r, &trunk, "s1", "s2", &link);
    if (w->n_switches == 0) {
        world_add_link(r, &w->host[0], "h1", "h2", &r->host[0].link);
        return;
    }
    for (unsigned h = 0; h < w->n_hosts && !r->wrong; h++) {
        if (w->host[h].is_absent || w->host[h].place.on)
            continue;
        snprintf(a, sizeof(a), "h%u", h + 1);
        snprintf(b, sizeof(b), "s%u", w->host[h].at_switch + 1);
        world_add_link(r, &w->host[h], a, b, &r->host[h].link);
    }
}

/* --- Memory ----------------------------------------------------------------------------------- */

static const char *access_text(uint32_t access, char out[32])
{
    snprintf(out, 32, "%s%s%s%s%s", access & ACC_LOCAL_WRITE ? ",lw" : "",
             access & ACC_REMOTE_WRITE ? ",rw" : "", access & ACC_REMOTE_READ ? ",rr" : "",
             access & ACC_REMOTE_ATOMIC ? ",ra" : "", access & ACC_MW_BIND ? ",mw" : "");
    return out + 1;
}

static void add_region(struct world_run *r, unsigned h, enum world_key key, uint32_t access)
{
    struct host_state *host = &r->host[h];
    const struct world_host *w = &r->w->host[h];
    const uint32_t from = key == KEY_EDGE ? w->edge_at : 0;
    const uint32_t bytes = key == KEY_EDGE ? w->edge_bytes : w->memory_bytes;
    struct rdl_mr_info info;
    char text[32], addr[48] = "";

    if (key != KEY_OPEN)
        snprintf(addr, sizeof(addr), " addr=h%u.open[%u]", h + 1, from);
    world_say(r, "reg_mr h%u.%s len=%u%s access=%s as %s", h + 1, key == KEY_ALIEN ? "other" : "pd",
              bytes, addr, access_text(access, text), regions[key]);
    if (!is_done(r, h,
                 rdl_reg_mr(r->lab, key == KEY_ALIEN ? host->other_pd : host->pd, host->base + from,
                            bytes, access, regions[key], &host->mr[key]),
                 "memory can be registered") ||
        !world_works(r, rdl_mr_info(r->lab, host->mr[key], &info), "a region has a key"))
        return;
    host->lkey[key] = info.lkey;
    host->key[key] = (struct key_story){.rkey = info.rkey, .is_valid = true};
}

static void add_fast_region(struct world_run *r, unsigned h)
{
    struct host_state *host = &r->host[h];
    const uint32_t bytes = r->w->host[h].memory_bytes;
    const uint32_t pages_max =
        r->w->host[h].device == DEVICE_pvrdma ? PV_FAST_PAGES_MAX : FAST_PAGES;
    const struct rdl_mr_range range = {host->base, bytes, host->base};
    struct rdl_mr_info info;

    if (bytes > pages_max * PAGE) {
        host->key[KEY_FAST].is_broken = true;
        return;
    }
    world_say(r, "alloc_mr h%u.pd max_pages=%u access=lw,rw,rr,ra as fast", h + 1, bytes / PAGE);
    if (!is_done(r, h,
                 rdl_create_mr(r->lab, host->pd, ACC_LOCAL_WRITE | REMOTE_ALL, bytes / PAGE, "fast",
                               &host->mr[KEY_FAST]),
                 "a fast region can be created"))
        return;
    world_say(r, "map_mr_sg h%u.fast sg=h%u.open[0:%u]", h + 1, h + 1, bytes);
    if (!is_done(r, h, rdl_map_mr_sg(r->lab, host->mr[KEY_FAST], &range), "pages can be mapped") ||
        !world_works(r, rdl_mr_info(r->lab, host->mr[KEY_FAST], &info), "a region has a key"))
        return;
    host->key[KEY_FAST].rkey = info.rkey;
}

static void add_window(struct world_run *r, unsigned h, struct key_story *k, uint32_t type,
                       const char *name)
{
    struct rdl_mw_info info;

    if (r->w->host[h].device == DEVICE_pvrdma)
        return; /* it has no windows */
    world_say(r, "alloc_mw h%u.pd type=%u as %s", h + 1, type, name);
    if (is_done(r, h, rdl_alloc_mw(r->lab, r->host[h].pd, type, name, &k->mw),
                "a window can be had") &&
        world_works(r, rdl_mw_info(r->lab, k->mw, &info), "a window has a key"))
        k->rkey = info.rkey;
}

static void add_memory(struct world_run *r, unsigned h)
{
    struct host_state *host = &r->host[h];
    const uint32_t bytes = r->w->host[h].memory_bytes;

    world_say(r, "alloc_pd h%u as pd", h + 1);
    is_done(r, h, rdl_alloc_pd(r->lab, host->host, "pd", &host->pd), "a domain can be had");
    world_say(r, "alloc_pd h%u as other", h + 1);
    is_done(r, h, rdl_alloc_pd(r->lab, host->host, "other", &host->other_pd),
            "a domain can be had");
    if (r->wrong ||
        !world_works(r, rdl_mem_alloc(r->lab, host->host, bytes, &host->base), "memory can be had"))
        return;
    add_region(r, h, KEY_OPEN, ACC_LOCAL_WRITE | REMOTE_ALL | ACC_MW_BIND);
    add_region(r, h, KEY_MINE, ACC_LOCAL_WRITE);
    add_region(r, h, KEY_LOOK, ACC_REMOTE_READ);
    add_region(r, h, KEY_ALIEN, ACC_LOCAL_WRITE | REMOTE_ALL);
    add_region(r, h, KEY_EDGE, ACC_LOCAL_WRITE | REMOTE_ALL);
    add_region(r, h, KEY_ANEW, ACC_LOCAL_WRITE | REMOTE_ALL);
    if (!r->wrong)
        add_fast_region(r, h);
    if (!r->wrong)
        add_window(r, h, &host->key[KEY_WINDOW_1], 1, "one");
}

/* --- Queues ----------------------------------------------------------------------------------- */

static void add_cq(struct world_run *r, unsigned h, struct cq_state *q, uint32_t cqe,
                   const char *name)
{
    q->cqe = cqe;
    world_say(r, "create_cq h%u cqe=%u channel=h%u.ch as %s", h + 1, cqe, h + 1, name);
    is_done(r, h, rdl_create_cq_on(r->lab, r->host[h].channel, cqe, name, &q->cq),
            "a CQ can be created");
}

static void add_queues(struct world_run *r, unsigned h)
{
    static const char *const names[WORLD_CQS] = {"c0", "c1"};
    struct host_state *host = &r->host[h];
    const struct rdl_srq_attr srq = {.max_wr = WORLD_SRQ_DEPTH};

    world_say(r, "create_comp_channel h%u as ch", h + 1);
    world_works(r, rdl_create_comp_channel(r->lab, host->host, "ch", &host->channel),
                "a channel can be created");
    for (unsigned i = 0; i < WORLD_CQS && !r->wrong; i++)
        add_cq(r, h, &host->cq[i], CQ_ENTRIES, names[i]);
    if (r->wrong)
        return;
    world_say(r, "create_srq h%u.pd max_wr=%u as srq", h + 1, WORLD_SRQ_DEPTH);
    is_done(r, h, rdl_create_srq(r->lab, host->pd, &srq, "srq", &host->srq),
            "a shared receive queue can be created");
}

/* Creates the address handles: one for each host, and one for the multicast group. */
static void add_handles(struct world_run *r, unsigned h)
{
    const struct world *w = r->w;
    struct host_state *host = &r->host[h];
    struct rdl_ah_attr a = {.sgid_index = (uint8_t)w->gid_index, .hop_limit = 64, .port = 1};
    char name[RDL_NAME_BYTES];
    uint8_t mac[6];

    for (unsigned to = 0; to < w->n_hosts && !r->wrong; to++) {
        if (w->host[to].is_absent)
            continue;
        world_works(
            r, rdl_peer_address(r->lab, host->host, r->host[to].host, 0, w->gid_index, a.dgid, mac),
            "a host has an address");
        snprintf(name, sizeof(name), "a%u", to + 1);
        world_say(r, "create_ah h%u.pd dgid=h%u sgid_index=%u as %s", h + 1, to + 1, w->gid_index,
                  name);
        is_done(r, h, rdl_create_ah(r->lab, host->pd, &a, name, &host->ah[to]),
                "an address handle can be created");
    }
    if (r->wrong)
        return;
    memcpy(a.dgid, r->group_gid, sizeof(a.dgid));
    world_say(r, "create_ah h%u.pd dgid=%s sgid_index=%u as ag", h + 1, groups[w->gid_index],
              w->gid_index);
    is_done(r, h, rdl_create_ah(r->lab, host->pd, &a, "ag", &host->group),
            "an address handle of a group can be created");
}

static const char *const types[] = {[QPT_RC] = "rc", [QPT_UC] = "uc", [QPT_UD] = "ud"};

/* Creates the CQ of an is_small end.  It overflows if nobody polls it. */
static void add_small_cq(struct world_run *r, uint16_t end)
{
    char name[RDL_NAME_BYTES];

    snprintf(name, sizeof(name), "small%u", end);
    if (r->w->end[end].is_small && r->end[end].small.cq.raw == 0)
        add_cq(r, r->w->end[end].host, &r->end[end].small, SMALL_CQ, name);
}

/* PVRDMA has no inline data. */
static uint32_t most_inline(const struct world *w, uint16_t end)
{
    return w->host[w->end[end].host].device == DEVICE_pvrdma ? 0 : WORLD_INLINE_MAX;
}

void world_make_end(struct world_run *r, uint16_t end)
{
    const struct world_end *e = &r->w->end[end];
    const struct host_state *h = &r->host[e->host];
    struct rdl_qp_config c = {.pd = h->pd,
                              .type = e->type,
                              .max_send_wr = WORLD_DEPTH,
                              .max_recv_wr = WORLD_DEPTH,
                              .max_inline_data = most_inline(r->w, end),
                              .sq_sig_all = e->sig_all};
    struct rdl_qp_info info;
    char name[RDL_NAME_BYTES], cqs[80];

    add_small_cq(r, end);
    if (r->wrong)
        return;
    c.send_cq = world_cq(r, end, true)->cq;
    c.recv_cq = world_cq(r, end, false)->cq;
    if (e->has_srq)
        c.srq = h->srq;
    snprintf(name, sizeof(name), "q%u", end);
    if (e->is_small)
        snprintf(cqs, sizeof(cqs), "send_cq=small%u recv_cq=small%u", end, end);
    else
        snprintf(cqs, sizeof(cqs), "send_cq=c%u recv_cq=c%u", e->send_cq, e->recv_cq);
    world_say(r,
              "create_qp h%u.pd type=%s %s max_send_wr=%u max_recv_wr=%u max_inline_data=%u%s%s "
              "as %s",
              e->host + 1u, types[e->type], cqs, WORLD_DEPTH, WORLD_DEPTH, c.max_inline_data,
              e->sig_all ? " sq_sig_all" : "", e->has_srq ? " srq=srq" : "", name);
    if (is_done(r, e->host, rdl_create_qp(r->lab, &c, name, &r->end[end].qp),
                "a queue pair can be created") &&
        world_works(r, rdl_qp_info(r->lab, r->end[end].qp, &info), "a queue pair has a number"))
        r->end[end].qpn = info.qpn;
    r->end[end].is_new = true;
}

/* --- Connections ------------------------------------------------------------------------------ */

bool world_modify(struct world_run *r, uint16_t end, struct rdl_qp_attr *a, uint32_t to,
                  uint32_t mask)
{
    const unsigned host = r->w->end[end].host;
    struct rdl_modify_error err;
    struct rdl_refusal why;
    enum rdl_status st;

    a->state = to;
    st = rdl_modify_qp(r->lab, r->end[end].qp, a, QPA_STATE | mask, false, &err);
    /* The queue pair may have failed, but no other request of this host can be pending. */
    world_expect_end(r, st != RDL_ERR_BUSY, end, "one request follows the other");
    r->refused = NULL;
    if (st != RDL_OK)
        r->refused = rdl_status_name(st);
    else if (!world_answered(r, host))
        r->refused = rdl_last_refusal(r->lab, r->host[host].host, &why) == RDL_OK
                         ? enum_name(&enum_refusal, why.reason)
                         : rdl_status_name(RDL_ERR_DEVICE);
    return !r->refused;
}

static void say_move(struct world_run *r, uint16_t end, enum qp_state to,
                     const struct rdl_qp_attr *a, uint32_t mask)
{
    const struct world_end *e = &r->w->end[end];
    char access[32], responder[64] = "";
    const char *rights = a->access ? access_text(a->access, access) : "";

    if (e->type == QPT_RC)
        snprintf(responder, sizeof(responder), " max_dest_rd_atomic=%u min_rnr_timer=%u",
                 a->max_dest_rd_atomic, a->min_rnr_timer);

    if (to == QPS_INIT && e->type == QPT_UD)
        world_say(r, "modify_qp h%u.q%u state=INIT pkey_index=%u port=1 qkey=0x%x", e->host + 1u,
                  end, a->pkey_index, a->qkey);
    else if (to == QPS_INIT)
        world_say(r, "modify_qp h%u.q%u state=INIT pkey_index=%u port=1 access=%s", e->host + 1u,
                  end, a->pkey_index, rights);
    else if (to == QPS_RTR && e->type == QPT_UD)
        world_say(r, "modify_qp h%u.q%u state=RTR", e->host + 1u, end);
    else if (to == QPS_RTR)
        world_say(
            r, "modify_qp h%u.q%u state=RTR ah=h%u gid_index=%u mtu=%u dest_qpn=%u rq_psn=%u%s%s",
            e->host + 1u, end, r->w->end[e->peer].host + 1u, r->w->gid_index, world_mtu_bytes(e),
            a->dest_qpn, a->rq_psn, responder, mask & QPA_CREDITS ? " credits" : "");
    else if (e->type == QPT_RC)
        world_say(r,
                  "modify_qp h%u.q%u state=RTS timeout=%u retry_cnt=%u rnr_retry=%u sq_psn=%u "
                  "max_rd_atomic=%u",
                  e->host + 1u, end, a->timeout, a->retry_cnt, a->rnr_retry, a->sq_psn,
                  a->max_rd_atomic);
    else
        world_say(r, "modify_qp h%u.q%u state=RTS sq_psn=%u", e->host + 1u, end, a->sq_psn);
}

uint32_t world_psn(const struct world_run *r, uint16_t end)
{
    return (r->w->end[end].sq_psn + r->end[end].n_lives * PSNS_OF_LIFE) & PSN_MASK;
}

/* Compares what the tree shows of the queue pair of @end, which is new in RTS, with its attributes.
 */
static void expect_shown(struct world_run *r, uint16_t end, const struct rdl_qp_attr *a)
{
    const bool is_rc = r->w->end[end].type == QPT_RC, is_ud = r->w->end[end].type == QPT_UD;
    const struct {
        const char *leaf;
        uint64_t value;
        bool is_there;
    } rows[] = {
        {"qpn", r->end[end].qpn, true},
        {"unsignaled", 0, true},
        {"sq_psn", a->sq_psn, true},
        {"pkey_index", a->pkey_index, true},
        {"qkey", a->qkey, is_ud},
        {"dest_qpn", a->dest_qpn, !is_ud},
        {"mtu", world_mtu_bytes(&r->w->end[end]), !is_ud},
        {"timeout", a->timeout, is_rc},
        {"retry_cnt", a->retry_cnt, is_rc},
        {"rnr_retry", a->rnr_retry, is_rc},
        {"min_rnr_timer", a->min_rnr_timer, is_rc},
    };
    char path[64];

    for (size_t i = 0; i < ARRAY_LEN(rows) && !r->wrong; i++) {
        struct rdl_value v = {0};
        size_t at;

        if (!rows[i].is_there)
            continue;
        snprintf(path, sizeof(path), "h%u.q%u.%s", r->w->end[end].host + 1u, end, rows[i].leaf);
        world_expect_end(r,
                         rdl_inspect(r->lab, path, &v, &at) == RDL_OK && v.number == rows[i].value,
                         end, "the tree shows the attributes that a queue pair has");
    }
}

/* Moves the queue pair from RESET to RTS. */
static void raise_end(struct world_run *r, uint16_t end)
{
    static const enum qp_state states[] = {QPS_INIT, QPS_RTR, QPS_RTS};
    const struct world_end *e = &r->w->end[end], *peer = &r->w->end[e->peer];
    struct rdl_qp_attr a = {
        .path_mtu = e->path_mtu,
        .access = e->access,
        .port = 1,
        .pkey_index = e->pkey_index,
        .qkey = WORLD_QKEY,
        .dest_qpn = r->end[e->peer].qpn,
        .sq_psn = world_psn(r, end),
        .rq_psn = world_psn(r, e->peer),
        .max_rd_atomic = e->max_rd_atomic,
        .max_dest_rd_atomic = e->max_dest_rd_atomic,
        .min_rnr_timer = e->min_rnr_timer,
        .timeout = e->timeout,
        .retry_cnt = e->retry_cnt,
        .rnr_retry = e->rnr_retry,
        .credits = e->credits,
        .ah.sgid_index = (uint8_t)r->w->gid_index,
        .ah.hop_limit = 64,
    };
    uint8_t mac[6];

    world_works(r,
                rdl_peer_address(r->lab, r->host[e->host].host, r->host[peer->host].host,
                                 a.dest_qpn, r->w->gid_index, a.ah.dgid, mac),
                "a host has an address");
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        bool is_up;
        uint32_t mask = qp_fsm_needs(e->type, states[i]);

        /* With an SRQ the number of receives for this queue pair is unknown. */
        if (states[i] == QPS_RTR && e->credits && !e->has_srq)
            mask |= QPA_CREDITS;
        is_up = world_modify(r, end, &a, states[i], mask);
        say_move(r, end, states[i], &a, mask);
        if (is_up)
            continue;
        /* A queue pair whose CQ has failed is unusable. */
        world_expect_end(r, e->is_small, end, "a queue pair can be moved up");
        world_life(r, end)->was_failed = true;
        return;
    }
    expect_shown(r, end, &a);
}

/* Takes the events and completions of the life that ends.  Events and completions of shared
 * receives name a queue pair, not its life, so they must be taken before the next life begins.
 */
void world_poll_closed(struct world_run *r, uint16_t end)
{
    if (!r->wrong)
        world_take_events(r, r->w->end[end].host);
    if (r->w->end[end].has_srq && !r->wrong)
        world_poll(r, world_cq(r, end, false), r->w->end[end].host);
}

static void reset(struct world_run *r, uint16_t end)
{
    struct rdl_qp_attr a = {0};

    if (!r->end[end].is_new) {
        world_say(r, "modify_qp h%u.q%u state=RESET", r->w->end[end].host + 1u, end);
        world_expect_end(r, world_modify(r, end, &a, QPS_RESET, 0), end,
                         "RESET is allowed from anywhere");
        world_poll_closed(r, end);
        model_close(r, end);
    }
    r->end[end].is_new = false;
}

/* Replaces the window of @end, because the state of the old one is unknown. */
static void renew_window(struct world_run *r, uint16_t end)
{
    struct key_story *k = &r->end[end].window;
    const unsigned h = r->w->end[end].host;
    const uint32_t stale = k->mw.raw ? k->rkey : 0;
    char name[RDL_NAME_BYTES];

    snprintf(name, sizeof(name), "w%u", end);
    if (k->mw.raw) {
        world_say(r, "dealloc_mw h%u.%s", h + 1, name);
        is_done(r, h, rdl_dealloc_mw(r->lab, k->mw), "a window can be given back");
    }
    *k = (struct key_story){.stale = stale};
    if (!r->wrong)
        add_window(r, h, k, 2, name);
}

static uint16_t begin_life(struct world_run *r, uint16_t end)
{
    const uint16_t life = (uint16_t)r->n_lives++;

    r->life[life] = (struct life){.end = end, .peer = WORLD_NONE, .qpn = r->end[end].qpn};
    r->life[life].is_attacked = r->w->end[end].is_small; /* its CQ may overflow at any time */
    r->end[end].life = life;
    r->end[end].n_lives++;
    return life;
}

void world_connect(struct world_run *r, uint16_t end)
{
    const uint16_t peer = r->w->end[end].peer;
    uint16_t here;

    reset(r, end);
    if (peer != end) {
        reset(r, peer);
        if (r->w->end[end].type == QPT_RC && !r->wrong)
            renew_window(r, end);
        if (r->w->end[end].type == QPT_RC && !r->wrong)
            renew_window(r, peer);
    }
    if (r->wrong)
        return;
    here = begin_life(r, end);
    if (peer != end) {
        r->life[here].peer = begin_life(r, peer);
        r->life[r->life[here].peer].peer = here;
    }
    if (r->tap)
        wire_tap_begin(r->tap, here);
    if (r->tap && peer != end)
        wire_tap_begin(r->tap, r->life[here].peer);
    raise_end(r, end);
    if (peer != end && !r->wrong)
        raise_end(r, peer);
}

void world_build(struct world_run *r)
{
    const struct world *w = r->w;
    const struct rdl_lab_config config = {.seed = w->seed, .check_invariants = true};

    (void)addr_parse(groups[w->gid_index], r->group_gid);
    if (!world_works(r, rdl_lab_new(&config, &r->lab), "a lab can be made"))
        return;
    world_works(r, rdl_hash_start(r->lab), "a lab can be hashed");
    if (r->tap) {
        world_works(r, rdl_record(r->lab, RECORD_EVENTS, RECORD_BYTES), "a lab can record");
        world_works(r, wire_tap_listen(r->tap, r), "a lab can be listened to");
    }
    for (unsigned h = 0; h < w->n_hosts && !r->wrong; h++) {
        if (!w->host[h].is_absent)
            add_host(r, h);
    }
    if (!r->wrong)
        add_network(r);
    world_allow_groups(r);
    for (unsigned h = 0; h < w->n_hosts && !r->wrong; h++)
        r->host[h].link = r->host[world_plug(w, h)].link;
    for (unsigned h = 0; h < w->n_hosts && !r->wrong; h++) {
        if (w->host[h].is_absent)
            continue;
        add_memory(r, h);
        if (!r->wrong)
            world_learn_function(r, h);
        if (!r->wrong)
            add_queues(r, h);
    }
    /* A virtual RNIC has an address on the wire only when it has objects. */
    for (unsigned h = 0; h < w->n_hosts && !r->wrong; h++) {
        if (!w->host[h].is_absent && w->n_ends > 2 * w->n_conns)
            add_handles(r, h);
    }
    for (uint16_t i = 0; i < w->n_ends && !r->wrong; i++) {
        if (!w->end[i].is_absent)
            world_make_end(r, i);
    }
    for (uint16_t i = 0; i < w->n_ends && !r->wrong; i++) {
        if (w->end[i].is_absent)
            continue;
        if (i >= 2 * w->n_conns || i % 2 == 0)
            world_connect(r, i);
    }
}

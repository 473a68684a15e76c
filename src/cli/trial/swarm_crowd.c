/* SPDX-License-Identifier: MIT */
#include "cli/trial/swarm_crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print/must.h"
#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/wire/addr.h"

#define ACTIONS       250u
#define ITEMS_AT_ONCE 3u
#define ITEMS_END     (CROWD_ITEMS - 150u) /* the others are for the end */
#define END_ROUNDS    60u
#define ROUND_NS      50000000u
#define CQ_ENTRIES    (2u * CROWD_ITEMS) /* it never overflows */
#define RAM_BYTES     (64u << 20)
#define FEW           2u /* receives at a time, in the end: one may be held by a message without end, */
#define FEW_SHARED    CROWD_ENDS /* one of each of them */
#define SRQ_ROOM      64u
#define LATENCY_NS    1000u
const uint16_t crowd_pkeys[CROWD_PKEYS] = {0xffff, 0x8123, 0x0123};

#define REMOTE_ALL (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

bool crowd_expect(struct crowd *c, bool right, uint32_t item, const char *what)
{
    if (!right && !c->wrong) {
        c->wrong = what;
        c->wrong_item = item;
    }
    return right;
}

bool crowd_works(struct crowd *c, enum rdl_status st, const char *what)
{
    if (st == RDL_ERR_INVARIANT)
        what = rdl_broken_invariant(c->lab);
    if (st != RDL_OK && !c->wrong)
        c->status = st;
    return crowd_expect(c, st == RDL_OK, UINT32_MAX, what);
}

bool crowd_wait(struct crowd *c, unsigned host)
{
    const struct rdl_limits limits = {.ticks = 1000000};
    uint32_t rsp;
    const enum rdl_status st = rdl_wait(c->lab, c->host[host].s.host, limits, &rsp);

    return st == RDL_OK ||
           (st != RDL_ERR_DEVICE && crowd_works(c, st, "a control request is answered"));
}

/* --- The lab ---------------------------------------------------------------------------------- */

static void add_hosts(struct crowd *c)
{
    static const char *const names[CROWD_HOSTS] = {"h1", "h2", "h3"};
    const uint32_t loss_ppm = c->is_lossy ? crowd_below(c, 30000) : 0;
    rdl_switch sw;

    crowd_works(c, rdl_switch_add(c->lab, "sw", &sw), "a switch can be added");
    for (unsigned h = 0; h < CROWD_HOSTS && !c->wrong; h++) {
        struct crowd_host *host = &c->host[h];
        const struct rdl_link_config link = {
            .a = names[h], .b = "sw", .latency_ns = LATENCY_NS, .loss_ppm = loss_ppm};
        struct rdl_host_config config = {
            .name = names[h], .ram_bytes = RAM_BYTES, .device_mtu = c->mtu_bytes};

        host->profile = crowd_one_in(c, 3) ? PROFILE_rxe : PROFILE_iba;
        config.profile = host->profile;
        config.n_pkeys = CROWD_PKEYS;
        memcpy(config.pkeys, crowd_pkeys, sizeof(crowd_pkeys));
        crowd_works(c, rdl_host_add(c->lab, &config, &host->s.host), "a host can be added");
        crowd_works(c, rdl_link_add(c->lab, &link, &host->link), "a link can be added");
    }
}

/* What peers may reach: the second half of the memory of a host, in three ways. */
static void open_memory(struct crowd *c, unsigned h)
{
    struct crowd_host *host = &c->host[h];
    const struct rdl_mr_range range = {
        .addr = host->s.mem.addr + crowd_slot(0, true),
        .bytes = (uint64_t)CROWD_ITEMS * CROWD_SLOT_BYTES,
        .iova = host->s.mem.addr + crowd_slot(0, true),
    };
    const uint32_t access = ACC_LOCAL_WRITE | REMOTE_ALL;
    struct rdl_mr_info info;
    struct rdl_mw_info mw;

    crowd_works(c,
                rdl_reg_mr(c->lab, host->s.pd, range.addr, range.bytes, access | ACC_MW_BIND,
                           "open", &host->open),
                "memory can be registered");
    if (!crowd_wait(c, h) || c->wrong)
        return;
    crowd_works(c, rdl_mr_info(c->lab, host->open, &info), "a region has a key");
    c->key[CROWD_OPEN + h] = (struct crowd_key){.rkey = info.rkey, .is_valid = true};

    crowd_works(c, rdl_create_mr(c->lab, host->s.pd, access, CROWD_ITEMS + 1, "fast", &host->fast),
                "a fast region can be created");
    if (!crowd_wait(c, h) || c->wrong)
        return;
    crowd_works(c, rdl_map_mr_sg(c->lab, host->fast, &range), "pages can be mapped");
    crowd_wait(c, h);
    crowd_works(c, rdl_mr_info(c->lab, host->fast, &info), "a region has a key");
    c->key[CROWD_FAST + h] = (struct crowd_key){.rkey = info.rkey};

    crowd_works(c, rdl_alloc_mw(c->lab, host->s.pd, 1, "window", &c->key[CROWD_TYPE_1 + h].mw),
                "a window can be had");
    if (!crowd_wait(c, h) || c->wrong)
        return;
    crowd_works(c, rdl_mw_info(c->lab, c->key[CROWD_TYPE_1 + h].mw, &mw), "a window has a key");
    c->key[CROWD_TYPE_1 + h].rkey = mw.rkey;

    crowd_works(
        c, rdl_reg_mr(c->lab, host->s.pd, range.addr, range.bytes, access, "anew", &host->anew),
        "memory can be registered");
    if (!crowd_wait(c, h) || c->wrong)
        return;
    crowd_works(c, rdl_mr_info(c->lab, host->anew, &info), "a region has a key");
    c->key[CROWD_ANEW + h] = (struct crowd_key){.rkey = info.rkey, .is_valid = true};
}

/* Address handles: of each host, and of the group. */
static void make_handles(struct crowd *c, unsigned h)
{
    struct crowd_host *host = &c->host[h];
    struct rdl_ah_attr a = {.sgid_index = (uint8_t)c->gid_index, .hop_limit = 64, .port = 1};
    uint8_t mac[6];

    for (unsigned to = 0; to < CROWD_HOSTS && !c->wrong; to++) {
        crowd_works(c, rdl_host_address(c->lab, c->host[to].s.host, c->gid_index, a.dgid, mac),
                    "a host has an address");
        crowd_works(c, rdl_create_ah(c->lab, host->s.pd, &a, NULL, &host->ah[to]),
                    "an address handle can be created");
        crowd_wait(c, h);
    }
    memcpy(a.dgid, c->group_gid, sizeof(a.dgid));
    crowd_works(c, rdl_create_ah(c->lab, host->s.pd, &a, NULL, &host->group),
                "an address handle of a group can be created");
    crowd_wait(c, h);
}

static void make_objects(struct crowd *c, unsigned h)
{
    struct crowd_host *host = &c->host[h];
    const struct rdl_srq_attr srq = {.max_wr = SRQ_ROOM};
    const struct rig_config memory = {.mr_bytes = (uint64_t)2 * CROWD_ITEMS * CROWD_SLOT_BYTES};

    crowd_works(c, rig_side_memory(c->lab, &host->s, &memory), "a host has memory");
    crowd_works(c, rdl_create_comp_channel(c->lab, host->s.host, "channel", &host->channel),
                "a channel can be created");
    crowd_works(c, rdl_create_cq_on(c->lab, host->channel, CQ_ENTRIES, "cq", &host->s.cq),
                "a CQ can be created");
    crowd_wait(c, h);
    crowd_works(c, rdl_create_srq(c->lab, host->s.pd, &srq, "srq", &host->srq),
                "a shared receive queue can be created");
    crowd_wait(c, h);
    if (!c->wrong)
        open_memory(c, h);
}

static void draw_ends(struct crowd *c)
{
    for (unsigned i = 0; i < CROWD_ENDS; i++) {
        struct crowd_end *e = &c->end[i];
        const unsigned kind = i / 2;

        e->peer = i ^ 1u;
        e->has_srq = crowd_one_in(c, 2);
        if (i >= 2 * CROWD_CONNECTIONS) {
            e->type = QPT_UD;
            e->host = (i - 2 * CROWD_CONNECTIONS) % CROWD_HOSTS;
            e->pkey_index = crowd_one_in(c, 2) ? 0 : crowd_below(c, CROWD_PKEYS);
            continue;
        }
        e->host = crowd_below(c, CROWD_HOSTS);
        if (i % 2 == 0) {
            e->type = kind == 0 || (kind == 2 && crowd_one_in(c, 2)) ? QPT_RC : QPT_UC;
            e->credits = e->type == QPT_RC && crowd_one_in(c, 3);
            e->pkey_index = crowd_one_in(c, 2) ? CROWD_FULL : 0;
        } else {
            e->type = c->end[i - 1].type;
            e->credits = c->end[i - 1].credits;
            e->pkey_index = c->end[i - 1].pkey_index;
            if (e->pkey_index == CROWD_FULL && crowd_one_in(c, 2))
                e->pkey_index = CROWD_MEMBER;
        }
    }
}

/* At the most one, beside the losses of the links. */
static void add_fault(struct crowd *c)
{
    static const uint32_t kinds[] = {FLT_DROP, FLT_CORRUPT, FLT_DUPLICATE, FLT_DELAY};
    struct rdl_fault_config f = {
        .opcode = RDL_ANY, .syndrome = RDL_ANY, .psn = RDL_ANY, .dest_qpn = RDL_ANY};

    if (!c->is_lossy && !c->is_copying)
        return;
    f.kind = kinds[crowd_below(c, 2) + (c->is_copying ? 2 : 0)];
    f.nth = 1 + crowd_below(c, 100);
    f.count = 1 + crowd_below(c, 10);
    f.delay_ns = crowd_below(c, 20000);
    f.corrupt_bit = crowd_below(c, 4000);
    c->has_faults = crowd_works(c, rdl_fault_add(c->lab, &f, &c->fault), "a fault can be added");
}

static void build(struct crowd *c)
{
    const struct rdl_lab_config config = {.seed = c->seed, .check_invariants = true};
    static const char *const groups[] = {"239.1.2.3", "ff0e::1:2:3"};

    c->path_mtu = MTU_256 + crowd_below(c, 3);
    c->mtu_bytes = 256u << (c->path_mtu - MTU_256);
    c->max_bytes = 3 * c->mtu_bytes + 1;
    c->gid_index = crowd_below(c, 2);
    (void)addr_parse(groups[c->gid_index], c->group_gid);
    c->is_lossy = crowd_one_in(c, 2);
    c->is_copying = crowd_one_in(c, 4);
    if (!crowd_works(c, rdl_lab_new(&config, &c->lab), "a lab can be made"))
        return;
    crowd_works(c, rdl_hash_start(c->lab), "a lab can be hashed");
    add_hosts(c);
    for (unsigned h = 0; h < CROWD_HOSTS && !c->wrong; h++)
        make_objects(c, h);
    for (unsigned h = 0; h < CROWD_HOSTS && !c->wrong; h++)
        make_handles(c, h);
    draw_ends(c);
    for (unsigned i = 0; i < CROWD_ENDS && !c->wrong; i++)
        crowd_make_end(c, i);
    for (unsigned i = 0; i < CROWD_ENDS && !c->wrong; i++) {
        if (crowd_is_datagram(&c->end[i]) || i % 2 == 0)
            crowd_connect(c, i);
    }
    add_fault(c);
}

/* --- A run ------------------------------------------------------------------------------------ */

static void poll(struct crowd *c, unsigned h)
{
    struct rdl_wc wc;
    size_t n = 1;

    while (n > 0 && !c->wrong) {
        if (crowd_works(c, rdl_poll_cq(c->lab, c->host[h].s.cq, 1, &wc, &n),
                        "a CQ can be polled") &&
            n > 0)
            crowd_judge_wc(c, h, &wc);
    }
}

static void let_go_on(struct crowd *c, uint32_t ticks)
{
    const struct rdl_limits none = {0};
    enum rdl_status st = RDL_OK;

    while (ticks-- > 0 && st == RDL_OK) {
        st = rdl_step(c->lab, RDL_STEP_TICK, none);
        if (st != RDL_ERR_IDLE)
            crowd_works(c, st, "the lab goes on");
    }
}

static void act(struct crowd *c)
{
    const unsigned pick = crowd_below(c, 16);

    if (pick < 4 && c->n_items < ITEMS_END) {
        for (uint32_t i = 1 + crowd_below(c, ITEMS_AT_ONCE); i > 0; i--)
            crowd_post_send(c);
    } else if (pick < 7 && c->n_items < ITEMS_END) {
        for (uint32_t i = 1 + crowd_below(c, ITEMS_AT_ONCE); i > 0; i--)
            crowd_post_recv(c, crowd_below(c, CROWD_ENDS), CROWD_ITEMS);
    } else if (pick == 7 && c->n_items < ITEMS_END) {
        crowd_post_key(c, crowd_below(c, 2 * CROWD_CONNECTIONS));
    } else if (pick < 10) {
        poll(c, crowd_below(c, CROWD_HOSTS));
    } else if (pick == 10) {
        crowd_control(c);
    } else {
        let_go_on(c, crowd_below(c, 40));
    }
}

/* Has everything that must?  Receives may wait for ever. */
static bool is_over(struct crowd *c, uint32_t *ret_item)
{
    for (uint32_t i = 0; i < c->n_items; i++) {
        const struct crowd_item *t = &c->item[i];

        if (t->is_recv || t->is_done || t->is_gone || !(t->flags & SF_SIGNALED) ||
            c->end[t->end].is_excused)
            continue;
        *ret_item = i;
        return false;
    }
    return true;
}

static void calm_down(struct crowd *c)
{
    /* What is on its way is not overtaken. */
    const struct rdl_link_config calm = {.latency_ns = LATENCY_NS};

    if (c->has_faults)
        crowd_works(c, rdl_fault_remove(c->lab, c->fault), "a fault can be removed");
    for (unsigned h = 0; h < CROWD_HOSTS; h++)
        crowd_works(c, rdl_link_set(c->lab, c->host[h].link, &calm), "a link can be changed");
}

/* Is a message under way that has to find a receive at @end? */
static bool is_waited_for(const struct crowd *c, unsigned end)
{
    for (uint32_t i = 0; i < c->n_items; i++) {
        const struct crowd_item *t = &c->item[i];

        if (crowd_needs_recv(t) && t->to == end && !t->is_done && !t->is_gone &&
            c->end[end].type == QPT_RC && !c->end[end].is_excused)
            return true;
    }
    return false;
}

static void finish(struct crowd *c)
{
    const struct rdl_limits bounded = {.ticks = 1000000};
    uint32_t item = UINT32_MAX;

    calm_down(c);
    for (uint32_t round = 0; round < END_ROUNDS && !c->wrong; round++) {
        for (unsigned i = 0; i < CROWD_ENDS; i++) {
            crowd_resume(c, i);
            if (is_waited_for(c, i))
                crowd_post_recv(c, i, c->end[i].has_srq ? FEW_SHARED : FEW);
        }
        crowd_works(c, rdl_run(c->lab, rdl_now_ns(c->lab) + ROUND_NS, bounded), "the lab goes on");
        for (unsigned h = 0; h < CROWD_HOSTS; h++) {
            crowd_take_events(c, h);
            poll(c, h);
        }
        if (round > 0 && is_over(c, &item))
            break;
    }
    crowd_expect(c, is_over(c, &item), item, "once the faults are over everything completes");
    crowd_judge_end(c);
}

static void tell(const struct crowd *c)
{
    printf("seed %llu: %s%s%s\n", (unsigned long long)c->seed, c->wrong,
           c->status == RDL_OK ? "" : ", but: ",
           c->status == RDL_OK ? "" : rdl_status_name(c->status));
    if (c->wrong_item < c->n_items) {
        const struct crowd_item *t = &c->item[c->wrong_item];

        printf("  wr_id %u, %s of %u bytes, posted at h%u\n", c->wrong_item,
               t->is_recv ? "receive" : enum_name(&enum_wr_opcode, t->opcode), t->bytes,
               t->host + 1);
    }
    printf("  again: rdmalab swarm --seed %llu --events\n", (unsigned long long)c->seed);
}

bool swarm_crowd(struct swarm_seed *run)
{
    struct crowd *c = must_malloc(sizeof(*c));
    struct rdl_listener *listener = NULL;
    bool right;

    *c = (struct crowd){.seed = run->seed, .rng = prng_stream(run->seed, 2)};
    c->item = must_malloc(CROWD_ITEMS * sizeof(*c->item));
    build(c);
    if (run->print && !c->wrong)
        crowd_works(c, rdl_listen(c->lab, run->print, c->lab, &listener),
                    "the lab can be listened to");
    for (uint32_t i = 0; i < ACTIONS && !c->wrong; i++)
        act(c);
    if (!c->wrong)
        finish(c);
    rdl_unlisten(c->lab, listener);
    run->ret_invariant = run->ret_invariant || (c->lab && rdl_broken_invariant(c->lab));
    run->ret_hash ^= c->lab ? rdl_hash(c->lab) : 0;
    right = !c->wrong;
    if (!right)
        tell(c);
    rdl_lab_free(c->lab);
    free(c->item);
    free(c);
    return right;
}

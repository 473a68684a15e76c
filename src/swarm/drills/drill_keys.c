/* SPDX-License-Identifier: MIT */
/* The drill of keys: the model of regions and windows, the setup, and the choice of steps. */
#include "swarm/drills/drill_keys.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/virtio/feature.h"
#include "swarm/drills/kinds.h"

#define CQ_ENTRIES 32u
#define STEPS      40u

static const char *const domains[] = {"pd", "other"};

/* --- Model ------------------------------------------------------------------------------------ */

struct kept *keys_find(struct keys *k, uint32_t rkey)
{
    for (unsigned i = 0; i < KEEPS; i++) {
        if (k->kept[i].kind != KEPT_NOTHING && (k->kept[i].rkey ^ rkey) <= KEY_LOW)
            return &k->kept[i];
    }
    return NULL;
}

bool keys_fit(struct keys *k, uint32_t rkey, unsigned pair, uint32_t access)
{
    const struct kept *of = keys_find(k, rkey);

    if (!of || of->rkey != rkey || !of->is_valid || of->domain != keys_domain(pair))
        return false;
    if (of->kind == KEPT_WINDOW &&
        (!(access & REMOTE_ALL) || (of->pair != NO_PAIR && of->pair != pair)))
        return false;
    return (of->access & access) == access;
}

/* Returns true if @bytes at @addr, an address of window @w, lie in the region of the window. */
static bool is_in_region(const struct keys *k, const struct kept *w, uint64_t addr, uint32_t bytes)
{
    const struct kept *mr = &k->kept[w->slot];
    const uint64_t skipped = w->at - mr->at + (addr - w->name); /* huge: in front of the region */

    return skipped <= mr->bytes && bytes <= mr->bytes - skipped;
}

bool keys_open(struct keys *k, uint32_t rkey, unsigned pair, uint64_t addr, uint32_t bytes,
               uint32_t access)
{
    const struct kept *of = keys_find(k, rkey);

    if (!keys_fit(k, rkey, pair, access))
        return false;
    if (of->kind == KEPT_WINDOW && rig_is_rxe(k->profile))
        return is_in_region(k, of, addr, bytes);
    return addr >= of->name && addr + bytes <= of->name + of->bytes;
}

struct kept *keys_pick(struct drill *d, unsigned from, unsigned to)
{
    struct keys *k = d->own;
    struct kept *of = NULL;

    for (unsigned tries = 0; tries < 4; tries++) {
        of = &k->kept[from + drill_below(d, to - from)];
        if (of->kind != KEPT_NOTHING)
            return of;
    }
    return NULL;
}

void keys_unbind(struct keys *k, struct kept *w)
{
    if (!w->is_valid)
        return;
    k->kept[w->slot].n_windows--;
    w->is_valid = false;
}

bool keys_check_room(struct drill *d)
{
    struct keys *k = d->own;
    uint32_t at = 0;

    if (!drill_works(d, rdl_mem_read(d->lab, k->host[1], k->base[1], k->have, ROOM_BYTES),
                     "memory can be read"))
        return false;
    while (at < ROOM_BYTES && k->have[at] == k->room[at])
        at++;
    return drill_expect(
        d, at == ROOM_BYTES, "what a key opens is written in its place, and nothing else is",
        "byte %u is 0x%02x, not 0x%02x", at, k->have[at % ROOM_BYTES], k->room[at % ROOM_BYTES]);
}

/* --- Requests --------------------------------------------------------------------------------- */

bool keys_reconnect(struct drill *d, unsigned pair)
{
    struct keys *k = d->own;

    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        struct rig_end *e = &k->end[h][pair];
        struct rdl_qp_attr a = {0};

        drill_say(d, "modify_qp h%u.%s state=RESET", h + 1, e->name);
        if (!rig_modify(d, e, &a, QPS_RESET, 0))
            return false;
    }
    return rig_connect(d, &k->end[0][pair], &k->end[1][pair]);
}

uint32_t keys_unsent(const struct keys *k, uint32_t status)
{
    return k->profile == PROFILE_rxe_7_3 ? WCS_WR_FLUSH_ERR : status;
}

bool keys_post(struct drill *d, unsigned host, unsigned pair, struct rdl_send_wr *wr,
               uint32_t status, const char *what)
{
    struct keys *k = d->own;
    struct rdl_wc wc;

    wr->wr_id = ++k->wr_id;
    wr->flags |= SF_SIGNALED;
    if (!drill_works(d, rdl_post_send(d->lab, k->end[host][pair].qp, wr, false),
                     "a request can be posted") ||
        !drill_settle(d))
        return false;
    drill_say(d, "run\npoll_cq h%u.cq max=8", host + 1);
    if (!drill_expect(d, rig_poll(d, k->cq[host], &wc), "a request completes", "it does not") ||
        !drill_expect(d, wc.wr_id == wr->wr_id, "a request completes once", "wr_id %u",
                      (unsigned)wc.wr_id) ||
        !drill_expect(d, wc.status == status, what, "%s, where it is %s",
                      enum_name(&enum_wc_status, wc.status), enum_name(&enum_wc_status, status)))
        return false;
    return (status == WCS_SUCCESS || keys_reconnect(d, pair)) && keys_check_room(d);
}

void keys_replace_pair(struct drill *d)
{
    const unsigned pair = drill_below(d, PAIRS);
    struct keys *k = d->own;
    struct rig_end *e = &k->end[1][pair];
    const struct rdl_qp_config c = {.pd = k->pd[1][keys_domain(pair)],
                                    .type = QPT_RC,
                                    .send_cq = k->cq[1],
                                    .recv_cq = k->cq[1]};

    drill_say(d, "destroy_qp h2.%s", e->name);
    if (!drill_is_done(d, e->host, rdl_destroy_qp(d->lab, e->qp), "a queue pair can be destroyed"))
        return;
    for (unsigned i = REGIONS; i < KEEPS; i++) {
        if (k->kept[i].kind == KEPT_WINDOW && k->kept[i].pair == pair)
            keys_unbind(k, &k->kept[i]);
    }
    if (rig_add_qp(d, e, &c))
        (void)keys_reconnect(d, pair);
}

/* --- The lab ---------------------------------------------------------------------------------- */

/* Registers all memory of @host as one region in its first domain. */
static bool add_memory(struct drill *d, unsigned host)
{
    const uint32_t access = ACC_LOCAL_WRITE | REMOTE_ALL;
    struct keys *k = d->own;
    struct rdl_mr_info info;
    rdl_mr mr;

    drill_say(d, "reg_mr h%u.pd len=%u access=lw,rw,rr,ra as mine", host + 1, ROOM_BYTES);
    if (!drill_works(d, rdl_mem_alloc(d->lab, k->host[host], ROOM_BYTES, &k->base[host]),
                     "memory can be had") ||
        !drill_is_done(
            d, k->host[host],
            rdl_reg_mr(d->lab, k->pd[host][0], k->base[host], ROOM_BYTES, access, "mine", &mr),
            "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    k->mine[host] = info.lkey;
    return true;
}

static bool add_objects(struct drill *d, unsigned host)
{
    struct keys *k = d->own;

    for (unsigned i = 0; i < 2; i++) {
        drill_say(d, "alloc_pd h%u as %s", host + 1, domains[i]);
        if (!drill_is_done(d, k->host[host],
                           rdl_alloc_pd(d->lab, k->host[host], domains[i], &k->pd[host][i]),
                           "a domain can be had"))
            return false;
    }
    drill_say(d, "create_cq h%u cqe=%u as cq", host + 1, CQ_ENTRIES);
    return drill_is_done(d, k->host[host],
                         rdl_create_cq(d->lab, k->host[host], CQ_ENTRIES, "cq", &k->cq[host]),
                         "a CQ can be created") &&
           add_memory(d, host);
}

static bool add_pair(struct drill *d, unsigned pair)
{
    struct keys *k = d->own;

    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        struct rig_end *e = &k->end[h][pair];
        const struct rdl_qp_config c = {.pd = k->pd[h][h == 1 && keys_domain(pair)],
                                        .type = QPT_RC,
                                        .send_cq = k->cq[h],
                                        .recv_cq = k->cq[h]};

        *e = (struct rig_end){.number = h,
                              .host = k->host[h],
                              .sq_psn = drill_below(d, 1u << 24),
                              .access = ACC_LOCAL_WRITE | REMOTE_ALL,
                              .timeout = 14,
                              .retry_cnt = 7};
        snprintf(e->name, sizeof(e->name), "q%u", pair);
        if (!rig_add_qp(d, e, &c))
            return false;
    }
    return rig_connect(d, &k->end[0][pair], &k->end[1][pair]);
}

static void set_up(struct drill *d)
{
    struct keys *k = d->own;
    const struct rig_config c = {.profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba};

    k->profile = c.profile;
    if (!rig_add_hosts(d, &c, k->host, &k->link))
        return;
    for (unsigned h = 0; h < RIG_HOSTS; h++) {
        if (!add_objects(d, h))
            return;
    }
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        if (!add_pair(d, pair))
            return;
    }
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        keys_use_remotely, keys_use_remotely, keys_use_remotely,  keys_use_locally,
        keys_register,     keys_register,     keys_deregister,    keys_reregister,
        keys_map,          keys_reg_mr,       keys_reg_mr,        keys_bind,
        keys_bind,         keys_bind,         keys_invalidate,    keys_send_with_inv,
        keys_replace_pair, keys_move,         keys_read_with_inv,
    };

    steps[drill_below(d, ARRAY_LEN(steps))](d);
}

const struct drill_kind drill_of_keys = {.name = "keys",
                                         .bytes = sizeof(struct keys),
                                         .steps = STEPS,
                                         .set_up = set_up,
                                         .take = take,
                                         .extensions = RDMA_EXTENSIONS};

/* SPDX-License-Identifier: MIT */
/* Draws hosts, connections and deeds.  world_draw_item.c draws items, world_draw_fault.c faults. */
#include "swarm/worlds/world_draw.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/facts/virtio/ring_format.h"
#include "rdmalab/limits.h"

#define SHORT_MESSAGE   1500u
#define LONG_MESSAGE    18000u /* more than 64 packets at MTU 256 */
#define MESSAGES_OF_END 20u
#define MESSAGES_MORE   8u
#define EDGE_BYTES      5001u
#define EDGE_MORE       1000u
#define FIRST_PLACE     (4u * 4096u) /* behind the region of KEY_EDGE */
#define SPARES_OF_END   8u
#define FORGERIES       8u
#define PAGES_OF_SHIFT  100u
#define RETRIES_MAX     7u
#define MTU_CODES       5u
#define RX_BUFFER_MORE  300u /* so small that some frames need several buffers */

const uint16_t world_pkeys[WORLD_PKEYS] = {0xffff, 0x8123, 0x0123};

/* --- Hosts and links -------------------------------------------------------------------------- */

static void draw_hosts(struct draw *d, bool pair)
{
    static const uint64_t rates[] = {0, 0, 0, UINT64_C(10000000000), UINT64_C(1000000000)};
    struct world *w = d->w;
    const bool is_lossy = draw_one_in(d, 2);

    w->n_hosts = 2 + draw_below(d, WORLD_HOSTS_MAX - 1);
    if (pair || draw_one_in(d, 2))
        w->n_hosts = 2;
    w->n_switches = (w->n_hosts > 2) + draw_below(d, 2);
    for (uint32_t h = 0; h < w->n_hosts; h++) {
        struct world_host *host = &w->host[h];

        host->profile = PROFILE_iba;
        if (draw_one_in(d, 3))
            host->profile = draw_one_in(d, 3) ? PROFILE_rxe_7_3 : PROFILE_rxe;
        host->latency_ns = draw_below(d, 3000);
        host->rate_bps = rates[draw_below(d, ARRAY_LEN(rates))];
        host->loss_ppm = is_lossy ? draw_below(d, 40000) : 0;
        draw_link_faults(d, host, is_lossy);
        host->at_switch = w->n_switches > 0 ? draw_below(d, w->n_switches) : 0;
        host->is_plain = draw_one_in(d, 4);
        host->edge_at = 4096u + 1 + draw_below(d, 4000);
        host->edge_bytes = EDGE_BYTES + 2 * draw_below(d, EDGE_MORE);
        d->used[h] = FIRST_PLACE;
        host->words_at = d->used[h];
        d->used[h] += WORLD_WORDS * 2 * WORLD_WORD_BYTES;
    }
}

/* --- Ends ------------------------------------------------------------------------------------- */

/* Mostly the maximum. */
static uint32_t draw_retries(struct draw *d)
{
    const uint32_t fewer = draw_below(d, RETRIES_MAX);

    return draw_one_in(d, 4) ? fewer : RETRIES_MAX;
}

static void draw_connection(struct draw *d, uint32_t i)
{
    struct world *w = d->w;
    const uint32_t lower = draw_below(d, w->n_hosts);
    const uint32_t other = (lower + 1 + draw_below(d, w->n_hosts - 1)) % w->n_hosts;
    const uint32_t upper = draw_one_in(d, 8) ? lower : other;
    const uint8_t type = draw_one_in(d, 4) ? QPT_UC : QPT_RC;
    const uint32_t mtu_codes = draw_one_in(d, 6) ? MTU_CODES : 3;
    const uint32_t path_mtu = MTU_256 + draw_below(d, mtu_codes);
    const uint32_t timeout = 6 + draw_below(d, 5);
    const bool credits = type == QPT_RC && draw_one_in(d, 5);
    const bool same_partition = draw_one_in(d, 3);

    for (uint32_t side = 0; side < 2; side++) {
        struct world_end *e = &w->end[2 * i + side];

        e->type = type;
        e->host = (uint8_t)(side ? upper : lower);
        e->peer = (uint16_t)(2 * i + 1 - side);
        e->path_mtu = path_mtu;
        e->timeout = timeout;
        e->credits = credits && w->host[lower].profile == PROFILE_iba &&
                     w->host[upper].profile == PROFILE_iba; /* rxe uses no credits */
        e->retry_cnt = draw_retries(d);
        e->rnr_retry = draw_retries(d);
        e->min_rnr_timer = 1 + draw_below(d, 10);
        e->sq_psn = PSN_MASK - draw_below(d, side ? PSN_MASK + 1 : 200);
        e->max_rd_atomic = 1 + draw_below(d, 8);
        e->has_srq = draw_one_in(d, 4);
        e->pkey_index = same_partition ? WORLD_FULL + side : 0;
        e->access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE;
        if (type == QPT_RC)
            e->access |= ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    }
    for (uint32_t side = 0; side < 2; side++) {
        struct world_end *e = &w->end[2 * i + side];

        e->max_dest_rd_atomic = world_round_up(w->end[e->peer].max_rd_atomic) + draw_below(d, 2);
    }
}

static void draw_datagram_end(struct draw *d, uint32_t i)
{
    struct world_end *e = &d->w->end[i];

    e->type = QPT_UD;
    e->host = (uint8_t)draw_below(d, d->w->n_hosts);
    e->peer = (uint16_t)i;
    e->path_mtu = MTU_4096;
    e->has_srq = draw_one_in(d, 4);
    e->pkey_index = draw_below(d, WORLD_PKEYS);
    if (draw_one_in(d, 2))
        e->pkey_index = 0;
    e->sq_psn = draw_below(d, PSN_MASK + 1);
}

static void draw_ends(struct draw *d)
{
    struct world *w = d->w;
    uint32_t n_ud = 1 + draw_below(d, 2);

    if (draw_one_in(d, 2))
        n_ud = 0;
    w->n_conns = 1 + draw_below(d, w->n_hosts > 2 ? WORLD_CONNS_MAX : 2);
    w->n_ends = 2 * w->n_conns + (n_ud > 0 ? n_ud + 1 : 0);
    for (uint32_t i = 0; i < w->n_conns; i++)
        draw_connection(d, i);
    for (uint32_t i = 2 * w->n_conns; i < w->n_ends; i++)
        draw_datagram_end(d, i);
    w->max_message = draw_one_in(d, 10) ? LONG_MESSAGE : SHORT_MESSAGE;
    for (uint32_t i = 0; i < 2 * w->n_conns; i++) {
        if (3 * world_mtu_bytes(&w->end[i]) + 1 > w->max_message)
            w->max_message = 3 * world_mtu_bytes(&w->end[i]) + 1;
    }
    for (uint32_t i = 0; i < w->n_ends; i++) {
        struct world_end *e = &w->end[i];

        e->sig_all = draw_one_in(d, 6);
        e->send_cq = (uint8_t)draw_below(d, WORLD_CQS);
        e->recv_cq = (uint8_t)draw_below(d, WORLD_CQS);
        /* At rxe a full CQ loses completions one by one: the drills show it. */
        e->is_small = i < 2 && draw_one_in(d, 24) && w->host[e->host].profile == PROFILE_iba;
        d->last[i] = WORLD_NONE;
    }
}

/* --- Deeds ------------------------------------------------------------------------------------ */

static void do_deed(struct draw *d, enum deed_kind kind, uint32_t who, uint32_t n)
{
    struct world *w = d->w;

    if (w->n_deeds < WORLD_DEEDS_MAX && who != WORLD_NONE)
        w->deed[w->n_deeds++] = (struct world_deed){(uint8_t)kind, (uint16_t)who, n};
}

static void draw_receives(struct draw *d, uint16_t end, uint32_t n)
{
    for (; n > 0; n--) {
        const uint16_t i = draw_receive(d, end, false);

        do_deed(d, draw_one_in(d, 12) ? DO_POST_LAZY : DO_POST, i, 0);
    }
}

/* Draws some requests of @end, mostly preceded by the receives that they need. */
static void draw_requests(struct draw *d, uint16_t end)
{
    const struct world *w = d->w;

    for (uint32_t n = 1 + draw_below(d, 4); n > 0; n--) {
        const uint16_t i = draw_request(d, end);

        if (i == WORLD_NONE)
            return;
        d->n_sent[end]++;
        if (world_needs_recv(&w->item[i]) && !w->item[i].to_group && !draw_one_in(d, 8))
            draw_receives(d, w->item[i].to, 1);
        do_deed(d, draw_one_in(d, 10) ? DO_POST_LAZY : DO_POST, i, 0);
    }
}

static void draw_key_change(struct draw *d, uint16_t end)
{
    if (d->w->end[end].type == QPT_RC)
        do_deed(d, DO_POST, draw_key_request(d, end), 0);
}

/* Draws a change of state. */
static void draw_control(struct draw *d, uint16_t end)
{
    static const uint8_t kinds[] = {DO_FAIL,   DO_CONNECT, DO_REPLACE, DO_DRAIN, DO_DRAIN,
                                    DO_RESUME, DO_RESUME,  DO_RESUME,  DO_LOOK,  DO_FORGE,
                                    DO_FORGE,  DO_FORGE,   DO_GROUP,   DO_GROUP, DO_KICK,
                                    DO_INJECT, DO_INJECT,  DO_INJECT};
    const uint8_t kind = kinds[draw_below(d, ARRAY_LEN(kinds))];

    do_deed(d, (enum deed_kind)kind, end,
            draw_below(d, kind == DO_FORGE || kind == DO_INJECT ? FORGERIES : 2));
}

static void draw_host_deed(struct draw *d, uint16_t host)
{
    static const uint8_t kinds[] = {DO_ARM,   DO_ARM,   DO_ARM,   DO_EVENTS, DO_LIMIT,
                                    DO_LIMIT, DO_REREG, DO_REREG, DO_RESIZE, DO_LINK,
                                    DO_LINK,  DO_LINK,  DO_PACE};
    const uint8_t kind = kinds[draw_below(d, ARRAY_LEN(kinds))];
    uint32_t n = draw_below(d, 2);

    if (kind == DO_ARM && draw_one_in(d, 2))
        n |= 1u << 8;
    if (kind == DO_LIMIT)
        n = draw_below(d, 8);
    if (kind == DO_REREG)
        n = draw_below(d, PAGES_OF_SHIFT);
    if (kind == DO_PACE)
        n = draw_below(d, 30000);
    do_deed(d, (enum deed_kind)kind, host, n);
}

static void draw_deed(struct draw *d)
{
    struct world *w = d->w;
    const uint16_t end = (uint16_t)draw_below(d, w->n_ends);
    const uint32_t pick = draw_below(d, 26);

    if (pick < 7)
        draw_requests(d, end);
    else if (pick == 7)
        draw_receives(d, end, 1 + pick % 2);
    else if (pick == 8)
        draw_key_change(d, end);
    else if (pick < 12)
        do_deed(d, DO_POLL, w->end[end].host, draw_below(d, WORLD_CQS));
    else if (pick == 12)
        draw_control(d, end);
    else if (pick == 13)
        draw_host_deed(d, w->end[end].host);
    else if (pick == 14)
        do_deed(d, DO_KICK, end, draw_below(d, 2));
    else if (pick == 15 && w->n_faults > 0)
        do_deed(d, DO_FAULT, draw_below(d, w->n_faults), 0);
    else if (pick < 18)
        do_deed(d, DO_REVIVE, end, 0);
    else if (pick == 18)
        do_deed(d, DO_WAIT, 0, draw_below(d, 200000));
    else
        do_deed(d, DO_GO, 0, draw_below(d, 30));
}

static bool is_enough(const struct draw *d)
{
    const struct world *w = d->w;

    for (uint32_t i = 0; i < w->n_ends; i++) {
        if (d->n_sent[i] < MESSAGES_OF_END + i % MESSAGES_MORE)
            return w->n_items + w->n_ends * (SPARES_OF_END + 1) + 16 > WORLD_ITEMS_MAX ||
                   w->n_deeds + 16 > WORLD_DEEDS_MAX;
    }
    return true;
}

/* Drawn last: programs do not see ring formats, so the rest of the world must not depend on them.
 */
static void draw_rings(struct draw *d)
{
    for (uint32_t h = 0; h < d->w->n_hosts; h++) {
        struct world_host *host = &d->w->host[h];
        const bool indirect = draw_one_in(d, 3);

        host->ring = draw_one_in(d, 2) ? VRING_packed : VRING_split;
        host->indirect = indirect && !host->is_plain;
        host->rx_buffer = 0;
        if (draw_one_in(d, 3))
            host->rx_buffer = RDL_RX_BUFFER_MIN + draw_below(d, RX_BUFFER_MORE);
    }
}

void world_draw(struct world *w, uint64_t seed, bool pair)
{
    struct draw d = {.w = w, .rng = prng_stream(seed, 0)};

    memset(w, 0, offsetof(struct world, item));
    w->seed = seed;
    w->gid_index = draw_below(&d, 2);
    w->goes_back = draw_one_in(&d, 4);
    d.mistake_one_in = 30 + draw_below(&d, 100);
    if (draw_one_in(&d, 3))
        d.mistake_one_in = 0;
    draw_hosts(&d, pair);
    draw_ends(&d);
    draw_faults(&d);
    while (!is_enough(&d))
        draw_deed(&d);
    for (uint32_t i = 0; i < w->n_ends; i++) {
        for (uint32_t k = 0; k < SPARES_OF_END; k++)
            draw_receive(&d, (uint16_t)i, true);
        draw_stop(&d, (uint16_t)i);
    }
    for (uint32_t h = 0; h < w->n_hosts; h++)
        w->host[h].memory_bytes = (d.used[h] + 2 * 4096u - 1) & ~4095u;
    draw_rings(&d);
}

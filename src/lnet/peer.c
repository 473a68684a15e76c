/* SPDX-License-Identifier: MIT */
/* Peers: messages that wait for a connection, attempts to connect, races.  [Lustre,
 * kiblnd_launch_tx, kiblnd_connect_peer, kiblnd_peer_connect_failed]
 */
#include <errno.h>

#include "emu/base/assert.h"
#include "lnet/lnd_internal.h"

static struct lnd_peer **list_of(struct lnd *lnd, uint64_t nid)
{
    return &lnd->peers[(nid * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LND_PEER_LISTS];
}

/* Forgets what earlier attempts to connect have taught: the next one asks as the first one did. */
static void forget(struct lnd_peer *p)
{
    const struct lnd_config *g = &p->lnd->config;

    p->stamp = 0;
    p->version = g->version;
    p->queue_depth = g->peer_credits;
    p->max_frags = g->max_frags;
}

struct lnd_peer *lnd_peer_of(struct lnd *lnd, uint64_t nid)
{
    struct lnd_peer **list = list_of(lnd, nid), *p = *list;

    while (p && p->nid != nid)
        p = p->next;
    if (p)
        return p;
    p = lnd_alloc(lnd, sizeof(*p));
    if (!p)
        return NULL;
    p->lnd = lnd;
    p->nid = nid;
    forget(p);
    p->next = *list;
    *list = p;
    if (lnd->first_peer)
        lnd->last_peer->next_of_all = p;
    else
        lnd->first_peer = p;
    lnd->last_peer = p;
    return p;
}

/* No connection can be had now: the next attempt is later, and the messages that wait fail, but not
 * those that LNet sends when it is told of that.  The peer may be another one by then: an old
 * one rejects the incarnation of its predecessor without naming its own.  [Lustre removes the peer]
 */
static void give_up(struct lnd_peer *p, int error)
{
    const struct lnd_config *g = &p->lnd->config;

    p->interval_ns = p->interval_ns == 0 ? g->reconnect_min_ns : 2 * p->interval_ns;
    if (p->interval_ns > g->reconnect_max_ns)
        p->interval_ns = g->reconnect_max_ns;
    p->reconnect_ns = lnd_now(p->lnd) + p->interval_ns;
    p->n_again = 0;
    p->error = error;
    forget(p);
    for (uint32_t n = p->waiting.n; n > 0 && p->waiting.first; n--)
        lnd_tx_fail(p->waiting.first, error);
}

static void connect_to(struct lnd_peer *p)
{
    struct lnd *lnd = p->lnd;
    struct lnd_conn *c = lnd_conn_new(p, false);
    int st;

    lnd->counts.connects++;
    if (!c) {
        give_up(p, -ENOMEM);
        return;
    }
    st = lnd->ops->resolve(lnd->ctx, &c->link, (uint32_t)p->nid, lnd->config.service,
                           LND_RESOLVE_NS);
    if (st)
        lnd_close(c, st);
}

/* Returns true if messages wait for a connection to @p, and none is there or under way. */
static bool needs_attempt(const struct lnd_peer *p)
{
    return p->waiting.first && !p->conn && p->n_connecting == 0 && p->n_accepting == 0;
}

void lnd_launch(struct lnd_peer *p, struct lnd_tx *tx)
{
    if (p->conn) {
        lnd_queue(p->conn, tx);
        lnd_push(p->conn);
        return;
    }
    if (p->lnd->is_stopping) { /* its region was registered too late */
        lnd_tx_fail(tx, -ESHUTDOWN);
        return;
    }
    lnd_due_begin(tx);
    lnd_list_add(&p->waiting, tx);
    if (needs_attempt(p) && p->reconnect_ns <= lnd_now(p->lnd))
        connect_to(p);
}

/* The hash by which a race is decided since LU-17743: the net number and the address, in network
 * order, as a little-endian machine adds them up.
 */
static uint32_t hash_of(uint64_t nid)
{
    const uint32_t ip = (uint32_t)nid;
    const uint32_t swapped = ip >> 24 | (ip >> 8 & 0xff00) | (ip << 8 & 0xff0000) | ip << 24;

    return swapped ^ (uint32_t)(nid >> 32 & 0xffff);
}

bool lnd_wins(const struct lnd *lnd, uint64_t a, uint64_t b)
{
    return lnd->config.race_by_hash ? hash_of(a) > hash_of(b) : a > b;
}

/* @c has ended its attempt to connect. */
static void no_attempt(struct lnd_conn *c)
{
    struct lnd_peer *p = c->peer;

    if (!c->counts)
        return;
    c->counts = false;
    if (c->is_passive)
        p->n_accepting--;
    else
        p->n_connecting--;
}

void lnd_peer_failed(struct lnd_conn *c, int error, bool again)
{
    struct lnd_peer *p = c->peer;
    const struct lnd *lnd = p->lnd;

    no_attempt(c);
    p->error = error;
    if (p->conn || p->n_connecting > 0 || p->n_accepting > 0)
        return;
    if (again && p->waiting.first && !lnd->is_stopping) {
        if (++p->n_again <= LND_AGAIN_MAX)
            connect_to(p);
        else
            p->reconnect_ns = lnd_now(lnd) + LND_AGAIN_NS;
        return;
    }
    give_up(p, error);
}

void lnd_peer_established(struct lnd_conn *c)
{
    struct lnd_peer *p = c->peer;

    no_attempt(c);
    if (!p->conn)
        p->conn = c;
    p->error = 0;
    p->interval_ns = p->reconnect_ns = 0;
    p->n_races = p->n_again = 0;
    p->stamp = c->stamp;
    p->version = c->version;
    while (p->waiting.first) {
        struct lnd_tx *tx = p->waiting.first;

        lnd_list_remove(tx);
        lnd_queue(c, tx);
    }
}

void lnd_peer_lost(struct lnd_conn *c, int error)
{
    struct lnd_peer *p = c->peer;
    struct lnd_conn *other = p->lnd->conns;

    if (p->conn != c)
        return;
    while (other && !(other->peer == p && other->state == LND_CONN_ESTABLISHED))
        other = other->next;
    p->conn = other;
    p->error = error;
}

bool lnd_peer_close_stale(struct lnd_peer *p, uint16_t version, uint64_t stamp)
{
    struct lnd_conn *next;
    bool was_any = false;

    for (struct lnd_conn *c = p->lnd->conns; c; c = next) {
        next = c->next;
        if (c->peer != p || c->state != LND_CONN_ESTABLISHED ||
            (c->version == version && c->stamp == stamp))
            continue;
        lnd_close(c, -ESTALE);
        was_any = true;
    }
    return was_any;
}

uint64_t lnd_peers_due(struct lnd *lnd, uint64_t now_ns)
{
    uint64_t first = 0;

    for (struct lnd_peer *p = lnd->first_peer; p; p = p->next_of_all) {
        if (needs_attempt(p) && p->reconnect_ns <= now_ns)
            connect_to(p);
        /* It may have failed at once, and messages that were sent when that was told wait. */
        if (needs_attempt(p) && (first == 0 || p->reconnect_ns < first))
            first = p->reconnect_ns;
    }
    return first;
}

bool lnd_peer_at(const struct lnd *lnd, uint32_t i, struct lnd_peer_info *ret)
{
    const struct lnd_peer *p = lnd->first_peer;
    const struct lnd_conn *c;

    for (; p && i > 0; i--)
        p = p->next_of_all;
    if (!p)
        return false;
    c = p->conn;
    *ret = (struct lnd_peer_info){.nid = p->nid,
                                  .stamp = p->stamp,
                                  .version = p->version,
                                  .state = UINT32_MAX,
                                  .queue_depth = p->queue_depth,
                                  .max_frags = p->max_frags,
                                  .waiting = p->waiting.n,
                                  .n_connecting = p->n_connecting,
                                  .n_accepting = p->n_accepting,
                                  .n_races = p->n_races,
                                  .error = p->error,
                                  .reconnect_ns = p->reconnect_ns};
    if (!c)
        return true;
    ret->state = c->state;
    ret->queue_depth = c->queue_depth;
    ret->max_frags = c->max_frags;
    ret->credits = c->credits;
    ret->outstanding = c->outstanding;
    ret->reserved = c->reserved;
    ret->sends_posted = c->n_sends;
    ret->queued = c->ready.n + c->wants_reserve.n + c->no_credit.n + c->noops.n;
    ret->active = c->active.n;
    ret->link = &c->link;
    return true;
}

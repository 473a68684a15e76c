/* SPDX-License-Identifier: MIT */
/* The nodes of the loopback, and the invariants that hold between any two of its steps. */
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "lnet/lnd_internal.h"
#include "loopback.h"

struct loop *loop_new(uint64_t seed)
{
    struct loop *l = calloc(1, sizeof(*l));

    RDL_ASSERT(l);
    l->r = prng_stream(seed, 0);
    l->now_ns = 1000000000;
    return l;
}

static void listen(void *ctx, const struct lnet_event *e)
{
    struct loop_node *n = ctx;

    if (n->listener) {
        n->listener(n->listener_ctx, e);
        return;
    }
    RDL_ASSERT(n->n_events < LOOP_EVENTS || n->counts_events);
    if (!n->counts_events)
        n->events[n->n_events] = *e;
    n->n_events++;
}

static void make(struct loop_node *n, const struct lnd_config *config)
{
    struct lnd_config c = *config;

    c.nid = lnet_nid(0, n->ip);
    c.stamp = c.stamp == 1 ? 100 + (n->ip & 0xff) : c.stamp;
    n->node = lnet_new(&loop_ops, n, &c, listen, n);
    RDL_ASSERT(n->node);
    n->lnd = lnet_lnd(n->node);
}

struct loop_node *loop_add_down(struct loop *l, const struct lnd_config *config)
{
    struct loop_node *n = calloc(1, sizeof(*n));

    RDL_ASSERT(n && l->n_nodes < LOOP_NODES);
    l->nodes[l->n_nodes++] = n;
    n->loop = l;
    n->ip = 0x0a000000u + l->n_nodes;
    n->next_addr = (uint64_t)l->n_nodes << 32;
    n->next_key = l->n_nodes << 20;
    make(n, config);
    return n;
}

void loop_restart(struct loop_node *n, const struct lnd_config *config)
{
    lnd_stop(n->lnd);
    loop_run(n->loop);
    lnet_free(n->node);
    make(n, config);
    lnd_start(n->lnd);
    loop_run(n->loop);
    RDL_ASSERT(lnd_is_up(n->lnd));
}

struct loop_node *loop_add(struct loop *l, const struct lnd_config *config)
{
    struct loop_node *n = loop_add_down(l, config);

    lnd_start(n->lnd);
    loop_run(l);
    RDL_ASSERT(lnd_is_up(n->lnd));
    return n;
}

void loop_stop_all(struct loop *l)
{
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        if (!lnd_is_down(l->nodes[i]->lnd))
            lnd_stop(l->nodes[i]->lnd);
    }
    loop_run(l);
    for (uint32_t i = 0; i < l->n_nodes; i++)
        RDL_ASSERT(lnd_is_down(l->nodes[i]->lnd));
}

void loop_free(struct loop *l)
{
    for (uint32_t i = 0; i < LOOP_IDS; i++)
        RDL_ASSERT(!l->ids[i].is_used);
    RDL_ASSERT(l->n_items == 0);
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        struct loop_node *n = l->nodes[i];

        lnet_free(n->node);
        RDL_ASSERT(n->n_allocs == 0 && n->n_mrs == 0 && !n->has_dev);
        for (uint32_t k = 0; k < n->n_blocks; k++) /* those of the test */
            free(n->blocks[k].memory);
        free(n);
    }
    free(l);
}

uint64_t loop_pages(struct loop_node *n, uint64_t bytes)
{
    return loop_ops.pages(n, bytes);
}

/* ---- invariants ---- */

/* Returns true if a message of @type costs a credit. */
static bool costs(const struct lnd_conn *c, enum lnet_msg_type type)
{
    return type == LNET_MSG_IMMEDIATE || type == LNET_MSG_PUT_REQ || type == LNET_MSG_GET_REQ ||
           (type == LNET_MSG_NOOP && c->version == LNET_VERSION_1);
}

/* Messages from one side to the other that were posted and are not yet handled. */
struct way {
    uint32_t costing, credits;
};

static void count(struct way *w, struct loop_node *n, const struct lnd_conn *c, uint64_t addr)
{
    const uint8_t *head = loop_at(n, addr, LNET_HEAD_BYTES);

    RDL_ASSERT(head);
    w->credits += head[7];
    w->costing += costs(c, (enum lnet_msg_type)head[6]);
}

static struct way between(const struct loop *l, const struct loop_id *from,
                          const struct lnd_conn *to)
{
    struct way w = {0};

    for (uint32_t i = 0; i < l->n_items; i++) {
        const struct loop_item *it = &l->items[i];

        if (it->kind == LOOP_WIRE && it->id == from && !it->wr.is_write)
            count(&w, from->node, to, it->wr.addr);
        if (it->kind == LOOP_COMPLETION && it->id == from->peer && it->status == 0 &&
            (it->wr_id & 3) == LND_WR_RX)
            count(&w, from->peer->node, to, to->rxs[it->wr_id >> LND_WR_KIND_BITS].buf);
    }
    for (const struct lnd_rx *rx = to->early; rx; rx = rx->next)
        count(&w, from->peer->node, to, rx->buf);
    return w;
}

/* PUT_REQs that @c has answered, or will answer, with a PUT_ACK, and whose PUT_DONE is not there.
 */
static uint32_t kept(const struct lnd_conn *c)
{
    const struct lnd_tx_list *lists[] = {&c->active, &c->no_credit, &c->lnd->unmapped};
    uint32_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (const struct lnd_tx *tx = lists[i]->first; tx; tx = tx->next)
            n += tx->conn == c && tx->type == LNET_MSG_PUT_ACK &&
                 (tx->is_waiting || tx->in == &c->lnd->unmapped);
    }
    return n;
}

/* Requests of @c that hold a reserved credit. */
static uint32_t reserving(const struct lnd_conn *c)
{
    const struct lnd_tx_list *lists[] = {&c->ready, &c->active};
    uint32_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (const struct lnd_tx *tx = lists[i]->first; tx; tx = tx->next)
            n += (tx->type == LNET_MSG_PUT_REQ || tx->type == LNET_MSG_GET_REQ) && tx->is_waiting;
    }
    return n;
}

/* @from is established, and perhaps the other side is not yet. */
static void check_way(const struct loop *l, const struct loop_id *id, const struct lnd_conn *from,
                      const struct lnd_conn *to)
{
    const struct way there = between(l, id, to), back = between(l, id->peer, from);
    const uint32_t sum = from->credits + back.credits + to->outstanding + there.costing + kept(to);

    RDL_ASSERT(sum == from->queue_depth);
    RDL_ASSERT(from->reserved + reserving(from) == from->queue_depth);
    RDL_ASSERT(from->n_sends <= from->lnd->config.concurrent_sends);
}

void loop_check(struct loop *l)
{
    if (l->damage || l->tamper_xor) /* also of the credits in messages */
        return;
    for (uint32_t i = 0; i < LOOP_IDS; i++) {
        const struct loop_id *id = &l->ids[i];
        const struct lnd_conn *from, *to;

        if (!id->is_used || !id->link || !id->peer || !id->peer->link || id->is_error ||
            id->peer->is_error)
            continue;
        from = id->link->owner;
        to = id->peer->link->owner;
        if (from->state != LND_CONN_ESTABLISHED || to->state != LND_CONN_ESTABLISHED)
            continue;
        check_way(l, id, from, to);
        l->n_checked++;
    }
}

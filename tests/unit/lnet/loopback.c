/* SPDX-License-Identifier: MIT */
#include "loopback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/wc_status.h"
#include "lnet/lnd_internal.h"

#define IP_1        0x0a000000u
#define REQ_BYTES   56u
#define REP_BYTES   196u
#define REJ_BYTES   148u
#define QUEUES_EACH 3u /* of an ID: wire, completions, events */

uint64_t loop_nid(uint32_t n)
{
    return lnet_nid(0, IP_1 + n);
}

/* ---- queues ---- */

static uint32_t queue_of(const struct loop_id *id, uint32_t which)
{
    return LOOP_NODES + QUEUES_EACH * (uint32_t)(id - id->node->loop->ids) + which;
}

static struct loop_item *add(struct loop *l, enum loop_item_kind kind, struct loop_id *id,
                             uint32_t queue)
{
    struct loop_item *it = &l->items[l->n_items++];

    RDL_ASSERT(l->n_items < LOOP_ITEMS);
    *it = (struct loop_item){.kind = kind, .id = id, .queue = queue};
    return it;
}

static void remove_item(struct loop *l, uint32_t i)
{
    memmove(&l->items[i], &l->items[i + 1], (l->n_items - i - 1) * sizeof(l->items[0]));
    l->n_items--;
}

static void add_event(struct loop_id *id, uint32_t event, int status, const void *data, uint32_t n)
{
    struct loop_item *it = add(id->node->loop, LOOP_CM_EVENT, id, queue_of(id, 2));

    it->event = event;
    it->status = (uint32_t)status;
    it->n = n;
    if (data)
        memcpy(it->data, data, n);
}

static void add_completion(struct loop_id *id, uint64_t wr_id, uint32_t status, uint32_t bytes)
{
    struct loop_item *it = add(id->node->loop, LOOP_COMPLETION, id, queue_of(id, 1));

    it->wr_id = wr_id;
    it->status = status;
    it->bytes = bytes;
}

/* ---- queue pairs ---- */

/* Moves the queue pair to ERR: what is posted is flushed. */
static void to_error(struct loop_id *id)
{
    struct loop *l = id->node->loop;

    if (!id->has_qp || id->is_error)
        return;
    id->is_error = true;
    for (uint32_t i = 0; i < l->n_items;) {
        const struct loop_item it = l->items[i];

        if (it.kind != LOOP_WIRE || it.id != id) {
            i++;
            continue;
        }
        remove_item(l, i);
        id->n_send--;
        add_completion(id, it.wr.wr_id, WCS_WR_FLUSH_ERR, 0);
    }
    for (; id->n_recvs > 0; id->n_recvs--) {
        add_completion(id, id->recvs[id->first_recv].wr_id, WCS_WR_FLUSH_ERR, 0);
        id->first_recv = (id->first_recv + 1) % LOOP_RECVS;
    }
}

static bool covered(const struct loop_node *n, uint32_t key, uint64_t addr, uint64_t bytes)
{
    for (uint32_t i = 0; i < n->n_mrs; i++) {
        const struct loop_mr *m = &n->mrs[i];

        if (m->key == key)
            return addr >= m->addr && addr + bytes <= m->addr + m->bytes;
    }
    return false;
}

uint8_t *loop_at(struct loop_node *n, uint64_t addr, uint64_t bytes)
{
    for (uint32_t i = 0; i < n->n_blocks; i++) {
        const struct loop_block *b = &n->blocks[i];

        if (addr >= b->addr && addr + bytes <= b->addr + b->bytes)
            return b->memory + (addr - b->addr);
    }
    return NULL;
}

/* Walks over two ranges page by page, as blocks may be neighbours; copies if @copies.  Returns
 * false if a page is not mapped.
 */
static bool walk(struct loop_node *to, uint64_t to_addr, struct loop_node *from, uint64_t from_addr,
                 uint64_t bytes, bool copies)
{
    while (bytes > 0) {
        const uint64_t a = 4096 - to_addr % 4096, b = 4096 - from_addr % 4096;
        uint64_t n = a < b ? a : b;
        uint8_t *t, *f;

        n = n < bytes ? n : bytes;
        t = loop_at(to, to_addr, n);
        f = loop_at(from, from_addr, n);
        if (!t || !f)
            return false;
        if (copies)
            memmove(t, f, n);
        to_addr += n;
        from_addr += n;
        bytes -= n;
    }
    return true;
}

bool loop_copy(struct loop_node *to, uint64_t to_addr, struct loop_node *from, uint64_t from_addr,
               uint64_t bytes)
{
    return walk(to, to_addr, from, from_addr, bytes, false) &&
           walk(to, to_addr, from, from_addr, bytes, true);
}

/* A work request fails at its sender. */
static void fail_send(struct loop_id *id, const struct lnd_wr *wr, uint32_t status)
{
    id->n_send--;
    add_completion(id, wr->wr_id, status, 0);
    to_error(id);
}

/* The address that an address in a region stands for. */
static uint64_t real(const struct loop_node *n, uint32_t key, uint64_t addr)
{
    return n->mapped_dma && key == n->mrs[0].key ? addr - n->mapped_dma : addr;
}

static void do_write(struct loop_id *id, const struct lnd_wr *wr)
{
    struct loop_id *peer = id->peer;

    if (!covered(id->node, wr->lkey, wr->addr, wr->bytes)) {
        fail_send(id, wr, WCS_LOC_PROT_ERR);
        return;
    }
    if (!covered(peer->node, wr->rkey, wr->remote_addr, wr->bytes)) {
        fail_send(id, wr, WCS_REM_ACCESS_ERR);
        to_error(peer);
        return;
    }
    id->n_send--;
    RDL_ASSERT(loop_copy(peer->node, real(peer->node, wr->rkey, wr->remote_addr), id->node,
                         real(id->node, wr->lkey, wr->addr), wr->bytes));
}

static void do_send(struct loop_id *id, const struct lnd_wr *wr)
{
    struct loop *l = id->node->loop;
    struct loop_id *peer = id->peer;
    const struct lnd_wr *into = &peer->recvs[peer->first_recv];

    RDL_ASSERT(peer->n_recvs > 0); /* credits exist so that this never happens */
    RDL_ASSERT(wr->bytes <= into->bytes);
    RDL_ASSERT(covered(id->node, wr->lkey, wr->addr, wr->bytes));
    RDL_ASSERT(covered(peer->node, into->lkey, into->addr, into->bytes));
    RDL_ASSERT(loop_copy(peer->node, into->addr, id->node, wr->addr, wr->bytes));
    loop_tamper(l, LOOP_MESSAGE, loop_at(peer->node, into->addr, wr->bytes));
    if (l->damage && prng_below(&l->r, 1024) < l->damage)
        loop_at(peer->node, into->addr + prng_below(&l->r, wr->bytes), 1)[0] ^= 0x10;
    peer->first_recv = (peer->first_recv + 1) % LOOP_RECVS;
    peer->n_recvs--;
    id->n_send--;
    add_completion(peer, into->wr_id, WCS_SUCCESS, wr->bytes);
    add_completion(id, wr->wr_id, WCS_SUCCESS, 0);
}

void loop_tamper(struct loop *l, enum loop_bytes what, uint8_t *bytes)
{
    if (l->tamper != what)
        return;
    bytes[l->tamper_at] ^= l->tamper_xor;
    l->tamper = LOOP_NOTHING;
}

static void wire(struct loop_id *id, const struct lnd_wr *wr)
{
    if (!id->peer || !id->peer->has_qp || id->peer->is_error)
        fail_send(id, wr, WCS_RETRY_EXC_ERR);
    else if (wr->is_write)
        do_write(id, wr);
    else
        do_send(id, wr);
}

/* ---- steps ---- */

static struct loop_id *new_id(struct loop *l)
{
    struct loop_id *id = l->ids;

    while (id->is_used)
        id++;
    RDL_ASSERT(id < l->ids + LOOP_IDS);
    return id;
}

bool loop_raw_request(struct loop_node *n, const void *data, uint32_t bytes)
{
    struct loop_id *id = new_id(n->loop);

    *id = (struct loop_id){.node = n, .is_used = true};
    n->n_reject = 0;
    lnd_cm_request(n->lnd, (uint64_t)(id - n->loop->ids) + 1, IP_1 + 99, data, bytes);
    return id->is_used;
}

static void cm_request(struct loop_id *from, const struct loop_item *it)
{
    struct loop *l = from->node->loop;
    struct loop_node *n = NULL;
    struct loop_id *id = new_id(l);

    for (uint32_t i = 0; i < l->n_nodes; i++) {
        if (l->nodes[i]->ip == from->peer_ip)
            n = l->nodes[i];
    }
    RDL_ASSERT(n);
    if (!n->has_dev) {
        add_event(from, RDMA_CM_EVENT_REJECTED, 8, NULL, 0);
        return;
    }
    *id = (struct loop_id){.node = n, .is_used = true, .peer = from, .peer_ip = from->node->ip};
    from->peer = id;
    lnd_cm_request(n->lnd, (uint64_t)(id - l->ids) + 1, from->node->ip, it->data, it->n);
}

void loop_establish(struct loop_id *id)
{
    struct loop_id *peer = id->peer;

    if (id->is_connected || !peer)
        return;
    id->is_connected = true;
    if (id->was_disconnected) {
        add_event(peer, RDMA_CM_EVENT_REJECTED, 4, NULL, 0);
    } else if (!peer->is_connected) {
        peer->is_connected = true;
        add_event(peer, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
    }
}

static void handle(struct loop *l, const struct loop_item *it)
{
    struct loop_id *id = it->id;

    switch (it->kind) {
    case LOOP_WIRE:
        wire(id, &it->wr);
        break;
    case LOOP_COMPLETION:
        lnd_completion(id->node->lnd, id->link, it->wr_id, it->status, it->bytes);
        break;
    case LOOP_CM_EVENT:
        if (it->event == RDMA_CM_EVENT_ESTABLISHED)
            loop_establish(id);
        if (id->link)
            lnd_cm_event(id->node->lnd, id->link, it->event, (int)it->status, it->data, it->n);
        break;
    case LOOP_CM_REQUEST:
        cm_request(id, it);
        break;
    default:
        it->node->is_ready = prng_below(&l->r, 4) > 0; /* a wake without news, too */
        if (it->node->late && !it->node->is_ready)
            add(l, LOOP_WAKE, NULL, it->queue)->node = it->node;
        lnd_wake(it->node->lnd);
        break;
    }
}

static bool is_held(const struct loop *l, const struct loop_item *it)
{
    return l->hold && it->id == l->hold && (it->kind == LOOP_WIRE || it->kind == LOOP_COMPLETION);
}

/* Chooses an item that is the first of its queue, or LOOP_ITEMS. */
static uint32_t choose(struct loop *l)
{
    uint8_t seen[LOOP_NODES + QUEUES_EACH * LOOP_IDS] = {0};
    uint32_t found = LOOP_ITEMS, n = 0;

    for (uint32_t i = 0; i < l->n_items; i++) {
        const struct loop_item *it = &l->items[i];

        if (seen[it->queue] || is_held(l, it))
            continue;
        seen[it->queue] = 1;
        n++;
        if (!l->is_random)
            return i;
        if (prng_below(&l->r, n) == 0)
            found = i;
    }
    return found;
}

bool loop_step(struct loop *l)
{
    const uint32_t i = choose(l);
    struct loop_item it;

    if (i == LOOP_ITEMS)
        return false;
    it = l->items[i];
    remove_item(l, i);
    l->now_ns += 1000;
    l->n_steps++;
    handle(l, &it);
    loop_check(l);
    return true;
}

void loop_run(struct loop *l)
{
    uint32_t n = 0;

    while (loop_step(l))
        RDL_ASSERT(++n < 300000);
}

void loop_run_for(struct loop *l, uint64_t ns)
{
    const uint64_t end = l->now_ns + ns;

    for (;;) {
        struct loop_node *first = NULL;

        loop_run(l);
        for (uint32_t i = 0; i < l->n_nodes; i++) {
            struct loop_node *n = l->nodes[i];

            if (n->wake_ns && n->wake_ns <= end && (!first || n->wake_ns < first->wake_ns))
                first = n;
        }
        if (!first)
            break;
        l->now_ns = first->wake_ns > l->now_ns ? first->wake_ns : l->now_ns;
        first->wake_ns = 0;
        lnd_wake(first->lnd);
        loop_check(l);
    }
    l->now_ns = end > l->now_ns ? end : l->now_ns;
}

void loop_break(struct loop_node *n)
{
    for (uint32_t i = 0; i < LOOP_IDS; i++) {
        struct loop_id *id = &n->loop->ids[i];

        if (id->is_used && id->node == n && id->has_qp)
            to_error(id);
    }
}

void loop_fail(struct loop_node *n, enum loop_op op, uint32_t nth, int error)
{
    n->fail_in[op] = nth;
    n->fail_with[op] = error;
}

/* ---- for loopback_ops.c ---- */

void loop_post(struct loop_id *id, const struct lnd_wr *wr)
{
    struct loop_item *it = add(id->node->loop, LOOP_WIRE, id, queue_of(id, 0));

    it->wr = *wr;
    id->n_send++;
}

void loop_flush(struct loop_id *id, uint64_t wr_id)
{
    add_completion(id, wr_id, WCS_WR_FLUSH_ERR, 0);
}

void loop_to_error(struct loop_id *id)
{
    to_error(id);
}

void loop_event(struct loop_id *id, uint32_t event, int status, const void *data, uint32_t n)
{
    add_event(id, event, status, data, n);
}

void loop_request(struct loop_id *id, const void *data, uint32_t n)
{
    struct loop_item *it = add(id->node->loop, LOOP_CM_REQUEST, id, queue_of(id, 2));

    memcpy(it->data, data, n);
    it->n = REQ_BYTES;
    loop_tamper(id->node->loop, LOOP_REQ, it->data);
}

void loop_late(struct loop_node *n)
{
    uint32_t i = 0;

    while (n->loop->nodes[i] != n)
        i++;
    add(n->loop, LOOP_WAKE, NULL, i)->node = n;
}

/* Forgets items of @id: all of them, or its completions. */
void loop_forget(struct loop_id *id, bool only_completions)
{
    struct loop *l = id->node->loop;

    for (uint32_t i = 0; i < l->n_items;) {
        if (l->items[i].id == id && (!only_completions || l->items[i].kind == LOOP_COMPLETION))
            remove_item(l, i);
        else
            i++;
    }
}

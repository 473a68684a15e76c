/* SPDX-License-Identifier: MIT */
/* The operations of the loopback, and its nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "loopback.h"

#define REP_BYTES 196u
#define REJ_BYTES 148u
#define DMA_SHIFT UINT64_C(0x100000000000)

/* Begins operation @op: 0, the error that a test wants, or LND_LATER. */
static int begin(struct loop_node *n, enum loop_op op)
{
    if (n->loop->is_late && op < LOOP_POST_SEND && op != LOOP_RESOLVE) {
        RDL_ASSERT(n->late == 0 || n->late == (uint32_t)op + 1); /* one at a time */
        if (n->late == 0) {
            n->late = (uint32_t)op + 1;
            n->is_ready = false;
            loop_late(n);
        }
        if (!n->is_ready)
            return LND_LATER;
        n->late = 0;
    }
    if (n->fail_in[op] > 0 && --n->fail_in[op] == 0)
        return n->fail_with[op];
    return 0;
}

static struct loop_id *id_of(struct loop_node *n, const struct lnd_link *l)
{
    RDL_ASSERT(l->id > 0 && l->id <= LOOP_IDS);
    RDL_ASSERT(n->loop->ids[l->id - 1].is_used && n->loop->ids[l->id - 1].node == n);
    return &n->loop->ids[l->id - 1];
}

static void *op_alloc(void *ctx, size_t bytes)
{
    struct loop_node *n = ctx;

    if (begin(n, LOOP_ALLOC))
        return NULL;
    n->n_allocs++;
    return calloc(1, bytes);
}

static void op_free(void *ctx, void *block, size_t bytes)
{
    struct loop_node *n = ctx;

    (void)bytes;
    RDL_ASSERT(n->n_allocs > 0);
    n->n_allocs--;
    free(block);
}

static uint64_t op_pages(void *ctx, uint64_t bytes)
{
    struct loop_node *n = ctx;
    struct loop_block *b = &n->blocks[n->n_blocks];
    const uint64_t all = (bytes + 4095) / 4096 * 4096;

    if (begin(n, LOOP_PAGES))
        return 0;
    n->n_blocks++;
    RDL_ASSERT(n->n_blocks < LOOP_BLOCKS && bytes > 0);
    *b = (struct loop_block){n->next_addr, all, calloc(1, all)};
    n->next_addr += all + n->gap;
    return b->addr;
}

static void op_pages_free(void *ctx, uint64_t addr, uint64_t bytes)
{
    struct loop_node *n = ctx;

    for (uint32_t i = 0; i < n->n_blocks; i++) {
        if (n->blocks[i].addr != addr)
            continue;
        RDL_ASSERT(n->blocks[i].bytes == (bytes + 4095) / 4096 * 4096);
        free(n->blocks[i].memory);
        n->blocks[i] = n->blocks[--n->n_blocks];
        return;
    }
    RDL_ASSERT(false);
}

static bool op_read(void *ctx, uint64_t addr, void *ret, size_t bytes)
{
    const uint8_t *at = begin(ctx, LOOP_READ) ? NULL : loop_at(ctx, addr, bytes);

    if (at)
        memcpy(ret, at, bytes);
    return at;
}

static bool op_write(void *ctx, uint64_t addr, const void *bytes, size_t n)
{
    uint8_t *at = begin(ctx, LOOP_WRITE) ? NULL : loop_at(ctx, addr, n);

    if (at)
        memcpy(at, bytes, n);
    return at;
}

static bool op_copy(void *ctx, uint64_t to, uint64_t from, size_t bytes)
{
    return begin(ctx, LOOP_COPY) == 0 && loop_copy(ctx, to, ctx, from, bytes);
}

static uint64_t op_now_ns(void *ctx)
{
    const struct loop_node *n = ctx;

    return n->loop->now_ns;
}

static void op_wake_at(void *ctx, uint64_t at_ns)
{
    struct loop_node *n = ctx;

    n->wake_ns = at_ns;
}

/* Every page of a region has to be mapped. */
static int reg(struct loop_node *n, uint64_t addr, uint64_t bytes, struct lnd_mr *ret)
{
    RDL_ASSERT(n->n_mrs < LOOP_MRS);
    for (uint64_t at = addr / 4096 * 4096; at < addr + bytes; at += 4096) {
        if (!loop_at(n, at, 4096))
            return -EFAULT;
    }
    n->mrs[n->n_mrs++] = (struct loop_mr){++n->next_key, addr, bytes};
    *ret = (struct lnd_mr){n->next_key, n->next_key, n->next_key};
    return 0;
}

static int op_create_dev(void *ctx, uint16_t service, bool dma, struct lnd_mr *ret_dma)
{
    struct loop_node *n = ctx;
    const int st = begin(n, LOOP_CREATE_DEV);

    RDL_ASSERT(service == LNET_SERVICE);
    if (st)
        return st;
    RDL_ASSERT(!n->has_dev);
    n->has_dev = true;
    if (dma) {
        n->mapped_dma = DMA_SHIFT;
        n->mrs[n->n_mrs++] = (struct loop_mr){++n->next_key, DMA_SHIFT, DMA_SHIFT};
        *ret_dma = (struct lnd_mr){n->next_key, n->next_key, n->next_key};
    }
    return 0;
}

static int op_destroy_dev(void *ctx, struct lnd_mr *dma)
{
    struct loop_node *n = ctx;
    const int st = begin(n, LOOP_DESTROY_DEV);

    if (st)
        return st;
    RDL_ASSERT(n->has_dev);
    dma->handle = 0;
    n->n_mrs -= n->mapped_dma != 0;
    RDL_ASSERT(n->n_mrs == 0);
    n->has_dev = false;
    return 0;
}

static uint64_t op_dma_addr(void *ctx, uint64_t addr)
{
    return loop_at(ctx, addr, 1) ? addr + DMA_SHIFT : 0;
}

static int op_reg_mr(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret)
{
    struct loop_node *n = ctx;
    const int st = begin(n, LOOP_REG_MR);

    return st ? st : reg(n, addr, bytes, ret);
}

static int op_dereg_mr(void *ctx, struct lnd_mr *mr)
{
    struct loop_node *n = ctx;
    const int st = begin(n, LOOP_DEREG_MR);

    if (st)
        return st;
    for (uint32_t i = 0; i < n->n_mrs; i++) {
        if (n->mrs[i].key != mr->handle)
            continue;
        memmove(&n->mrs[i], &n->mrs[i + 1], (--n->n_mrs - i) * sizeof(n->mrs[0]));
        mr->handle = 0;
        return 0;
    }
    RDL_ASSERT(false);
    return 0;
}

static int op_create_cq(void *ctx, struct lnd_link *l, uint32_t cqe)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_CREATE_CQ);

    if (st)
        return st;
    RDL_ASSERT(!id->has_cq);
    id->has_cq = true;
    id->cqe = cqe;
    l->cq = l->id;
    return 0;
}

static int op_destroy_cq(void *ctx, struct lnd_link *l)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_DESTROY_CQ);

    if (st)
        return st;
    RDL_ASSERT(id->has_cq && !id->has_qp);
    id->has_cq = false;
    l->cq = 0;
    loop_forget(id, true);
    return 0;
}

static int op_create_qp(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    int st = begin(n, LOOP_CREATE_QP);

    if (st == 0 && n->max_send_wr && max_send_wr > n->max_send_wr)
        st = -EINVAL;
    if (st)
        return st;
    RDL_ASSERT(id->has_cq && !id->has_qp);
    RDL_ASSERT(max_send_wr + max_recv_wr <= id->cqe && max_recv_wr <= LOOP_RECVS);
    id->has_qp = true;
    id->max_send = max_send_wr;
    id->max_recv = max_recv_wr;
    l->qp = l->id;
    return 0;
}

static int op_destroy_qp(void *ctx, struct lnd_link *l)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_DESTROY_QP);

    if (st)
        return st;
    RDL_ASSERT(id->has_qp && id->n_send == 0 && id->n_recvs == 0);
    id->has_qp = false;
    l->qp = 0;
    return 0;
}

static int op_resolve(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service,
                      uint64_t timeout_ns)
{
    struct loop_node *n = ctx;
    struct loop *loop = n->loop;
    struct loop_id *id = loop->ids;
    const int st = begin(n, LOOP_RESOLVE);
    bool is_there = false;

    RDL_ASSERT(service == LNET_SERVICE && timeout_ns > 0);
    if (st)
        return st;
    while (id->is_used)
        id++;
    RDL_ASSERT(id < loop->ids + LOOP_IDS);
    *id = (struct loop_id){.node = n, .link = l, .is_used = true, .peer_ip = ip};
    l->id = (uint64_t)(id - loop->ids) + 1;
    for (uint32_t i = 0; i < loop->n_nodes; i++)
        is_there |= loop->nodes[i]->ip == ip && !loop->nodes[i]->is_unreachable;
    loop_event(id, is_there ? RDMA_CM_EVENT_ROUTE_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, 0, NULL, 0);
    return 0;
}

static int op_connect(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_CONNECT);

    if (st == 0)
        loop_request(id, data, bytes);
    return st;
}

static void op_adopt(void *ctx, struct lnd_link *l)
{
    id_of(ctx, l)->link = l;
}

static int op_accept(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_ACCEPT);
    uint8_t all[REP_BYTES] = {0};

    memcpy(all, data, bytes);
    if (st)
        return st;
    loop_tamper(n->loop, LOOP_REP, all);
    if (id->peer)
        loop_event(id->peer,
                   n->loop->asks ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_ESTABLISHED, 0,
                   all, REP_BYTES);
    else
        loop_event(id, RDMA_CM_EVENT_UNREACHABLE, 0, NULL, 0);
    return 0;
}

static int op_establish(void *ctx, struct lnd_link *l)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_ESTABLISH);

    if (st == 0)
        loop_establish(id);
    return st;
}

static int op_reject(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    uint8_t all[REJ_BYTES] = {0};

    memcpy(all, data, bytes);
    memcpy(n->reject, data, bytes);
    n->n_reject = bytes;
    if (!id->peer)
        return 0;
    loop_event(id->peer, RDMA_CM_EVENT_REJECTED, 28, all, REJ_BYTES);
    id->peer->peer = NULL;
    id->peer = NULL;
    return 0;
}

static void disconnect(struct loop_id *id)
{
    struct loop_id *peer = id->peer;

    if (id->was_disconnected)
        return;
    id->was_disconnected = true;
    if (!peer)
        return;
    loop_event(peer, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    peer->was_disconnected = true;
    loop_to_error(peer);
}

static int op_disconnect(void *ctx, struct lnd_link *l)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_DISCONNECT);

    if (st == LND_LATER)
        return st;
    loop_to_error(id);
    disconnect(id);
    return st;
}

static int op_destroy_id(void *ctx, struct lnd_link *l)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    /* The ID of a request that is rejected is destroyed at once. */
    const int st = id->link ? begin(n, LOOP_DESTROY_ID) : 0;

    if (st == LND_LATER)
        return st;
    RDL_ASSERT(!id->has_qp && !id->has_cq);
    disconnect(id);
    if (id->peer)
        id->peer->peer = NULL;
    loop_forget(id, false);
    *id = (struct loop_id){0};
    l->id = 0;
    return 0;
}

static int op_post_recv(void *ctx, struct lnd_link *l, const struct lnd_wr *wr)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_POST_RECV);

    if (st)
        return st;
    RDL_ASSERT(id->has_qp && id->n_recvs < id->max_recv);
    if (id->is_error) {
        loop_flush(id, wr->wr_id);
        return 0;
    }
    id->recvs[(id->first_recv + id->n_recvs++) % LOOP_RECVS] = *wr;
    return 0;
}

static int op_post_send(void *ctx, struct lnd_link *l, const struct lnd_wr *wr, uint32_t count)
{
    struct loop_node *n = ctx;
    struct loop_id *id = id_of(n, l);
    const int st = begin(n, LOOP_POST_SEND);

    if (st)
        return st;
    RDL_ASSERT(id->has_qp && id->n_send + count <= id->max_send);
    RDL_ASSERT(!wr[count - 1].is_write);
    for (uint32_t i = 0; i < count; i++) {
        if (id->is_error)
            loop_flush(id, wr[i].wr_id);
        else
            loop_post(id, &wr[i]);
    }
    return 0;
}

static void op_note(void *ctx, const struct lnd_note *note)
{
    struct loop_node *n = ctx;

    n->notes[note->kind]++;
    if (note->kind == LND_NOTE_REJECTED)
        n->last_why = note->why;
    if (note->kind == LND_NOTE_STALL)
        n->stalls[note->state]++;
}

const struct lnd_ops loop_ops = {
    .alloc = op_alloc,
    .free = op_free,
    .pages = op_pages,
    .pages_free = op_pages_free,
    .read = op_read,
    .write = op_write,
    .copy = op_copy,
    .now_ns = op_now_ns,
    .wake_at = op_wake_at,
    .create_dev = op_create_dev,
    .destroy_dev = op_destroy_dev,
    .dma_addr = op_dma_addr,
    .reg_mr = op_reg_mr,
    .dereg_mr = op_dereg_mr,
    .create_cq = op_create_cq,
    .destroy_cq = op_destroy_cq,
    .create_qp = op_create_qp,
    .destroy_qp = op_destroy_qp,
    .resolve = op_resolve,
    .connect = op_connect,
    .adopt = op_adopt,
    .accept = op_accept,
    .establish = op_establish,
    .reject = op_reject,
    .disconnect = op_disconnect,
    .destroy_id = op_destroy_id,
    .post_recv = op_post_recv,
    .post_send = op_post_send,
    .note = op_note,
};

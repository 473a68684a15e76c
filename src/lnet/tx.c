/* SPDX-License-Identifier: MIT */
/* Messages to be sent: their queues, and the credits that let them go.  [Lustre, o2iblnd_cb.c]
 *
 *	wants_reserve -> ready -> active    PUT_REQ, GET_REQ
 *	                 ready -> active    IMMEDIATE
 *	             no_credit -> active    PUT_ACK, PUT_NAK, PUT_DONE, GET_DONE, NOOP of version 2
 *	                 noops -> active    NOOP of version 1
 *
 * A message of @ready costs a credit.  A request costs a reserved credit as well: a receive buffer
 * of its own that stays free for the answer.
 */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/min.h"
#include "emu/facts/enum/wc_status.h"
#include "lnet/lnd_internal.h"
#include "lnet/lnet.h"

void lnd_list_add(struct lnd_tx_list *l, struct lnd_tx *tx)
{
    RDL_ASSERT(!tx->in);
    tx->in = l;
    tx->next = NULL;
    tx->before = l->last;
    if (l->last)
        l->last->next = tx;
    else
        l->first = tx;
    l->last = tx;
    l->n++;
}

void lnd_list_remove(struct lnd_tx *tx)
{
    struct lnd_tx_list *l = tx->in;

    if (tx->before)
        tx->before->next = tx->next;
    else
        l->first = tx->next;
    if (tx->next)
        tx->next->before = tx->before;
    else
        l->last = tx->before;
    tx->next = tx->before = NULL;
    tx->in = NULL;
    l->n--;
}

void lnd_due_begin(struct lnd_tx *tx)
{
    struct lnd *lnd = tx->lnd;

    lnd_due_end(tx);
    tx->has_deadline = true;
    tx->deadline_ns = lnd_now(lnd) + lnd->config.timeout_ns;
    tx->earlier = lnd->last_due;
    tx->later = NULL;
    if (lnd->last_due)
        lnd->last_due->later = tx;
    else
        lnd->first_due = tx;
    lnd->last_due = tx;
}

void lnd_due_end(struct lnd_tx *tx)
{
    struct lnd *lnd = tx->lnd;

    if (!tx->has_deadline)
        return;
    tx->has_deadline = false;
    if (tx->earlier)
        tx->earlier->later = tx->later;
    else
        lnd->first_due = tx->later;
    if (tx->later)
        tx->later->earlier = tx->earlier;
    else
        lnd->last_due = tx->earlier;
}

struct lnd_tx *lnd_tx_get(struct lnd *lnd, enum lnet_msg_type type)
{
    struct lnd_tx *tx = lnd->idle.first;

    if (!tx)
        return NULL;
    lnd_list_remove(tx);
    *tx = (struct lnd_tx){.lnd = lnd,
                          .index = tx->index,
                          .buf = tx->buf,
                          .type = type,
                          .cookie = ++lnd->next_cookie,
                          .frags = tx->frags,
                          .cap_frags = tx->cap_frags,
                          .writes = tx->writes,
                          .cap_writes = tx->cap_writes};
    return tx;
}

/* Returns true if @tx is in a list, but not in that of the sent messages of its connection. */
static bool is_queued(const struct lnd_tx *tx)
{
    return tx->in && !(tx->conn && tx->in == &tx->conn->active);
}

void lnd_tx_end(struct lnd_tx *tx)
{
    struct lnd *lnd = tx->lnd;
    struct lnet_transfer *t = tx->transfer;
    const int status = tx->status;
    const uint32_t bytes = status ? 0 : tx->bytes;

    if (tx->n_sending > 0 || tx->is_waiting || is_queued(tx))
        return;
    if (tx->in)
        lnd_list_remove(tx);
    lnd_due_end(tx);
    lnd_unmap(tx);
    lnd_release(lnd, tx->to, sizeof(*tx->to));
    tx->to = NULL;
    tx->conn = NULL;
    tx->transfer = NULL;
    lnd_list_add(&lnd->idle, tx);
    if (t)
        lnet_finalize(lnd->node, t, status, bytes);
}

void lnd_tx_fail(struct lnd_tx *tx, int status)
{
    if (tx->status == 0)
        tx->status = status;
    tx->is_waiting = false;
    if (tx->in == &tx->lnd->unmapped)
        lnd_map_forget(tx);
    if (is_queued(tx))
        lnd_list_remove(tx);
    lnd_tx_end(tx);
}

struct lnd_tx *lnd_tx_waiting(struct lnd_conn *c, enum lnet_msg_type type, uint64_t cookie)
{
    struct lnd_tx *tx = c->active.first;

    while (tx && !(tx->is_waiting && tx->type == type && tx->cookie == cookie))
        tx = tx->next;
    return tx;
}

static bool makes_noops_free(const struct lnd_conn *c)
{
    return c->version != LNET_VERSION_1;
}

void lnd_queue(struct lnd_conn *c, struct lnd_tx *tx)
{
    if (tx->in == &c->active)
        lnd_list_remove(tx);
    tx->conn = c;
    lnd_due_begin(tx); /* anew for an answer: a PUT_DONE has its own time */
    switch (tx->type) {
    case LNET_MSG_PUT_REQ:
    case LNET_MSG_GET_REQ:
        lnd_list_add(&c->wants_reserve, tx);
        break;
    case LNET_MSG_IMMEDIATE:
        lnd_list_add(&c->ready, tx);
        break;
    case LNET_MSG_NOOP:
        lnd_list_add(makes_noops_free(c) ? &c->no_credit : &c->noops, tx);
        break;
    default:
        lnd_list_add(&c->no_credit, tx);
        break;
    }
}

/* Returns how many credits may be outstanding before a NOOP returns them: the tunable's share of
 * the queue depth, which may be smaller than that of the tunables.  [kiblnd, CREDITS_HIGHWATER]
 */
static uint32_t high_water(const struct lnd_conn *c)
{
    const struct lnd_config *g = &c->lnd->config;
    const uint32_t most = c->queue_depth > 1 ? c->queue_depth - 1 : 1;
    const uint32_t share = c->queue_depth * g->peer_credits_hiw / g->peer_credits;

    if (!makes_noops_free(c))
        return most;
    return share < 1 ? 1 : min_u32(share, most);
}

/* Returns true if credits, or a sign of life, must be sent by a message of their own. */
static bool wants_noop(const struct lnd_conn *c)
{
    if (c->state != LND_CONN_ESTABLISHED)
        return false;
    if (c->outstanding < high_water(c) && !c->wants_keepalive)
        return false;
    if (makes_noops_free(c))
        return !c->no_credit.first && (!c->ready.first || c->credits == 0);
    if (c->noops.first || c->no_credit.first || c->credits == 0)
        return false;
    if (c->credits == 1 && c->outstanding == 0)
        return false;
    return !c->ready.first || c->credits == 1;
}

/* Reads the message at @tx->buf without its head, which is about to be written, into a frame of
 * bytes with the head, computes the checksum, and writes all of it.
 */
static bool write_whole(struct lnd_tx *tx, const uint8_t *head)
{
    struct lnd *lnd = tx->lnd;

    if (!lnd->ops->read(lnd->ctx, tx->buf, lnd->bytes, tx->nob))
        return false;
    memcpy(lnd->bytes, head, LNET_HEAD_BYTES);
    lnet_put_cksum(lnd->bytes, tx->nob, lnd->config.big_endian);
    return lnd->ops->write(lnd->ctx, tx->buf, lnd->bytes, LNET_HEAD_BYTES);
}

/* Writes the head of @tx, which is known only now: version, credits, incarnations. */
static bool write_head(struct lnd_conn *c, struct lnd_tx *tx, struct lnet_msg *ret)
{
    struct lnd *lnd = c->lnd;
    uint8_t head[LNET_HEAD_BYTES];

    ret->big_endian = lnd->config.big_endian;
    ret->version = c->version;
    ret->type = tx->type;
    ret->credits = (uint8_t)c->outstanding;
    ret->nob = tx->nob;
    ret->cksum = 0;
    ret->src_nid = lnd->config.nid;
    ret->src_stamp = lnd->config.stamp;
    ret->dst_nid = c->peer->nid;
    ret->dst_stamp = c->stamp;
    lnet_build_head(ret, head);
    if (lnd->config.cksum)
        return write_whole(tx, head);
    return lnd->ops->write(lnd->ctx, tx->buf, head, sizeof(head));
}

static int post(struct lnd_conn *c, struct lnd_tx *tx)
{
    const struct lnd *lnd = c->lnd;
    struct lnd_wr one = {.wr_id = (uint64_t)tx->index << LND_WR_KIND_BITS | LND_WR_TX,
                         .addr = tx->buf,
                         .bytes = tx->nob,
                         .lkey = lnd->tx_mr.lkey};

    if (tx->n_writes == 0)
        return lnd->ops->post_send(lnd->ctx, &c->link, &one, 1);
    tx->writes[tx->n_writes] = one; /* lnd_tx_writes() has left room for it */
    return lnd->ops->post_send(lnd->ctx, &c->link, tx->writes, tx->n_writes + 1);
}

static void count_sent(struct lnd *lnd, const struct lnd_tx *tx)
{
    lnd->counts.sent[lnd_count_index(tx->type)]++;
    lnd->counts.writes += tx->n_writes;
    for (uint32_t i = 0; i < tx->n_writes; i++)
        lnd->counts.write_bytes += tx->writes[i].bytes;
}

/* @tx stays in its queue, for the reason @stall, which is told once.  Returns false. */
static bool stalls(struct lnd_conn *c, struct lnd_tx *tx, enum lnd_stall stall)
{
    if (tx->stall == stall)
        return false;
    tx->stall = stall;
    c->lnd->counts.stalls++;
    lnd_tell(c->lnd, &(struct lnd_note){.kind = LND_NOTE_STALL,
                                        .peer = c->peer->nid,
                                        .link = &c->link,
                                        .state = stall,
                                        .credits = c->credits,
                                        .outstanding = c->outstanding,
                                        .reserved = c->reserved});
    return false;
}

/* Returns true if the connection lets @tx go now, which costs @credit. */
static bool may_go(struct lnd_conn *c, struct lnd_tx *tx, uint32_t credit)
{
    if (c->n_sends == c->max_sends)
        return stalls(c, tx, LND_STALL_SENDS);
    if (credit > 0 && c->credits == 0)
        return stalls(c, tx, LND_STALL_CREDITS);
    if (credit > 0 && !makes_noops_free(c) && c->credits == 1 && tx->type != LNET_MSG_NOOP)
        return stalls(c, tx, LND_STALL_LAST_CREDIT);
    return true;
}

/* Returns true if the NOOP @tx is not needed any more. */
static bool is_redundant(const struct lnd_conn *c, const struct lnd_tx *tx)
{
    return tx->type == LNET_MSG_NOOP &&
           (!wants_noop(c) || (makes_noops_free(c) && c->n_noops == LND_NOOPS_MAX));
}

/* Returns true if @tx names its own cookie, and not that of a message that it answers. */
static bool names_own_cookie(const struct lnd_tx *tx)
{
    return tx->type == LNET_MSG_PUT_REQ || tx->type == LNET_MSG_GET_REQ;
}

/* Returns true if @tx has a descriptor, in which the peer may write. */
static bool gives_memory(const struct lnd_tx *tx)
{
    return tx->type == LNET_MSG_PUT_ACK || tx->type == LNET_MSG_GET_REQ;
}

/* Posts @tx.  Returns false if it stays in its queue, or the connection closes. */
static bool send_one(struct lnd_conn *c, struct lnd_tx *tx, uint32_t credit)
{
    struct lnd *lnd = c->lnd;
    struct lnet_msg *m = &lnd->out;
    int error;

    if (!may_go(c, tx, credit))
        return false;
    lnd_list_remove(tx);
    if (is_redundant(c, tx)) {
        lnd_tx_end(tx);
        return true;
    }
    if (!write_head(c, tx, m)) {
        lnd_tx_fail(tx, -EFAULT);
        lnd_close(c, -EFAULT);
        return false;
    }
    lnd_list_add(&c->active, tx);
    tx->n_sending++;
    c->n_sends++;
    c->credits -= credit;
    c->outstanding = 0;
    c->n_noops += tx->type == LNET_MSG_NOOP;
    c->wants_keepalive = false;
    c->last_send_ns = lnd_now(lnd);
    count_sent(lnd, tx);
    lnd_tell(lnd, &(struct lnd_note){.kind = LND_NOTE_SENT,
                                     .peer = c->peer->nid,
                                     .link = &c->link,
                                     .msg = m,
                                     .cookie = names_own_cookie(tx) ? tx->cookie : tx->peer_cookie,
                                     .bytes = tx->bytes,
                                     .n = tx->n_writes,
                                     .key = gives_memory(tx) ? tx->rkey : 0,
                                     .credits = c->credits,
                                     .outstanding = c->outstanding,
                                     .error = tx->done_status < 0 ? tx->done_status : 0,
                                     .reserved = c->reserved});
    error = post(c, tx);
    if (error) {
        tx->n_sending--;
        c->n_sends--;
        lnd_tx_fail(tx, error);
        lnd_close(c, error);
    }
    return error == 0;
}

/* The NOOP that returns credits. */
static void add_noop(struct lnd_conn *c)
{
    struct lnd_tx *tx = lnd_tx_get(c->lnd, LNET_MSG_NOOP);

    if (!tx)
        return; /* the credits go with the next message */
    tx->nob = LNET_HEAD_BYTES;
    tx->peer = c->peer;
    lnd_queue(c, tx);
}

void lnd_push(struct lnd_conn *c)
{
    bool goes_on = c->state == LND_CONN_ESTABLISHED;

    if (!goes_on)
        return;
    while (c->reserved > 0 && c->wants_reserve.first) {
        struct lnd_tx *tx = c->wants_reserve.first;

        c->reserved--;
        lnd_list_remove(tx);
        lnd_list_add(&c->ready, tx);
    }
    if (wants_noop(c))
        add_noop(c);
    while (goes_on && c->state == LND_CONN_ESTABLISHED) {
        if (c->no_credit.first)
            goes_on = send_one(c, c->no_credit.first, 0);
        else if (c->noops.first)
            goes_on = send_one(c, c->noops.first, 1);
        else if (c->ready.first)
            goes_on = send_one(c, c->ready.first, 1);
        else
            goes_on = false;
    }
    if (c->wants_reserve.first && c->state == LND_CONN_ESTABLISHED)
        (void)stalls(c, c->wants_reserve.first, LND_STALL_RESERVED);
}

void lnd_tx_completed(struct lnd_tx *tx, uint32_t status)
{
    struct lnd_conn *c = tx->conn;

    RDL_ASSERT(c && tx->n_sending > 0);
    tx->n_sending--;
    c->n_sends--;
    if (tx->type == LNET_MSG_NOOP)
        c->n_noops--;
    if (status != WCS_SUCCESS) {
        tx->is_waiting = false;
        if (tx->status == 0)
            tx->status = -ECONNABORTED;
        if (c->state < LND_CONN_CLOSING)
            lnd_close(c, -EIO);
    }
    lnd_tx_end(tx);
    lnd_push(c);
    lnd_drained(c);
}

int lnd_tx_writes(struct lnd_tx *tx, const struct lnet_rd *to, uint32_t bytes, uint32_t max)
{
    struct lnd *lnd = tx->lnd;
    const uint32_t most = tx->n_frags + to->n; /* pieces at most, and one for the message */
    struct frag_piece *pieces = lnd_alloc(lnd, most * sizeof(*pieces));
    uint32_t n = 0;
    int st;

    if (!pieces)
        return -ENOMEM;
    if (tx->cap_writes < most) {
        lnd_release(lnd, tx->writes, tx->cap_writes * sizeof(*tx->writes));
        tx->writes = lnd_alloc(lnd, most * sizeof(*tx->writes));
        tx->cap_writes = tx->writes ? most : 0;
    }
    st = !tx->writes ? -ENOMEM
                     : frags_match(&(struct frag_list){tx->frags, tx->n_frags},
                                   &(struct frag_list){to->frags, to->n}, bytes, max, pieces, &n);
    for (uint32_t i = 0; st == 0 && i < n; i++)
        tx->writes[i] =
            (struct lnd_wr){.wr_id = (uint64_t)tx->index << LND_WR_KIND_BITS | LND_WR_RDMA,
                            .addr = pieces[i].src,
                            .bytes = pieces[i].bytes,
                            .lkey = tx->lkey,
                            .is_write = true,
                            .rkey = to->key,
                            .remote_addr = pieces[i].dst};
    if (st == 0)
        tx->n_writes = n;
    lnd_release(lnd, pieces, most * sizeof(*pieces));
    return st;
}

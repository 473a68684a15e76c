/* SPDX-License-Identifier: MIT */
/* Messages that have come: checks, credits, answers.  [Lustre, kiblnd_rx_complete, _handle_rx] */
#include <errno.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/wc_status.h"
#include "lnet/lnd_internal.h"
#include "lnet/lnet.h"

int lnd_rx_post(struct lnd_rx *rx)
{
    struct lnd_conn *c = rx->conn;
    const struct lnd *lnd = c->lnd;
    const struct lnd_wr wr = {.wr_id = (uint64_t)rx->index << LND_WR_KIND_BITS | LND_WR_RX,
                              .addr = rx->buf,
                              .bytes = LNET_MSG_BYTES_MAX,
                              .lkey = c->rx_mr.lkey};
    int st;

    RDL_ASSERT(!rx->is_posted);
    st = lnd->ops->post_recv(lnd->ctx, &c->link, &wr);
    if (st == 0) {
        rx->is_posted = true;
        c->n_posted_rx++;
    }
    return st;
}

void lnd_rx_repost(struct lnd_rx *rx, enum lnd_repost credit)
{
    struct lnd_conn *c = rx->conn;
    int st;

    lnd_release(c->lnd, rx->rd, sizeof(*rx->rd));
    rx->rd = NULL;
    if (c->state >= LND_CONN_CLOSING)
        return;
    st = lnd_rx_post(rx);
    if (st) {
        lnd_close(c, st);
        return;
    }
    if (credit == LND_CREDIT_PEER)
        c->outstanding++;
    if (credit == LND_CREDIT_RESERVED)
        c->reserved++;
    lnd_push(c);
}

/* The peer has broken the protocol. */
static void broken(struct lnd_rx *rx, int error)
{
    rx->conn->lnd->counts.bad_messages++;
    lnd_close(rx->conn, error);
}

/* The answer @m ends the wait of a sent message.  Returns false if no message waits for it, or if
 * it tells of more bytes than a GET has asked for.
 */
static bool answered(struct lnd_rx *rx, enum lnet_msg_type of, const struct lnet_msg *m)
{
    struct lnd_tx *tx = lnd_tx_waiting(rx->conn, of, m->u.done.cookie);

    if (!tx || (of == LNET_MSG_GET_REQ && m->u.done.status > (int64_t)tx->bytes))
        return false;
    if (tx->status == 0 && m->u.done.status < 0)
        tx->status = m->u.done.status;
    else if (of == LNET_MSG_GET_REQ && m->u.done.status >= 0)
        tx->bytes = (uint32_t)m->u.done.status;
    tx->is_waiting = false;
    lnd_tx_end(tx);
    return true;
}

/* PUT_ACK tells where the payload goes: the message becomes the PUT_DONE behind the WRITEs. */
static bool write_payload(struct lnd_rx *rx, const struct lnet_msg *m)
{
    struct lnd_conn *c = rx->conn;
    struct lnd_tx *tx = lnd_tx_waiting(c, LNET_MSG_PUT_REQ, m->u.put_ack.src_cookie);
    const struct frag_list to = {m->u.put_ack.rd.frags, m->u.put_ack.rd.n};
    uint64_t wanted;
    int st;

    if (!tx)
        return false;
    wanted = frags_sum(&to); /* the sink may want less than the source has */
    st = wanted > UINT32_MAX ? -EPROTO
                             : lnd_tx_writes(tx, &m->u.put_ack.rd, (uint32_t)wanted, c->max_frags);
    if (st == 0)
        tx->bytes = (uint32_t)wanted;
    else if (tx->status == 0)
        tx->status = st;
    tx->is_waiting = false;
    tx->type = LNET_MSG_PUT_DONE;
    tx->peer_cookie = m->u.put_ack.dst_cookie;
    tx->done_status = st ? st : (int32_t)wanted;
    st = lnd_tx_build(tx, NULL);
    if (st) {
        lnd_tx_fail(tx, st);
        lnd_close(c, st);
    } else {
        lnd_queue(c, tx);
    }
    return true;
}

/* A message for LNet, which calls lnd_recv() now or later. */
static void pass_on(struct lnd_rx *rx, const struct lnet_msg *m)
{
    struct lnd *lnd = rx->conn->lnd;
    int st;

    rx->type = m->type;
    rx->is_taken = rx->is_replied = false;
    rx->payload = 0;
    switch (m->type) {
    case LNET_MSG_IMMEDIATE:
        rx->hdr = m->u.hdr;
        rx->payload = m->nob - LNET_PAYLOAD_AT;
        break;
    case LNET_MSG_PUT_REQ:
        rx->hdr = m->u.put_req.hdr;
        rx->cookie = m->u.put_req.cookie;
        break;
    default:
        rx->hdr = m->u.get_req.hdr;
        rx->cookie = m->u.get_req.cookie;
        rx->rd = lnd_alloc(lnd, sizeof(*rx->rd));
        if (!rx->rd) {
            lnd_close(rx->conn, -ENOMEM);
            return;
        }
        *rx->rd = m->u.get_req.rd;
        break;
    }
    st = lnet_arrived(lnd->node, &rx->hdr, m->src_nid, rx);
    if (st)
        broken(rx, st);
}

/* Adds the credits that @m returns.  Returns false if there are more than the peer can have. */
static bool take_credits(struct lnd_conn *c, const struct lnet_msg *m)
{
    if (m->credits == 0)
        return true;
    if (c->credits + m->credits > c->queue_depth)
        return false;
    c->credits += m->credits;
    if (m->type == LNET_MSG_NOOP && c->version == LNET_VERSION_1)
        c->outstanding++; /* that of the NOOP itself */
    return true;
}

/* Handles @m, which is well formed and whose credits were taken. */
static void handle(struct lnd_rx *rx, const struct lnet_msg *m)
{
    const bool pays_noops = rx->conn->version == LNET_VERSION_1;
    bool is_expected = true;

    switch (m->type) {
    case LNET_MSG_NOOP:
        lnd_rx_repost(rx, pays_noops && m->credits == 0 ? LND_CREDIT_PEER : LND_CREDIT_NONE);
        return;
    case LNET_MSG_IMMEDIATE:
    case LNET_MSG_PUT_REQ:
    case LNET_MSG_GET_REQ:
        pass_on(rx, m);
        return;
    case LNET_MSG_PUT_NAK:
        is_expected = answered(rx, LNET_MSG_PUT_REQ, m);
        break;
    case LNET_MSG_PUT_ACK:
        is_expected = write_payload(rx, m);
        break;
    case LNET_MSG_PUT_DONE:
        is_expected = answered(rx, LNET_MSG_PUT_ACK, m);
        break;
    case LNET_MSG_GET_DONE:
        is_expected = answered(rx, LNET_MSG_GET_REQ, m);
        break;
    default:
        is_expected = false;
        break;
    }
    if (!is_expected)
        broken(rx, -EPROTO);
    else
        lnd_rx_repost(rx, m->type == LNET_MSG_PUT_DONE ? LND_CREDIT_PEER : LND_CREDIT_RESERVED);
}

/* Returns 0 if the message in lnd.in is for this connection, or a negative errno. */
static int check(const struct lnd_conn *c, enum lnet_bad bad)
{
    const struct lnet_msg *m = &c->lnd->in;

    if (bad == LNET_BAD_CKSUM)
        return -EBADMSG;
    if (bad != LNET_GOOD)
        return -EPROTO;
    if (m->src_nid != c->peer->nid || m->dst_nid != c->lnd->config.nid)
        return -EPROTO;
    if (m->src_stamp != c->stamp || m->dst_stamp != c->lnd->config.stamp)
        return -ESTALE;
    return 0;
}

void lnd_rx_came(struct lnd_rx *rx)
{
    struct lnd_conn *c = rx->conn;
    struct lnd *lnd = c->lnd;
    enum lnet_bad bad;
    bool has_credits;
    int st;

    if (!lnd->ops->read(lnd->ctx, rx->buf, lnd->bytes, rx->bytes)) {
        lnd_close(c, -EFAULT);
        return;
    }
    bad = lnet_parse(lnd->bytes, rx->bytes, &lnd->in);
    st = check(c, bad);
    if (st) {
        broken(rx, st);
        return;
    }
    lnd->counts.received[lnd_count_index(lnd->in.type)]++;
    if (!take_credits(c, &lnd->in)) {
        broken(rx, -EPROTO);
        return;
    }
    lnd_tell(lnd, &(struct lnd_note){.kind = LND_NOTE_RECEIVED,
                                     .peer = c->peer->nid,
                                     .link = &c->link,
                                     .msg = &lnd->in,
                                     .credits = c->credits,
                                     .outstanding = c->outstanding,
                                     .reserved = c->reserved});
    has_credits = lnd->in.credits > 0;
    handle(rx, &lnd->in);
    if (has_credits)
        lnd_push(c);
}

static void receive_completed(struct lnd_conn *c, uint32_t i, uint32_t status, uint32_t bytes)
{
    struct lnd_rx *rx = &c->rxs[i];

    rx->is_posted = false;
    c->n_posted_rx--;
    rx->bytes = bytes;
    if (status != WCS_SUCCESS || bytes > LNET_MSG_BYTES_MAX) {
        lnd_close(c, -EIO);
    } else if (c->state == LND_CONN_ESTABLISHED) {
        lnd_rx_came(rx);
    } else if (c->state == LND_CONN_PASSIVE_WAIT || c->state == LND_CONN_ACTIVE_CONNECT) {
        rx->next = NULL;
        if (c->early)
            c->last_early->next = rx;
        else
            c->early = rx;
        c->last_early = rx;
    }
    lnd_drained(c);
}

/* Returns true if a work request of @kind and index @i of @c is posted. */
static bool is_posted(const struct lnd_conn *c, enum lnd_wr_kind kind, uint64_t i)
{
    const struct lnd *lnd = c->lnd;

    if (kind == LND_WR_RX)
        return i < c->n_rx && c->rxs[i].is_posted;
    return i < lnd->config.ntx && lnd->txs[i].conn == c && lnd->txs[i].n_sending > 0;
}

void lnd_completion(struct lnd *lnd, struct lnd_link *l, uint64_t wr_id, uint32_t status,
                    uint32_t bytes)
{
    struct lnd_conn *c = l->owner;
    const enum lnd_wr_kind kind = wr_id & ((1u << LND_WR_KIND_BITS) - 1);
    const uint64_t i = wr_id >> LND_WR_KIND_BITS;

    lnd_enter(lnd);
    if (!is_posted(c, kind, i))
        lnd_close(c, -EIO); /* the adapter, or its library, makes completions up */
    else if (kind == LND_WR_TX)
        lnd_tx_completed(&lnd->txs[i], status);
    else if (kind == LND_WR_RX)
        receive_completed(c, (uint32_t)i, status, bytes);
    else
        lnd_close(c, -EIO); /* an RDMA WRITE has failed: the message behind it fails, too */
    lnd_leave(lnd);
}

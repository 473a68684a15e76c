/* SPDX-License-Identifier: MIT */
/* LNet messages: which messages of the driver carry them.  [Lustre, kiblnd_send, _recv, _reply]
 *
 *	ACK               IMMEDIATE
 *	PUT, REPLY        IMMEDIATE if the payload fits; otherwise PUT_REQ
 *	GET               IMMEDIATE if its REPLY will fit; otherwise GET_REQ
 */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/lnet_op.h"
#include "lnet/lnd_internal.h"
#include "lnet/lnet.h"

/* Takes the fragments of @m for @tx.  0 or a negative errno. */
static int take_frags(struct lnd_tx *tx, const struct lnd_memory *m)
{
    struct lnd *lnd = tx->lnd;
    const struct frag_list from = {m->frags, m->n};
    const uint32_t most = lnd->config.map == LNET_MAP_dma ? LND_PAGE_BYTES : lnd->config.frag_bytes;

    if (!tx->frags) {
        tx->frags = lnd_alloc(lnd, LNET_FRAGS_MAX * sizeof(*tx->frags));
        if (!tx->frags)
            return -ENOMEM;
        tx->cap_frags = LNET_FRAGS_MAX;
    }
    tx->n_frags = frags_extract(&from, m->offset, m->bytes, most, tx->frags, LNET_FRAGS_MAX);
    tx->bytes = m->bytes;
    return tx->n_frags > 0 ? 0 : -EMSGSIZE;
}

static void put_rd(const struct lnd_tx *tx, struct lnet_rd *ret)
{
    ret->key = tx->rkey;
    ret->n = tx->n_frags;
    memcpy(ret->frags, tx->frags, tx->n_frags * sizeof(*tx->frags));
}

/* Copies the payload from the program's memory into the message. */
static bool put_payload(struct lnd_tx *tx, const struct lnd_memory *m)
{
    const struct lnd *lnd = tx->lnd;
    struct lnet_frag pieces[LNET_IOV_MAX];
    const struct frag_list from = {m->frags, m->n};
    const uint32_t n =
        m->bytes ? frags_extract(&from, m->offset, m->bytes, 0, pieces, LNET_IOV_MAX) : 0;
    uint64_t at = tx->buf + LNET_PAYLOAD_AT;

    if (m->bytes && n == 0)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!lnd->ops->copy(lnd->ctx, at, pieces[i].addr, pieces[i].nob))
            return false;
        at += pieces[i].nob;
    }
    return true;
}

int lnd_tx_build(struct lnd_tx *tx, const struct lnd_memory *payload)
{
    struct lnd *lnd = tx->lnd;
    struct lnet_msg *m = &lnd->out;

    m->big_endian = lnd->config.big_endian;
    m->type = tx->type;
    switch (tx->type) {
    case LNET_MSG_IMMEDIATE:
        m->u.hdr = tx->hdr;
        break;
    case LNET_MSG_PUT_REQ:
        m->u.put_req.hdr = tx->hdr;
        m->u.put_req.cookie = tx->cookie;
        break;
    case LNET_MSG_PUT_ACK:
        m->u.put_ack.src_cookie = tx->peer_cookie;
        m->u.put_ack.dst_cookie = tx->cookie;
        put_rd(tx, &m->u.put_ack.rd);
        break;
    case LNET_MSG_GET_REQ:
        m->u.get_req.hdr = tx->hdr;
        m->u.get_req.cookie = tx->cookie;
        put_rd(tx, &m->u.get_req.rd);
        break;
    default:
        m->u.done.cookie = tx->peer_cookie;
        m->u.done.status = tx->done_status;
        break;
    }
    tx->nob = (uint32_t)lnet_build(m, lnd->bytes);
    if (!lnd->ops->write(lnd->ctx, tx->buf, lnd->bytes, tx->nob))
        return -EFAULT;
    if (payload && !put_payload(tx, payload))
        return -EFAULT;
    tx->nob += payload ? payload->bytes : 0;
    return 0;
}

/* Queues @tx, an answer to the peer.  A peer that gets none would wait: its connection closes. */
static void queue_answer(struct lnd_tx *tx)
{
    struct lnd_conn *c = tx->conn;
    const int st = lnd_tx_build(tx, NULL);

    if (st) {
        lnd_tx_fail(tx, st);
        lnd_close(c, st);
    } else {
        lnd_queue(c, tx);
    }
}

/* The WRITEs and the GET_DONE for the GET that @tx answers; @status: a negative errno, or 0. */
static void finish_reply(struct lnd_tx *tx, int status)
{
    struct lnd_conn *c = tx->conn;
    int st = status;

    if (st == 0 && tx->n_frags > 0)
        st = lnd_tx_writes(tx, tx->to, tx->bytes, c->max_frags);
    if (st < 0 && tx->status == 0 && st != -ENODATA)
        tx->status = st;
    tx->done_status = st < 0 ? st : (int32_t)tx->bytes;
    queue_answer(tx);
    lnd_push(c);
}

/* The answer to a PUT_REQ tells where to write or, with @status, that it cannot be written. */
static void queue_put_answer(struct lnd_tx *tx, int status)
{
    if (status) {
        tx->status = status;
        tx->type = LNET_MSG_PUT_NAK;
        tx->done_status = status;
        tx->n_frags = 0;
    }
    tx->is_waiting = tx->type == LNET_MSG_PUT_ACK; /* for PUT_DONE */
    queue_answer(tx);
}

/* The memory for a PUT has its region, or none, as @status says. */
static void finish_put_ack(struct lnd_tx *tx, int status)
{
    struct lnd_conn *c = tx->conn;

    if (status)
        c->outstanding++; /* no PUT_DONE comes for the buffer that was kept */
    queue_put_answer(tx, status);
    lnd_push(c);
}

void lnd_tx_mapped(struct lnd_tx *tx, int status)
{
    int st;

    if (tx->conn && tx->conn->state >= LND_CONN_CLOSING) {
        lnd_tx_fail(tx, status ? status : -ECONNABORTED);
        return;
    }
    switch (tx->type) {
    case LNET_MSG_PUT_REQ:
    case LNET_MSG_GET_REQ:
        st = status ? status : lnd_tx_build(tx, NULL);
        if (st) {
            lnd_tx_fail(tx, st);
            break;
        }
        tx->is_waiting = true;
        lnd_launch(tx->peer, tx);
        break;
    case LNET_MSG_PUT_ACK:
        finish_put_ack(tx, status);
        break;
    default:
        finish_reply(tx, status);
        break;
    }
}

/* Maps the fragments of @tx, and goes on. */
static void map(struct lnd_tx *tx)
{
    const int st = lnd_map(tx);

    if (st != LND_LATER)
        lnd_tx_mapped(tx, st);
}

/* Returns the type of the message for @hdr with @bytes of payload, or of its REPLY. */
static enum lnet_msg_type type_for(const struct lnet_hdr *hdr, uint32_t bytes)
{
    if (hdr->type == LNET_OP_ACK || bytes <= LNET_PAYLOAD_MAX)
        return LNET_MSG_IMMEDIATE;
    return hdr->type == LNET_OP_GET ? LNET_MSG_GET_REQ : LNET_MSG_PUT_REQ;
}

static void send(struct lnd_tx *tx, struct lnd_peer *p, const struct lnet_hdr *hdr,
                 const struct lnd_memory *m, struct lnet_transfer *t)
{
    const bool is_get = hdr->type == LNET_OP_GET;
    int st;

    tx->peer = p;
    tx->hdr = *hdr;
    tx->transfer = t;
    if (tx->type == LNET_MSG_IMMEDIATE) {
        st = lnd_tx_build(tx, is_get ? NULL : m);
        tx->bytes = is_get ? 0 : m->bytes;
    } else {
        st = take_frags(tx, m);
    }
    if (st)
        lnd_tx_fail(tx, st);
    else if (tx->type == LNET_MSG_IMMEDIATE)
        lnd_launch(p, tx);
    else
        map(tx);
}

void lnd_send(struct lnd *lnd, uint64_t nid, const struct lnet_hdr *hdr, const struct lnd_memory *m,
              struct lnet_transfer *t)
{
    const enum lnet_msg_type type = type_for(hdr, m->bytes);
    struct lnd_peer *p = lnd_is_up(lnd) ? lnd_peer_of(lnd, nid) : NULL;
    struct lnd_tx *tx = p ? lnd_tx_get(lnd, type) : NULL;

    lnd_enter(lnd);
    if (tx)
        send(tx, p, hdr, m, t);
    else
        lnet_finalize(lnd->node, t, !lnd_is_up(lnd) ? -ENETDOWN : -ENOMEM, 0);
    lnd_leave(lnd);
}

/* Copies the payload of an IMMEDIATE to the program's memory. */
static int take_payload(const struct lnd_rx *rx, const struct lnd_memory *m)
{
    const struct lnd *lnd = rx->conn->lnd;
    struct lnet_frag pieces[LNET_IOV_MAX];
    const struct frag_list to = {m->frags, m->n};
    const uint32_t n =
        m->bytes ? frags_extract(&to, m->offset, m->bytes, 0, pieces, LNET_IOV_MAX) : 0;
    uint64_t at = rx->buf + LNET_PAYLOAD_AT;

    if (rx->hdr.payload_bytes > rx->payload) {
        rx->conn->lnd->counts.bad_messages++;
        return -EPROTO;
    }
    if (m->bytes && n == 0)
        return -EFAULT;
    for (uint32_t i = 0; i < n; i++) {
        if (!lnd->ops->copy(lnd->ctx, pieces[i].addr, at, pieces[i].nob))
            return -EFAULT;
        at += pieces[i].nob;
    }
    return 0;
}

/* Answers a PUT_REQ with PUT_ACK or, if nothing is wanted or it cannot be taken, with PUT_NAK.
 * Returns true if a PUT_DONE may follow, for which the receive is kept.
 */
static bool answer_put(struct lnd_rx *rx, const struct lnd_memory *m, struct lnet_transfer *t)
{
    struct lnd_conn *c = rx->conn;
    struct lnd *lnd = c->lnd;
    struct lnd_tx *tx = lnd_tx_get(lnd, m->bytes ? LNET_MSG_PUT_ACK : LNET_MSG_PUT_NAK);
    int st;

    if (!tx) {
        lnd_close(c, -ENOMEM);
        if (t)
            lnet_finalize(lnd->node, t, -ENOMEM, 0);
        return false;
    }
    tx->peer = c->peer;
    tx->conn = c;
    tx->peer_cookie = rx->cookie;
    tx->transfer = t;
    st = m->bytes ? take_frags(tx, m) : 0;
    if (m->bytes && st == 0)
        st = lnd_map(tx);
    if (st != LND_LATER)
        queue_put_answer(tx, st); /* it goes with the credit of a receive, in lnd_recv() */
    return m->bytes && (st == 0 || st == LND_LATER);
}

void lnd_recv(struct lnd *lnd, struct lnd_rx *rx, const struct lnd_memory *m,
              struct lnet_transfer *t)
{
    struct lnd_conn *c = rx->conn;
    enum lnd_repost credit = LND_CREDIT_PEER;
    int st = 0;

    RDL_ASSERT(!rx->is_taken);
    rx->is_taken = true;
    lnd_enter(lnd);
    if (c->state >= LND_CONN_CLOSING) {
        if (t)
            lnet_finalize(lnd->node, t, -ECONNABORTED, 0);
    } else if (rx->type == LNET_MSG_IMMEDIATE) {
        st = take_payload(rx, m);
        if (t)
            lnet_finalize(lnd->node, t, st, st ? 0 : m->bytes);
    } else if (rx->type == LNET_MSG_PUT_REQ) {
        /* With a PUT_ACK the buffer is kept for PUT_DONE; with a PUT_NAK the request is over. */
        credit = answer_put(rx, m, t) ? LND_CREDIT_NONE : LND_CREDIT_PEER;
    } else if (!rx->is_replied) {
        lnd_reply(lnd, rx, &(struct lnd_memory){0}, -ENODATA, t);
    }
    lnd_rx_repost(rx, credit);
    lnd_leave(lnd);
}

bool lnd_wants_reply(const struct lnd_rx *rx)
{
    return rx->type == LNET_MSG_GET_REQ;
}

static void reply(struct lnd_tx *tx, struct lnd_rx *rx, const struct lnd_memory *m, int status,
                  struct lnet_transfer *t)
{
    int st = status;

    tx->peer = rx->conn->peer;
    tx->conn = rx->conn;
    tx->peer_cookie = rx->cookie;
    tx->transfer = t;
    tx->to = rx->rd;
    rx->rd = NULL;
    if (st == 0 && m->bytes > 0)
        st = take_frags(tx, m);
    if (st || m->bytes == 0)
        finish_reply(tx, st);
    else
        map(tx);
}

void lnd_reply(struct lnd *lnd, struct lnd_rx *rx, const struct lnd_memory *m, int status,
               struct lnet_transfer *t)
{
    struct lnd_conn *c = rx->conn;
    const bool is_open = c->state < LND_CONN_CLOSING;
    struct lnd_tx *tx = is_open ? lnd_tx_get(lnd, LNET_MSG_GET_DONE) : NULL;

    RDL_ASSERT(!rx->is_replied);
    lnd_enter(lnd);
    rx->is_replied = true;
    if (tx) {
        reply(tx, rx, m, status, t);
    } else {
        lnd_close(c, -ENOMEM);
        if (t)
            lnet_finalize(lnd->node, t, is_open ? -ENOMEM : -ECONNABORTED, 0);
    }
    lnd_leave(lnd);
}

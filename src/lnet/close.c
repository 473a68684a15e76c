/* SPDX-License-Identifier: MIT */
/* The end of a connection: messages fail, the queue pair is drained, the objects are destroyed.
 * [Lustre, kiblnd_close_conn_locked, kiblnd_finalise_conn, kiblnd_destroy_conn]
 */
#include <errno.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/lnet_why.h"
#include "lnet/lnd_internal.h"

/* Fails the messages of @l, which have not been posted. */
static void fail_all(struct lnd_tx_list *l, int error)
{
    while (l->first)
        lnd_tx_fail(l->first, error);
}

/* Fails the messages that were sent and wait for an answer.  The peer may write to their memory
 * until the queue pair is in ERR.  A message that is posted ends with its completion, which tells
 * whether it has arrived: the adapter may still read its memory.
 */
static void stop_waiting(struct lnd_conn *c, int error)
{
    struct lnd_tx *next;

    for (struct lnd_tx *tx = c->active.first; tx; tx = next) {
        next = tx->next;
        if (tx->is_waiting)
            lnd_tx_fail(tx, error);
    }
}

/* Fails those that wait for a region.  LNet, which is told, may do anything to the others. */
static void fail_unmapped(struct lnd_conn *c, int error)
{
    struct lnd_tx *tx = c->lnd->unmapped.first;

    while (tx) {
        if (tx->conn == c) {
            lnd_tx_fail(tx, error);
            tx = c->lnd->unmapped.first;
        } else {
            tx = tx->next;
        }
    }
}

/* The request of a passive side that never accepted is rejected. */
static void reject_for_want(struct lnd_conn *c)
{
    const struct lnet_connparams mine = {(uint16_t)c->queue_depth, (uint16_t)c->max_frags,
                                         LNET_MSG_BYTES_MAX};

    if (c->is_passive && !c->was_offered && c->link.id)
        lnd_send_reject(c->lnd, &c->link, c->peer->nid, LNET_WHY_NO_RESOURCES, &mine, c->version);
}

void lnd_close(struct lnd_conn *c, int error)
{
    struct lnd *lnd = c->lnd;
    const int why = error ? error : -ECONNRESET;
    const bool was_up = c->state == LND_CONN_ESTABLISHED;

    if (c->state >= LND_CONN_CLOSING)
        return;
    lnd->counts.closes++;
    c->error = error;
    if (!was_up)
        reject_for_want(c);
    lnd_tell_state(c, LND_CONN_CLOSING, error);
    lnd_peer_lost(c, error);
    fail_all(&c->no_credit, why);
    fail_all(&c->noops, why);
    fail_all(&c->ready, why);
    fail_all(&c->wants_reserve, why);
    fail_unmapped(c, why);
    if (c->counts)
        lnd_peer_failed(c, why, c->connects_again);
    if (!c->job.is_queued && lnd->is_under_way != &c->job)
        lnd_job(lnd, &c->job, LND_JOB_END, c);
}

static bool is_drained(const struct lnd_conn *c)
{
    return c->n_posted_rx == 0 && c->n_sends == 0;
}

void lnd_drained(struct lnd_conn *c)
{
    if (c->step == LND_STEP_DRAIN && is_drained(c) && !c->job.is_queued &&
        c->lnd->is_under_way != &c->job)
        lnd_job(c->lnd, &c->job, LND_JOB_END, c);
}

static void free_conn(struct lnd_conn *c)
{
    struct lnd *lnd = c->lnd;
    struct lnd_conn **at = &lnd->conns;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    for (uint32_t i = 0; i < c->n_rx; i++)
        lnd_release(lnd, c->rxs[i].rd, sizeof(*c->rxs[i].rd));
    lnd_release(lnd, c->rxs, c->n_rx * sizeof(*c->rxs));
    lnd_release(lnd, c, sizeof(*c));
}

static int unmap_receives(struct lnd_conn *c)
{
    const struct lnd *lnd = c->lnd;
    const int st = c->rx_mr.handle ? lnd->ops->dereg_mr(lnd->ctx, &c->rx_mr) : 0;

    if (st == LND_LATER)
        return st;
    if (c->rx_pages)
        lnd->ops->pages_free(lnd->ctx, c->rx_pages, (uint64_t)c->n_rx * LNET_MSG_BYTES_MAX);
    c->rx_pages = 0;
    return 0;
}

/* Carries out the step of @c.  Returns LND_LATER if it must be called again. */
static int end_step(struct lnd_conn *c)
{
    const struct lnd *lnd = c->lnd;
    struct lnd_link *l = &c->link;

    switch (c->step) {
    case LND_STEP_DISCONNECT:
        return l->qp ? lnd->ops->disconnect(lnd->ctx, l) : 0;
    case LND_STEP_NO_QP:
        return l->qp ? lnd->ops->destroy_qp(lnd->ctx, l) : 0;
    case LND_STEP_NO_CQ:
        return l->cq ? lnd->ops->destroy_cq(lnd->ctx, l) : 0;
    case LND_STEP_UNMAP:
        return unmap_receives(c);
    default:
        return l->id ? lnd->ops->destroy_id(lnd->ctx, l) : 0;
    }
}

/* The queue pair is gone, and with it what was posted and has had no completion: the device has
 * lost that.
 */
static void forget_posts(struct lnd_conn *c)
{
    struct lnd *lnd = c->lnd;

    for (uint32_t i = 0; i < c->n_rx; i++)
        c->rxs[i].is_posted = false;
    c->n_posted_rx = c->n_sends = 0;
    for (uint32_t i = 0; i < lnd->config.ntx; i++) {
        struct lnd_tx *tx = &lnd->txs[i];

        if (tx->conn != c || tx->n_sending == 0)
            continue;
        tx->n_sending = 0;
        lnd_tx_fail(tx, -EIO);
    }
}

uint64_t lnd_drains_due(struct lnd *lnd, uint64_t now_ns)
{
    uint64_t first = 0;

    for (struct lnd_conn *c = lnd->conns; c; c = c->next) {
        if (c->step != LND_STEP_DRAIN || c->job.is_queued)
            continue;
        if (c->drained_ns <= now_ns)
            lnd_job(lnd, &c->job, LND_JOB_END, c);
        else if (first == 0 || c->drained_ns < first)
            first = c->drained_ns;
    }
    return first;
}

int lnd_end(struct lnd_conn *c)
{
    struct lnd *lnd = c->lnd;

    if (c->step < LND_STEP_DISCONNECT) {
        c->step = LND_STEP_DISCONNECT;
        c->link.step = 0;
    }
    for (;;) {
        if (c->step == LND_STEP_DRAIN) {
            if (!is_drained(c) && lnd_now(lnd) < c->drained_ns)
                return 0; /* lnd_drained() or lnd_drains_due() queues the job again */
            if (!is_drained(c) && c->error == 0)
                c->error = -EIO;
            lnd_tell_state(c, LND_CONN_DISCONNECTED, c->error);
        } else if (end_step(c) == LND_LATER) {
            return LND_LATER;
        }
        if (c->step == LND_STEP_DISCONNECT) {
            stop_waiting(c, c->error ? c->error : -ECONNRESET);
            c->drained_ns = lnd_now(lnd) + lnd->config.timeout_ns;
        }
        if (c->step == LND_STEP_NO_QP)
            forget_posts(c);
        if (c->step == LND_STEP_NO_ID)
            break;
        c->step++;
        c->link.step = 0;
    }
    free_conn(c);
    return 0;
}

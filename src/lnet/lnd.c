/* SPDX-License-Identifier: MIT */
/* The life of a driver, its control operations one after the other, and its time. */
#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "lnet/lnd_internal.h"

#define NS_PER_S UINT64_C(1000000000)

struct lnd_config lnd_defaults(uint64_t nid, bool of_2007)
{
    return (struct lnd_config){
        .nid = nid,
        .stamp = 1,
        .service = LNET_SERVICE,
        .version = of_2007 ? LNET_VERSION_1 : LNET_VERSION_2,
        .rules_2007 = of_2007,
        .max_frags = LNET_FRAGS_MAX,
        .peer_credits = 8,
        .peer_credits_hiw = of_2007 ? 7 : 0,
        .credits = of_2007 ? 64 : 256,
        .ntx = of_2007 ? 256 : 512,
        .timeout_ns = 50 * NS_PER_S,
        .keepalive_ns = 100 * NS_PER_S,
        .reconnect_min_ns = NS_PER_S,
        .reconnect_max_ns = 60 * NS_PER_S,
    };
}

/* Returns false if @c contradicts itself. */
static bool complete(struct lnd_config *c)
{
    if (c->peer_credits < 2 || c->peer_credits > UINT8_MAX || c->ntx < 2 || c->credits < 1 ||
        c->max_frags < 1 || c->max_frags > LNET_FRAGS_MAX || c->stamp == 0 || c->timeout_ns == 0 ||
        c->timeout_ns > LND_TIME_NS_MAX || c->keepalive_ns > LND_TIME_NS_MAX ||
        c->reconnect_min_ns > LND_TIME_NS_MAX || c->reconnect_max_ns > LND_TIME_NS_MAX ||
        (c->version != LNET_VERSION_1 && (c->version != LNET_VERSION_2 || c->rules_2007)))
        return false;
    if (c->peer_credits_hiw == 0 || c->peer_credits_hiw < c->peer_credits / 2)
        c->peer_credits_hiw = c->peer_credits / 2;
    if (c->peer_credits_hiw >= c->peer_credits)
        c->peer_credits_hiw = c->peer_credits - 1;
    if (c->concurrent_sends == 0)
        c->concurrent_sends = c->peer_credits;
    if (c->concurrent_sends > 2 * c->peer_credits)
        c->concurrent_sends = 2 * c->peer_credits;
    if (c->concurrent_sends < (c->peer_credits + 1) / 2)
        c->concurrent_sends = (c->peer_credits + 1) / 2;
    return true;
}

void *lnd_alloc(struct lnd *lnd, size_t bytes)
{
    return lnd->ops->alloc(lnd->ctx, bytes);
}

void lnd_release(struct lnd *lnd, void *block, size_t bytes)
{
    if (block)
        lnd->ops->free(lnd->ctx, block, bytes);
}

uint64_t lnd_now(const struct lnd *lnd)
{
    return lnd->ops->now_ns(lnd->ctx);
}

void lnd_tell(struct lnd *lnd, const struct lnd_note *note)
{
    if (lnd->ops->note)
        lnd->ops->note(lnd->ctx, note);
}

void lnd_tell_state(struct lnd_conn *c, enum lnd_state state, int error)
{
    c->state = state;
    lnd_tell(c->lnd, &(struct lnd_note){.kind = LND_NOTE_STATE,
                                        .peer = c->peer->nid,
                                        .link = &c->link,
                                        .state = state,
                                        .credits = c->credits,
                                        .outstanding = c->outstanding,
                                        .reserved = c->reserved,
                                        .error = error});
}

struct lnd *lnd_new(const struct lnd_ops *ops, void *ctx, const struct lnd_config *config,
                    struct lnet_node *node)
{
    struct lnd_config c = *config;
    struct lnd *lnd = complete(&c) ? ops->alloc(ctx, sizeof(*lnd)) : NULL;

    if (!lnd)
        return NULL;
    lnd->ops = ops;
    lnd->ctx = ctx;
    lnd->config = c;
    lnd->node = node;
    lnd->txs = lnd_alloc(lnd, c.ntx * sizeof(struct lnd_tx));
    if (!lnd->txs) {
        lnd_release(lnd, lnd, sizeof(*lnd));
        return NULL;
    }
    for (uint32_t i = 0; i < c.ntx; i++) {
        lnd->txs[i].lnd = lnd;
        lnd->txs[i].index = i;
        lnd_list_add(&lnd->idle, &lnd->txs[i]);
    }
    return lnd;
}

void lnd_free(struct lnd *lnd)
{
    if (!lnd)
        return;
    RDL_ASSERT(lnd_is_down(lnd) && !lnd->conns && !lnd->regions);
    while (lnd->first_peer) {
        struct lnd_peer *p = lnd->first_peer;

        lnd->first_peer = p->next_of_all;
        lnd_release(lnd, p, sizeof(*p));
    }
    for (uint32_t i = 0; i < lnd->config.ntx; i++) {
        struct lnd_tx *tx = &lnd->txs[i];

        lnd_release(lnd, tx->frags, tx->cap_frags * sizeof(*tx->frags));
        lnd_release(lnd, tx->writes, tx->cap_writes * sizeof(*tx->writes));
    }
    lnd_release(lnd, lnd->txs, lnd->config.ntx * sizeof(struct lnd_tx));
    lnd_release(lnd, lnd, sizeof(*lnd));
}

/* Makes the device, and the memory for messages.  Then it is up. */
static int start(struct lnd *lnd)
{
    const uint64_t bytes = (uint64_t)lnd->config.ntx * LNET_MSG_BYTES_MAX;
    int r;

    if (lnd->step == LND_START_DEV) {
        r = lnd->ops->create_dev(lnd->ctx, lnd->config.service, lnd->config.map == LNET_MAP_dma,
                                 &lnd->dma);
        if (r)
            return r;
        lnd->step = LND_START_MAP;
    }
    if (lnd->tx_pages == 0)
        lnd->tx_pages = lnd->ops->pages(lnd->ctx, bytes);
    if (lnd->tx_pages == 0)
        return -ENOMEM;
    r = lnd->ops->reg_mr(lnd->ctx, lnd->tx_pages, bytes, &lnd->tx_mr);
    if (r)
        return r;
    lnd->step = LND_START_DONE;
    for (uint32_t i = 0; i < lnd->config.ntx; i++)
        lnd->txs[i].buf = lnd->tx_pages + (uint64_t)i * LNET_MSG_BYTES_MAX;
    return 0;
}

/* Undoes start(), as far as it has come. */
static int stop(struct lnd *lnd)
{
    int r = 0;

    if (lnd->step == LND_START_DONE) {
        r = lnd->ops->dereg_mr(lnd->ctx, &lnd->tx_mr);
        if (r == LND_LATER)
            return r;
        lnd->step = LND_START_MAP;
    }
    if (lnd->tx_pages)
        lnd->ops->pages_free(lnd->ctx, lnd->tx_pages,
                             (uint64_t)lnd->config.ntx * LNET_MSG_BYTES_MAX);
    lnd->tx_pages = 0;
    if (lnd->step == LND_START_MAP) {
        r = lnd->ops->destroy_dev(lnd->ctx, &lnd->dma);
        if (r == LND_LATER)
            return r;
        lnd->step = LND_START_DEV;
    }
    return 0;
}

void lnd_job(struct lnd *lnd, struct lnd_job *job, enum lnd_job_kind kind, void *of)
{
    RDL_ASSERT(!job->is_queued);
    *job = (struct lnd_job){.kind = kind, .is_queued = true, .of = of};
    if (lnd->first_job)
        lnd->last_job->next = job;
    else
        lnd->first_job = job;
    lnd->last_job = job;
}

/* Carries out @job, or its next steps.  Returns LND_LATER, or another value when it is over. */
static int carry_out(struct lnd *lnd, struct lnd_job *job)
{
    switch (job->kind) {
    case LND_JOB_START:
        return start(lnd);
    case LND_JOB_STOP:
        return stop(lnd);
    case LND_JOB_SETUP:
        return lnd_setup(job->of);
    case LND_JOB_ESTABLISH:
        return lnd_establish(job->of);
    case LND_JOB_END:
        return lnd_end(job->of);
    default:
        return lnd_region_job(job->of, job->kind);
    }
}

/* The last connection has gone: the regions go, and then the rest. */
static void go_on_stopping(struct lnd *lnd)
{
    if (!lnd->is_stopping || lnd->conns || lnd->first_job || lnd->job.is_queued)
        return;
    if (lnd_regions_end(lnd) && lnd->step != LND_START_DEV)
        lnd_job(lnd, &lnd->job, LND_JOB_STOP, lnd);
}

/* Carries out jobs.  Returns false if one has to wait. */
static bool run_jobs(struct lnd *lnd)
{
    for (go_on_stopping(lnd); lnd->first_job; go_on_stopping(lnd)) {
        struct lnd_job *job = lnd->first_job;
        const enum lnd_job_kind kind = job->kind;
        int r;

        /* Its owner may queue it again, or free it: so it leaves the queue first, and returns to
         * its head if it has to wait.
         */
        lnd->first_job = job->next;
        job->is_queued = false;
        lnd->is_under_way = job;
        r = carry_out(lnd, job);
        lnd->is_under_way = NULL;
        if (r == LND_LATER) {
            job->next = lnd->first_job;
            if (!lnd->first_job)
                lnd->last_job = job;
            lnd->first_job = job;
            job->is_queued = true;
            return false;
        }
        if (kind == LND_JOB_START && r)
            lnd->error = -r;
    }
    return true;
}

/* Messages whose time is over fail, and their connections with them. */
static void end_what_is_late(struct lnd *lnd, uint64_t now)
{
    while (lnd->first_due && lnd->first_due->deadline_ns <= now) {
        struct lnd_tx *tx = lnd->first_due;
        struct lnd_conn *c = tx->conn;

        lnd->counts.timeouts++;
        lnd_due_end(tx);
        if (tx->status == 0)
            tx->status = -ETIMEDOUT;
        if (c)
            lnd_close(c, -ETIMEDOUT);
        else
            lnd_tx_fail(tx, -ETIMEDOUT);
    }
}

/* Connections that have sent nothing for long send a NOOP.  Returns when the next one is due. */
static uint64_t keep_alive(struct lnd *lnd, uint64_t now)
{
    uint64_t first = 0;

    for (struct lnd_conn *c = lnd->config.keepalive_ns ? lnd->conns : NULL; c; c = c->next) {
        uint64_t due;

        if (c->state != LND_CONN_ESTABLISHED)
            continue;
        if (c->last_send_ns + lnd->config.keepalive_ns <= now) {
            c->wants_keepalive = true;
            c->last_send_ns = now;
            lnd_push(c);
        }
        due = c->last_send_ns + lnd->config.keepalive_ns;
        if (first == 0 || due < first)
            first = due;
    }
    return first;
}

/* Returns the earlier one of two times, of which 0 is none. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Does what is due, carries out jobs until one has to wait, and sets the time of the next wake.  A
 * job may fail a connection, and so change what is due next; and that may be another job.
 */
static void run(struct lnd *lnd)
{
    const uint64_t now = lnd_now(lnd);
    bool goes_on;
    uint64_t next;

    end_what_is_late(lnd, now);
    do {
        goes_on = run_jobs(lnd);
        next = keep_alive(lnd, now);
        next = earlier(next, lnd_peers_due(lnd, now));
        next = earlier(next, lnd_drains_due(lnd, now));
    } while (goes_on && lnd->first_job);
    if (lnd->first_due)
        next = earlier(next, lnd->first_due->deadline_ns);
    if (next != lnd->wake_ns) {
        lnd->wake_ns = next;
        lnd->ops->wake_at(lnd->ctx, next);
    }
}

void lnd_enter(struct lnd *lnd)
{
    lnd->depth++;
}

void lnd_leave(struct lnd *lnd)
{
    if (lnd->depth == 1)
        run(lnd);
    lnd->depth--;
}

void lnd_wake(struct lnd *lnd)
{
    lnd_enter(lnd);
    if (lnd->wake_ns && lnd->wake_ns <= lnd_now(lnd))
        lnd->wake_ns = 0;
    lnd_leave(lnd);
}

void lnd_start(struct lnd *lnd)
{
    RDL_ASSERT(lnd->step == LND_START_DEV && !lnd->job.is_queued);
    lnd_enter(lnd);
    lnd->is_stopping = false;
    lnd->error = 0;
    lnd_job(lnd, &lnd->job, LND_JOB_START, lnd);
    lnd_leave(lnd);
}

void lnd_stop(struct lnd *lnd)
{
    struct lnd_conn *next;

    lnd_enter(lnd);
    lnd->is_stopping = true;
    for (struct lnd_peer *p = lnd->first_peer; p; p = p->next_of_all) {
        p->reconnect_ns = 0;
        while (p->waiting.first)
            lnd_tx_fail(p->waiting.first, -ESHUTDOWN);
    }
    for (struct lnd_conn *c = lnd->conns; c; c = next) {
        next = c->next;
        lnd_close(c, -ESHUTDOWN);
    }
    while (lnd->unmapped.first)
        lnd_tx_fail(lnd->unmapped.first, -ESHUTDOWN);
    lnd_leave(lnd);
}

bool lnd_is_up(const struct lnd *lnd)
{
    return lnd->step == LND_START_DONE && !lnd->is_stopping;
}

bool lnd_is_down(const struct lnd *lnd)
{
    return lnd->step == LND_START_DEV && !lnd->first_job;
}

int lnd_error(const struct lnd *lnd)
{
    return lnd->error;
}

const struct lnd_counts *lnd_counts(const struct lnd *lnd)
{
    return &lnd->counts;
}

const struct lnd_config *lnd_config(const struct lnd *lnd)
{
    return &lnd->config;
}

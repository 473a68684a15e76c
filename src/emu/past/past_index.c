/* SPDX-License-Identifier: MIT */
/* The threads are in a hash table with open addressing, by what they are of; each knows its first
 * and its last event, and the events know their neighbours.
 */
#include "emu/past/past_index.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"

#define THREADS_FIRST 1024u

enum thread_kind {
    THREAD_NONE, /* a free place of the table */
    THREAD_FRAME,
    THREAD_PACKET,
    THREAD_ANSWERS,
    THREAD_WORK_REQUEST,
    THREAD_DESCRIPTOR,
    THREAD_REFUSED_KEYS,
    THREAD_ERRORS,
    THREAD_FAILURES,
    THREAD_REQUEST_PACKETS /* host, QPN, wr_id; its events are on THREAD_PACKET: the last is noted
                            */
};

/* What a thread is of.  What it does not need is 0. */
struct thread_key {
    enum thread_kind kind;
    uint32_t host;
    uint32_t owner; /* QPN, or queue */
    uint64_t id;    /* frame, PSN, wr_id, or descriptor */
};

struct past_thread {
    struct thread_key key;
    uint32_t first, last;
};

static uint64_t key_hash(const struct thread_key *k)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15; /* 2^64 by the golden ratio: spreads well */
    uint64_t h = ((uint64_t)k->host << 32 | k->owner) * odd;

    h = (h ^ h >> 29 ^ k->id) * odd;
    h = (h ^ h >> 32 ^ (uint64_t)k->kind) * odd;
    return h ^ h >> 32;
}

static bool key_equal(const struct thread_key *a, const struct thread_key *b)
{
    return a->kind == b->kind && a->host == b->host && a->owner == b->owner && a->id == b->id;
}

/* The place of a thread in the table, which has free ones: its own, or the one that it gets. */
static struct past_thread *thread_place(const struct past_index *x, const struct thread_key *key)
{
    const size_t mask = x->cap_threads - 1;
    size_t i = (size_t)key_hash(key) & mask;

    while (x->threads[i].key.kind != THREAD_NONE && !key_equal(&x->threads[i].key, key))
        i = (i + 1) & mask;
    return &x->threads[i];
}

/* NULL: nothing of it is there. */
static const struct past_thread *thread_find(const struct past_index *x, struct thread_key key)
{
    const struct past_thread *t = thread_place(x, &key);

    return t->key.kind == THREAD_NONE ? NULL : t;
}

static enum rdl_status threads_grow(struct past_index *x)
{
    struct past_index old = *x;

    x->cap_threads = old.cap_threads ? 2 * old.cap_threads : THREADS_FIRST;
    x->threads = calloc(x->cap_threads, sizeof(*x->threads));
    if (!x->threads) {
        *x = old;
        return RDL_ERR_NOMEM;
    }
    for (size_t i = 0; i < old.cap_threads; i++) {
        if (old.threads[i].key.kind != THREAD_NONE)
            *thread_place(x, &old.threads[i].key) = old.threads[i];
    }
    free(old.threads);
    return RDL_OK;
}

/* Notes event @i as the last of a thread; *@ret_before was it until now. */
static enum rdl_status thread_note(struct past_index *x, uint32_t i, struct thread_key key,
                                   uint32_t *ret_before)
{
    enum rdl_status st = RDL_OK;
    struct past_thread *t;

    if (2 * (x->n_threads + 1) > x->cap_threads)
        st = threads_grow(x);
    if (st != RDL_OK)
        return st;
    t = thread_place(x, &key);
    if (t->key.kind == THREAD_NONE) {
        *t = (struct past_thread){key, i, PAST_NONE};
        x->n_threads++;
    }
    *ret_before = t->last;
    t->last = i;
    return RDL_OK;
}

/* Appends event @i to a thread. */
static enum rdl_status thread_add(struct past_index *x, uint32_t i, struct thread_key key)
{
    const enum rdl_status st = thread_note(x, i, key, &x->before[i]);

    if (st == RDL_OK && x->before[i] != PAST_NONE)
        x->after[x->before[i]] = i;
    return st;
}

static struct thread_key frame_key(ev_id sent)
{
    return (struct thread_key){.kind = THREAD_FRAME, .id = sent};
}

static struct thread_key packet_key(uint32_t host, uint32_t qpn, uint32_t psn)
{
    return (struct thread_key){THREAD_PACKET, host, qpn, psn};
}

/* A thread of a whole queue pair. */
static struct thread_key qp_key(enum thread_kind kind, uint32_t host, uint32_t qpn)
{
    return (struct thread_key){kind, host, qpn, 0};
}

static const struct ev *event_at(const struct past_index *x, uint32_t i)
{
    return i == PAST_NONE ? NULL : past_at(x->past, i);
}

/* Event @e, number @i, names frame @frame. */
static enum rdl_status add_to_frame(struct past_index *x, uint32_t i, const struct ev *e,
                                    ev_id frame)
{
    if (frame == 0 || frame >= e->id)
        return RDL_OK; /* from outside; nothing is sent after it ends */
    return thread_add(x, i, frame_key(past_sent(x->past, frame, i)));
}

static bool is_answer(const struct ev *e)
{
    return e->kind == EV_tx && e->u.tx.syndrome != SYN_NONE;
}

/* Answer @e, number @i, is to all that arrived at its host in its tick and has no answer yet. */
static void answers_tick(struct past_index *x, uint32_t i, const struct ev *e)
{
    for (uint32_t k = i; k > 0; k--) {
        const struct ev *rx = past_at(x->past, k - 1);

        if (ev_tick(rx->id) != ev_tick(e->id) || (is_answer(rx) && rx->u.tx.host == e->u.tx.host))
            return;
        if (rx->kind == EV_rx && rx->u.rx.host == e->u.tx.host && x->about[k - 1] == PAST_NONE)
            x->about[k - 1] = i;
    }
}

/* Answer @e, number @i, is to the rx that caused it.  Answers of a queue pair leave in order: if
 * there was another one since the rx, this one is not told apart from it.
 */
static void answers_cause(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct past_thread *answers;
    const struct ev *rx;
    size_t k;

    if (e->cause == 0 || e->cause >= e->id)
        return;
    k = past_lower_bound_near(x->past, e->cause, i);
    rx = past_at(x->past, k);
    if (rx->id != e->cause || rx->kind != EV_rx || rx->u.rx.host != e->u.tx.host ||
        x->about[k] != PAST_NONE)
        return;
    answers = thread_find(x, qp_key(THREAD_ANSWERS, rx->u.rx.host, rx->u.rx.qpn));
    if (!answers || answers->last < k)
        x->about[k] = i;
}

static enum rdl_status add_tx(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct ev_tx *tx = &e->u.tx;
    enum rdl_status st;
    uint32_t before;

    if (is_answer(e)) {
        answers_tick(x, i, e);
        answers_cause(x, i, e);
        return thread_add(x, i, qp_key(THREAD_ANSWERS, tx->host, tx->qpn));
    }
    st = thread_add(x, i, packet_key(tx->host, tx->qpn, tx->psn));
    if (st != RDL_OK)
        return st;
    return thread_note(
        x, i, (struct thread_key){THREAD_REQUEST_PACKETS, tx->host, tx->qpn, tx->wr_id}, &before);
}

static enum rdl_status add_fetch(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct ev_fetch *f = &e->u.fetch;
    const struct past_thread *posts =
        thread_find(x, (struct thread_key){THREAD_DESCRIPTOR, f->host, f->queue, f->desc});

    x->about[i] = posts ? posts->last : PAST_NONE;
    if (f->op == WR_RECV)
        return RDL_OK;
    return thread_add(x, i, (struct thread_key){THREAD_WORK_REQUEST, f->host, f->qpn, f->wr_id});
}

static enum rdl_status add_cqe(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct ev_cqe *c = &e->u.cqe;
    const struct past_thread *sent;

    if (c->status == WCS_SUCCESS || c->status == WCS_WR_FLUSH_ERR)
        return RDL_OK;
    sent = thread_find(x, (struct thread_key){THREAD_REQUEST_PACKETS, c->host, c->qpn, c->wr_id});
    x->about[i] = sent ? sent->last : PAST_NONE;
    return thread_add(x, i, qp_key(THREAD_FAILURES, c->host, c->qpn));
}

/* Puts event @e, number @i, where it belongs; those before it are. */
static enum rdl_status add_event(struct past_index *x, uint32_t i, const struct ev *e)
{
    switch (e->kind) {
    case EV_tx:
        return add_tx(x, i, e);
    case EV_rx:
        return add_to_frame(x, i, e, e->u.rx.tx);
    case EV_drop:
        return add_to_frame(x, i, e, e->u.drop.tx);
    case EV_lost:
        return add_to_frame(x, i, e, e->u.lost.tx);
    case EV_fault:
        return add_to_frame(x, i, e, e->u.fault.tx);
    case EV_port_out:
        return add_to_frame(x, i, e, e->u.port_out.tx);
    case EV_post_send:
        return thread_add(x, i,
                          (struct thread_key){THREAD_DESCRIPTOR, e->u.post_send.host,
                                              e->u.post_send.queue, e->u.post_send.desc});
    case EV_post_recv:
        return thread_add(x, i,
                          (struct thread_key){THREAD_DESCRIPTOR, e->u.post_recv.host,
                                              e->u.post_recv.queue, e->u.post_recv.desc});
    case EV_fetch:
        return add_fetch(x, i, e);
    case EV_key:
        return e->u.key.rule
                   ? thread_add(x, i, qp_key(THREAD_REFUSED_KEYS, e->u.key.host, e->u.key.qpn))
                   : RDL_OK;
    case EV_qp_state:
        return e->u.qp_state.to == QPS_ERR
                   ? thread_add(x, i, qp_key(THREAD_ERRORS, e->u.qp_state.host, e->u.qp_state.qpn))
                   : RDL_OK;
    case EV_cqe:
        return add_cqe(x, i, e);
    default:
        return RDL_OK;
    }
}

static struct past_index *index_alloc(const struct past *p)
{
    struct past_index *x = calloc(1, sizeof(*x));
    const size_t bytes = (p->n + 1) * sizeof(x->before[0]); /* malloc(0) may give NULL */

    RDL_ASSERT(p->n < PAST_NONE);
    if (!x)
        return NULL;
    x->past = p;
    x->before = malloc(bytes);
    x->after = malloc(bytes);
    x->about = malloc(bytes);
    if (!x->before || !x->after || !x->about || threads_grow(x) != RDL_OK) {
        past_index_free(x);
        return NULL;
    }
    memset(x->before, 0xff, bytes); /* PAST_NONE */
    memset(x->after, 0xff, bytes);
    memset(x->about, 0xff, bytes);
    return x;
}

enum rdl_status past_index_new(const struct past *p, struct past_index **ret)
{
    struct past_index *x = index_alloc(p);
    enum rdl_status st = x ? RDL_OK : RDL_ERR_NOMEM;

    for (size_t i = 0; i < p->n && st == RDL_OK; i++)
        st = add_event(x, (uint32_t)i, past_at(p, i));
    if (st != RDL_OK) {
        past_index_free(x);
        return st;
    }
    *ret = x;
    return RDL_OK;
}

void past_index_free(struct past_index *x)
{
    if (!x)
        return;
    free(x->before);
    free(x->after);
    free(x->about);
    free(x->threads);
    free(x);
}

/* The number of @e; PAST_NONE: it is not an event of this past. */
static uint32_t number_of(const struct past_index *x, const struct ev *e)
{
    const size_t i = past_lower_bound(x->past, e->id);

    return i < x->past->n && past_at(x->past, i)->id == e->id ? (uint32_t)i : PAST_NONE;
}

const struct ev *past_before(const struct past_index *x, const struct ev *e)
{
    const uint32_t i = number_of(x, e);

    return i == PAST_NONE ? NULL : event_at(x, x->before[i]);
}

const struct ev *past_after(const struct past_index *x, const struct ev *e)
{
    const uint32_t i = number_of(x, e);

    return i == PAST_NONE ? NULL : event_at(x, x->after[i]);
}

static const struct ev *about(const struct past_index *x, const struct ev *e)
{
    const uint32_t i = number_of(x, e);

    return i == PAST_NONE ? NULL : event_at(x, x->about[i]);
}

static const struct ev *first_of(const struct past_index *x, struct thread_key key)
{
    const struct past_thread *t = thread_find(x, key);

    return t ? event_at(x, t->first) : NULL;
}

/* The last event of a thread before event @before. */
static const struct ev *last_of(const struct past_index *x, struct thread_key key, ev_id before)
{
    const struct past_thread *t = thread_find(x, key);
    const size_t end = past_lower_bound(x->past, before);
    uint32_t i = t ? t->last : PAST_NONE;

    while (i != PAST_NONE && i >= end)
        i = x->before[i];
    return event_at(x, i);
}

/* @e, or NULL if there may have been a newer one before event @before, which was not recorded. */
static const struct ev *unless_gap(const struct past_index *x, const struct ev *e, ev_id before)
{
    return e && !past_gap_between(x->past, e->id, before) ? e : NULL;
}

const struct ev *past_first_of_frame(const struct past_index *x, ev_id sent)
{
    return first_of(x, frame_key(sent));
}

const struct ev *past_first_tx(const struct past_index *x, const struct ev *tx)
{
    return first_of(x, packet_key(tx->u.tx.host, tx->u.tx.qpn, tx->u.tx.psn));
}

const struct ev *past_last_tx(const struct past_index *x, uint32_t host, uint32_t qpn, uint32_t psn,
                              ev_id before)
{
    return unless_gap(x, last_of(x, packet_key(host, qpn, psn), before), before);
}

const struct ev *past_answer_to(const struct past_index *x, const struct ev *rx)
{
    return about(x, rx);
}

const struct ev *past_post_of(const struct past_index *x, const struct ev *fetch)
{
    return unless_gap(x, about(x, fetch), fetch->id);
}

const struct ev *past_last_tx_of_request(const struct past_index *x, const struct ev *cqe)
{
    return about(x, cqe);
}

const struct ev *past_fetch_of(const struct past_index *x, const struct ev *cqe)
{
    const struct ev_cqe *c = &cqe->u.cqe;

    return last_of(x, (struct thread_key){THREAD_WORK_REQUEST, c->host, c->qpn, c->wr_id}, cqe->id);
}

const struct ev *past_refused_key(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before, bool tick)
{
    const struct thread_key key = qp_key(THREAD_REFUSED_KEYS, host, qpn);
    const struct ev *last = last_of(x, key, before);
    const struct ev *next = last ? past_after(x, last) : first_of(x, key);

    if (!tick)
        return last;
    if (next && ev_tick(next->id) == ev_tick(before))
        return next;
    return last && ev_tick(last->id) == ev_tick(before) ? last : NULL;
}

const struct ev *past_error_state(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before)
{
    return unless_gap(x, last_of(x, qp_key(THREAD_ERRORS, host, qpn), before), before);
}

const struct ev *past_failure_before(const struct past_index *x, const struct ev *cqe)
{
    return last_of(x, qp_key(THREAD_FAILURES, cqe->u.cqe.host, cqe->u.cqe.qpn), cqe->id);
}

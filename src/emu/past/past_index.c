/* SPDX-License-Identifier: MIT */
/* The threads are in a hash table with open addressing.  An entry holds only the last event of its
 * thread and a tag; the key is read from that event.  Small entries keep the table in the cache.
 */
#include "emu/past/past_index.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/past/posted.h"
#include "emu/trace/event.h"

#define THREADS_FIRST 1024u
#define HASH_BITS     28u /* bits of the tag for the hash, which bound the table */

enum thread_kind {
    THREAD_NONE, /* a free entry */
    THREAD_FRAME,
    THREAD_PACKET,
    THREAD_ANSWERS,
    THREAD_WORK_REQUEST,
    THREAD_DESCRIPTOR,
    THREAD_REFUSED_KEYS,
    THREAD_ERRORS,
    THREAD_FAILURES,
    THREAD_REQUEST_PACKETS, /* only the last event is stored; its events are on THREAD_PACKET */
    THREAD_RESPONSE
};

/* The key of a thread.  Unused fields are 0. */
struct thread_key {
    enum thread_kind kind;
    uint32_t host;
    uint32_t owner; /* QPN or queue */
    uint64_t id;    /* frame, PSN, wr_id or descriptor */
};

/* An entry of the table. */
struct past_thread {
    uint32_t tag; /* kind << HASH_BITS | hash of the key; 0: free */
    uint32_t last;
};

static uint32_t key_tag(const struct thread_key *k)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15; /* 2^64 divided by the golden ratio */
    uint64_t h = ((uint64_t)k->host << 32 | k->owner) * odd;

    h = (h ^ h >> 29 ^ k->id) * odd;
    h = (h ^ h >> 32 ^ (uint64_t)k->kind) * odd;
    return (uint32_t)k->kind << HASH_BITS | (uint32_t)(h >> (64 - HASH_BITS));
}

static bool key_equal(const struct thread_key *a, const struct thread_key *b)
{
    return a->kind == b->kind && a->host == b->host && a->owner == b->owner && a->id == b->id;
}

/* The frame that @e refers to; @e is of a kind on THREAD_FRAME. */
static ev_id frame_named(const struct ev *e)
{
    switch (e->kind) {
    case EV_rx:
        return e->u.rx.tx;
    case EV_drop:
        return e->u.drop.tx;
    case EV_lost:
        return e->u.lost.tx;
    case EV_fault:
        return e->u.fault.tx;
    case EV_eth_rx:
        return e->u.eth_rx.tx;
    default:
        return e->u.port_out.tx;
    }
}

static struct thread_key frame_key(ev_id sent)
{
    return (struct thread_key){.kind = THREAD_FRAME, .id = sent};
}

static struct thread_key packet_key(uint32_t host, uint32_t qpn, uint32_t psn)
{
    return (struct thread_key){THREAD_PACKET, host, qpn, psn};
}

static struct thread_key response_key(uint32_t host, uint32_t qpn, uint32_t psn)
{
    return (struct thread_key){THREAD_RESPONSE, host, qpn, psn};
}

/* The key of a thread for a whole queue pair. */
static struct thread_key qp_key(enum thread_kind kind, uint32_t host, uint32_t qpn)
{
    return (struct thread_key){kind, host, qpn, 0};
}

/* The key of the thread of @kind that event @i is on. */
static struct thread_key key_of(const struct past_index *x, enum thread_kind kind, uint32_t i)
{
    const struct ev *e = past_at(x->past, i);
    struct posted p = {.e = NULL};

    switch (kind) {
    case THREAD_NONE:
        break;
    case THREAD_FRAME:
        return frame_key(past_sent(x->past, frame_named(e), i));
    case THREAD_PACKET:
        return packet_key(e->u.tx.host, e->u.tx.qpn, e->u.tx.psn);
    case THREAD_RESPONSE:
        return response_key(e->u.tx.host, e->u.tx.qpn, e->u.tx.psn);
    case THREAD_ANSWERS:
        return qp_key(kind, e->u.tx.host, e->u.tx.qpn);
    case THREAD_WORK_REQUEST:
        return (struct thread_key){kind, e->u.fetch.host, e->u.fetch.qpn, e->u.fetch.wr_id};
    case THREAD_DESCRIPTOR:
        (void)posted_read(e, &p);
        return (struct thread_key){kind, p.host, p.queue, p.desc};
    case THREAD_REFUSED_KEYS:
        return qp_key(kind, e->u.key.host, e->u.key.qpn);
    case THREAD_ERRORS:
        return qp_key(kind, e->u.qp_state.host, e->u.qp_state.qpn);
    case THREAD_FAILURES:
        return qp_key(kind, e->u.cqe.host, e->u.cqe.qpn);
    case THREAD_REQUEST_PACKETS:
        return (struct thread_key){kind, e->u.tx.host, e->u.tx.qpn, e->u.tx.wr_id};
    }
    return (struct thread_key){THREAD_NONE, 0, 0, 0};
}

static bool thread_is_of(const struct past_index *x, const struct past_thread *t, uint32_t tag,
                         const struct thread_key *key)
{
    struct thread_key its;

    if (t->tag != tag)
        return false;
    its = key_of(x, key->kind, t->last);
    return key_equal(&its, key);
}

/* The entry of a thread, or the free entry that it will get.  The table has free entries. */
static struct past_thread *thread_place(const struct past_index *x, const struct thread_key *key)
{
    const uint32_t tag = key_tag(key);
    const size_t mask = x->cap_threads - 1;
    size_t i = tag & mask;

    while (x->threads[i].tag && !thread_is_of(x, &x->threads[i], tag, key))
        i = (i + 1) & mask;
    return &x->threads[i];
}

/* The last event of a thread, or PAST_NONE. */
static uint32_t thread_last(const struct past_index *x, struct thread_key key)
{
    const struct past_thread *t = thread_place(x, &key);

    return t->tag ? t->last : PAST_NONE;
}

static enum rdl_status threads_grow(struct past_index *x)
{
    const size_t cap = x->cap_threads ? 2 * x->cap_threads : THREADS_FIRST;
    const bool fits = cap <= (size_t)1 << HASH_BITS;
    struct past_thread *threads = fits ? calloc(cap, sizeof(*threads)) : NULL;

    if (!threads)
        return RDL_ERR_NOMEM;
    for (size_t i = 0; i < x->cap_threads; i++) {
        size_t to = x->threads[i].tag & (cap - 1);

        while (threads[to].tag)
            to = (to + 1) & (cap - 1);
        if (x->threads[i].tag)
            threads[to] = x->threads[i];
    }
    free(x->threads);
    x->threads = threads;
    x->cap_threads = cap;
    return RDL_OK;
}

/* Stores event @i as the last of its thread of @kind; *@ret_before is the previous one. */
static enum rdl_status thread_note(struct past_index *x, enum thread_kind kind, uint32_t i,
                                   uint32_t *ret_before)
{
    const struct thread_key key = key_of(x, kind, i);
    enum rdl_status st = RDL_OK;
    struct past_thread *t;

    if (2 * (x->n_threads + 1) > x->cap_threads)
        st = threads_grow(x);
    if (st != RDL_OK)
        return st;
    t = thread_place(x, &key);
    *ret_before = t->tag ? t->last : PAST_NONE;
    x->n_threads += t->tag == 0;
    *t = (struct past_thread){key_tag(&key), i};
    return RDL_OK;
}

/* Appends event @i to its thread of @kind. */
static enum rdl_status thread_add(struct past_index *x, enum thread_kind kind, uint32_t i)
{
    const enum rdl_status st = thread_note(x, kind, i, &x->before[i]);

    if (st == RDL_OK && x->before[i] != PAST_NONE)
        x->after[x->before[i]] = i;
    return st;
}

static enum op_kind tx_kind(const struct ev *e)
{
    return op_info((uint8_t)e->u.tx.opcode)->kind;
}

/* Returns true for a response to a READ or an atomic. */
static bool is_response(const struct ev *e)
{
    return tx_kind(e) == OPK_READ_RESPONSE || tx_kind(e) == OPK_ATOMIC_ACK;
}

/* Returns true for an acknowledge of any kind. */
static bool is_answer(const struct ev *e)
{
    return e->kind == EV_tx && e->u.tx.syndrome != SYN_NONE && !is_response(e);
}

/* Links answer @e, with index @i, to all rx of its host in the same tick that have no answer yet.
 */
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

/* Links answer @e, with index @i, to the rx that caused it.  A queue pair sends answers in order:
 * if it sent another one since the rx, that one may be the answer, and @e is not linked.
 */
static void answers_cause(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct ev *rx;
    uint32_t last;
    size_t k;

    if (e->cause == 0 || e->cause >= e->id)
        return;
    k = past_lower_bound_near(x->past, e->cause, i);
    rx = past_at(x->past, k);
    if (rx->id != e->cause || rx->kind != EV_rx || rx->u.rx.host != e->u.tx.host ||
        x->about[k] != PAST_NONE)
        return;
    last = thread_last(x, qp_key(THREAD_ANSWERS, rx->u.rx.host, rx->u.rx.qpn));
    if (last == PAST_NONE || last < k)
        x->about[k] = i;
}

/* Links the first response to the request that caused it.  The cause of a response is exact. */
static void responds(struct past_index *x, uint32_t i, const struct ev *e)
{
    size_t k;

    if (e->cause == 0 || e->cause >= e->id)
        return;
    k = past_lower_bound_near(x->past, e->cause, i);
    if (past_at(x->past, k)->id == e->cause && past_at(x->past, k)->kind == EV_rx &&
        x->about[k] == PAST_NONE)
        x->about[k] = i;
}

static enum rdl_status add_tx(struct past_index *x, uint32_t i, const struct ev *e)
{
    enum rdl_status st;
    uint32_t before;

    if (is_response(e)) {
        responds(x, i, e);
        return thread_add(x, THREAD_RESPONSE, i);
    }
    if (is_answer(e)) {
        answers_tick(x, i, e);
        answers_cause(x, i, e);
        return thread_add(x, THREAD_ANSWERS, i);
    }
    st = thread_add(x, THREAD_PACKET, i);
    return st == RDL_OK ? thread_note(x, THREAD_REQUEST_PACKETS, i, &before) : st;
}

static enum rdl_status add_fetch(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct ev_fetch *f = &e->u.fetch;

    x->about[i] =
        thread_last(x, (struct thread_key){THREAD_DESCRIPTOR, f->host, f->queue, f->desc});
    return f->op == WR_RECV ? RDL_OK : thread_add(x, THREAD_WORK_REQUEST, i);
}

static enum rdl_status add_cqe(struct past_index *x, uint32_t i, const struct ev *e)
{
    const struct ev_cqe *c = &e->u.cqe;

    if (c->status == WCS_SUCCESS || c->status == WCS_WR_FLUSH_ERR)
        return RDL_OK;
    x->about[i] =
        thread_last(x, (struct thread_key){THREAD_REQUEST_PACKETS, c->host, c->qpn, c->wr_id});
    return thread_add(x, THREAD_FAILURES, i);
}

/* Adds event @e, with index @i, to the thread of its frame unless the frame is from outside.  A
 * frame's events come after the event that sent it.
 */
static enum rdl_status add_to_frame(struct past_index *x, uint32_t i, const struct ev *e)
{
    const ev_id frame = frame_named(e);

    return frame == 0 || frame >= e->id ? RDL_OK : thread_add(x, THREAD_FRAME, i);
}

/* Returns true if the move flushes requests with WR_FLUSH_ERR: ERR all, SQE only sends. */
static bool flushes(const struct ev *state)
{
    return state->u.qp_state.to == QPS_ERR || state->u.qp_state.to == QPS_SQE;
}

/* Indexes event @e, with index @i; all events before it are indexed. */
static enum rdl_status add_event(struct past_index *x, uint32_t i, const struct ev *e)
{
    switch (e->kind) {
    case EV_tx:
        return add_tx(x, i, e);
    case EV_rx:
    case EV_drop:
    case EV_lost:
    case EV_fault:
    case EV_eth_rx:
    case EV_port_out:
        return add_to_frame(x, i, e);
    case EV_post_send:
    case EV_post_recv:
    case EV_post_srq_recv:
        return thread_add(x, THREAD_DESCRIPTOR, i);
    case EV_fetch:
        return add_fetch(x, i, e);
    case EV_key:
        return e->u.key.rule ? thread_add(x, THREAD_REFUSED_KEYS, i) : RDL_OK;
    case EV_qp_state:
        return flushes(e) ? thread_add(x, THREAD_ERRORS, i) : RDL_OK;
    case EV_cqe:
        return add_cqe(x, i, e);
    default:
        return RDL_OK;
    }
}

static struct past_index *index_alloc(const struct past *p)
{
    struct past_index *x = calloc(1, sizeof(*x));
    const size_t bytes = (p->n + 1) * sizeof(x->before[0]); /* malloc(0) may return NULL */

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

static const struct ev *event_at(const struct past_index *x, uint32_t i)
{
    return i == PAST_NONE ? NULL : past_at(x->past, i);
}

/* The linked event of @e; PAST_NONE if there is none or @e is not in this past. */
static uint32_t about(const struct past_index *x, const struct ev *e)
{
    const size_t i = past_lower_bound(x->past, e->id);

    return i < x->past->n && past_at(x->past, i)->id == e->id ? x->about[i] : PAST_NONE;
}

/* The first event of the thread that event @i is on. */
static uint32_t first_of(const struct past_index *x, uint32_t i)
{
    while (i != PAST_NONE && x->before[i] != PAST_NONE)
        i = x->before[i];
    return i;
}

/* The last event of a thread before event @before, or PAST_NONE. */
static uint32_t last_before(const struct past_index *x, struct thread_key key, ev_id before)
{
    const size_t end = past_lower_bound(x->past, before);
    uint32_t i = thread_last(x, key);

    while (i != PAST_NONE && i >= end)
        i = x->before[i];
    return i;
}

/* Event @i, or NULL if recording was off between it and event @before, so that a newer one may be
 * missing.
 */
static const struct ev *unless_gap(const struct past_index *x, uint32_t i, ev_id before)
{
    const struct ev *e = event_at(x, i);

    return e && !past_gap_between(x->past, e->id, before) ? e : NULL;
}

uint32_t past_first_of_frame(const struct past_index *x, ev_id sent)
{
    return first_of(x, thread_last(x, frame_key(sent)));
}

uint32_t past_before(const struct past_index *x, const struct ev *e)
{
    const size_t i = past_lower_bound(x->past, e->id);

    return i < x->past->n && past_at(x->past, i)->id == e->id ? x->before[i] : PAST_NONE;
}

uint32_t past_first_tx(const struct past_index *x, const struct ev *tx)
{
    return first_of(x, thread_last(x, packet_key(tx->u.tx.host, tx->u.tx.qpn, tx->u.tx.psn)));
}

const struct ev *past_last_tx(const struct past_index *x, uint32_t host, uint32_t qpn, uint32_t psn,
                              ev_id before)
{
    return unless_gap(x, last_before(x, packet_key(host, qpn, psn), before), before);
}

/* The newest READ before index @end whose responses may include PSN @psn. */
static uint32_t last_read(const struct past_index *x, uint32_t host, uint32_t qpn, uint32_t psn,
                          size_t end)
{
    while (end > 0) {
        const struct ev *e = past_at(x->past, --end);

        if (e->kind == EV_tx && e->u.tx.host == host && e->u.tx.qpn == qpn &&
            tx_kind(e) == OPK_READ && psn_diff((struct psn){psn}, (struct psn){e->u.tx.psn}) >= 0)
            return (uint32_t)end;
    }
    return PAST_NONE;
}

const struct ev *past_last_asked(const struct past_index *x, uint32_t host, uint32_t qpn,
                                 uint32_t psn, ev_id before)
{
    uint32_t i = last_before(x, packet_key(host, qpn, psn), before);

    if (i == PAST_NONE)
        i = last_read(x, host, qpn, psn, past_lower_bound(x->past, before));
    return unless_gap(x, i, before);
}

const struct ev *past_last_response(const struct past_index *x, uint32_t host, uint32_t qpn,
                                    uint32_t psn, ev_id before)
{
    return unless_gap(x, last_before(x, response_key(host, qpn, psn), before), before);
}

const struct ev *past_answer_to(const struct past_index *x, const struct ev *rx)
{
    return event_at(x, about(x, rx));
}

const struct ev *past_covering(const struct past_index *x, const struct ev *rx, ev_id before)
{
    for (size_t i = past_lower_bound(x->past, rx->id); i < x->past->n; i++) {
        const struct ev *e = past_at(x->past, i);

        if (before && e->id >= before)
            return NULL;
        if (e->kind == EV_tx && e->u.tx.host == rx->u.rx.host && e->u.tx.qpn == rx->u.rx.qpn &&
            (is_answer(e) || is_response(e)) &&
            psn_diff((struct psn){e->u.tx.psn}, (struct psn){rx->u.rx.psn}) >= 0)
            return past_gap_between(x->past, rx->id, e->id) ? NULL : e;
    }
    return NULL;
}

const struct ev *past_post_of(const struct past_index *x, const struct ev *fetch)
{
    return unless_gap(x, about(x, fetch), fetch->id);
}

const struct ev *past_last_tx_of_request(const struct past_index *x, const struct ev *cqe)
{
    return unless_gap(x, about(x, cqe), cqe->id);
}

const struct ev *past_fetch_before(const struct past_index *x, uint32_t host, uint32_t qpn,
                                   uint64_t wr_id, ev_id before)
{
    const struct thread_key key = {THREAD_WORK_REQUEST, host, qpn, wr_id};

    return unless_gap(x, last_before(x, key, before), before);
}

const struct ev *past_fetch_of(const struct past_index *x, const struct ev *cqe)
{
    const struct ev_cqe *c = &cqe->u.cqe;

    return past_fetch_before(x, c->host, c->qpn, c->wr_id, cqe->id);
}

const struct ev *past_refused_key(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before, bool tick)
{
    const struct thread_key key = qp_key(THREAD_REFUSED_KEYS, host, qpn);
    const uint32_t i = last_before(x, key, before);
    const struct ev *last = event_at(x, i);
    const struct ev *next =
        event_at(x, i == PAST_NONE ? first_of(x, thread_last(x, key)) : x->after[i]);

    if (!tick)
        return unless_gap(x, i, before);
    if (next && ev_tick(next->id) == ev_tick(before))
        return next;
    return last && ev_tick(last->id) == ev_tick(before) ? last : NULL;
}

const struct ev *past_error_state(const struct past_index *x, uint32_t host, uint32_t qpn,
                                  ev_id before)
{
    return unless_gap(x, last_before(x, qp_key(THREAD_ERRORS, host, qpn), before), before);
}

const struct ev *past_failure_of(const struct past_index *x, const struct ev *state)
{
    const struct ev_qp_state *q = &state->u.qp_state;
    const struct ev *cqe =
        event_at(x, last_before(x, qp_key(THREAD_FAILURES, q->host, q->qpn), state->id));

    return flushes(state) && cqe && ev_tick(cqe->id) == ev_tick(state->id) ? cqe : NULL;
}

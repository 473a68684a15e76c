/* SPDX-License-Identifier: MIT */
/* The drill of shared queues: queue pairs that share completion queues and receive queues.
 *
 * Four queue pairs of h1 draw their two completion queues from two small ones, and their receives
 * from two shared receive queues or from their own.  Each is connected to a queue pair of h2.  They
 * send and receive, fail in every way, are moved to ERR, set up again, and completion queues
 * overflow.  The model knows each completion in its order, each asynchronous event and each limit.
 */
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/virtio/feature.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/srq.h"
#include "swarm/drills/kinds.h"
#include "swarm/drills/rig.h"

#define STEPS    56u
#define PAIRS    4u
#define CQS      2u
#define SRQS     2u
#define CQE_MAX  12u
#define RECV_MAX 8u /* receives of a queue */
#define SENDS    3u /* most sends of a step */
#define EVENTS   32u
#define ROOM     4096u
#define BYTES    64u  /* of a message, and of a receive */
#define OWN      SRQS /* the number of no shared receive queue */
#define TIMEOUT  4u   /* 65 us */
#define RETRIES  1u
#define RNR_CODE 1u /* 10 us */

struct shared_done {
    uint64_t wr_id;
    uint32_t status, qpn;
};

struct shared_cq {
    rdl_cq cq;
    uint32_t cqe, n;
    bool has_failed;
    struct shared_done done[CQE_MAX]; /* the @n completions that nobody has polled */
};

/* Posted receives. */
struct shared_receives {
    uint32_t n, max;
    uint64_t wr_id[RECV_MAX];
};

struct shared_pair {
    struct rig_end end, peer;
    uint32_t send_cq, recv_cq, srq;
    struct shared_receives own;
    bool is_up;    /* in RTS; otherwise in ERR */
    bool peer_up;  /* the peer is in RTS, and has not failed */
    bool has_told; /* QP_LAST_WQE_REACHED was raised since the last reset */
};

struct shared_queues {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS];
    rdl_cq peers_cq;
    uint64_t base[RIG_HOSTS];
    uint32_t key[RIG_HOSTS];
    struct shared_cq cq[CQS];
    uint32_t failed[CQS], n_failed; /* completion queues that have overflowed in this step */
    rdl_srq srq[SRQS];
    struct shared_receives shared[SRQS];
    uint32_t limit[SRQS];
    struct shared_pair pair[PAIRS];
    uint32_t n_built;
    /* The @n_free QPNs that no queue pair has, in the order in which they were given back; those
     * that none has had are the first.
     */
    uint32_t free[PAIRS + 1], n_free;
    uint64_t wr_id;
    struct {
        uint32_t type;
        uint64_t raw;
        bool has_come;
    } event[EVENTS];
    uint32_t n_events;
};

/* --- The model -------------------------------------------------------------------------------- */

static void expect_event(struct shared_queues *s, uint32_t type, uint64_t raw)
{
    RDL_ASSERT(s->n_events < EVENTS);
    s->event[s->n_events].type = type;
    s->event[s->n_events].raw = raw;
    s->event[s->n_events++].has_come = false;
}

/* A work request completes.  Returns false if the completion is lost. */
static bool completes(struct shared_queues *s, uint32_t cq, uint64_t wr_id, uint32_t status,
                      const struct shared_pair *p)
{
    struct shared_cq *c = &s->cq[cq];

    if (c->has_failed)
        return false;
    if (c->n == c->cqe) {
        c->has_failed = true;
        s->failed[s->n_failed++] = cq;
        expect_event(s, ASE_CQ_ERR, c->cq.raw);
        return false;
    }
    c->done[c->n++] = (struct shared_done){wr_id, status, p->end.qpn};
    return true;
}

static uint64_t pop(struct shared_receives *r)
{
    const uint64_t wr_id = r->wr_id[0];

    RDL_ASSERT(r->n > 0);
    memmove(r->wr_id, r->wr_id + 1, (RECV_MAX - 1) * sizeof(r->wr_id[0]));
    r->n--;
    return wr_id;
}

/* The queue pair goes to ERR, with @n sends from @first on. */
static void fails(struct shared_queues *s, struct shared_pair *p, uint64_t first, uint32_t n)
{
    p->is_up = false;
    for (uint32_t i = 0; i < n; i++)
        (void)completes(s, p->send_cq, first + i, WCS_WR_FLUSH_ERR, p);
    while (p->own.n > 0)
        (void)completes(s, p->recv_cq, pop(&p->own), WCS_WR_FLUSH_ERR, p);
    if (p->srq == OWN || p->has_told)
        return;
    p->has_told = true;
    expect_event(s, ASE_QP_LAST_WQE_REACHED, p->end.qp.raw);
}

/* Returns the queue pair in RTS with the lowest QPN that uses @cq, or NULL. */
static struct shared_pair *next_user(struct shared_queues *s, uint32_t cq)
{
    struct shared_pair *ret = NULL;

    for (struct shared_pair *p = s->pair; p < s->pair + PAIRS; p++) {
        if (p->is_up && (p->send_cq == cq || p->recv_cq == cq) &&
            (!ret || p->end.qpn < ret->end.qpn))
            ret = p;
    }
    return ret;
}

/* All that use a completion queue that has overflowed fail, too; that may fill another one. */
static void settle(struct shared_queues *s)
{
    for (uint32_t k = 0; k < s->n_failed; k++) {
        struct shared_pair *p;

        while ((p = next_user(s, s->failed[k]))) {
            fails(s, p, 0, 0);
            expect_event(s, ASE_QP_FATAL, p->end.qp.raw);
        }
    }
    s->n_failed = 0;
}

static struct shared_receives *receives_of(struct shared_queues *s, struct shared_pair *p)
{
    return p->srq == OWN ? &p->own : &s->shared[p->srq];
}

/* A message of the peer comes.  Returns the status with which the peer's send completes. */
static uint32_t arrives(struct shared_queues *s, struct shared_pair *p)
{
    struct shared_receives *r = receives_of(s, p);
    uint64_t wr_id;

    if (r->n == 0)
        return WCS_RNR_RETRY_EXC_ERR;
    wr_id = pop(r);
    if (p->srq != OWN && r->n < s->limit[p->srq]) {
        s->limit[p->srq] = 0;
        expect_event(s, ASE_SRQ_LIMIT_REACHED, s->srq[p->srq].raw);
    }
    if (completes(s, p->recv_cq, wr_id, WCS_SUCCESS, p))
        return WCS_SUCCESS;
    fails(s, p, 0, 0);
    expect_event(s, ASE_QP_FATAL, p->end.qp.raw);
    return WCS_RETRY_EXC_ERR;
}

/* --- What has happened ------------------------------------------------------------------------ */

static bool events_are_right(struct drill *d)
{
    struct shared_queues *s = d->own;
    struct rdl_async_event e;
    size_t n = 1;

    while (n > 0) {
        uint32_t i = 0;

        if (!drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &n), "events can be taken"))
            return false;
        if (n == 0)
            break;
        while (i < s->n_events &&
               (s->event[i].has_come || s->event[i].type != e.type || s->event[i].raw != e.raw))
            i++;
        if (!drill_expect(d, i < s->n_events, "each object tells of what befell it, once",
                          "%s of %u", enum_name(&enum_async_event, e.type), e.number) ||
            !drill_works(d, rdl_ack_async_event(d->lab, &e), "an event can be acknowledged"))
            return false;
        s->event[i].has_come = true;
    }
    for (uint32_t i = 0; i < s->n_events; i++) {
        if (!drill_expect(d, s->event[i].has_come, "each object tells of what befell it", "no %s",
                          enum_name(&enum_async_event, s->event[i].type)))
            return false;
    }
    s->n_events = 0;
    return true;
}

/* Polls up to @n completions of @cq, or all and one more. */
static bool polls(struct drill *d, uint32_t cq, uint32_t n)
{
    struct shared_queues *s = d->own;
    struct shared_cq *c = &s->cq[cq];
    const uint32_t n_all = c->n;

    for (uint32_t i = 0; i < n && i <= n_all; i++) {
        const struct shared_done *want = &c->done[i];
        struct rdl_wc wc;
        const bool is_done = rig_poll(d, c->cq, &wc);

        if (d->wrong ||
            !drill_expect(d, is_done == (i < n_all), "what is done completes, once",
                          "completion %u of %u is %s", i, n_all, is_done ? "there" : "missing"))
            return false;
        if (is_done &&
            !drill_expect(
                d, wc.wr_id == want->wr_id && wc.status == want->status && wc.qp_num == want->qpn,
                "a completion queue has what is done, in its order",
                "wr_id %u, %s of %u, not %u, %s of %u", (unsigned)wc.wr_id,
                enum_name(&enum_wc_status, wc.status), wc.qp_num, (unsigned)want->wr_id,
                enum_name(&enum_wc_status, want->status), want->qpn))
            return false;
    }
    n = n < n_all ? n : n_all;
    memmove(c->done, c->done + n, (CQE_MAX - n) * sizeof(c->done[0]));
    c->n -= n;
    return true;
}

/* Empties the completion queue of h2.  The send @wr_id must have ended with @status; 0: none. */
static bool peer_ended(struct drill *d, uint64_t wr_id, uint32_t status)
{
    const struct shared_queues *s = d->own;
    bool has_come = wr_id == 0;
    struct rdl_wc wc;

    while (rig_poll(d, s->peers_cq, &wc)) {
        if (wr_id == 0 || wc.wr_id != wr_id)
            continue;
        has_come = true;
        if (!drill_expect(d, wc.status == status, "a send ends as its receiver decides",
                          "%s, not %s", enum_name(&enum_wc_status, wc.status),
                          enum_name(&enum_wc_status, status)))
            return false;
    }
    return drill_expect(d, has_come, "a send ends", "wr_id %u does not", (unsigned)wr_id);
}

static bool states_are_right(struct drill *d)
{
    struct shared_queues *s = d->own;

    for (uint32_t i = 0; i < PAIRS; i++) {
        const struct shared_pair *p = &s->pair[i];
        struct rdl_qp_info info;

        if (!drill_is_done(d, s->host[0], rdl_query_qp(d->lab, p->end.qp), "a query is answered") ||
            !drill_works(d, rdl_qp_info(d->lab, p->end.qp, &info), "a queue pair has a state") ||
            !drill_expect(d, info.attr.state == (uint32_t)(p->is_up ? QPS_RTS : QPS_ERR),
                          "queue pairs fail with their queues, and no others", "%s is in %s",
                          p->end.name, enum_name(&enum_qp_state, info.attr.state)))
            return false;
    }
    return true;
}

/* --- The objects ------------------------------------------------------------------------------ */

static bool raise_pair(struct drill *d, struct shared_pair *p)
{
    struct rdl_qp_attr a = {0};

    p->own.n = 0;
    p->is_up = p->peer_up = true;
    p->has_told = false;
    p->end.sq_psn = drill_below(d, 1u << 24);
    p->peer.sq_psn = drill_below(d, 1u << 24);
    return rig_modify(d, &p->end, &a, QPS_RESET, 0) && rig_modify(d, &p->peer, &a, QPS_RESET, 0) &&
           rig_connect(d, &p->end, &p->peer);
}

static bool add_cqs(struct drill *d)
{
    struct shared_queues *s = d->own;

    for (uint32_t i = 0; i < CQS; i++) {
        s->cq[i] = (struct shared_cq){.cqe = 1 + drill_below(d, CQE_MAX)};
        if (!drill_is_done(d, s->host[0],
                           rdl_create_cq(d->lab, s->host[0], s->cq[i].cqe, NULL, &s->cq[i].cq),
                           "a CQ can be created"))
            return false;
    }
    return true;
}

static bool add_pair(struct drill *d, uint32_t i)
{
    struct shared_queues *s = d->own;
    struct shared_pair *p = &s->pair[i];
    struct rdl_qp_config c = {.pd = s->pd[0], .type = QPT_RC};
    const struct rdl_qp_config of_peer = {
        .pd = s->pd[1], .type = QPT_RC, .send_cq = s->peers_cq, .recv_cq = s->peers_cq};
    const bool has_peer = s->n_built > 0;
    const struct rig_end common = {
        .access = rig_rights, .timeout = TIMEOUT, .retry_cnt = RETRIES, .min_rnr_timer = RNR_CODE};

    p->send_cq = drill_below(d, CQS);
    p->recv_cq = drill_below(d, CQS);
    p->srq = drill_below(d, SRQS + 1);
    p->own = (struct shared_receives){.max = RECV_MAX};
    c.send_cq = s->cq[p->send_cq].cq;
    c.recv_cq = s->cq[p->recv_cq].cq;
    if (p->srq != OWN)
        c.srq = s->srq[p->srq];
    p->end = common;
    p->end.host = s->host[0];
    snprintf(p->end.name, sizeof(p->end.name), "q%u_%u", i, s->n_built);
    if (!rig_add_qp(d, &p->end, &c) ||
        !drill_expect(d, p->end.qpn == s->free[0], "the QPN that is free for longest is next",
                      "%u, not %u", p->end.qpn, s->free[0]))
        return false;
    memmove(s->free, s->free + 1, PAIRS * sizeof(s->free[0]));
    s->n_free--;
    if (!has_peer) {
        p->peer = common;
        p->peer.host = s->host[1];
        p->peer.number = 1;
        snprintf(p->peer.name, sizeof(p->peer.name), "p%u", i);
        if (!rig_add_qp(d, &p->peer, &of_peer))
            return false;
    }
    return raise_pair(d, p);
}

static bool add_pairs(struct drill *d)
{
    struct shared_queues *s = d->own;

    for (uint32_t i = 0; i < PAIRS; i++) {
        if (!add_pair(d, i))
            return false;
    }
    s->n_built++;
    return true;
}

/* Destroys queue pairs and completion queues, and makes others.  The shared receives stay. */
static bool builds_again(struct drill *d)
{
    struct shared_queues *s = d->own;
    const uint32_t first = drill_below(d, PAIRS);

    for (uint32_t i = 0; i < PAIRS; i++) {
        const struct rig_end *e = &s->pair[(first + i) % PAIRS].end;

        s->free[s->n_free++] = e->qpn;
        if (!drill_is_done(d, s->host[0], rdl_destroy_qp(d->lab, e->qp),
                           "a queue pair can be destroyed"))
            return false;
    }
    for (uint32_t i = 0; i < CQS; i++) {
        if (!drill_is_done(d, s->host[0], rdl_destroy_cq(d->lab, s->cq[i].cq),
                           "a completion queue can be destroyed"))
            return false;
    }
    return add_cqs(d) && add_pairs(d);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static bool judge(struct drill *d, uint64_t of_peer, uint32_t status)
{
    struct shared_queues *s = d->own;
    bool has_failed = false;

    settle(s);
    if (!peer_ended(d, of_peer, status) || !events_are_right(d) || !states_are_right(d))
        return false;
    for (uint32_t i = 0; i < CQS; i++)
        has_failed |= s->cq[i].has_failed;
    for (uint32_t i = 0; i < CQS; i++) {
        const uint32_t n = drill_one_in(d, 2) ? 0 : drill_below(d, CQE_MAX + 2);

        if (!polls(d, i, has_failed ? CQE_MAX + 1 : n))
            return false;
    }
    return !has_failed || builds_again(d);
}

static void post_receive(struct drill *d, struct shared_pair *p)
{
    struct shared_queues *s = d->own;
    struct shared_receives *r = receives_of(s, p);
    const struct rdl_sge sge = {s->base[0], BYTES, s->key[0]};
    const struct rdl_recv_wr wr = {.wr_id = ++s->wr_id, .sge = &sge, .n_sge = 1};
    const bool is_full = r->n == r->max;
    const enum rdl_status st = p->srq == OWN
                                   ? rdl_post_recv(d->lab, p->end.qp, &wr, false)
                                   : rdl_post_srq_recv(d->lab, s->srq[p->srq], &wr, false);

    if (is_full && p->srq == OWN)
        return;
    if (!drill_expect(d, st == (is_full ? RDL_ERR_QUEUE_FULL : RDL_OK),
                      "a queue has room for its receives, and no more", "%s",
                      rdl_status_name(st)) ||
        !drill_settle(d))
        return;
    if (!is_full)
        r->wr_id[r->n++] = wr.wr_id;
    if (!p->is_up && p->srq == OWN)
        fails(s, p, 0, 0);
    (void)judge(d, 0, 0);
}

static bool post_send(struct drill *d, const struct rig_end *e, uint32_t flags, uint32_t spoil)
{
    struct shared_queues *s = d->own;
    const struct rdl_sge sge = {s->base[e->number], BYTES, s->key[e->number] ^ spoil};
    const struct rdl_send_wr wr = {
        .wr_id = ++s->wr_id, .opcode = WR_SEND, .flags = flags, .sge = &sge, .n_sge = 1};

    return drill_works(d, rdl_post_send(d->lab, e->qp, &wr, false), "a request can be posted");
}

static void receive(struct drill *d, struct shared_pair *p)
{
    struct shared_queues *s = d->own;
    uint32_t status;

    if (!p->is_up || !p->peer_up || !post_send(d, &p->peer, SF_SIGNALED, 0) || !drill_settle(d))
        return;
    status = arrives(s, p);
    p->peer_up = status == WCS_SUCCESS;
    (void)judge(d, s->wr_id, status);
}

static bool post_peer_receive(struct drill *d, struct shared_pair *p)
{
    struct shared_queues *s = d->own;
    const struct rdl_sge sge = {s->base[1], BYTES, s->key[1]};
    const struct rdl_recv_wr wr = {.wr_id = ++s->wr_id, .sge = &sge, .n_sge = 1};

    return drill_works(d, rdl_post_recv(d->lab, p->peer.qp, &wr, false), "a receive can be posted");
}

/* Sends messages that arrive.  In ERR they are flushed. */
static void send(struct drill *d, struct shared_pair *p)
{
    struct shared_queues *s = d->own;
    const uint32_t n = 1 + drill_below(d, SENDS);
    bool is_signaled[SENDS];

    if (p->is_up && !p->peer_up)
        return;
    for (uint32_t i = 0; i < n && p->is_up; i++) {
        if (!post_peer_receive(d, p))
            return;
    }
    for (uint32_t i = 0; i < n; i++) {
        is_signaled[i] = !drill_one_in(d, 4);
        if (!post_send(d, &p->end, is_signaled[i] ? SF_SIGNALED : 0, 0))
            return;
    }
    if (!drill_settle(d))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (is_signaled[i] || !p->is_up)
            (void)completes(s, p->send_cq, s->wr_id - n + 1 + i,
                            p->is_up ? WCS_SUCCESS : WCS_WR_FLUSH_ERR, p);
    }
    (void)judge(d, 0, 0);
}

/* Sends messages of which the first fails: it has a wrong key, or its peer does not answer. */
static void send_in_vain(struct drill *d, struct shared_pair *p)
{
    struct shared_queues *s = d->own;
    const uint32_t n = 1 + drill_below(d, SENDS);
    const bool has_key = drill_one_in(d, 2);
    struct rdl_qp_attr a = {0};

    if (!p->is_up || (has_key && !rig_modify(d, &p->peer, &a, QPS_RESET, 0)))
        return;
    p->peer_up = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!post_send(d, &p->end, drill_one_in(d, 2) ? SF_SIGNALED : 0, i == 0 && !has_key))
            return;
    }
    if (!drill_settle(d))
        return;
    (void)completes(s, p->send_cq, s->wr_id - n + 1, has_key ? WCS_RETRY_EXC_ERR : WCS_LOC_PROT_ERR,
                    p);
    fails(s, p, s->wr_id - n + 2, n - 1);
    (void)judge(d, 0, 0);
}

static void move_to_err(struct drill *d, struct shared_pair *p)
{
    struct rdl_qp_attr a = {0};

    if (!rig_modify(d, &p->end, &a, QPS_ERR, 0) || !drill_settle(d))
        return;
    fails(d->own, p, 0, 0);
    (void)judge(d, 0, 0);
}

static void set_limit(struct drill *d, uint32_t i)
{
    struct shared_queues *s = d->own;
    const uint32_t max = s->shared[i].max;
    struct rdl_srq_attr a = {.limit = drill_below(d, max + 2)};
    const bool is_right = a.limit <= max;
    struct rdl_srq_info info;
    enum rdl_status st = rdl_modify_srq(d->lab, s->srq[i], &a, RDL_SRQ_LIMIT);

    if (st == RDL_OK)
        st = drill_answer(d, s->host[0]);
    if (!drill_expect(d, st == (is_right ? RDL_OK : RDL_ERR_INVAL),
                      "a limit is at most the number of receives", "%u of %u: %s", a.limit, max,
                      rdl_status_name(st)))
        return;
    if (is_right)
        s->limit[i] = a.limit;
    if (drill_is_done(d, s->host[0], rdl_query_srq(d->lab, s->srq[i]), "a query is answered") &&
        drill_works(d, rdl_srq_info(d->lab, s->srq[i], &info), "a shared queue has attributes") &&
        drill_expect(d, info.attr.limit == s->limit[i] && info.attr.max_wr == max,
                     "a shared queue has the limit that it was given", "%u, not %u",
                     info.attr.limit, s->limit[i]))
        (void)judge(d, 0, 0);
}

static void resize(struct drill *d, uint32_t i)
{
    struct shared_queues *s = d->own;
    struct shared_cq *c = &s->cq[i];
    const uint32_t cqe = drill_below(d, CQE_MAX + 1);
    const bool is_right = cqe > 0 && cqe >= c->n;
    enum rdl_status st = rdl_resize_cq(d->lab, c->cq, cqe);

    if (st == RDL_OK)
        st = drill_answer(d, s->host[0]);
    if (!drill_expect(d, st == (is_right ? RDL_OK : RDL_ERR_INVAL),
                      "a completion queue gets room for what is in it", "%u for %u: %s", cqe, c->n,
                      rdl_status_name(st)))
        return;
    if (is_right)
        c->cqe = cqe;
    (void)judge(d, 0, 0);
}

static void take(struct drill *d)
{
    struct shared_queues *s = d->own;
    struct shared_pair *p = &s->pair[drill_below(d, PAIRS)];

    d->n_unsaid++;
    switch (drill_below(d, 16)) {
    case 0:
        move_to_err(d, p);
        break;
    case 1:
        send_in_vain(d, p);
        break;
    case 2:
        if (drill_one_in(d, 2))
            set_limit(d, drill_below(d, SRQS));
        else
            resize(d, drill_below(d, CQS));
        break;
    case 3:
    case 4:
    case 5:
        send(d, p);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        receive(d, p);
        break;
    case 10:
    case 11:
        if (!p->is_up || !p->peer_up)
            (void)(raise_pair(d, p) && judge(d, 0, 0));
        break;
    default:
        post_receive(d, p);
        break;
    }
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_memory(struct drill *d, unsigned host)
{
    struct shared_queues *s = d->own;
    struct rdl_mr_info info;
    rdl_mr mr;

    if (!drill_is_done(d, s->host[host], rdl_alloc_pd(d->lab, s->host[host], "pd", &s->pd[host]),
                       "a domain can be had") ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host[host], ROOM, &s->base[host]),
                     "memory can be had") ||
        !drill_is_done(
            d, s->host[host],
            rdl_reg_mr(d->lab, s->pd[host], s->base[host], ROOM, rig_rights, "mine", &mr),
            "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->key[host] = info.lkey;
    return true;
}

static void set_up(struct drill *d)
{
    const struct rig_config c = {.max_qp = 1 + PAIRS + drill_below(d, 2)};
    struct shared_queues *s = d->own;
    struct rdl_async_event e;
    size_t n = 1;

    for (uint32_t i = 2; i <= c.max_qp; i++)
        s->free[s->n_free++] = i;
    if (!rig_add_hosts(d, &c, s->host, &s->link) || !add_memory(d, 0) || !add_memory(d, 1) ||
        !drill_is_done(d, s->host[1], rdl_create_cq(d->lab, s->host[1], 128, "cq", &s->peers_cq),
                       "a CQ can be created"))
        return;
    for (uint32_t i = 0; i < SRQS; i++) {
        const struct rdl_srq_attr a = {.max_wr = 1 + drill_below(d, RECV_MAX)};

        s->shared[i].max = a.max_wr;
        if (!drill_is_done(d, s->host[0], rdl_create_srq(d->lab, s->pd[0], &a, NULL, &s->srq[i]),
                           "a shared queue can be created"))
            return;
    }
    if (!add_cqs(d) || !add_pairs(d))
        return;
    while (n > 0 &&
           drill_works(d, rdl_get_async_event(d->lab, s->host[0], &e, &n), "events can be taken"))
        ; /* the port is active */
}

const struct drill_kind drill_of_shared = {.name = "shared",
                                           .bytes = sizeof(struct shared_queues),
                                           .steps = STEPS,
                                           .set_up = set_up,
                                           .take = take,
                                           .extensions = EXTEND_UNSEEN};

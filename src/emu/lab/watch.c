/* SPDX-License-Identifier: MIT */
/* See watch.h for the invariants.  A request is *returned* by its used event. */
#include "emu/lab/watch.h"

#include <stdlib.h>
#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/event.h"
#include "emu/wire/parse.h"

struct watched_post {
    uint64_t wr_id;
    uint32_t desc;
    bool signaled;
};

/* One work queue: a growing ring of the requests posted and not returned. */
struct watched_wq {
    struct watched_post *ring;
    uint32_t cap, first, len;
    struct watched_post returned; /* the request returned last */
    bool awaits;                  /* its completion is still to come */
};

struct watched_qp {
    struct watched_wq wq[2]; /* indexed by enum wq */
    struct psn high;         /* the highest PSN of its acknowledges and responses */
    uint64_t high_at;        /* sequence position of @high; 0: none was sent */
    uint64_t ack_at;         /* sequence position of the last positive acknowledge */
    bool drained;            /* SQ_DRAINED was reported since the move to SQD */
};

/* A shared receive queue: the receives posted and not returned, which may complete in any order. */
struct watched_srq {
    struct watched_post *v;
    uint32_t cap, len;
};

struct watched_host {
    struct watched_qp *qps; /* by QPN */
    uint32_t n_qps;
    struct watched_srq *srqs; /* by SRQN */
    uint32_t n_srqs;
    struct watched_post shared; /* the shared receive returned last */
    bool shared_awaits;         /* its completion is still to come; none comes after a reset */
};

struct watch {
    const struct lab_state *state;
    struct watched_host *hosts;
    uint32_t n_hosts;
    bool blind;         /* no more checks: memory was short, a ring was broken or overwritten */
    const char *broken; /* NULL: all invariants hold */
};

struct watch *watch_new(const struct lab_state *w)
{
    struct watch *s = calloc(1, sizeof(*s));

    if (s)
        s->state = w;
    return s;
}

static void forget(struct watch *s)
{
    for (uint32_t h = 0; h < s->n_hosts; h++) {
        for (uint32_t q = 0; q < s->hosts[h].n_srqs; q++)
            free(s->hosts[h].srqs[q].v);
        free(s->hosts[h].srqs);
        for (uint32_t q = 0; q < s->hosts[h].n_qps; q++) {
            free(s->hosts[h].qps[q].wq[WQ_SEND].ring);
            free(s->hosts[h].qps[q].wq[WQ_RECV].ring);
        }
        free(s->hosts[h].qps);
    }
    free(s->hosts);
    s->hosts = NULL;
    s->n_hosts = 0;
}

/* Gives @q, a shallow copy, a ring of its own.  Returns false when memory is short. */
static bool own_ring(struct watched_wq *q)
{
    const struct watched_post *ring = q->ring;
    const size_t bytes = q->cap * sizeof(*ring);

    q->ring = bytes ? malloc(bytes) : NULL;
    if (q->ring)
        memcpy(q->ring, ring, bytes);
    return q->ring || bytes == 0;
}

static bool copy_srqs(struct watched_host *to, const struct watched_host *from)
{
    to->shared = from->shared;
    to->shared_awaits = from->shared_awaits;
    to->srqs = calloc(from->n_srqs + 1u, sizeof(*to->srqs));
    for (uint32_t i = 0; to->srqs && i < from->n_srqs; i++) {
        const struct watched_srq *q = &from->srqs[i];

        to->n_srqs = i + 1;
        if (q->len == 0)
            continue;
        to->srqs[i].v = malloc(q->len * sizeof(*q->v));
        if (!to->srqs[i].v)
            return false;
        memcpy(to->srqs[i].v, q->v, q->len * sizeof(*q->v));
        to->srqs[i].len = to->srqs[i].cap = q->len;
    }
    return to->srqs != NULL;
}

static bool copy_host(struct watched_host *to, const struct watched_host *from)
{
    bool ok = copy_srqs(to, from);

    to->qps = calloc(from->n_qps + 1u, sizeof(*to->qps));
    if (!to->qps)
        return false;
    to->n_qps = from->n_qps;
    for (uint32_t q = 0; q < from->n_qps; q++) {
        to->qps[q] = from->qps[q];
        for (unsigned i = 0; i < 2; i++)
            ok = own_ring(&to->qps[q].wq[i]) && ok;
    }
    return ok;
}

/* Copies the state of @from into the empty @to.  Returns false when memory is short. */
static bool learn(struct watch *to, const struct watch *from)
{
    to->state = from->state;
    to->blind = from->blind;
    to->broken = from->broken;
    to->hosts = calloc(from->n_hosts + 1u, sizeof(*to->hosts));
    if (!to->hosts)
        return false;
    for (; to->n_hosts < from->n_hosts; to->n_hosts++) {
        if (!copy_host(&to->hosts[to->n_hosts], &from->hosts[to->n_hosts])) {
            to->n_hosts++; /* counts the incomplete copy, so that it is freed */
            return false;
        }
    }
    return true;
}

struct watch *watch_copy(const struct watch *s)
{
    struct watch *c = s ? calloc(1, sizeof(*c)) : NULL;

    if (c && learn(c, s))
        return c;
    watch_free(c);
    return NULL;
}

void watch_become(struct watch *s, const struct watch *then)
{
    forget(s);
    if (learn(s, then))
        return;
    forget(s);
    s->blind = true;
}

void watch_free(struct watch *s)
{
    if (!s)
        return;
    forget(s);
    free(s);
}

const char *watch_broken(const struct watch *s)
{
    return s->broken;
}

/* Returns true if someone other than the lab's drivers may have written to a host's rings. */
static bool rings_are_open(const struct lab_state *w)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        if (host_is_open(w->hosts[i]))
            return true;
    }
    return false;
}

static void fail(struct watch *s, const char *what)
{
    if (!s->broken && !s->blind && rings_are_open(s->state))
        s->blind = true;
    if (!s->broken && !s->blind)
        s->broken = what;
}

/* Grows *@v to at least @need elements of @size bytes, new ones zeroed. */
static bool reserve(void **v, uint32_t *n, uint32_t need, size_t size)
{
    void *bigger;

    if (need <= *n)
        return true;
    if (need < 2 * *n)
        need = 2 * *n;
    bigger = realloc(*v, need * size);
    if (!bigger)
        return false;
    memset((char *)bigger + *n * size, 0, (need - *n) * size);
    *v = bigger;
    *n = need;
    return true;
}

static struct watched_host *host_at(struct watch *s, uint32_t host)
{
    void *hosts = s->hosts;

    if (!reserve(&hosts, &s->n_hosts, host + 1, sizeof(*s->hosts)))
        return NULL;
    s->hosts = hosts;
    return &s->hosts[host];
}

static struct watched_srq *srq_at(struct watch *s, uint32_t host, uint32_t srqn)
{
    struct watched_host *h = host_at(s, host);
    void *srqs;

    if (!h)
        return NULL;
    srqs = h->srqs;
    if (!reserve(&srqs, &h->n_srqs, srqn + 1, sizeof(*h->srqs)))
        return NULL;
    h->srqs = srqs;
    return &h->srqs[srqn];
}

static struct watched_qp *qp_at(struct watch *s, uint32_t host, uint32_t qpn)
{
    void *qps;

    if (!host_at(s, host))
        return NULL;
    qps = s->hosts[host].qps;
    if (!reserve(&qps, &s->hosts[host].n_qps, qpn + 1, sizeof(*s->hosts[host].qps)))
        return NULL;
    s->hosts[host].qps = qps;
    return &s->hosts[host].qps[qpn];
}

static const struct qp *device_qp(const struct watch *s, uint32_t host, uint32_t qpn)
{
    return hca_qp(&s->state->hosts[host]->rnic->hca, qpn);
}

/* Returns true if events tell when the host's device gives work requests back: the chains of
 * virtio.
 */
static bool tells_returns(const struct watch *s, uint32_t host)
{
    return host_rdma(s->state->hosts[host]) != NULL;
}

static void push(struct watch *s, uint32_t host, uint32_t qpn, enum wq which, struct watched_post p)
{
    struct watched_qp *qp = qp_at(s, host, qpn);
    struct watched_wq *q = qp ? &qp->wq[which] : NULL;

    if (!tells_returns(s, host))
        return;
    if (q && q->len == q->cap) {
        const uint32_t cap = q->cap ? 2 * q->cap : 16;
        struct watched_post *ring = malloc(cap * sizeof(*ring));

        for (uint32_t i = 0; ring && i < q->len; i++)
            ring[i] = q->ring[(q->first + i) % q->cap];
        if (ring) {
            free(q->ring);
            *q = (struct watched_wq){ring, cap, 0, q->len, q->returned, q->awaits};
        }
    }
    if (!q || q->len == q->cap)
        s->blind = true;
    else
        q->ring[(q->first + q->len++) % q->cap] = p;
}

static void on_post_shared(struct watch *s, const struct ev_post_srq_recv *e)
{
    struct watched_srq *q = srq_at(s, e->host, e->number);
    void *v = q ? q->v : NULL;

    if (!tells_returns(s, e->host))
        return;
    if (!q || !reserve(&v, &q->cap, q->len + 1, sizeof(*q->v))) {
        s->blind = true;
        return;
    }
    q->v = v;
    q->v[q->len++] = (struct watched_post){e->wr_id, e->desc, true};
}

/* A shared receive was returned. */
static void on_used_shared(struct watch *s, const struct ev_used *e, uint32_t srqn)
{
    struct watched_srq *q = srq_at(s, e->host, srqn);
    uint32_t i = 0;

    if (!q) {
        s->blind = true;
        return;
    }
    while (i < q->len && q->v[i].desc != e->desc)
        i++;
    if (i == q->len) {
        fail(s, "only shared receives that were posted are given back");
        return;
    }
    s->hosts[e->host].shared = q->v[i];
    s->hosts[e->host].shared_awaits = true;
    q->v[i] = q->v[--q->len];
}

/* A shared receive completed. */
static void on_cqe_shared(struct watch *s, const struct ev_cqe *e)
{
    struct watched_host *h = host_at(s, e->host);

    if (!h) {
        s->blind = true;
        return;
    }
    if (!h->shared_awaits || h->shared.wr_id != e->wr_id)
        fail(s, "a completion names the shared receive that was given back last");
    h->shared_awaits = false;
}

/* A chain of a work queue was returned. */
static void on_used(struct watch *s, const struct ev_used *e)
{
    const struct rnic_config *c;
    const struct qp *dev;
    struct watched_wq *q;
    struct watched_qp *qp;
    uint32_t qpn, srqn;

    if (e->function != FN_RDMA)
        return;
    c = s->state->hosts[e->host]->rnic->config;
    qpn = queue_owner(c->max_cq, e->queue);
    srqn = queue_srqn(c->max_cq, c->max_qp, e->queue);
    if (srqn > 0 && srqn <= c->max_srq)
        on_used_shared(s, e, srqn);
    if (qpn == 0 || qpn > c->max_qp)
        return;
    qp = qp_at(s, e->host, qpn);
    if (!qp) {
        s->blind = true;
        return;
    }
    q = &qp->wq[queue_is_sends(c->max_cq, e->queue) ? WQ_SEND : WQ_RECV];
    if (q->awaits)
        fail(s, "what was given back and is signaled has its completion at once");
    if (q->len == 0) {
        fail(s, "only what was posted is given back");
        return;
    }
    q->returned = q->ring[q->first];
    q->first = (q->first + 1) % q->cap;
    q->len--;
    if (q->returned.desc != e->desc)
        fail(s, "work requests are given back in the order of posting");
    /* Requests that a reset returns have no completions. */
    dev = device_qp(s, e->host, qpn);
    q->awaits = q->returned.signaled && !(dev && dev->state == QPS_RESET);
}

/* The RNIC has completed a request of @dev, or a router has passed such a completion on. */
static void check_state(struct watch *s, const struct qp *dev, uint32_t status, bool passed_on)
{
    if (dev && dev->state == QPS_ERR && status == WCS_SUCCESS && !passed_on)
        fail(s, "nothing completes with success in ERR");
    if (dev && dev->state == QPS_RESET)
        fail(s, "nothing completes in RESET");
}

static bool has_router(const struct watch *s, uint32_t host)
{
    return host < s->state->n_hosts && s->state->hosts[host]->rnic &&
           s->state->hosts[host]->rnic->router;
}

static void on_cqe(struct watch *s, const struct ev_cqe *e)
{
    const struct qp *dev = device_qp(s, e->host, e->qpn);
    struct watched_qp *qp = qp_at(s, e->host, e->qpn);
    struct watched_wq *q = qp ? &qp->wq[e->op >= WC_RECV ? WQ_RECV : WQ_SEND] : NULL;

    if (!q) {
        s->blind = true;
        return;
    }
    if (!tells_returns(s, e->host)) {
        q->awaits = false;
    } else if (dev && dev->srq && e->op >= WC_RECV) {
        on_cqe_shared(s, e);
    } else {
        if (q->returned.wr_id != e->wr_id)
            fail(s, "a completion names the work request that was given back last");
        if (!q->awaits && e->status == WCS_SUCCESS)
            fail(s, "an unsignaled success has no completion, and nothing completes twice");
        q->awaits = false;
    }
    check_state(s, dev, e->status, has_router(s, e->host));
}

/* RTR starts a new connection with new PSNs. */
static void on_state(struct watch *s, const struct ev_qp_state *e)
{
    struct watched_qp *qp = qp_at(s, e->host, e->qpn);

    if (qp && e->to == QPS_RTR) {
        qp->high_at = 0;
        qp->ack_at = 0;
    }
    if (qp && e->from != e->to)
        qp->drained = false;
}

/* Checks that the queue pair is in the state that its asynchronous event reports. */
static void on_async(struct watch *s, const struct ev_async_event *e)
{
    const struct qp *dev = e->object == OBJ_QP ? device_qp(s, e->host, e->number) : NULL;
    struct watched_qp *qp = dev ? qp_at(s, e->host, e->number) : NULL;

    if (!qp)
        return;
    if (e->event == ASE_SQ_DRAINED) {
        if (dev->state != QPS_SQD || qp->drained)
            fail(s, "a send queue is drained once for each move to SQD");
        qp->drained = true;
    } else if (e->event != ASE_COMM_EST && dev->state != QPS_ERR) {
        fail(s, "a queue pair that tells of its failure is in ERR");
    }
}

/* The next object with this number begins with empty queues. */
static void on_gone(struct watch *s, const struct ev_gone *e)
{
    struct watched_qp *qp = e->object == OBJ_QP ? qp_at(s, e->host, e->number) : NULL;
    struct watched_srq *srq = e->object == OBJ_SRQ ? srq_at(s, e->host, e->number) : NULL;

    for (uint32_t i = 0; qp && i < 2; i++) {
        qp->wq[i].len = 0;
        qp->wq[i].awaits = false;
    }
    if (srq)
        srq->len = 0;
}

/* Resetting a queue that a queue pair uses is legal, but its completions then lack used events. */
static void on_queue_reset(struct watch *s, const struct ev_queue_reset *e)
{
    const struct rnic *n = s->state->hosts[e->host]->rnic;
    const struct qp *dev;
    const struct srq *srq;

    if (e->function != FN_RDMA)
        return;
    dev = device_qp(s, e->host, queue_owner(n->config->max_cq, e->queue));
    srq = hca_srq(&n->hca, queue_srqn(n->config->max_cq, n->config->max_qp, e->queue));
    if ((dev && dev->state != QPS_RESET) || (srq && srq->users > 0))
        s->blind = true;
}

/* The sequence position of PSN @psn since the connection began.  PSNs wrap, and READs may take more
 * PSNs between two acknowledges than can be compared; but responses are sent one by one.
 */
static uint64_t place_of(struct watched_qp *qp, struct psn psn)
{
    const int32_t ahead = psn_diff(psn, qp->high);
    const uint64_t at = qp->high_at + (uint64_t)(int64_t)ahead;

    if (ahead > 0) {
        qp->high = psn;
        qp->high_at = at;
    }
    return at;
}

static void on_tx(struct watch *s, const struct ev_tx *e)
{
    const enum op_kind kind = op_info((uint8_t)e->opcode)->kind;
    const bool is_data = kind == OPK_READ_RESPONSE || kind == OPK_ATOMIC_ACK;
    struct watched_qp *qp;
    uint64_t at;

    if (!is_data && (e->opcode != OP_RC_ACKNOWLEDGE || e->syndrome != SYN_ACK))
        return;
    if (e->host >= EV_PORT_FIRST || e->qpn == 0)
        /* frames from external ports, and packets that a user built, belong to no queue pair */
        return;
    qp = qp_at(s, e->host, e->qpn);
    if (!qp)
        return;
    if (qp->high_at == 0) {
        qp->high_at = UINT64_MAX / 2;
        qp->high = (struct psn){e->psn};
    }
    at = place_of(qp, (struct psn){e->psn});
    if (is_data)
        return; /* responses to READs and atomics are sent again for duplicate requests */
    if (at < qp->ack_at)
        fail(s, "positive acknowledges never go back");
    qp->ack_at = at;
}

static void on_post_send(struct watch *s, const struct ev_post_send *e)
{
    const struct qp *dev = device_qp(s, e->host, e->qpn);
    const bool signaled = (e->flags & SF_SIGNALED) || (dev && dev->config.sig_all);

    push(s, e->host, e->qpn, WQ_SEND, (struct watched_post){e->wr_id, e->desc, signaled});
}

void watch_event(void *ctx, const struct ev *e)
{
    struct watch *s = ctx;

    switch (e->kind) {
    case EV_post_send:
        on_post_send(s, &e->u.post_send);
        break;
    case EV_post_recv:
        push(s, e->u.post_recv.host, e->u.post_recv.qpn, WQ_RECV,
             (struct watched_post){e->u.post_recv.wr_id, e->u.post_recv.desc, true});
        break;
    case EV_post_srq_recv:
        on_post_shared(s, &e->u.post_srq_recv);
        break;
    case EV_used:
        on_used(s, &e->u.used);
        break;
    case EV_cqe:
        on_cqe(s, &e->u.cqe);
        break;
    case EV_router_completion:
        check_state(s, device_qp(s, e->u.router_completion.host, e->u.router_completion.qpn),
                    e->u.router_completion.status, false);
        break;
    case EV_qp_state:
        on_state(s, &e->u.qp_state);
        break;
    case EV_gone:
        on_gone(s, &e->u.gone);
        break;
    case EV_tx:
        on_tx(s, &e->u.tx);
        break;
    case EV_async_event:
        on_async(s, &e->u.async_event);
        break;
    case EV_queue_reset:
        on_queue_reset(s, &e->u.queue_reset);
        break;
    case EV_vq_broken:
    case EV_ring_broken:
    case EV_cq_overflow:
        s->blind = true; /* completions may be missing after this */
        break;
    default:
        break;
    }
}

void watch_frame(struct watch *s, const uint8_t *bytes, uint32_t len)
{
    struct packet p;

    if (packet_parse(&p, bytes, len) != DROP_NONE)
        fail(s, "every frame that is sent can be decoded");
}

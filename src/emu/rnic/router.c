/* SPDX-License-Identifier: MIT */
#include "emu/rnic/router.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/rnic/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"

/* The next send of a queue pair. */
enum router_send {
    SEND_IDLE,   /* the router does not know of any */
    SEND_TURN,   /* the router works on it */
    SEND_PASSED, /* the transport may fetch it */
};

/* One of: the end of a work request, with its completion if it has one; an asynchronous event. */
struct router_end {
    struct router_end *next;
    uint64_t at_ns;
    ev_id cause;
    struct qp *qp; /* NULL: an asynchronous event */
    enum wq wq;
    uint32_t desc;
    bool has_wc;
    struct completion wc;
    uint32_t event, qpn; /* of an asynchronous event */
};

struct router *router_new(struct rnic *n, struct router_process *process)
{
    struct router *r = arena_alloc(n->arena, sizeof(*r));
    const uint32_t qpns = n->config->max_qp + 1;

    if (!r)
        return NULL;
    *r = (struct router){.nic = n, .process = process};
    r->sends = arena_alloc(n->arena, qpns * sizeof(*r->sends));
    r->turns = arena_alloc(n->arena, qpns * sizeof(*r->turns));
    return r->sends && r->turns ? r : NULL;
}

/* --- Turns ------------------------------------------------------------------------------------ */

/* Lets the process work on one message.  Returns the end of that work. */
static uint64_t work(struct router *r)
{
    struct router_process *p = r->process;
    const uint64_t now = sim_now(r->nic->sim);

    p->free_at_ns = (p->free_at_ns > now ? p->free_at_ns : now) + ROUTER_MESSAGE_NS;
    r->count.busy_ns += ROUTER_MESSAGE_NS;
    return p->free_at_ns;
}

static void schedule(struct router *r, uint64_t at_ns)
{
    sim_enqueue(r->nic->sim, at_ns, SIM_ROUTER, r->nic->config->host, 0);
}

static void begin_turn(struct router *r, uint32_t qpn)
{
    const uint32_t room = r->nic->config->max_qp + 1;
    struct router_turn *t = &r->turns[(r->first_turn + r->n_turns) % room];

    RDL_ASSERT(r->n_turns < room && r->sends[qpn] == SEND_IDLE);
    r->sends[qpn] = SEND_TURN;
    *t = (struct router_turn){qpn, work(r)};
    r->n_turns++;
    schedule(r, t->at_ns);
}

static void drop_turn(struct router *r)
{
    r->first_turn = (r->first_turn + 1) % (r->nic->config->max_qp + 1);
    r->n_turns--;
}

static void end_turn(struct router *r, uint32_t qpn)
{
    struct qp *qp = hca_qp(&r->nic->hca, qpn);

    r->sends[qpn] = qp ? SEND_PASSED : SEND_IDLE;
    if (!qp)
        return; /* destroyed in the meantime */
    xport_kick(&r->nic->xport, qp, WQ_SEND);
    rnic_settle(r->nic);
}

/* Returns true if requests of @wq of @qp end without being executed. */
static bool is_ending(const struct qp *qp, enum wq wq)
{
    return qp->state == QPS_RESET || qp->state == QPS_ERR ||
           (qp->state == QPS_SQE && wq == WQ_SEND);
}

void router_kick(struct router *r, struct qp *qp, enum wq wq)
{
    if (wq == WQ_RECV || is_ending(qp, wq))
        xport_kick(&r->nic->xport, qp, wq);
    else if (r->sends[qp->qpn] == SEND_IDLE)
        begin_turn(r, qp->qpn);
}

/* --- From the guest to the transport ---------------------------------------------------------- */

/* Counts the copies of a message of @bytes bytes. */
static void copy(struct router *r, uint32_t bytes)
{
    r->count.copies += ROUTER_COPIES;
    r->count.bytes += (uint64_t)ROUTER_COPIES * bytes;
}

static uint32_t bytes_of(const struct send_wqe *w)
{
    const uint32_t body =
        w->flags & SF_INLINE ? w->inline_bytes : w->n_sge.found * ROUTER_SGE_BYTES;

    return ROUTER_SEND_BYTES + body;
}

static ev_id trace_post(const struct router *r, const struct qp *qp, uint64_t wr_id, uint32_t op,
                        uint32_t bytes)
{
    const struct rnic *n = r->nic;
    ev_id id;

    TRACE_ID(n->trace, id, router_post, .host = n->config->host, .qpn = qp->qpn, .wr_id = wr_id,
             .op = op, .bytes = bytes, .copies = ROUTER_COPIES, .peer = r->process->host);
    return id;
}

/* Reads the next send out of the ring of @qp and passes it on. */
static enum fetch pass_send(struct router *r, struct qp *qp, struct send_wqe *out)
{
    struct rnic *n = r->nic;
    const enum fetch got = n->ops->fetch_send(n->ctx, qp, out);
    ev_id before;

    if (got != FETCH_OK)
        return got;
    r->count.sends++;
    copy(r, bytes_of(out));
    before = trace_because(n->trace, out->fetched);
    out->fetched = trace_post(r, qp, out->wr_id, out->opcode, bytes_of(out));
    trace_because(n->trace, before);
    return FETCH_OK;
}

static enum fetch fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    const struct rnic *n = ctx;
    struct router *r = n->router;
    uint8_t *send = &r->sends[qp->qpn];
    enum fetch got;

    if (is_ending(qp, WQ_SEND)) {
        *send = *send == SEND_TURN ? SEND_TURN : SEND_IDLE;
        return pass_send(r, qp, out);
    }
    if (*send == SEND_TURN)
        return FETCH_EMPTY;
    if (*send == SEND_IDLE && n->ops->sends_wait(n->ctx, qp)) {
        begin_turn(r, qp->qpn);
        return FETCH_EMPTY;
    }
    /* Looking at an empty ring is no work. It requests the next doorbell. */
    got = pass_send(r, qp, out);
    *send = SEND_IDLE;
    if (got == FETCH_OK && n->ops->sends_wait(n->ctx, qp))
        begin_turn(r, qp->qpn); /* while the adapter sends this one */
    return got;
}

static enum fetch fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    const struct rnic *n = ctx;
    struct router *r = n->router;
    const enum fetch got = n->ops->fetch_recv(n->ctx, qp, out);
    uint32_t bytes;

    if (got != FETCH_OK)
        return got;
    bytes = ROUTER_RECV_BYTES + out->n_sge.found * ROUTER_SGE_BYTES;
    r->count.receives++;
    copy(r, bytes);
    (void)trace_post(r, qp, out->wr_id, WR_RECV, bytes);
    return FETCH_OK;
}

static uint32_t receives(void *ctx, struct qp *qp)
{
    const struct rnic *n = ctx;

    return n->ops->receives(n->ctx, qp);
}

/* --- From the transport to the guest ---------------------------------------------------------- */

/* Adds an end at the end of the way to the guest.  Returns NULL if the arena is full. */
static struct router_end *add_end(struct router *r, uint64_t at_ns)
{
    struct router_end *e = r->unused;

    if (e)
        r->unused = e->next;
    else
        e = arena_alloc(r->nic->arena, sizeof(*e));
    if (!e)
        return NULL; /* the lab ends with this tick */
    *e = (struct router_end){.at_ns = at_ns, .cause = r->nic->trace->cause};
    if (r->n_ends++ > 0)
        r->last->next = e;
    else
        r->first = e;
    r->last = e;
    schedule(r, at_ns);
    return e;
}

/* Adds the end of request @desc of @wq of @qp, with its completion unless @wc is NULL. */
static void add_request_end(struct router *r, uint64_t at_ns, struct qp *qp, enum wq wq,
                            uint32_t desc, const struct completion *wc)
{
    struct router_end *e = add_end(r, at_ns);

    if (!e)
        return;
    e->qp = qp;
    e->wq = wq;
    e->desc = desc;
    e->has_wc = wc != NULL;
    if (wc)
        e->wc = *wc;
}

/* Takes the first end out of the list.  Its memory is used again by the next add_end(). */
static struct router_end *take_end(struct router *r)
{
    struct router_end *e = r->first;

    r->first = e->next;
    r->n_ends--;
    e->next = r->unused;
    r->unused = e;
    return e;
}

/* Returns when something that is no work for the router arrives: behind all before it. */
static uint64_t behind(const struct router *r)
{
    return r->n_ends > 0 ? r->last->at_ns : sim_now(r->nic->sim);
}

static bool complete(void *ctx, struct qp *qp, enum wq wq, uint32_t desc,
                     const struct completion *wc)
{
    struct rnic *n = ctx;
    struct router *r = n->router;
    const struct cq *cq = wq == WQ_SEND ? qp->send_cq : qp->recv_cq;
    ev_id before, id;

    if (!wc && (r->n_ends == 0 || wq == WQ_RECV || qp->state == QPS_RESET))
        return rnic_complete(n, qp, wq, desc, NULL);
    if (!wc) {
        add_request_end(r, behind(r), qp, wq, desc, NULL);
        return true;
    }
    r->count.completions++;
    copy(r, ROUTER_COMPLETION_BYTES);
    TRACE_ID(n->trace, id, router_completion, .host = n->config->host, .cqn = cq->cqn,
             .qpn = wc->qpn, .wr_id = wc->wr_id, .status = (uint32_t)wc->status,
             .bytes = ROUTER_COMPLETION_BYTES, .copies = ROUTER_COPIES, .peer = r->process->host);
    before = trace_because(n->trace, id);
    add_request_end(r, work(r), qp, wq, desc, wc);
    trace_because(n->trace, before);
    return true;
}

static void event(void *ctx, uint32_t type, uint32_t qpn)
{
    struct rnic *n = ctx;
    struct router *r = n->router;
    struct router_end *e = r->n_ends > 0 ? add_end(r, behind(r)) : NULL;

    if (e) {
        e->event = type;
        e->qpn = qpn;
    } else {
        rnic_event(n, (enum async_event)type, qpn);
    }
}

/* Takes the first end out of the list and carries it out, which may add others. */
static void deliver(struct router *r)
{
    const struct router_end e = *take_end(r);
    struct rnic *n = r->nic;
    const ev_id before = trace_because(n->trace, e.cause);

    if (e.qp) {
        RDL_ASSERT(hca_qp(&n->hca, e.qp->qpn) == e.qp);
        (void)rnic_complete(n, e.qp, e.wq, e.desc, e.has_wc ? &e.wc : NULL);
    } else {
        rnic_event(n, (enum async_event)e.event, e.qpn);
    }
    trace_because(n->trace, before);
}

/* --- Calls of the RNIC ------------------------------------------------------------------------ */

void router_reset(struct router *r)
{
    while (r->n_ends > 0)
        (void)take_end(r);
    r->n_turns = 0;
    memset(r->sends, SEND_IDLE, r->nic->config->max_qp + 1);
}

void router_run(struct router *r)
{
    struct rnic *n = r->nic;
    const uint64_t now = sim_now(n->sim);

    if (!n->ops->is_running(n->ctx))
        return; /* router_settle(), when it goes on */
    while (r->n_ends > 0 && r->first->at_ns <= now) {
        deliver(r);
        rnic_settle(n);
    }
    while (r->n_turns > 0 && r->turns[r->first_turn].at_ns <= now) {
        const uint32_t qpn = r->turns[r->first_turn].qpn;

        drop_turn(r);
        end_turn(r, qpn);
    }
    rnic_pump(n);
}

void router_settle(struct router *r)
{
    for (uint32_t qpn = 0; qpn <= r->nic->config->max_qp; qpn++) {
        if (r->sends[qpn] == SEND_PASSED && !hca_qp(&r->nic->hca, qpn))
            r->sends[qpn] = SEND_IDLE;
    }
    while (r->n_ends > 0) {
        deliver(r);
        rnic_settle(r->nic);
    }
}

const struct xport_ops router_xport_ops = {
    .fetch_send = fetch_send,
    .fetch_recv = fetch_recv,
    .complete = complete,
    .ready = rnic_ready_add,
    .peer_of = rnic_peer_of,
    .may_connect = rnic_may_connect,
    .receives = receives,
    .event = event,
};

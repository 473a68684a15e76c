/* SPDX-License-Identifier: MIT */
#include "emu/guest/lnet/guest_lnet.h"

#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/guest/lnet/internal.h"
#include "emu/wire/addr.h"

#define POSTS_MAX 64u /* work requests that are posted by one call of the verbs */

uint64_t gl_now_ns(void *ctx)
{
    const struct guest_lnet *g = ctx;

    return g->config.trace->now_ns;
}

/* Sets the timer to the first of the times in g->wake_ns; 0: none. */
static void set_timer(struct guest_lnet *g)
{
    uint64_t at_ns = 0;

    for (unsigned i = 0; i < GL_WAKES; i++) {
        if (g->wake_ns[i] && (at_ns == 0 || g->wake_ns[i] < at_ns))
            at_ns = g->wake_ns[i];
    }
    if (at_ns == g->timer_ns)
        return;
    if (g->timer_ns)
        (void)sim_cancel(g->config.sim, g->timer);
    g->timer_ns = at_ns;
    if (at_ns)
        g->timer = sim_schedule(g->config.sim, at_ns, SIM_LNET, g->config.host, GL_TIME);
}

static void wake_at(void *ctx, uint64_t at_ns)
{
    struct guest_lnet *g = ctx;

    g->wake_ns[GL_WAKE_DRIVER] = at_ns;
    set_timer(g);
}

void guest_lnet_wake_test_at(struct guest_lnet *g, uint64_t at_ns)
{
    g->wake_ns[GL_WAKE_TEST] = at_ns;
    set_timer(g);
}

/* The timer has run out, for one or both. */
static void take_timer(struct guest_lnet *g)
{
    g->timer_ns = 0;
    for (unsigned i = 0; i < GL_WAKES; i++) {
        if (g->wake_ns[i] <= gl_now_ns(g))
            g->wake_ns[i] = 0;
    }
    set_timer(g);
}

/* Looks at what has happened, in a tick of its own. */
static void look_soon(struct guest_lnet *g)
{
    if (g->is_due || !g->node)
        return;
    g->is_due = true;
    sim_enqueue(g->config.sim, g->config.trace->now_ns, SIM_LNET, g->config.host, GL_LOOK);
}

/* --- The data path ---------------------------------------------------------------------------- */

static int post_recv(void *ctx, struct lnd_link *l, const struct lnd_wr *wr)
{
    const struct rdl_sge sge = {wr->addr, wr->bytes, wr->lkey};
    const struct rdl_recv_wr recv = {.wr_id = wr->wr_id, .sge = &sge, .n_sge = 1};
    struct guest_qp *qp = gl_qp_of(ctx, l);
    const enum rdl_status st = qp ? verbs_post_recv(qp, &recv, false) : RDL_ERR_STALE;

    return st == RDL_OK ? 0 : -gl_errno_of(st);
}

/* Posts at most POSTS_MAX requests. */
static enum rdl_status post_some(struct guest_qp *qp, const struct lnd_wr *wr, uint32_t n,
                                 bool more)
{
    struct rdl_send_wr send[POSTS_MAX];
    struct rdl_sge sge[POSTS_MAX];
    struct rdl_post_error why;

    for (uint32_t i = 0; i < n; i++) {
        sge[i] = (struct rdl_sge){wr[i].addr, wr[i].bytes, wr[i].lkey};
        send[i] = (struct rdl_send_wr){.wr_id = wr[i].wr_id,
                                       .opcode = wr[i].is_write ? WR_RDMA_WRITE : WR_SEND,
                                       .flags = wr[i].is_write ? 0 : SF_SIGNALED,
                                       .sge = &sge[i],
                                       .n_sge = 1,
                                       .remote_addr = wr[i].remote_addr,
                                       .rkey = wr[i].rkey};
    }
    return verbs_post_send_list(qp, send, n, more, &why);
}

static int post_send(void *ctx, struct lnd_link *l, const struct lnd_wr *wr, uint32_t n)
{
    struct guest_lnet *g = ctx;
    struct guest_qp *qp = gl_qp_of(g, l);
    enum rdl_status st = qp ? RDL_OK : RDL_ERR_STALE;
    const ev_id old = g->config.trace->cause;

    if (g->because)
        (void)trace_because(g->config.trace, g->because);
    g->because = 0;
    while (st == RDL_OK && n > 0) {
        const uint32_t some = n < POSTS_MAX ? n : POSTS_MAX;

        st = post_some(qp, wr, some, some < n);
        wr += some;
        n -= some;
    }
    (void)trace_because(g->config.trace, old);
    return st == RDL_OK ? 0 : -gl_errno_of(st);
}

/* Takes all completions of @cq. */
static void poll(struct guest_lnet *g, uint64_t cq)
{
    struct lnd *lnd = lnet_lnd(g->node);
    const ev_id cause = g->config.trace->cause;

    for (;;) {
        struct guest_cq *c = (struct guest_cq *)verbs_get(gl_verbs(g), OBJ_CQ, cq);
        struct rdl_wc wc;
        size_t n = 0;

        if (!c || !c->kernel || verbs_poll_cq(c, 1, &wc, &n) != RDL_OK || n == 0)
            return;
        lnd_completion(lnd, c->kernel, wc.wr_id, wc.status, wc.byte_len);
        (void)trace_because(g->config.trace, cause);
    }
}

/* Calls of the guest's own while a program of the host calls: its objects are not the program's. */
struct guest_program *guest_lnet_begin(struct guest_lnet *g)
{
    struct guest_program *caller = gl_verbs(g)->current;

    gl_verbs(g)->current = NULL;
    return caller;
}

void guest_lnet_end(struct guest_lnet *g, struct guest_program *caller)
{
    gl_verbs(g)->current = caller;
}

static void cq_event(void *ctx, struct guest_cq *cq, bool armed)
{
    struct guest_lnet *g = ctx;
    struct guest_program *caller;
    const uint64_t handle = cq->o.handle;

    if (!g->node || !cq->kernel || cq->o.life != GUEST_LIVE)
        return;
    caller = guest_lnet_begin(g);
    if (!armed)
        sim_enqueue(g->config.sim, gl_now_ns(g) + GL_REARM_NS, SIM_LNET, g->config.host, GL_ARM);
    poll(g, handle);
    cq = (struct guest_cq *)verbs_get(gl_verbs(g), OBJ_CQ, handle);
    if (cq && cq->kernel && armed)
        gl_rearm(g, cq);
    guest_lnet_end(g, caller);
}

/* Arms the completion queues that could not be armed. */
static void rearm_all(struct guest_lnet *g)
{
    struct lnd_peer_info p;

    for (uint32_t i = 0; lnd_peer_at(lnet_lnd(g->node), i, &p); i++) {
        struct guest_cq *cq = p.link ? gl_cq_of(g, p.link) : NULL;

        if (cq && cq->o.life == GUEST_LIVE)
            gl_rearm(g, cq);
    }
}

static void cm_event(void *ctx, struct cma_channel *channel)
{
    struct guest_lnet *g = ctx;
    const struct guest_cm_object *ch =
        g->channel ? (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_EVENT_CHANNEL, g->channel)
                   : NULL;

    if (ch && rdma_cm_channel_of(ch) == channel)
        look_soon(g);
}

/* A request of the guest is answered, which may be the one of the node.  Others that are answered
 * by the same interrupt may have asked for the tick first.
 */
static void answered(void *ctx)
{
    struct guest_lnet *g = ctx;
    const struct guest_object *o = gl_verbs(g)->request.object;

    if (g->asked && o && o->handle == g->asked)
        g->answer = g->config.trace->cause;
    look_soon(g);
}

/* The connection @e is about may go on: the address is known, and the route is asked for. */
static void tell(struct guest_lnet *g, const struct rdl_cm_event *e)
{
    struct lnd *lnd = lnet_lnd(g->node);
    struct guest_cm_object *o = gl_id_object(g, e->id.raw);
    struct lnd_link *l = o ? o->kernel : NULL;
    const struct rdl_cm_param *p = &e->param;
    int st;

    if (e->kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
        lnd_cm_request(lnd, e->id.raw, ld_be32(rdma_cm_id_of(o)->peer.gid + GID_IPV4_AT),
                       p->private_data, p->private_bytes);
        return;
    }
    if (!l)
        return;
    if (e->kind == RDMA_CM_EVENT_ADDR_RESOLVED) {
        st = cma_resolve_route(rdma_cm_id_of(o));
        if (st)
            lnd_cm_event(lnd, l, RDMA_CM_EVENT_ROUTE_ERROR, -st, NULL, 0);
        return;
    }
    lnd_cm_event(lnd, l, e->kind, e->status, p->private_data, p->private_bytes);
}

/* Takes all events of the channel.  Each is acknowledged before it is handled, which may destroy
 * its ID.
 */
static void take_events(struct guest_lnet *g)
{
    const ev_id cause = g->config.trace->cause;

    for (;;) {
        struct guest_cm_object *ch =
            (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_EVENT_CHANNEL, g->channel);
        struct rdl_cm_event e;
        size_t n = 0;

        if (!ch || rdma_cm_get_event(ch, NULL, &e, &n) != RDL_OK || n == 0)
            return;
        RDL_ASSERT(rdma_cm_ack_event(ch) == RDL_OK); /* it was taken */
        tell(g, &e);
        (void)trace_because(g->config.trace, cause);
    }
}

void guest_lnet_tick(struct guest_lnet *g, uint64_t arg)
{
    struct guest_program *caller;

    if (arg == GL_LOOK)
        g->is_due = false;
    if (arg == GL_TIME)
        take_timer(g);
    if (!g->node)
        return;
    caller = guest_lnet_begin(g);
    if (arg == GL_ARM)
        rearm_all(g);
    else if (arg == GL_LOOK)
        take_events(g);
    lnd_wake(lnet_lnd(g->node));
    guest_lnet_end(g, caller);
}

/* Returns true if what follows in the same call happens because of @n. */
static bool makes_cause(const struct lnd_note *n)
{
    return n->kind == LND_NOTE_RECEIVED || n->kind == LND_NOTE_REJECTED ||
           (n->kind == LND_NOTE_STATE && n->state == LND_CONN_CLOSING);
}

/* A message that is sent is the cause of its work requests, one that has come of all that follows
 * in the same call.
 */
static void note(void *ctx, const struct lnd_note *n)
{
    struct guest_lnet *g = ctx;
    const ev_id id = g->config.note(g->config.ctx, n);

    if (n->kind == LND_NOTE_SENT && n->msg->type >= LNET_MSG_NOOP)
        g->because = id;
    else if (id && makes_cause(n))
        (void)trace_because(g->config.trace, id);
}

const struct lnd_ops guest_lnet_ops = {
    .alloc = gl_alloc,
    .free = gl_release,
    .pages = gl_pages,
    .pages_free = gl_pages_free,
    .read = gl_read_memory,
    .write = gl_write_memory,
    .copy = gl_copy_memory,
    .now_ns = gl_now_ns,
    .wake_at = wake_at,
    .create_dev = gl_create_dev,
    .destroy_dev = gl_destroy_dev,
    .dma_addr = gl_dma_addr,
    .reg_mr = gl_reg_mr,
    .dereg_mr = gl_dereg_mr,
    .create_cq = gl_create_cq,
    .destroy_cq = gl_destroy_cq,
    .create_qp = gl_create_qp,
    .destroy_qp = gl_destroy_qp,
    .resolve = gl_resolve,
    .adopt = gl_adopt,
    .connect = gl_connect_to,
    .accept = gl_accept_with,
    .establish = gl_establish,
    .reject = gl_reject,
    .disconnect = gl_disconnect,
    .destroy_id = gl_destroy_id,
    .post_recv = post_recv,
    .post_send = post_send,
    .note = note,
};

enum rdl_status guest_lnet_start(struct guest_lnet *g, const struct guest_lnet_config *config,
                                 const struct lnd_config *lnd)
{
    struct guest_program *caller;

    if (g->node)
        return RDL_ERR_EXISTS;
    *g = (struct guest_lnet){
        .config = *config, .n_names = g->n_names, .module = {cq_event, cm_event, answered, g}};
    g->node = lnet_new(&guest_lnet_ops, g, lnd, config->listener, config->ctx);
    if (!g->node)
        return arena_is_short(config->arena) ? RDL_ERR_NOMEM : RDL_ERR_INVAL;
    config->guest->module = &g->module;
    caller = guest_lnet_begin(g);
    lnd_start(lnet_lnd(g->node));
    guest_lnet_end(g, caller);
    return RDL_OK;
}

void guest_lnet_stop(struct guest_lnet *g)
{
    struct guest_program *caller = guest_lnet_begin(g);

    lnd_stop(lnet_lnd(g->node));
    guest_lnet_end(g, caller);
}

void guest_lnet_free(struct guest_lnet *g)
{
    if (!g || !g->node)
        return;
    guest_lnet_wake_test_at(g, 0);
    wake_at(g, 0);
    g->config.guest->module = NULL;
    lnet_free(g->node);
    g->node = NULL;
    RDL_ASSERT(g->live_bytes == 0);
}

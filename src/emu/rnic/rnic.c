/* SPDX-License-Identifier: MIT */
/* Lifecycle and limits of an RNIC, and its place between transport and device. */
#include "emu/rnic/rnic.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/rnic/cm_mux.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/internal.h"
#include "emu/rnic/router.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"

static const struct xport_ops xport_ops;

/* --- Limits ----------------------------------------------------------------------------------- */

enum mtu rnic_active_mtu(const struct rnic *n)
{
    const uint32_t carried = mtu_within(n->port->mtu - ROCE_HEADERS_MAX);

    return carried < n->config->max_mtu ? (enum mtu)carried : n->config->max_mtu;
}

uint32_t rnic_message_max(const struct rnic *n)
{
    return profile_has(n->hca.profile, TRAIT_PORT_TELLS_2_GIB) ? MESSAGE_BYTES_MAX
                                                               : MESSAGE_BYTES_SMALL;
}

/* Sets every limit in @l that is 0 to its default, for @max_qp queue pairs. */
static void complete_limits(struct rdl_device_limits *l, uint32_t max_qp)
{
#define STANDARD(name, least, most, standard, text)                                                \
    if (l->name == 0)                                                                              \
        l->name = (standard);
    RDL_DEVICE_LIMITS(STANDARD)
#undef STANDARD
    if (l->max_sge_rd == 0 || l->max_sge_rd > l->max_send_sge)
        l->max_sge_rd = l->max_send_sge;
    if (l->max_res_rd_atom == 0)
        l->max_res_rd_atom = l->max_qp_rd_atom * max_qp;
}

static struct hca_limits hca_limits_of(const struct rnic *n, const struct rdl_device_limits *l)
{
    const struct rnic_config *c = n->config;

    return (struct hca_limits){
        .max_pd = l->max_pd,
        .max_mr = l->max_mr,
        .max_cq = c->max_cq,
        .max_qp = c->max_qp,
        .max_cqe = l->max_cqe,
        .max_qp_wr = l->max_qp_wr,
        .max_send_sge = l->max_send_sge,
        .max_recv_sge = l->max_recv_sge,
        .max_sge_rd = l->max_sge_rd,
        .max_inline_data = l->max_inline_data,
        .max_rd_atomic = l->max_qp_init_rd_atom,
        .max_dest_rd_atomic = l->max_qp_rd_atom,
        .max_res_rd_atom = l->max_res_rd_atom,
        .max_mr_bytes = l->max_mr_size,
        .page_sizes = c->page_sizes ? c->page_sizes : RAM_PAGE_BYTES,
        .max_mw = c->has_mw ? l->max_mw : 0,
        .max_fast_pages = c->has_mw ? l->max_fast_reg_page_list_len : 0,
        .max_mtu = rnic_active_mtu(n),
        .max_mcast_grp = l->max_mcast_grp,
        .max_mcast_qp_attach = l->max_mcast_qp_attach,
        .max_total_mcast_qp_attach = l->max_total_mcast_qp_attach,
        .max_srq = c->max_srq,
    };
}

bool rnic_limit(struct rnic *n, const struct rdl_device_limits *to)
{
    struct rdl_device_limits now = n->limits;

#define TAKE(name)                                                                                 \
    if (to->name > n->config->limits.name)                                                         \
        return false;                                                                              \
    if (to->name != 0)                                                                             \
        now.name = to->name;
    RDL_DEVICE_LIMITS_LIVE(TAKE)
#undef TAKE
    n->limits = now;
    n->hca.limits = hca_limits_of(n, &n->limits);
    return true;
}

/* --- Lifecycle -------------------------------------------------------------------------------- */

static void start(struct rnic *n)
{
    const struct rnic_config *c = n->config;
    const struct hca_env env = {
        .arena = n->arena,
        .sim = n->sim,
        .ram = n->ram,
        .host = c->host,
        .profile = c->profile,
        .first_qpn = c->first_qpn,
        .keys = prng_stream(c->seed, c->host),
        .pkeys = c->pkeys,
    };
    const struct hca_limits limits = hca_limits_of(n, &c->limits); /* sizes of the tables */

    hca_init(&n->hca, &env, &limits);
    n->hca.limits = hca_limits_of(n, &n->limits);
    xport_init(&n->xport, &n->hca, n->router ? &router_xport_ops : &xport_ops, n, n->port->mac);
}

static void complete_guid(struct rnic_config *c)
{
    if (ld_be(c->guid, EUI64_BYTES) == 0)
        eui64_from_mac(c->guid, c->mac);
}

bool rnic_ready_init(struct rnic_ready *r, struct arena *a, uint32_t max_qp)
{
    r->ring = arena_alloc(a, (max_qp + 1) * sizeof(*r->ring));
    r->is_queued = arena_alloc(a, (max_qp + 1) * sizeof(*r->is_queued));
    return r->ring && r->is_queued;
}

bool rnic_init(struct rnic *n, const struct rnic_env *env, struct rnic_config *config,
               const struct rnic_ops *ops, void *ctx)
{
    *n = (struct rnic){.config = config,
                       .arena = env->arena,
                       .sim = env->sim,
                       .trace = env->sim->trace,
                       .ram = env->ram,
                       .port = env->port,
                       .way = {.nic = n, .port = env->port},
                       .progress = env->progress,
                       .peer_of = env->peer_of,
                       .may_connect = env->may_connect,
                       .world = env->world,
                       .ops = ops,
                       .ctx = ctx};
    complete_limits(&config->limits, config->max_qp);
    complete_guid(config);
    n->limits = config->limits;
    n->failed_cqs = arena_alloc(n->arena, config->max_cq * sizeof(*n->failed_cqs));
    if (!n->failed_cqs || !rnic_ready_init(&n->way.ready, n->arena, config->max_qp))
        return false;
    if (env->router) {
        n->router = router_new(n, env->router);
        if (!n->router)
            return false;
    }
    start(n);
    rnic_port_use(&n->way);
    return true;
}

/* The multiplexer at which the port of @n is; NULL: it is at none. */
static struct cm_mux *mux_of(const struct rnic *n)
{
    return n->port->sw && n->port->vport == ESWITCH_PF ? n->port->sw->mux : NULL;
}

void rnic_reset(struct rnic *n)
{
    if (mux_of(n))
        cm_mux_leave(mux_of(n), n->config->host);
    xport_done(&n->xport);
    hca_done(&n->hca);
    start(n);
    for (struct rnic_way *way = &n->way; way; way = way->next)
        rnic_ready_forget(way);
    n->n_failed_cqs = 0;
    n->bad_pkeys = n->bad_qkeys = 0;
    n->events = (struct rnic_events){0};
    if (n->router)
        router_reset(n->router);
}

enum refusal_reason rnic_gid_bind(struct rnic *n, uint32_t index, const uint8_t *gid)
{
    const struct hca_gid before = index < HCA_GIDS ? n->hca.gids[index] : (struct hca_gid){0};
    const bool is_new = gid && !(before.valid && memcmp(before.raw, gid, GID_BYTES) == 0);
    struct cm_mux *mux = mux_of(n);
    enum refusal_reason why;
    bool taken = true;

    if (mux && is_new)
        (void)cm_mux_register(mux, n->config->host, gid, &taken);
    if (!taken)
        return hca_refuse(&n->hca, REF_GID_REGISTERED, compared_nothing());
    why = gid ? hca_gid_set(&n->hca, index, gid) : hca_gid_clear(&n->hca, index);
    if (mux && why != REF_NONE && is_new && !hca_gid_is_own(&n->hca, gid))
        (void)cm_mux_unregister(mux, n->config->host, gid);
    if (mux && why == REF_NONE && before.valid && !hca_gid_is_own(&n->hca, before.raw))
        (void)cm_mux_unregister(mux, n->config->host, before.raw);
    return why;
}

/* --- Work ------------------------------------------------------------------------------------- */

void rnic_kick(struct rnic *n, struct qp *qp, enum wq wq)
{
    if (n->router)
        router_kick(n->router, qp, wq);
    else
        xport_kick(&n->xport, qp, wq);
    rnic_settle(n);
}

void rnic_timer(struct rnic *n, uint64_t arg, bool held)
{
    xport_timer(&n->xport, arg, held);
    rnic_settle(n);
    rnic_pump(n);
}

void rnic_go_on(struct rnic *n)
{
    xport_go_on(&n->xport);
    rnic_settle(n);
    if (n->router)
        router_run(n->router);
    for (const struct rnic_way *way = &n->way; way; way = way->next) {
        if (way->ready.len > 0)
            eth_port_wait(way->port, way->port_user);
    }
}

void rnic_cq_overflow(struct rnic *n, struct cq *cq)
{
    TRACE(n->trace, cq_overflow, .host = n->config->host, .cqn = cq->cqn);
    if (profile_has(n->config->profile, TRAIT_CQ_OVERFLOW_ENDS)) {
        cq->error = true;
        RDL_ASSERT(n->n_failed_cqs < n->config->max_cq);
        n->failed_cqs[n->n_failed_cqs++] = cq->cqn;
    }
    rnic_event(n, ASE_CQ_ERR, cq->cqn);
}

void rnic_settle_failed(struct rnic *n)
{
    /* Flushing the QPs of one CQ can overflow another.  Each CQ fails once, so the loop is bounded
     * by the number of CQs.
     */
    for (uint32_t i = 0; i < n->n_failed_cqs; i++) {
        struct cq *cq = hca_cq(&n->hca, n->failed_cqs[i]);

        if (cq)
            xport_cq_failed(&n->xport, cq);
    }
    n->n_failed_cqs = 0;
}

/* --- Calls of the transport ------------------------------------------------------------------- */

static enum fetch fetch_send(void *ctx, struct qp *qp, struct send_wqe *out)
{
    const struct rnic *n = ctx;

    return n->ops->fetch_send(n->ctx, qp, out);
}

static enum fetch fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out)
{
    const struct rnic *n = ctx;

    return n->ops->fetch_recv(n->ctx, qp, out);
}

static uint32_t receives(void *ctx, struct qp *qp)
{
    const struct rnic *n = ctx;

    return n->ops->receives(n->ctx, qp);
}

static void event(void *ctx, uint32_t type, uint32_t qpn)
{
    rnic_event(ctx, (enum async_event)type, qpn);
}

uint32_t rnic_peer_of(void *ctx, const uint8_t gid[GID_BYTES])
{
    const struct rnic *n = ctx;

    return n->peer_of(n->world, gid);
}

bool rnic_may_connect(void *ctx, const uint8_t gid[GID_BYTES])
{
    const struct rnic *n = ctx;

    return !n->may_connect || n->may_connect(n->world, n->config->host, gid);
}

/* Delivers @wc to @cq.  Returns false if the CQ has overflowed, now or before. */
static bool deliver(struct rnic *n, struct cq *cq, const struct completion *wc)
{
    if (cq->error || !n->ops->complete(n->ctx, cq, wc))
        return false;
    n->progress->cqes++;
    TRACE(n->trace, cqe, .host = n->config->host, .cqn = cq->cqn, .qpn = wc->qpn,
          .wr_id = wc->wr_id, .status = (uint32_t)wc->status, .op = (uint32_t)wc->opcode,
          .bytes = wc->bytes, .n = (uint32_t)cq->n_completed, .rule = (uint32_t)wc->rule,
          .least = wc->values.least, .most = wc->values.most, .found = wc->values.found);
    if (cq_completed(&n->hca, cq, wc))
        n->ops->completed(n->ctx, cq);
    return true;
}

bool rnic_complete(void *ctx, struct qp *qp, enum wq wq, uint32_t desc, const struct completion *wc)
{
    struct rnic *n = ctx;

    n->ops->release(n->ctx, qp, wq, desc);
    return !wc || deliver(n, wq == WQ_SEND ? qp->send_cq : qp->recv_cq, wc);
}

static const struct xport_ops xport_ops = {
    .fetch_send = fetch_send,
    .fetch_recv = fetch_recv,
    .complete = rnic_complete,
    .ready = rnic_ready_add,
    .peer_of = rnic_peer_of,
    .may_connect = rnic_may_connect,
    .receives = receives,
    .event = event,
};

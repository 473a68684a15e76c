/* SPDX-License-Identifier: MIT */
/* Verbs for queue pairs: create, query, destroy.  modify.c moves them through their states. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/guest/machine/internal.h"

#define MAX_WR_DEFAULT  16u
#define MAX_SGE_DEFAULT 4u

/* A WQE and its inline data lie in one page. */
#define INLINE_MAX (RAM_PAGE_BYTES - (uint32_t)sizeof(struct raw_sq_wqe))

static struct guest_qp *answered_qp(const struct guest *g)
{
    return (struct guest_qp *)g->ctrl.object;
}

/* Looks up what @config names; all of it must live, on this host. */
static enum rdl_status find_parts(const struct guest *g, const struct rdl_qp_config *config,
                                  struct guest_qp *qp)
{
    struct guest_object *parts[3];

    qp->pd = slots_get(&g->config.tables->pd, config->pd.raw);
    qp->send_cq = slots_get(&g->config.tables->cq, config->send_cq.raw);
    qp->recv_cq = slots_get(&g->config.tables->cq, config->recv_cq.raw);
    if (!qp->pd || !qp->send_cq || !qp->recv_cq)
        return RDL_ERR_STALE;
    parts[0] = &qp->pd->o;
    parts[1] = &qp->send_cq->o;
    parts[2] = &qp->recv_cq->o;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i]->guest != g)
            return RDL_ERR_INVAL;
        if (parts[i]->life != GUEST_LIVE)
            return RDL_ERR_BUSY;
    }
    return RDL_OK;
}

/* Fills in @plan from @config: defaults, and what a device of these limits can do. */
static enum rdl_status plan_qp(const struct guest *g, const struct rdl_qp_config *config,
                               struct guest_qp *plan)
{
    const struct rfc_config *d = &g->device;

    plan->type = (enum qp_type)config->type;
    plan->sq_sig_all = config->sq_sig_all;
    plan->max_inline_data = config->max_inline_data;
    plan->sq.max_wr = config->max_send_wr ? config->max_send_wr : MAX_WR_DEFAULT;
    plan->rq.max_wr = config->max_recv_wr ? config->max_recv_wr : MAX_WR_DEFAULT;
    plan->sq.max_sge = config->max_send_sge ? config->max_send_sge : MAX_SGE_DEFAULT;
    plan->rq.max_sge = config->max_recv_sge ? config->max_recv_sge : MAX_SGE_DEFAULT;

    if (!enum_by_value(&enum_qp_type, config->type) || plan->max_inline_data > INLINE_MAX)
        return RDL_ERR_INVAL;
    if (plan->type != QPT_RC)
        return RDL_ERR_UNSUPPORTED;
    if (plan->sq.max_sge > RDL_SGE_MAX || plan->rq.max_sge > RDL_SGE_MAX ||
        plan->sq.max_sge > d->max_send_sge || plan->rq.max_sge > d->max_recv_sge ||
        plan->sq.max_wr > d->max_qp_wr || plan->rq.max_wr > d->max_qp_wr)
        return RDL_ERR_LIMIT;
    return find_parts(g, config, plan);
}

/* Largest WQEs: a head with all SGEs, or with all inline data. */
static uint32_t sq_wqe_bytes(const struct guest_qp *qp)
{
    const uint32_t sges = qp->sq.max_sge * (uint32_t)sizeof(struct raw_sge);

    return (uint32_t)sizeof(struct raw_sq_wqe) +
           (sges > qp->max_inline_data ? sges : qp->max_inline_data);
}

static uint32_t rq_wqe_bytes(const struct guest_qp *qp)
{
    return (uint32_t)(sizeof(struct raw_rq_wqe) + qp->rq.max_sge * sizeof(struct raw_sge));
}

static enum rdl_status send_create(struct guest_qp *qp)
{
    const struct rfc_create_qp cmd = {
        .pdn = qp->pd->pdn,
        .qp_type = (uint8_t)qp->type,
        .sq_sig_type = qp->sq_sig_all ? SIG_ALL_WR : SIG_REQ_WR,
        .max_send_wr = qp->sq.max_wr,
        .max_send_sge = qp->sq.max_sge,
        .send_cqn = qp->send_cq->cqn,
        .max_recv_wr = qp->rq.max_wr,
        .max_recv_sge = qp->rq.max_sge,
        .recv_cqn = qp->recv_cq->cqn,
        .max_inline_data = qp->max_inline_data,
    };
    struct raw_create_qp raw;

    rfc_create_qp_put(&raw, &cmd);
    return ctrl_send(qp->o.guest, CMD_CREATE_QP, &raw, &qp->o, 0);
}

/* Counts the queue pair as a user of its parts, or no longer. */
static void use_parts(const struct guest_qp *qp, bool use)
{
    const uint32_t one = use ? 1u : UINT32_MAX;

    qp->pd->o.n_users += one;
    qp->send_cq->o.n_users += one;
    qp->recv_cq->o.n_users += one;
}

static void release(struct guest_qp *qp)
{
    use_parts(qp, false);
    queue_mem_give(qp->o.guest, &qp->sq.mem);
    queue_mem_give(qp->o.guest, &qp->rq.mem);
}

enum rdl_status guest_create_qp(struct guest *g, const struct rdl_qp_config *config,
                                const char *name, uint32_t *ret)
{
    enum rdl_status st = ctrl_ready(g);
    struct guest_qp plan = {0};
    struct guest_object *o;
    struct guest_qp *qp;
    uint32_t handle;

    if (st == RDL_OK)
        st = plan_qp(g, config, &plan);
    if (st == RDL_OK)
        st = object_new(g, OBJ_QP, name, &o);
    if (st != RDL_OK)
        return st;

    qp = (struct guest_qp *)o;
    plan.o = *o;
    *qp = plan;
    use_parts(qp, true);
    handle = o->handle;
    st = queue_mem_take(g, qp->sq.max_wr, sq_wqe_bytes(qp), &qp->sq.mem);
    if (st == RDL_OK)
        st = queue_mem_take(g, qp->rq.max_wr, rq_wqe_bytes(qp), &qp->rq.mem);
    if (st == RDL_OK)
        st = send_create(qp);
    if (st != RDL_OK) {
        release(qp);
        object_drop(o);
        return st;
    }
    *ret = handle;
    return RDL_OK;
}

void qp_forget_completions(struct guest_qp *qp)
{
    qp->send_cq_from = cq_completions(qp->send_cq);
    qp->recv_cq_from = cq_completions(qp->recv_cq);
}

void qp_created(struct guest *g, const uint8_t *data)
{
    struct guest_qp *qp = answered_qp(g);
    const uint32_t qpn = ld_le32(data);

    if (qpn < 1 || qpn > g->device.max_qp || g->qp_of[qpn])
        goto nonsense;
    qp->qpn = qpn;
    qp->sq.queue = queue_of_sends(g->device.max_cq, qpn);
    qp->rq.queue = queue_of_receives(g->device.max_cq, qpn);
    if (queue_attach(g, qp->sq.queue, &qp->sq.mem, VIRTIO_NO_VECTOR) != RDL_OK ||
        queue_attach(g, qp->rq.queue, &qp->rq.mem, VIRTIO_NO_VECTOR) != RDL_OK)
        goto nonsense;
    g->qp_of[qpn] = qp;
    qp_forget_completions(qp);
    object_live(&qp->o, qpn);
    return;

nonsense:
    g->broken = true;
    release(qp);
    object_drop(&qp->o);
}

void qp_refused(struct guest *g)
{
    release(answered_qp(g));
    object_drop(g->ctrl.object);
}

enum rdl_status guest_destroy_qp(struct guest_qp *qp)
{
    return object_send_destroy(&qp->o, CMD_DESTROY_QP, qp->qpn);
}

void qp_destroyed(struct guest *g, const uint8_t *data)
{
    struct guest_qp *qp = answered_qp(g);

    (void)data;
    g->qp_of[qp->qpn] = NULL;
    queue_detach(g, qp->sq.queue, VIRTIO_NO_VECTOR);
    queue_detach(g, qp->rq.queue, VIRTIO_NO_VECTOR);
    release(qp);
    object_gone(&qp->o, qp->qpn);
}

static void attr_from_rfc(const struct rfc_qp_attr *a, struct rdl_qp_attr *out)
{
    *out = (struct rdl_qp_attr){
        .state = a->qp_state,
        .cur_state = a->cur_qp_state,
        .path_mtu = a->path_mtu,
        .access = a->qp_access_flags,
        .pkey_index = a->pkey_index,
        .port = a->port_num,
        .dest_qpn = a->dest_qp_num,
        .rq_psn = a->rq_psn,
        .sq_psn = a->sq_psn,
        .max_rd_atomic = a->max_rd_atomic,
        .max_dest_rd_atomic = a->max_dest_rd_atomic,
        .min_rnr_timer = a->min_rnr_timer,
        .timeout = a->timeout,
        .retry_cnt = a->retry_cnt,
        .rnr_retry = a->rnr_retry,
        .ah.sgid_index = a->ah_sgid_index,
        .ah.hop_limit = a->ah_hop_limit,
        .ah.traffic_class = a->ah_traffic_class,
        .ah.sl = a->ah_sl,
        .ah.flow_label = a->ah_flow_label,
    };
    memcpy(out->ah.dgid, a->ah_dgid, GID_BYTES);
    memcpy(out->ah.dmac, a->ah_dmac, MAC_BYTES);
}

enum rdl_status guest_query_qp(struct guest_qp *qp)
{
    struct guest *g = qp->o.guest;
    const struct rfc_query_qp cmd = {.qpn = qp->qpn, .attr_mask = UINT32_MAX};
    struct raw_query_qp raw;
    enum rdl_status st = ctrl_ready(g);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st != RDL_OK)
        return st;
    rfc_query_qp_put(&raw, &cmd);
    return ctrl_send(g, CMD_QUERY_QP, &raw, &qp->o, qp->qpn);
}

void qp_queried(struct guest *g, const uint8_t *data)
{
    struct rfc_qp_attr fields;
    struct raw_qp_attr raw;

    memcpy(&raw, data, sizeof(raw));
    rfc_qp_attr_get(&fields, &raw);
    attr_from_rfc(&fields, &answered_qp(g)->attr);
}

void guest_qp_info(const struct guest_qp *qp, struct rdl_qp_info *ret)
{
    *ret = (struct rdl_qp_info){
        .qpn = qp->qpn,
        .type = qp->type,
        .attr = qp->attr,
        .sq_queue = qp->sq.queue,
        .rq_queue = qp->rq.queue,
        .max_send_sge = qp->sq.max_sge,
        .max_recv_sge = qp->rq.max_sge,
        .max_inline_data = qp->max_inline_data,
    };
}

/* SPDX-License-Identifier: MIT */
/* Verbs for queue pairs: create, resize, query, destroy.  modify.c changes their states. */
#include "emu/base/assert.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/guest/verbs/internal.h"

#define MAX_WR_DEFAULT  16u
#define MAX_SGE_DEFAULT 4u

/* Returns the number that @wanted selects, a member of struct rdl_qp_config. */
static uint32_t selected(uint32_t wanted, uint32_t standard)
{
    if (wanted == RDL_QP_NONE)
        return 0;
    return wanted ? wanted : standard;
}

/* All parts must be live objects of this host. */
static enum rdl_status check_parts(const struct verbs *v, const struct verbs_qp_parts *p,
                                   bool has_srq)
{
    const struct guest_object *parts[4];

    if (!p->pd || !p->send_cq || !p->recv_cq || (has_srq && !p->srq))
        return RDL_ERR_STALE;
    parts[0] = &p->pd->o;
    parts[1] = &p->send_cq->o;
    parts[2] = &p->recv_cq->o;
    parts[3] = has_srq ? &p->srq->o : NULL;
    for (size_t i = 0; i < ARRAY_LEN(parts) && parts[i]; i++) {
        if (parts[i]->verbs != v)
            return RDL_ERR_INVAL;
        if (parts[i]->life != GUEST_LIVE)
            return RDL_ERR_BUSY;
    }
    return RDL_OK;
}

/* The kernel creates the queue pair of type GSI, and programs create the others. */
static bool may_create(uint32_t type, bool is_kernel)
{
    if (is_kernel)
        return type == QPT_GSI;
    return type == QPT_RC || type == QPT_UC || type == QPT_UD;
}

/* Fills in @plan from @config with defaults, and checks it against the device's limits. */
static enum rdl_status plan_qp(const struct verbs *v, const struct rdl_qp_config *config,
                               bool is_kernel, struct guest_qp *plan)
{
    const struct verbs_limits *d = &v->limits;

    plan->type = (enum qp_type)config->type;
    plan->sq_sig_all = config->sq_sig_all;
    plan->block_self_mcast_lb = config->block_self_mcast_lb;
    plan->max_inline_data = config->max_inline_data;
    plan->sq.max_wr = selected(config->max_send_wr, MAX_WR_DEFAULT);
    plan->rq.max_wr = selected(config->max_recv_wr, MAX_WR_DEFAULT);
    plan->sq.max_sge = selected(config->max_send_sge, MAX_SGE_DEFAULT);
    plan->rq.max_sge = selected(config->max_recv_sge, MAX_SGE_DEFAULT);
    if (plan->srq) /* the receive attributes of @config are ignored */
        plan->rq = (struct guest_wq){.max_sge = plan->srq->rq.max_sge};

    if (!enum_by_value(&enum_qp_type, config->type) || plan->max_inline_data > d->max_inline_data)
        return RDL_ERR_INVAL;
    if (config->block_self_mcast_lb && plan->type != QPT_UD)
        return RDL_ERR_INVAL;
    if (!may_create(plan->type, is_kernel) || (config->block_self_mcast_lb && !d->blocks_mcast_lb))
        return RDL_ERR_UNSUPPORTED;
    if (plan->sq.max_sge > RDL_SGE_MAX || plan->rq.max_sge > RDL_SGE_MAX ||
        plan->sq.max_sge > d->max_send_sge || plan->rq.max_sge > d->max_recv_sge ||
        plan->sq.max_wr > d->max_qp_wr || plan->rq.max_wr > d->max_qp_wr)
        return RDL_ERR_LIMIT;
    plan->sq.max_wr = request_queue_size(v, plan->sq.max_wr, d->max_qp_wr);
    if (!plan->srq)
        plan->rq.max_wr = request_queue_size(v, plan->rq.max_wr, d->max_qp_wr);
    return RDL_OK;
}

static enum rdl_status create(struct verbs *v, const struct rdl_qp_config *config,
                              const struct verbs_qp_parts *parts, bool is_kernel, const char *name,
                              uint64_t *ret)
{
    enum rdl_status st = request_ready_to_create(v);
    struct guest_qp plan = {
        .pd = parts->pd,
        .send_cq = parts->send_cq,
        .recv_cq = parts->recv_cq,
        .srq = parts->srq,
    };
    struct guest_object *o;
    struct guest_qp *qp;
    uint64_t handle;

    if (st == RDL_OK)
        st = plan_qp(v, config, is_kernel, &plan);
    if (st == RDL_OK)
        st = check_parts(v, parts, config->srq.raw != 0);
    if (st == RDL_OK)
        st = object_new(v, OBJ_QP, name, &o);
    if (st != RDL_OK)
        return st;

    qp = (struct guest_qp *)o;
    plan.o = *o;
    if (o->counts)
        plan.function =
            v->config.layer->place(v->config.layer_ctx, !qp_type_is_datagram(plan.type));
    *qp = plan;
    object_use_parts(o, true);
    handle = o->handle;
    request_begin(v, VERBS_CREATE, o);
    st = object_sent(o, v->ops->create_qp(qp));
    if (st == RDL_OK)
        *ret = handle;
    return st;
}

enum rdl_status verbs_create_qp(struct verbs *v, const struct rdl_qp_config *config,
                                const struct verbs_qp_parts *parts, const char *name, uint64_t *ret)
{
    return create(v, config, parts, false, name, ret);
}

enum rdl_status verbs_create_gsi(struct verbs *v, const struct rdl_qp_config *config,
                                 const struct verbs_qp_parts *parts, const char *name,
                                 uint64_t *ret)
{
    return create(v, config, parts, true, name, ret);
}

void qp_forget_completions(struct guest_qp *qp)
{
    qp->send_cq_from = cq_completions(qp->send_cq);
    qp->recv_cq_from = cq_completions(qp->recv_cq);
}

enum rdl_status verbs_resize_qp(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr)
{
    struct verbs *v = qp->o.verbs;
    const uint32_t sends = selected(max_send_wr, qp->sq.max_wr);
    const uint32_t receives = selected(max_recv_wr, qp->rq.max_wr);
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st == RDL_OK && (sends > v->limits.max_qp_wr || receives > v->limits.max_qp_wr))
        st = RDL_ERR_LIMIT;
    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_RESIZE_QP, &qp->o);
    v->request.max_send_wr = request_queue_size(v, sends, v->limits.max_qp_wr);
    v->request.max_recv_wr = request_queue_size(v, receives, v->limits.max_qp_wr);
    return request_sent(v, v->ops->resize_qp(qp, v->request.max_send_wr, v->request.max_recv_wr));
}

enum rdl_status verbs_destroy_qp(struct guest_qp *qp)
{
    return object_destroy(&qp->o);
}

enum rdl_status verbs_query_qp(struct guest_qp *qp)
{
    struct verbs *v = qp->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_QUERY_QP, &qp->o);
    return request_sent(v, v->ops->query_qp(qp));
}

void verbs_qp_info(const struct guest_qp *qp, struct rdl_qp_info *ret)
{
    *ret = (struct rdl_qp_info){
        .qpn = qp->qpn,
        .type = qp->type,
        .attr = qp->attr,
        .sq_queue = qp->sq.queue,
        .rq_queue = qp->rq.queue,
        .max_send_wr = qp->sq.max_wr,
        .max_recv_wr = qp->rq.max_wr,
        .max_send_sge = qp->sq.max_sge,
        .max_recv_sge = qp->rq.max_sge,
        .max_inline_data = qp->max_inline_data,
    };
}

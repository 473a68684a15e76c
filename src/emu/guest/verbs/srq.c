/* SPDX-License-Identifier: MIT */
/* Verbs for shared receive queues: create, modify, query, destroy, post. */
#include "emu/facts/rules.h"
#include "emu/guest/verbs/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

#define MAX_SGE_DEFAULT 4u

/* Fills in @plan from @attr with defaults, and checks it against the device's limits. */
static enum rdl_status plan_srq(const struct verbs *v, const struct rdl_srq_attr *attr,
                                struct guest_wq *plan)
{
    plan->max_wr = attr->max_wr;
    plan->max_sge = attr->max_sge ? attr->max_sge : MAX_SGE_DEFAULT;
    if (v->limits.max_srq == 0)
        return RDL_ERR_UNSUPPORTED;
    if (plan->max_wr == 0)
        return RDL_ERR_INVAL;
    if (plan->max_wr > v->limits.max_srq_wr || plan->max_sge > v->limits.max_srq_sge ||
        plan->max_sge > RDL_SGE_MAX)
        return RDL_ERR_LIMIT;
    plan->max_wr = request_queue_size(v, plan->max_wr, v->limits.max_srq_wr);
    return RDL_OK;
}

enum rdl_status verbs_create_srq(struct guest_pd *pd, const struct rdl_srq_attr *attr,
                                 const char *name, uint64_t *ret)
{
    struct verbs *v = pd->o.verbs;
    enum rdl_status st = request_ready_to_create(v);
    struct guest_wq plan = {0};
    struct guest_object *o;
    struct guest_srq *srq;
    uint64_t handle;

    if (st == RDL_OK)
        st = object_usable(&pd->o);
    if (st == RDL_OK)
        st = plan_srq(v, attr, &plan);
    if (st == RDL_OK)
        st = object_new(v, OBJ_SRQ, name, &o);
    if (st != RDL_OK)
        return st;

    srq = (struct guest_srq *)o;
    srq->pd = pd;
    srq->rq = plan;
    object_use_parts(o, true);
    handle = o->handle;
    request_begin(v, VERBS_CREATE, o);
    st = object_sent(o, v->ops->create_srq(srq));
    if (st == RDL_OK)
        *ret = handle;
    return st;
}

enum rdl_status verbs_destroy_srq(struct guest_srq *srq)
{
    return object_destroy(&srq->o);
}

/* Returns RDL_OK if a request about @srq can be sent now. */
static enum rdl_status ready_for(const struct guest_srq *srq)
{
    const enum rdl_status st = request_ready(srq->o.verbs);

    return st == RDL_OK ? object_usable(&srq->o) : st;
}

enum rdl_status verbs_modify_srq(struct guest_srq *srq, const struct rdl_srq_attr *attr,
                                 uint32_t mask)
{
    struct verbs *v = srq->o.verbs;
    enum rdl_status st = ready_for(srq);

    if (st == RDL_OK && (mask & ~(SRQ_MAX_WR | SRQ_LIMIT)))
        st = RDL_ERR_INVAL;
    if (st == RDL_OK && (mask & SRQ_MAX_WR))
        st = RDL_ERR_UNSUPPORTED;
    if (st == RDL_OK && (mask & SRQ_LIMIT) && attr->limit > srq->rq.max_wr)
        st = RDL_ERR_INVAL;
    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_MODIFY_SRQ, &srq->o);
    v->request.mask = mask;
    v->request.srq_limit = attr->limit;
    return request_sent(v, v->ops->modify_srq(srq, attr->limit, mask));
}

enum rdl_status verbs_query_srq(struct guest_srq *srq)
{
    struct verbs *v = srq->o.verbs;
    const enum rdl_status st = ready_for(srq);

    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_QUERY_SRQ, &srq->o);
    return request_sent(v, v->ops->query_srq(srq));
}

void verbs_srq_info(const struct guest_srq *srq, struct rdl_srq_info *ret)
{
    *ret = (struct rdl_srq_info){
        .srqn = srq->srqn,
        .queue = srq->rq.queue,
        .attr = {.max_wr = srq->rq.max_wr, .max_sge = srq->rq.max_sge, .limit = srq->limit},
    };
}

/* Posts one receive; *@ret_id is its event. */
static enum rdl_status post(struct guest_srq *srq, const struct rdl_recv_wr *wr, ev_id *ret_id,
                            struct objection *by)
{
    const struct verbs *v = srq->o.verbs;
    enum rdl_status st = v->broken ? RDL_ERR_BROKEN : object_usable(&srq->o);
    uint32_t entry;

    if (st == RDL_OK) {
        *by = post_decide_shared(srq, wr);
        st = by->rule == RULE_NONE ? RDL_OK : RDL_ERR_INVAL;
    }
    if (st == RDL_OK)
        st = v->ops->post_srq_recv(srq, wr, &entry);
    if (st != RDL_OK)
        return st;
    TRACE_ID(v->config.trace, *ret_id, post_srq_recv, .host = v->config.host, .object = OBJ_SRQ,
             .number = srq->srqn, .queue = srq->rq.queue, .desc = entry, .wr_id = wr->wr_id,
             .bytes = work_bytes(wr->sge, wr->n_sge));
    return RDL_OK;
}

enum rdl_status verbs_post_srq_recv_list(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                         size_t n, bool nokick, struct rdl_post_error *reterr)
{
    struct verbs *v = srq->o.verbs;
    struct objection by = {RULE_NONE, {0}};
    enum rdl_status st = RDL_OK;
    ev_id last = 0, old;
    size_t i = 0;

    while (i < n && (st = post(srq, &wr[i], &last, &by)) == RDL_OK)
        i++;
    if (st != RDL_OK)
        *reterr = post_error(i, &by);
    if (i > 0 && !nokick) {
        old = trace_because(v->config.trace, last);
        v->ops->kick_srq(srq);
        trace_because(v->config.trace, old);
    }
    return st;
}

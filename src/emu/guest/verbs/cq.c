/* SPDX-License-Identifier: MIT */
/* Verbs for completion queues. */
#include "emu/base/assert.h"
#include "emu/guest/verbs/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

uint32_t verbs_vectors(const struct verbs *v)
{
    return v->limits.comp_vectors > 0 ? v->limits.comp_vectors : 1;
}

enum rdl_status verbs_create_cq_by(struct verbs *v, struct guest_channel *ch, uint32_t cqe,
                                   uint32_t vector, const char *name, uint64_t *ret)
{
    enum rdl_status st = request_ready_to_create(v);
    struct guest_object *o;
    struct guest_cq *cq;
    uint64_t handle;

    if (st == RDL_OK && (cqe == 0 || (vector != RDL_VECTOR_ANY && vector >= verbs_vectors(v)) ||
                         (ch && ch->o.verbs != v)))
        st = RDL_ERR_INVAL;
    if (st == RDL_OK && cqe > v->limits.max_cqe)
        st = RDL_ERR_LIMIT;
    if (st == RDL_OK)
        st = object_new(v, OBJ_CQ, name, &o);
    if (st != RDL_OK)
        return st;

    cq = (struct guest_cq *)o;
    cq->cqe = request_queue_size(v, cqe, v->limits.max_cqe);
    cq->vector = vector;
    cq->channel = ch;
    object_use_parts(o, true);
    handle = o->handle;
    request_begin(v, VERBS_CREATE, o);
    st = object_sent(o, object_ask(o));
    if (st == RDL_OK)
        *ret = handle;
    return st;
}

enum rdl_status verbs_create_cq(struct verbs *v, uint32_t cqe, const char *name, uint64_t *ret)
{
    return verbs_create_cq_by(v, NULL, cqe, RDL_VECTOR_ANY, name, ret);
}

enum rdl_status verbs_create_cq_on(struct guest_channel *ch, uint32_t cqe, const char *name,
                                   uint64_t *ret)
{
    return verbs_create_cq_by(ch->o.verbs, ch, cqe, RDL_VECTOR_ANY, name, ret);
}

enum rdl_status verbs_destroy_cq(struct guest_cq *cq)
{
    return object_destroy(&cq->o);
}

enum rdl_status verbs_resize_cq(struct guest_cq *cq, uint32_t cqe)
{
    struct verbs *v = cq->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&cq->o);
    if (st == RDL_OK && (cqe == 0 || cqe < v->ops->count_unpolled(cq)))
        st = RDL_ERR_INVAL;
    if (st == RDL_OK && cqe > v->limits.max_cqe)
        st = RDL_ERR_LIMIT;
    if (st != RDL_OK)
        return st;
    request_begin(v, VERBS_RESIZE_CQ, &cq->o);
    v->request.cqe = request_queue_size(v, cqe, v->limits.max_cqe);
    return request_sent(v, v->ops->resize_cq(cq, v->request.cqe));
}

enum rdl_status verbs_req_notify_cq(struct guest_cq *cq, bool solicited_only)
{
    struct verbs *v = cq->o.verbs;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&cq->o);
    if (st != RDL_OK)
        return st;
    /* Set before the request is sent: the device may raise the event right after its answer. */
    if (!cq->armed) /* if it is, an event of the earlier arming may still come */
        cq->polled_when_armed = cq->polled;
    cq->armed = true;
    request_begin(v, VERBS_ARM_CQ, &cq->o);
    st = request_sent(v, v->ops->arm_cq(cq, solicited_only));
    if (st != RDL_OK)
        cq->armed = false;
    return st;
}

enum rdl_status verbs_rearm_cq(struct guest_cq *cq)
{
    struct verbs *v = cq->o.verbs;
    enum rdl_status st;

    RDL_ASSERT(cq->of_kernel && !cq->armed);
    if (v->broken)
        return RDL_ERR_BROKEN;
    if (!v->ops->rearm_cq)
        return RDL_ERR_UNSUPPORTED;
    cq->polled_when_armed = cq->polled;
    cq->armed = true;
    st = v->ops->rearm_cq(cq);
    if (st != RDL_OK)
        cq->armed = false;
    return st;
}

void verbs_rearmed(struct guest_cq *cq, bool armed)
{
    const struct verbs_config *c = &cq->o.verbs->config;

    cq->armed = cq->armed && armed;
    c->kernel_event(c->ctx, cq, armed);
}

bool verbs_is_arming(const struct guest_cq *cq)
{
    const struct verbs_request *r = &cq->o.verbs->request;

    return r->n > 0 && r->kind == VERBS_ARM_CQ && r->object == &cq->o;
}

void verbs_cq_event(struct guest_cq *cq)
{
    const struct verbs *v = cq->o.verbs;

    /* An event that arrives during REQ_NOTIFY_CQ may be that of the earlier arming. */
    cq->armed = verbs_is_arming(cq);
    cq->polled_when_armed = cq->polled;
    cq->events++;
    TRACE(v->config.trace, cq_event, .host = v->config.host, .cqn = cq->cqn);
    if (cq->of_kernel)
        v->config.kernel_event(v->config.ctx, cq, true);
    else
        channel_put(cq);
}

uint64_t cq_completions(const struct guest_cq *cq)
{
    return cq->polled + cq->o.verbs->ops->count_unpolled(cq);
}

enum rdl_status verbs_cq_info(const struct guest_cq *cq, struct rdl_cq_info *ret)
{
    if (object_usable(&cq->o) != RDL_OK)
        return RDL_ERR_BUSY;
    *ret = (struct rdl_cq_info){
        .cqe = cq->cqe,
        .completions = cq_completions(cq),
        .polled = cq->polled,
        .events = cq->events,
    };
    return RDL_OK;
}

/* SPDX-License-Identifier: MIT */
/* Shared receive queues. */
#include <stdlib.h>

#include "program/ibverbs/internal.h"

static struct ibv_srq *create_srq(struct ibv_pd *pub, struct ibv_srq_init_attr *init,
                                  const struct maker *m)
{
    struct lib_pd *pd = pd_of(pub);
    struct lib_srq *srq = pd ? calloc(1, sizeof(*srq)) : NULL;
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!srq)
        return null_because(pd ? ENOMEM : EINVAL);
    call_init_by(&call, PROGRAM_CREATE_SRQ, m);
    call.u.create_srq.pd = pd->o.handle;
    call.u.create_srq.max_wr = init->attr.max_wr;
    call.u.create_srq.max_sge = init->attr.max_sge;
    call.u.create_srq.limit = init->attr.srq_limit;
    error = connection_call(&pd->o.context->c, &call, &answer, NULL);
    if (!error && answer.u.create_srq.slot >= PROGRAM_QUEUES) {
        object_undo(pd->o.context, PROGRAM_SRQ, answer.u.create_srq.handle);
        error = EPROTO;
    }
    if (error) {
        free(srq);
        return null_because(error);
    }
    srq->pub.context = pub->context;
    srq->pub.srq_context = init->srq_context;
    srq->pub.pd = pub;
    pthread_mutex_init(&srq->pub.mutex, NULL);
    pthread_cond_init(&srq->pub.cond, NULL);
    srq->srqn = answer.u.create_srq.srqn;
    init->attr.max_wr = srq->max_wr = answer.u.create_srq.max_wr;
    init->attr.max_sge = srq->max_sge = answer.u.create_srq.max_sge;
    srq->queue = &pd->o.context->c.page->queues[answer.u.create_srq.slot];
    srq->posted = atomic_load(&srq->queue->receives_over);
    object_live(pd->o.context, &srq->o, PROGRAM_SRQ, answer.u.create_srq.handle);
    srq->pub.handle = (uint32_t)srq->o.handle;
    return &srq->pub;
}

/* ibv_create_srq(3).  Returns NULL and sets errno. */
struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    const struct maker m = MAKER_INLINE(CREATE_SRQ); /* also of ibv_create_srq_ex() */

    return create_srq(pd, init, &m);
}

struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    const struct maker m = MAKER_INLINE(CREATE_SRQ_EX);
    const uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    struct lib_pd *pd = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? pd_of(attr->pd) : NULL;

    if ((attr->comp_mask & ~known) ||
        ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attr->srq_type != IBV_SRQT_BASIC))
        return null_because(EOPNOTSUPP);
    if (!pd || pd->o.context != context_of(context))
        return null_because(EINVAL);
    return create_srq(attr->pd, (struct ibv_srq_init_attr *)attr, &m); /* begins alike */
}

int srq_number(struct ibv_srq *pub, uint32_t *ret)
{
    const struct lib_srq *srq = srq_of(pub);

    if (!srq)
        return EINVAL;
    *ret = srq->srqn;
    return 0;
}

/* ibv_query_srq(3).  Returns 0 or an errno value. */
int ibv_query_srq(struct ibv_srq *pub, struct ibv_srq_attr *attr)
{
    struct lib_srq *srq = srq_of(pub);
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!srq)
        return EINVAL;
    call_init(&call, PROGRAM_QUERY_SRQ);
    call.u.query_srq.srq = srq->o.handle;
    error = connection_call(&srq->o.context->c, &call, &answer, NULL);
    if (error)
        return error;
    *attr = (struct ibv_srq_attr){.max_wr = answer.u.query_srq.max_wr,
                                  .max_sge = answer.u.query_srq.max_sge,
                                  .srq_limit = answer.u.query_srq.limit};
    return 0;
}

/* ibv_modify_srq(3).  Returns 0 or an errno value. */
int ibv_modify_srq(struct ibv_srq *pub, struct ibv_srq_attr *attr, int attr_mask)
{
    struct lib_srq *srq = srq_of(pub);
    struct ibv_srq_attr now;
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!srq)
        return EINVAL;
    call_init(&call, PROGRAM_MODIFY_SRQ);
    call.u.modify_srq.srq = srq->o.handle;
    call.u.modify_srq.max_wr = attr_mask & IBV_SRQ_MAX_WR ? attr->max_wr : 0;
    call.u.modify_srq.limit = attr_mask & IBV_SRQ_LIMIT ? attr->srq_limit : 0;
    call.u.modify_srq.mask = (uint32_t)attr_mask;
    error = connection_call(&srq->o.context->c, &call, &answer, NULL);
    if (!error && (attr_mask & IBV_SRQ_MAX_WR) && ibv_query_srq(pub, &now) == 0)
        srq->max_wr = now.max_wr;
    return error;
}

/* ibv_destroy_srq(3).  Returns 0, EBUSY or another errno value.  Waits until the program has
 * acknowledged the events that it has got.
 */
int ibv_destroy_srq(struct ibv_srq *pub)
{
    struct lib_srq *srq = srq_of(pub);
    const int error = srq ? object_destroy(&srq->o, -1) : EINVAL;

    if (error)
        return error;
    object_wait_acknowledged(&pub->mutex, &pub->cond, &pub->events_completed, srq->o.async_events);
    object_bury(srq->o.context, srq);
    return 0;
}

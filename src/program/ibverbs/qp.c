/* SPDX-License-Identifier: MIT */
/* Queue pairs: create, modify, query and destroy; multicast groups. */
#include <stdlib.h>

#include "program/ibverbs/internal.h"

#define ATTR_UNKNOWN (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_CAP | IBV_QP_RATE_LIMIT)
#define COMP_MASK                                                                                  \
    (uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |                               \
               IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
#define SEND_OPS_ALL                                                                               \
    (uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |                    \
               IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |     \
               IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |           \
               IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV)
#define SEND_OPS_UC                                                                                \
    (uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |                    \
               IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_LOCAL_INV |     \
               IBV_QP_EX_WITH_BIND_MW)
#define SEND_OPS_UD (uint64_t)(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)

/* --- Create and destroy ----------------------------------------------------------------------- */

/* The operations of ibv_wr_*() on a queue pair of @type. */
static uint64_t send_ops_of(enum ibv_qp_type type)
{
    if (type == IBV_QPT_RC)
        return SEND_OPS_ALL;
    return type == IBV_QPT_UC ? SEND_OPS_UC : SEND_OPS_UD;
}

/* Checks what the lab does not see.  Returns 0 or an errno value. */
static int check_init(struct context *x, const struct ibv_qp_init_attr_ex *attr)
{
    const struct lib_pd *pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? pd_of(attr->pd) : NULL;
    const struct lib_cq *send_cq = cq_of(attr->send_cq), *recv_cq = cq_of(attr->recv_cq);
    const struct lib_srq *srq = srq_of(attr->srq);

    if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC && attr->qp_type != IBV_QPT_UD)
        return EOPNOTSUPP;
    if (attr->comp_mask & ~COMP_MASK)
        return EOPNOTSUPP;
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
        (attr->create_flags & ~(uint32_t)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB))
        return EOPNOTSUPP;
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
        (attr->send_ops_flags & ~send_ops_of(attr->qp_type)))
        return EOPNOTSUPP;
    if (!pd || !send_cq || !recv_cq || (attr->srq && !srq))
        return EINVAL;
    if (pd->o.context != x || send_cq->o.context != x || recv_cq->o.context != x ||
        (srq && srq->o.context != x))
        return EINVAL;
    return 0;
}

static void cap_to(struct ibv_qp_cap *to, const struct program_cap *from)
{
    *to = (struct ibv_qp_cap){from->max_send_wr, from->max_recv_wr, from->max_send_sge,
                              from->max_recv_sge, from->max_inline_data};
}

static int call_create_qp(struct context *x, struct lib_qp *qp,
                          const struct ibv_qp_init_attr_ex *attr, const struct maker *m)
{
    const bool has_flags = (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0;
    struct program_call call;
    struct program_answer answer;
    int error;

    call_init_by(&call, PROGRAM_CREATE_QP, m);
    call.u.create_qp.pd = pd_of(attr->pd)->o.handle;
    call.u.create_qp.send_cq = cq_of(attr->send_cq)->o.handle;
    call.u.create_qp.recv_cq = cq_of(attr->recv_cq)->o.handle;
    call.u.create_qp.srq = attr->srq ? srq_of(attr->srq)->o.handle : 0;
    call.u.create_qp.cap =
        (struct program_cap){attr->cap.max_send_wr, attr->cap.max_recv_wr, attr->cap.max_send_sge,
                             attr->cap.max_recv_sge, attr->cap.max_inline_data};
    call.u.create_qp.type = attr->qp_type;
    call.u.create_qp.sq_sig_all = attr->sq_sig_all != 0;
    call.u.create_qp.block_self_mcast_lb =
        has_flags && (attr->create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
    error = connection_call(&x->c, &call, &answer, NULL);
    if (error)
        return error;
    if (answer.u.create_qp.slot >= PROGRAM_QUEUES) {
        object_undo(x, PROGRAM_QP, answer.u.create_qp.handle);
        return EPROTO;
    }
    cap_to(&qp->cap, &answer.u.create_qp.cap);
    qp->queue = &x->c.page->queues[answer.u.create_qp.slot];
    qp->sends = atomic_load(&qp->queue->sends_over);
    qp->receives = atomic_load(&qp->queue->receives_over);
    qp->pub.qp_base.qp_num = answer.u.create_qp.qpn;
    object_live(x, &qp->o, PROGRAM_QP, answer.u.create_qp.handle);
    return 0;
}

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                                const struct maker *m)
{
    struct context *x = context_of(context);
    struct lib_qp *qp = NULL;
    struct ibv_qp *pub;
    int error = check_init(x, attr);

    if (!error) {
        qp = calloc(1, sizeof(*qp));
        error = qp ? 0 : ENOMEM;
    }
    if (!error && (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
        error = extended_init(qp);
    if (!error)
        error = call_create_qp(x, qp, attr, m);
    if (error) {
        if (qp)
            extended_done(qp);
        free(qp);
        return null_because(error);
    }
    pub = &qp->pub.qp_base;
    pub->context = context;
    pub->qp_context = attr->qp_context;
    pub->pd = attr->pd;
    pub->send_cq = attr->send_cq;
    pub->recv_cq = attr->recv_cq;
    pub->srq = attr->srq;
    pub->handle = (uint32_t)qp->o.handle;
    pub->state = IBV_QPS_RESET;
    pub->qp_type = attr->qp_type;
    pthread_mutex_init(&pub->mutex, NULL);
    pthread_cond_init(&pub->cond, NULL);
    qp->sq_sig_all = attr->sq_sig_all != 0;
    attr->cap = qp->cap;
    return pub;
}

struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    const struct maker m = MAKER_INLINE(CREATE_QP_EX);

    return create_qp(context, attr, &m);
}

/* ibv_create_qp(3).  Returns NULL and sets errno. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct ibv_qp_init_attr_ex attr = {.qp_context = init->qp_context,
                                       .send_cq = init->send_cq,
                                       .recv_cq = init->recv_cq,
                                       .srq = init->srq,
                                       .cap = init->cap,
                                       .qp_type = init->qp_type,
                                       .sq_sig_all = init->sq_sig_all,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD,
                                       .pd = pd};
    const struct maker m = MAKER_INLINE(CREATE_QP); /* also of ibv_create_qp_ex() */
    struct ibv_qp *qp = pd_of(pd) ? create_qp(pd->context, &attr, &m) : null_because(EINVAL);

    if (qp)
        init->cap = attr.cap;
    return qp;
}

/* ibv_qp_to_qp_ex(3).  Returns NULL unless the queue pair was made for ibv_wr_*(). */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *pub)
{
    struct lib_qp *qp = qp_of(pub);

    return qp && qp->is_extended ? &qp->pub : NULL;
}

/* ibv_destroy_qp(3).  Returns 0, EBUSY if it is in a multicast group, or another errno value. Waits
 * until the program has acknowledged the events that it has got.
 */
int ibv_destroy_qp(struct ibv_qp *pub)
{
    struct lib_qp *qp = qp_of(pub);
    int error;

    if (!qp)
        return EINVAL;
    error = object_destroy(&qp->o, -1);
    if (error)
        return error;
    object_wait_acknowledged(&pub->mutex, &pub->cond, &pub->events_completed, qp->o.async_events);
    extended_done(qp);
    object_bury(qp->o.context, qp);
    return 0;
}

/* --- Modify and query ------------------------------------------------------------------------- */

void av_from(struct program_av *to, const struct ibv_ah_attr *from)
{
    memset(to, 0, sizeof(*to));
    memcpy(to->dgid, from->grh.dgid.raw, sizeof(to->dgid));
    to->flow_label = from->grh.flow_label & IB_GRH_FLOWLABEL_MASK; /* as the kernel does */
    to->sgid_index = from->grh.sgid_index;
    to->hop_limit = from->grh.hop_limit;
    to->traffic_class = from->grh.traffic_class;
    to->sl = from->sl;
    to->static_rate = from->static_rate;
    to->port = from->port_num;
    to->is_global = from->is_global != 0;
}

void av_to(struct ibv_ah_attr *to, const struct program_av *from)
{
    memset(to, 0, sizeof(*to));
    memcpy(to->grh.dgid.raw, from->dgid, sizeof(from->dgid));
    to->grh.flow_label = from->flow_label;
    to->grh.sgid_index = from->sgid_index;
    to->grh.hop_limit = from->hop_limit;
    to->grh.traffic_class = from->traffic_class;
    to->sl = from->sl;
    to->static_rate = from->static_rate;
    to->port_num = from->port;
    to->is_global = from->is_global;
}

/* X(ours, type, public) */
#define ATTRS(X)                                                                                   \
    X(state, enum ibv_qp_state, qp_state)                                                          \
    X(cur_state, enum ibv_qp_state, cur_qp_state)                                                  \
    X(path_mtu, enum ibv_mtu, path_mtu)                                                            \
    X(access, unsigned, qp_access_flags)                                                           \
    X(pkey_index, uint16_t, pkey_index)                                                            \
    X(port, uint8_t, port_num)                                                                     \
    X(qkey, uint32_t, qkey)                                                                        \
    X(dest_qpn, uint32_t, dest_qp_num)                                                             \
    X(rq_psn, uint32_t, rq_psn)                                                                    \
    X(sq_psn, uint32_t, sq_psn)                                                                    \
    X(max_rd_atomic, uint8_t, max_rd_atomic)                                                       \
    X(max_dest_rd_atomic, uint8_t, max_dest_rd_atomic)                                             \
    X(min_rnr_timer, uint8_t, min_rnr_timer)                                                       \
    X(timeout, uint8_t, timeout)                                                                   \
    X(retry_cnt, uint8_t, retry_cnt)                                                               \
    X(rnr_retry, uint8_t, rnr_retry)                                                               \
    X(en_sqd_async_notify, uint8_t, en_sqd_async_notify)                                           \
    X(sq_draining, uint8_t, sq_draining)

/* X(bit, member): the attributes that a bit of enum ibv_qp_attr_mask selects. Others are sent as 0,
 * because programs do not initialise them.
 */
#define SELECTED(X)                                                                                \
    X(IBV_QP_STATE, state)                                                                         \
    X(IBV_QP_CUR_STATE, cur_state)                                                                 \
    X(IBV_QP_PATH_MTU, path_mtu)                                                                   \
    X(IBV_QP_ACCESS_FLAGS, access)                                                                 \
    X(IBV_QP_PKEY_INDEX, pkey_index)                                                               \
    X(IBV_QP_PORT, port)                                                                           \
    X(IBV_QP_QKEY, qkey)                                                                           \
    X(IBV_QP_DEST_QPN, dest_qpn)                                                                   \
    X(IBV_QP_RQ_PSN, rq_psn)                                                                       \
    X(IBV_QP_SQ_PSN, sq_psn)                                                                       \
    X(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)                                                      \
    X(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)                                               \
    X(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)                                                         \
    X(IBV_QP_TIMEOUT, timeout)                                                                     \
    X(IBV_QP_RETRY_CNT, retry_cnt)                                                                 \
    X(IBV_QP_RNR_RETRY, rnr_retry)                                                                 \
    X(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)

static void attr_from(struct program_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
    memset(to, 0, sizeof(*to));
#define FROM(ours, type, public) to->ours = (uint32_t)from->public;
    ATTRS(FROM)
#undef FROM
#define CLEAR(bit, ours)                                                                           \
    if (!(mask & (bit)))                                                                           \
        to->ours = 0;
    SELECTED(CLEAR)
#undef CLEAR
    to->sq_draining = 0;
    if (mask & IBV_QP_AV)
        av_from(&to->av, &from->ah_attr);
}

static void attr_to(struct ibv_qp_attr *to, const struct program_qp_attr *from)
{
    memset(to, 0, sizeof(*to));
#define TO(ours, type, public) to->public = (type)from->ours;
    ATTRS(TO)
#undef TO
    av_to(&to->ah_attr, &from->av);
}

/* Completions that are still in the CQs are from before the reset. */
static void was_reset(struct lib_qp *qp)
{
    const struct lib_cq *send_cq = cq_of(qp->pub.qp_base.send_cq);
    const struct lib_cq *recv_cq = cq_of(qp->pub.qp_base.recv_cq);

    if (send_cq)
        qp->send_cq_from = atomic_load(&send_cq->ring->written);
    if (recv_cq)
        qp->recv_cq_from = atomic_load(&recv_cq->ring->written);
}

/* ibv_modify_qp(3).  Returns 0 or an errno value: EOPNOTSUPP for alternate paths, sizes and rate
 * limits.
 */
int ibv_modify_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int attr_mask)
{
    struct lib_qp *qp = qp_of(pub);
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!qp)
        return EINVAL;
    if (attr_mask & ATTR_UNKNOWN)
        return EOPNOTSUPP;
    call_init(&call, PROGRAM_MODIFY_QP);
    call.u.modify_qp.qp = qp->o.handle;
    call.u.modify_qp.mask = (uint32_t)attr_mask;
    attr_from(&call.u.modify_qp.attr, attr, attr_mask);
    error = connection_call(&qp->o.context->c, &call, &answer, NULL);
    if (error || !(attr_mask & IBV_QP_STATE))
        return error;
    pub->state = attr->qp_state;
    qp->state = attr->qp_state;
    if (attr->qp_state == IBV_QPS_RESET)
        was_reset(qp);
    return 0;
}

/* ibv_query_qp(3).  Returns 0 or an errno value. */
int ibv_query_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int attr_mask,
                 struct ibv_qp_init_attr *init_attr)
{
    struct lib_qp *qp = qp_of(pub);
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!qp)
        return EINVAL;
    call_init(&call, PROGRAM_QUERY_QP);
    call.u.query_qp.qp = qp->o.handle;
    error = connection_call(&qp->o.context->c, &call, &answer, NULL);
    if (error)
        return error;
    attr_to(attr, &answer.u.query_qp.attr);
    cap_to(&attr->cap, &answer.u.query_qp.cap);
    attr->path_mig_state = IBV_MIG_MIGRATED;
    *init_attr = (struct ibv_qp_init_attr){.qp_context = pub->qp_context,
                                           .send_cq = pub->send_cq,
                                           .recv_cq = pub->recv_cq,
                                           .srq = pub->srq,
                                           .cap = attr->cap,
                                           .qp_type = pub->qp_type,
                                           .sq_sig_all = (int)qp->sq_sig_all};
    qp->state = attr->qp_state;
    if (attr_mask & IBV_QP_STATE)
        pub->state = attr->qp_state;
    return 0;
}

/* ibv_query_qp_data_in_order(3): 0, no guarantee. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp;
    (void)op;
    (void)flags;
    return 0;
}

/* --- Multicast -------------------------------------------------------------------------------- */

static int mcast(struct ibv_qp *pub, const union ibv_gid *gid, enum program_op op)
{
    struct lib_qp *qp = qp_of(pub);
    struct program_call call;
    struct program_answer answer;

    if (!qp)
        return EINVAL;
    call_init(&call, op);
    call.u.attach_mcast.qp = qp->o.handle;
    memcpy(call.u.attach_mcast.gid, gid->raw, sizeof(gid->raw));
    return connection_call(&qp->o.context->c, &call, &answer, NULL);
}

/* ibv_attach_mcast(3).  Returns 0 or an errno value. */
int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)lid; /* of InfiniBand */
    return mcast(qp, gid, PROGRAM_ATTACH_MCAST);
}

/* ibv_detach_mcast(3).  Returns 0 or an errno value. */
int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)lid;
    return mcast(qp, gid, PROGRAM_DETACH_MCAST);
}

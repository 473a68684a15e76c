/* SPDX-License-Identifier: MIT */
#include "emu/hca/qp.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/flush_access.h"
#include "emu/facts/profile.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/roce.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/mw.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/qp.h"

#define ACCESS_TAKEN                                                                               \
    (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC | ACCESS_HINTS)
#define NOT_SUPPORTED   (QPA_ALT_PATH | QPA_PATH_MIG_STATE | QPA_RATE_LIMIT | QPA_CAP)
#define MASK_IS_NO_EDGE (QPA_STATE | QPA_CUR_STATE) /* not in the transition table */

/* Checks @c against the limits.  Returns REF_NONE or RFK_INVALID. */
static enum refusal_reason check_config(struct hca *h, const struct qp_config *c)
{
    const struct hca_limits *l = &h->limits;
    const struct {
        enum refusal_reason why;
        uint32_t most, found;
    } checks[] = {
        {REF_QP_SEND_WR, l->max_qp_wr, c->max_send_wr},
        {REF_QP_RECV_WR, l->max_qp_wr, c->max_recv_wr},
        {REF_QP_SEND_SGE, l->max_send_sge, c->max_send_sge},
        {REF_QP_RECV_SGE, l->max_recv_sge, c->max_recv_sge},
        {REF_QP_INLINE_DATA, l->max_inline_data, c->max_inline_data},
    };

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (checks[i].found > checks[i].most)
            return hca_refuse(h, checks[i].why, compared_at_most(checks[i].most, checks[i].found));
    }
    return REF_NONE;
}

/* The objects that a queue pair refers to. */
struct qp_parts {
    struct pd *pd;
    struct cq *send_cq, *recv_cq;
    struct srq *srq; /* NULL: the queue pair has its own receive queue */
};

static enum refusal_reason find_parts(struct hca *h, const struct qp_config *c,
                                      struct qp_parts *ret)
{
    *ret = (struct qp_parts){hca_pd(h, c->pdn), hca_cq(h, c->send_cqn), hca_cq(h, c->recv_cqn),
                             c->srqn ? hca_srq(h, c->srqn) : NULL};
    if (!ret->pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(c->pdn));
    if (!ret->send_cq)
        return hca_refuse(h, REF_QP_SEND_CQ, compared_found(c->send_cqn));
    if (!ret->recv_cq)
        return hca_refuse(h, REF_QP_RECV_CQ, compared_found(c->recv_cqn));
    if (c->srqn && !ret->srq)
        return hca_refuse(h, REF_QP_SRQ, compared_found(c->srqn));
    return REF_NONE;
}

/* The inverse of hca_qpn_index(). */
static uint32_t qpn_at(const struct hca *h, uint32_t index)
{
    const uint32_t qpn = h->first_qpn + index;

    return qpn <= h->limits.max_qp ? qpn : qpn - h->limits.max_qp - 1 + HCA_QPN_USER;
}

/* @config with the derived values filled in.  @srq is the shared receive queue or NULL. */
static struct qp_config config_with(const struct hca *h, const struct qp_config *config,
                                    const struct srq *srq)
{
    struct qp_config c = *config;

    c.max_sge_rd = c.max_send_sge < h->limits.max_sge_rd ? c.max_send_sge : h->limits.max_sge_rd;

    if (srq) {
        c.max_recv_wr = 0;
        c.max_recv_sge = srq->max_sge;
    }
    return c;
}

/* Assigns a QPN to @qp, a queue pair of @type.  Returns REF_NONE or RFK_NO_ROOM. */
static enum refusal_reason assign_qpn(struct hca *h, uint32_t type, struct qp *qp, uint32_t *ret)
{
    uint64_t name;

    if (type == QPT_GSI) {
        if (h->gsi)
            return hca_refuse(h, REF_QP_GSI_LIMIT, compared_at_most(1, 2));
        h->gsi = qp;
        *ret = QPN_GSI;
        return REF_NONE;
    }
    name = slots_add(&h->qps, qp);
    if (name == 0)
        return hca_refuse_full(h, &h->qps, h->qps.max, REF_QP_LIMIT);
    *ret = qpn_at(h, slots_index(name));
    return REF_NONE;
}

/* Sets the Q_Key and the P_Key index of the GSI, which MODIFY_QP does not change. */
static void fix_gsi(struct qp *qp)
{
    qp->attr.qkey = QKEY_GSI;
    qp->attr.pkey_index = 0;
}

enum refusal_reason hca_qp_create(struct hca *h, const struct qp_config *config, size_t qp_bytes,
                                  struct qp **ret)
{
    struct qp_config c;
    struct qp_parts parts;
    enum refusal_reason why = find_parts(h, config, &parts);
    struct qp *qp;
    uint32_t qpn = 0;

    RDL_ASSERT(qp_bytes >= sizeof(*qp));
    if (why != REF_NONE)
        return why;
    RDL_ASSERT(parts.pd && parts.send_cq && parts.recv_cq);
    c = config_with(h, config, parts.srq);
    why = check_config(h, &c);
    if (why != REF_NONE)
        return why;
    qp = arena_alloc(h->arena, qp_bytes);
    if (!qp)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    why = assign_qpn(h, c.type, qp, &qpn);
    if (why != REF_NONE) {
        arena_release(h->arena, qp, qp_bytes);
        return why;
    }
    *qp = (struct qp){
        .hca = h,
        .pd = parts.pd,
        .send_cq = parts.send_cq,
        .recv_cq = parts.recv_cq,
        .srq = parts.srq,
        .qpn = qpn,
        .state = QPS_RESET,
        .config = c,
    };
    if (qpn == QPN_GSI)
        fix_gsi(qp);
    if (parts.srq)
        parts.srq->users++;
    parts.pd->users++;
    parts.send_cq->users++;
    parts.recv_cq->users++;
    *ret = qp;
    return REF_NONE;
}

/* The GID table entry that a connected queue pair uses as its source; NULL if @qp is not connected.
 */
static struct hca_gid *gid_in_use(const struct qp *qp)
{
    const bool has_av = qp->config.type == QPT_RC || qp->config.type == QPT_UC;
    const bool connected = qp->state >= QPS_RTR && qp->state <= QPS_SQE;

    return has_av && connected ? &qp_gids(qp)[qp->attr.av.sgid_index] : NULL;
}

/* gid_let_go() releases the GID table entry of @qp before its state or address vector changes;
 * gid_hold() takes a reference after the change.
 */
static void gid_let_go(const struct qp *qp)
{
    struct hca_gid *gid = gid_in_use(qp);

    if (gid)
        gid->users--;
}

static void gid_hold(const struct qp *qp)
{
    struct hca_gid *gid = gid_in_use(qp);

    if (gid)
        gid->users++;
}

void hca_qp_destroy(struct hca *h, struct qp *qp, size_t qp_bytes)
{
    gid_let_go(qp);
    hca_mw_forget_qp(h, qp->qpn);
    mcast_forget(h, qp);
    h->res_rd_atom -= qp->attr.max_dest_rd_atomic;
    qp->pd->users--;
    qp->send_cq->users--;
    qp->recv_cq->users--;
    if (qp->srq)
        qp->srq->users--;
    if (qp == h->gsi)
        h->gsi = NULL;
    else
        slots_remove(&h->qps, slots_name(&h->qps, hca_qpn_index(h, qp->qpn)));
    arena_release(h->arena, qp, qp_bytes);
}

static enum refusal_reason check_av(struct hca *h, const struct hca_gid *gids, const struct av *av)
{
    if (!(av->flags & AH_FLAG_GRH))
        return hca_refuse(h, REF_AV_GRH, compared_one(AH_FLAG_GRH, av->flags));
    if (av->sgid_index >= HCA_GIDS || !gids[av->sgid_index].valid)
        return hca_refuse(h, REF_AV_SGID_INDEX, compared_found(av->sgid_index));
    if (av->sl > SERVICE_LEVEL_MAX)
        return hca_refuse(h, REF_AV_SERVICE_LEVEL, compared_at_most(SERVICE_LEVEL_MAX, av->sl));
    if (av->flow_label > FLOW_LABEL_MAX)
        return hca_refuse(h, REF_AV_FLOW_LABEL, compared_at_most(FLOW_LABEL_MAX, av->flow_label));
    return av->port == HCA_PORT ? REF_NONE
                                : hca_refuse(h, REF_PORT_NUMBER, compared_one(HCA_PORT, av->port));
}

/* Checks the range of every attribute in @mask, for a queue pair that uses the GID table @gids.
 * Returns REF_NONE or RFK_INVALID. */
static enum refusal_reason check_values(struct hca *h, const struct hca_gid *gids, uint32_t mask,
                                        const struct qp_attr *a)
{
    const struct hca_limits *l = &h->limits;
    const unsigned flush = flush_access_of_qp(h->profile);
    const struct {
        uint32_t bit;
        enum refusal_reason why;
        uint32_t least, most, found;
    } checks[] = {
        {QPA_PKEY_INDEX, REF_QP_PKEY_INDEX, 0, h->pkeys.n - 1, a->pkey_index},
        {QPA_PORT, REF_PORT_NUMBER, HCA_PORT, HCA_PORT, a->port},
        {QPA_PATH_MTU, REF_QP_PATH_MTU, MTU_256, l->max_mtu, a->path_mtu},
        {QPA_TIMEOUT, REF_QP_TIMEOUT, 0, TIMER_CODE_MAX, a->timeout},
        {QPA_RETRY_CNT, REF_QP_RETRY_CNT, 0, RETRY_MAX, a->retry_cnt},
        {QPA_RNR_RETRY, REF_QP_RNR_RETRY, 0, RETRY_MAX, a->rnr_retry},
        {QPA_RQ_PSN, REF_QP_RQ_PSN, 0, PSN_MASK, a->rq_psn},
        {QPA_SQ_PSN, REF_QP_SQ_PSN, 0, PSN_MASK, a->sq_psn},
        {QPA_MAX_QP_RD_ATOMIC, REF_QP_RD_ATOMIC, 0, l->max_rd_atomic, a->max_rd_atomic},
        {QPA_MAX_DEST_RD_ATOMIC, REF_QP_DEST_RD_ATOMIC, 0, l->max_dest_rd_atomic,
         a->max_dest_rd_atomic},
        {QPA_MIN_RNR_TIMER, REF_QP_RNR_TIMER, 0, TIMER_CODE_MAX, a->min_rnr_timer},
        {QPA_DEST_QPN, REF_QP_DEST_QPN, 0, QPN_MAX, a->dest_qpn},
    };

    if ((mask & QPA_ACCESS_FLAGS) && (a->access & ~(uint32_t)(ACCESS_TAKEN | flush)) != 0)
        return hca_refuse(h, REF_QP_ACCESS_FLAGS, compared_found(a->access));
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if ((mask & checks[i].bit) &&
            (checks[i].found < checks[i].least || checks[i].found > checks[i].most))
            return hca_refuse(h, checks[i].why,
                              compared_range(checks[i].least, checks[i].most, checks[i].found));
    }
    return mask & QPA_AV ? check_av(h, gids, &a->av) : REF_NONE;
}

static enum qp_state target_of(const struct qp *qp, uint32_t mask, const struct qp_attr *attr)
{
    return mask & QPA_STATE ? (enum qp_state)attr->state : qp->state;
}

/* Checks the transition to @to with the attributes @given.  Returns REF_NONE or RFK_INVALID. */
static enum refusal_reason check_move(const struct qp *qp, enum qp_state to, uint32_t given)
{
    unsigned missing, extra;
    const enum rdl_status st =
        qp_fsm_check((enum qp_type)qp->config.type, qp->state, to, given, &missing, &extra);

    if (st == RDL_OK)
        return REF_NONE;
    if (st == RDL_ERR_STATE)
        return hca_refuse(qp->hca, REF_QP_MOVE, compared_found(to));
    return missing ? hca_refuse(qp->hca, REF_QP_ATTR_MISSING, compared_found(missing))
                   : hca_refuse(qp->hca, REF_QP_ATTR_EXTRA, compared_found(extra));
}

/* The effective limit of READs and atomics for a requested limit of @n, at most @most.  It is
 * rounded up to a power of two, unless the profile has TRAIT_RD_ATOMIC_EXACT.
 */
static uint32_t rd_atomic_of(const struct hca *h, uint32_t n, uint32_t most)
{
    const uint32_t rounded = n > 0 ? (uint32_t)pow2_ceil(n) : 0;

    if (profile_has(h->profile, TRAIT_RD_ATOMIC_EXACT))
        return n;
    return rounded < most ? rounded : most;
}

/* Checks that max_dest_rd_atomic @n fits into the device's total.  Returns REF_NONE or
 * RFK_NO_ROOM.
 */
static enum refusal_reason check_resources(const struct qp *qp, uint32_t n)
{
    struct hca *h = qp->hca;
    const uint64_t total = (uint64_t)h->res_rd_atom - qp->attr.max_dest_rd_atomic +
                           rd_atomic_of(h, n, h->limits.max_dest_rd_atomic);

    return total <= h->limits.max_res_rd_atom
               ? REF_NONE
               : hca_refuse(h, REF_RD_ATOMIC_TOTAL,
                            compared_at_most(h->limits.max_res_rd_atom, total));
}

enum refusal_reason hca_qp_check_modify(const struct qp *qp, uint32_t mask,
                                        const struct qp_attr *attr)
{
    const uint32_t given = mask & ~(uint32_t)MASK_IS_NO_EDGE;
    struct hca *h = qp->hca;
    enum refusal_reason why;

    if ((mask & NOT_SUPPORTED) != 0)
        return hca_refuse(h, REF_QP_ATTR_OFFERED, compared_found(mask & NOT_SUPPORTED));
    if ((mask & QPA_CUR_STATE) && attr->cur_state != qp->state)
        return hca_refuse(h, REF_QP_CUR_STATE, compared_one(qp->state, attr->cur_state));
    why = check_move(qp, target_of(qp, mask, attr), given);
    if (why == REF_NONE)
        why = check_values(h, qp_gids(qp), given, attr);
    return why == REF_NONE && (mask & QPA_MAX_DEST_RD_ATOMIC)
               ? check_resources(qp, attr->max_dest_rd_atomic)
               : why;
}

void hca_qp_apply_modify(struct qp *qp, uint32_t mask, const struct qp_attr *attr)
{
    struct hca *h = qp->hca;

    gid_let_go(qp);
    h->res_rd_atom -= qp->attr.max_dest_rd_atomic;
#define ATTR(bit, field)                                                                           \
    if (mask & (bit))                                                                              \
    qp->attr.field = attr->field
    ATTR(QPA_ACCESS_FLAGS, access);
    ATTR(QPA_PKEY_INDEX, pkey_index);
    ATTR(QPA_PORT, port);
    ATTR(QPA_QKEY, qkey);
    ATTR(QPA_AV, av);
    ATTR(QPA_PATH_MTU, path_mtu);
    ATTR(QPA_TIMEOUT, timeout);
    ATTR(QPA_RETRY_CNT, retry_cnt);
    ATTR(QPA_RNR_RETRY, rnr_retry);
    ATTR(QPA_RQ_PSN, rq_psn);
    ATTR(QPA_SQ_PSN, sq_psn);
    if (mask & QPA_MAX_QP_RD_ATOMIC)
        qp->attr.max_rd_atomic = rd_atomic_of(h, attr->max_rd_atomic, h->limits.max_rd_atomic);
    if (mask & QPA_MAX_DEST_RD_ATOMIC)
        qp->attr.max_dest_rd_atomic =
            rd_atomic_of(h, attr->max_dest_rd_atomic, h->limits.max_dest_rd_atomic);
    ATTR(QPA_MIN_RNR_TIMER, min_rnr_timer);
    ATTR(QPA_DEST_QPN, dest_qpn);
    ATTR(QPA_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef ATTR
    gid_hold(qp);
    if (mask & QPA_CREDITS)
        qp->attr.credits = true;
    if (mask & QPA_STATE)
        qp_set_state(qp, (enum qp_state)attr->state);
    if (qp->state == QPS_RESET)
        qp->attr = (struct qp_attr){0};
    if (qp->qpn == QPN_GSI)
        fix_gsi(qp);
    h->res_rd_atom += qp->attr.max_dest_rd_atomic;
}

void qp_set_state(struct qp *qp, uint32_t to)
{
    TRACE(qp->hca->trace, qp_state, .host = qp->hca->host, .qpn = qp->qpn, .from = qp->state,
          .to = to);
    gid_let_go(qp);
    qp->state = to;
    gid_hold(qp);
}

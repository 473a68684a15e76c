/* SPDX-License-Identifier: MIT */
#include "emu/hca/qp.h"

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/device.h"
#include "emu/facts/profile.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/hca/mw.h"

#define ACCESS_TAKEN                                                                               \
    (ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC | ACCESS_HINTS)
#define NOT_SUPPORTED   (QPA_ALT_PATH | QPA_PATH_MIG_STATE | QPA_RATE_LIMIT | QPA_CAP)
#define MASK_IS_NO_EDGE (QPA_STATE | QPA_CUR_STATE) /* what the state graph does not list */

static bool config_fits(const struct hca_limits *l, const struct qp_config *c)
{
    return c->max_send_wr <= l->max_qp_wr && c->max_recv_wr <= l->max_qp_wr &&
           c->max_send_sge <= l->max_send_sge && c->max_recv_sge <= l->max_recv_sge &&
           c->max_inline_data <= l->max_inline_data;
}

/* The inverse of hca_qpn_index(). */
static uint32_t qpn_at(const struct hca *h, uint32_t index)
{
    const uint32_t qpn = h->first_qpn + index;

    return qpn <= h->limits.max_qp ? qpn : qpn - h->limits.max_qp - 1 + HCA_QPN_USER;
}

/* What of @config holds, as its receives come from @srq, if that is not NULL. */
static struct qp_config config_with(const struct qp_config *config, const struct srq *srq)
{
    struct qp_config c = *config;

    if (srq) {
        c.max_recv_wr = 0;
        c.max_recv_sge = srq->max_sge;
    }
    return c;
}

enum ctrl_rsp hca_qp_create(struct hca *h, const struct qp_config *config, size_t qp_bytes,
                            struct qp **ret)
{
    struct srq *srq = config->srqn ? hca_srq(h, config->srqn) : NULL;
    const struct qp_config c = config_with(config, srq);
    struct pd *pd = hca_pd(h, config->pdn);
    struct cq *send_cq = hca_cq(h, config->send_cqn), *recv_cq = hca_cq(h, config->recv_cqn);
    struct qp *qp;
    uint64_t name;

    RDL_ASSERT(qp_bytes >= sizeof(*qp));
    if (!pd || !send_cq || !recv_cq || (config->srqn && !srq))
        return RSP_BAD_HANDLE;
    if (!config_fits(&h->limits, &c))
        return RSP_INVALID_ARG;
    qp = arena_alloc(h->arena, qp_bytes);
    if (!qp)
        return RSP_NO_RESOURCES;
    name = slots_add(&h->qps, qp);
    if (name == 0) {
        arena_release(h->arena, qp, qp_bytes);
        return RSP_NO_RESOURCES;
    }
    *qp = (struct qp){
        .hca = h,
        .pd = pd,
        .send_cq = send_cq,
        .recv_cq = recv_cq,
        .srq = srq,
        .qpn = qpn_at(h, slots_index(name)),
        .state = QPS_RESET,
        .config = c,
    };
    if (srq)
        srq->users++;
    pd->users++;
    send_cq->users++;
    recv_cq->users++;
    *ret = qp;
    return RSP_OK;
}

/* The entry of the GID table that a connected queue pair sends from; NULL: @qp is not connected. */
static struct hca_gid *gid_in_use(const struct qp *qp)
{
    const bool has_av = qp->config.type == QPT_RC || qp->config.type == QPT_UC;
    const bool connected = qp->state >= QPS_RTR && qp->state <= QPS_SQE;

    return has_av && connected ? &qp->hca->gids[qp->attr.av.sgid_index] : NULL;
}

/* @qp uses the entry that its state and its address vector say, or not any more: before one of the
 * two changes, and after it.
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
    qp->pd->users--;
    qp->send_cq->users--;
    qp->recv_cq->users--;
    if (qp->srq)
        qp->srq->users--;
    slots_remove(&h->qps, slots_name(&h->qps, hca_qpn_index(h, qp->qpn)));
    arena_release(h->arena, qp, qp_bytes);
}

static bool av_is_sound(const struct hca *h, const struct av *av)
{
    return av->sgid_index < HCA_GIDS && h->gids[av->sgid_index].valid && av->sl < 16 &&
           av->flow_label <= FLOW_LABEL_MAX && av->port == HCA_PORT && (av->flags & AH_FLAG_GRH);
}

/* Which of the attributes in @mask have a value out of range: a set of enum qp_attr_bit. */
static uint32_t bad_values(const struct hca *h, uint32_t mask, const struct qp_attr *a)
{
    const uint32_t mtu = mtu_bytes(a->path_mtu);
    const struct {
        uint32_t bit;
        bool good;
    } checks[] = {
        {QPA_ACCESS_FLAGS, (a->access & ~(uint32_t)ACCESS_TAKEN) == 0},
        {QPA_PKEY_INDEX, a->pkey_index < h->pkeys.n},
        {QPA_PORT, a->port == HCA_PORT},
        {QPA_AV, av_is_sound(h, &a->av)},
        {QPA_PATH_MTU, mtu != 0 && mtu <= mtu_bytes(h->limits.max_mtu)},
        {QPA_TIMEOUT, a->timeout <= TIMER_CODE_MAX},
        {QPA_RETRY_CNT, a->retry_cnt <= RETRY_MAX},
        {QPA_RNR_RETRY, a->rnr_retry <= RETRY_MAX},
        {QPA_RQ_PSN, a->rq_psn <= PSN_MASK},
        {QPA_SQ_PSN, a->sq_psn <= PSN_MASK},
        {QPA_MAX_QP_RD_ATOMIC, a->max_rd_atomic <= h->limits.max_rd_atomic},
        {QPA_MAX_DEST_RD_ATOMIC, a->max_dest_rd_atomic <= h->limits.max_dest_rd_atomic},
        {QPA_MIN_RNR_TIMER, a->min_rnr_timer <= TIMER_CODE_MAX},
        {QPA_DEST_QPN, a->dest_qpn <= QPN_MAX},
    };
    uint32_t bad = 0;

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if ((mask & checks[i].bit) && !checks[i].good)
            bad |= checks[i].bit;
    }
    return bad;
}

static enum qp_state target_of(const struct qp *qp, uint32_t mask, const struct qp_attr *attr)
{
    return mask & QPA_STATE ? (enum qp_state)attr->state : qp->state;
}

enum ctrl_rsp hca_qp_check_modify(const struct qp *qp, uint32_t mask, const struct qp_attr *attr)
{
    const uint32_t given = mask & ~(uint32_t)MASK_IS_NO_EDGE;
    unsigned missing, extra;

    if ((mask & NOT_SUPPORTED) != 0)
        return RSP_NOT_SUPPORTED;
    if ((mask & QPA_CUR_STATE) && attr->cur_state != qp->state)
        return RSP_INVALID_ARG;
    if (qp_fsm_check((enum qp_type)qp->config.type, qp->state, target_of(qp, mask, attr), given,
                     &missing, &extra) != RDL_OK)
        return RSP_INVALID_ARG;
    return bad_values(qp->hca, given, attr) == 0 ? RSP_OK : RSP_INVALID_ARG;
}

/* How many READs and atomics a queue pair has that was told @n. */
static uint32_t rd_atomic_of(const struct hca *h, uint32_t n)
{
    return n == 0 || profile_has(h->profile, TRAIT_RD_ATOMIC_EXACT) ? n : (uint32_t)pow2_ceil(n);
}

void hca_qp_apply_modify(struct qp *qp, uint32_t mask, const struct qp_attr *attr)
{
    gid_let_go(qp);
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
        qp->attr.max_rd_atomic = rd_atomic_of(qp->hca, attr->max_rd_atomic);
    if (mask & QPA_MAX_DEST_RD_ATOMIC)
        qp->attr.max_dest_rd_atomic = rd_atomic_of(qp->hca, attr->max_dest_rd_atomic);
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
}

void qp_set_state(struct qp *qp, enum qp_state to)
{
    TRACE(qp->hca->trace, qp_state, .host = qp->hca->host, .qpn = qp->qpn, .from = qp->state,
          .to = to);
    gid_let_go(qp);
    qp->state = to;
    gid_hold(qp);
}

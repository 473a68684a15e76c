/* SPDX-License-Identifier: MIT */
/* MODIFY_QP: the checks of a correct driver, and the attributes that it records afterwards. */
#include "emu/base/assert.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/flush_access.h"
#include "emu/facts/psn.h"
#include "emu/facts/qp_fsm.h"
#include "emu/guest/verbs/internal.h"

/* Returns true if the address vector is valid for a connected queue pair: it must name one station.
 */
static bool av_is_sound(const struct verbs *v, const struct rdl_ah_attr *ah)
{
    return ah_is_sound(v, ah) && !gid_is_group(ah->dgid);
}

bool verbs_is_reset(const struct guest_qp *qp)
{
    return qp->attr.state == QPS_RESET;
}

bool verbs_is_resetting(const struct guest_qp *qp)
{
    const struct verbs_request *r = &qp->o.verbs->request;

    return r->n > 0 && r->kind == VERBS_MODIFY_QP && r->object == &qp->o && (r->mask & QPA_STATE) &&
           r->attr.state == QPS_RESET;
}

static void add_range(struct rdl_modify_error *e, struct rdl_attr_range r)
{
    RDL_ASSERT(e->n_ranges < RDL_ATTR_RANGES_MAX);
    e->bad |= r.attr;
    e->range[e->n_ranges++] = r;
}

/* Adds to @e the attributes of @mask whose values are out of range. */
static void find_bad_values(const struct verbs *v, const struct rdl_qp_attr *a, uint32_t mask,
                            struct rdl_modify_error *e)
{
    const struct verbs_limits *d = &v->limits;
    const uint32_t flush = flush_access_of_qp(v->config.profile);
    const struct rdl_attr_range rows[] = {
        {QPA_STATE, a->state, QPS_RESET, QPS_ERR},
        {QPA_CUR_STATE, a->cur_state, QPS_RESET, QPS_ERR},
        {QPA_ACCESS_FLAGS, a->access & ~(ACCESS_HINTS | flush), 0, GUEST_ACCESS_QP},
        {QPA_PKEY_INDEX, a->pkey_index, 0, d->max_pkeys ? d->max_pkeys - 1u : 0},
        {QPA_PORT, a->port, 1, d->n_ports},
        {QPA_PATH_MTU, a->path_mtu, MTU_256, v->port.active_mtu},
        {QPA_TIMEOUT, a->timeout, 0, TIMER_CODE_MAX},
        {QPA_RETRY_CNT, a->retry_cnt, 0, RETRY_MAX},
        {QPA_RNR_RETRY, a->rnr_retry, 0, RETRY_MAX},
        {QPA_RQ_PSN, a->rq_psn, 0, PSN_MASK},
        {QPA_SQ_PSN, a->sq_psn, 0, PSN_MASK},
        {QPA_MAX_QP_RD_ATOMIC, a->max_rd_atomic, 0, d->max_rd_atomic},
        {QPA_MAX_DEST_RD_ATOMIC, a->max_dest_rd_atomic, 0, d->max_dest_rd_atomic},
        {QPA_MIN_RNR_TIMER, a->min_rnr_timer, 0, TIMER_CODE_MAX},
        {QPA_DEST_QPN, a->dest_qpn, 1, QPN_MAX},
        {QPA_EN_SQD_ASYNC_NOTIFY, a->en_sqd_async_notify, 0, 1},
        {QPA_CREDITS, a->credits, 1, 1},
    };

    if ((mask & QPA_AV) && !av_is_sound(v, &a->ah))
        e->bad |= QPA_AV;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if ((mask & rows[i].attr) &&
            (rows[i].found < rows[i].least || rows[i].found > rows[i].most))
            add_range(e, rows[i]);
    }
}

/* Returns the state that a request is to change.  The device moves to ERR by itself, and on UC and
 * UD from RTS to SQE; the driver learns it from a polled completion.  A program that says it with
 * cur_state is believed, and the device compares it with the state that is.  [IBTA1 11.2.5.2]
 */
static enum qp_state assumed_state(const struct guest_qp *qp, const struct rdl_qp_attr *a,
                                   uint32_t mask)
{
    const bool may_be_sqe = qp_has_sqe(qp) && qp->attr.state == QPS_RTS;

    if ((mask & QPA_CUR_STATE) &&
        (a->cur_state == QPS_ERR || (a->cur_state == QPS_SQE && may_be_sqe)))
        return (enum qp_state)a->cur_state;
    return (enum qp_state)qp->attr.state;
}

/* Checks what a correct driver refuses without asking the device. */
static enum rdl_status check_modify(const struct guest_qp *qp, const struct rdl_qp_attr *a,
                                    uint32_t mask, struct rdl_modify_error *reterr)
{
    const enum qp_state from = assumed_state(qp, a, mask);
    const enum qp_state to = mask & QPA_STATE ? (enum qp_state)a->state : from;
    const uint32_t given = mask & ~(uint32_t)(QPA_STATE | QPA_CUR_STATE);
    struct rdl_modify_error e = {.from = from, .to = to};
    enum rdl_status st;

    find_bad_values(qp->o.verbs, a, mask, &e);
    if ((mask & QPA_CUR_STATE) && a->cur_state != from && !(e.bad & QPA_CUR_STATE))
        add_range(&e, (struct rdl_attr_range){QPA_CUR_STATE, a->cur_state, from, from});
    st = qp_fsm_check(qp->type, from, to, given, &e.missing, &e.extra);
    if (st == RDL_OK && e.bad)
        st = RDL_ERR_INVAL;
    if (st != RDL_OK)
        *reterr = e;
    return st;
}

/* The number of the peer's queue pair after the request with @attr and @mask. */
static uint32_t peer_qpn(const struct guest_qp *qp, const struct rdl_qp_attr *attr, uint32_t mask)
{
    return mask & QPA_DEST_QPN ? attr->dest_qpn : qp->attr.dest_qpn;
}

enum rdl_status modify_send(struct guest_qp *qp)
{
    struct verbs *v = qp->o.verbs;
    struct rdl_qp_attr attr = v->request.attr;

    if (v->request.mask & QPA_AV)
        verbs_wire(v, attr.ah.dgid, peer_qpn(qp, &attr, v->request.mask));
    return request_sent(v, v->ops->modify_qp(qp, &attr, v->request.mask));
}

bool verbs_only_fails(const struct rdl_qp_attr *attr, uint32_t mask)
{
    return mask == QPA_STATE && attr->state == QPS_ERR;
}

enum rdl_status verbs_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr, uint32_t mask,
                                bool unchecked, struct rdl_modify_error *reterr)
{
    struct verbs *v = qp->o.verbs;
    struct rdl_qp_attr a = *attr;
    enum rdl_status st = request_ready(v);

    if (st == RDL_OK)
        st = object_usable(&qp->o);
    if (st == RDL_OK && !unchecked)
        st = check_modify(qp, &a, mask, reterr);
    if (st != RDL_OK)
        return st;
    if (mask & QPA_AV)
        st = ah_resolve(v, &a.ah, peer_qpn(qp, &a, mask));
    if ((st == RDL_ERR_NO_ROUTE && !unchecked) || st == RDL_ERR_FORBIDDEN)
        return st;
    request_begin(v, VERBS_MODIFY_QP, &qp->o);
    v->request.attr = a;
    v->request.mask = mask;
    v->request.resolving = st == RDL_ERR_BUSY && !unchecked;
    return v->request.resolving ? RDL_OK : modify_send(qp); /* an unchecked request needs no MAC */
}

/* Copies the attributes in @mask from @from to @to. */
static void merge(struct rdl_qp_attr *to, const struct rdl_qp_attr *from, uint32_t mask)
{
    const struct {
        uint32_t bit;
        uint32_t *to;
        uint32_t from;
    } rows[] = {
        {QPA_STATE, &to->state, from->state},
        {QPA_ACCESS_FLAGS, &to->access, from->access},
        {QPA_PKEY_INDEX, &to->pkey_index, from->pkey_index},
        {QPA_PORT, &to->port, from->port},
        {QPA_QKEY, &to->qkey, from->qkey},
        {QPA_PATH_MTU, &to->path_mtu, from->path_mtu},
        {QPA_TIMEOUT, &to->timeout, from->timeout},
        {QPA_RETRY_CNT, &to->retry_cnt, from->retry_cnt},
        {QPA_RNR_RETRY, &to->rnr_retry, from->rnr_retry},
        {QPA_RQ_PSN, &to->rq_psn, from->rq_psn},
        {QPA_SQ_PSN, &to->sq_psn, from->sq_psn},
        {QPA_MAX_QP_RD_ATOMIC, &to->max_rd_atomic, from->max_rd_atomic},
        {QPA_MAX_DEST_RD_ATOMIC, &to->max_dest_rd_atomic, from->max_dest_rd_atomic},
        {QPA_MIN_RNR_TIMER, &to->min_rnr_timer, from->min_rnr_timer},
        {QPA_DEST_QPN, &to->dest_qpn, from->dest_qpn},
        {QPA_EN_SQD_ASYNC_NOTIFY, &to->en_sqd_async_notify, from->en_sqd_async_notify},
        {QPA_CREDITS, &to->credits, from->credits},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (mask & rows[i].bit)
            *rows[i].to = rows[i].from;
    }
    if (mask & QPA_AV)
        to->ah = from->ah;
}

void modify_apply(struct guest_qp *qp)
{
    const struct verbs_request *r = &qp->o.verbs->request;

    if ((r->mask & QPA_STATE) && r->attr.state == QPS_RESET) {
        qp->attr = (struct rdl_qp_attr){.state = QPS_RESET};
        qp->n_unsignaled = 0;
        qp_forget_completions(qp);
        return;
    }
    merge(&qp->attr, &r->attr, r->mask);
    if ((r->mask & QPA_STATE) && r->attr.state == QPS_RTS && qp->type != QPT_RC)
        qp_forget_completions(qp); /* leaving SQE: forgets the failed sends */
}

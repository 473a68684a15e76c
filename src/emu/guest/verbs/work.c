/* SPDX-License-Identifier: MIT */
/* The data path of the verbs: post, kick and poll. */
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/post.h"
#include "emu/facts/profile.h"
#include "emu/facts/rules.h"
#include "emu/facts/wr.h"
#include "emu/guest/verbs/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/verbs.h"

uint32_t work_bytes(const struct rdl_sge *sge, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += sge[i].length;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static void kick_because(struct guest_qp *qp, bool send, ev_id post)
{
    struct verbs *v = qp->o.verbs;
    const ev_id old = trace_because(v->config.trace, post);

    v->ops->kick(qp, send);
    trace_because(v->config.trace, old);
}

/* Returns RDL_OK if the queue pair exists and the device works. */
static enum rdl_status postable(const struct guest_qp *qp)
{
    if (qp->o.verbs->broken)
        return RDL_ERR_BROKEN;
    return object_usable(&qp->o);
}

/* The status for a request that violates @rule. */
static enum rdl_status refused_by(enum rule rule)
{
    if (rule == RULE_NONE)
        return RDL_OK;
    return rule == RULE_POST_OPCODE ? RDL_ERR_UNSUPPORTED : RDL_ERR_INVAL;
}

/* Finds the object of @kind that @handle in a request on @qp names. */
static enum rdl_status find_part(const struct guest_qp *qp, enum object_kind kind, uint64_t handle,
                                 struct objection *by, const void **ret)
{
    const struct verbs *v = qp->o.verbs;
    const struct guest_object *o = verbs_get(v, kind, handle);

    if (handle && verbs_host_of(handle) != v->config.host + 1) {
        by->rule = RULE_POST_PARTS;
        return refused_by(by->rule);
    }
    if (!o)
        return RDL_ERR_STALE;
    *ret = o;
    return object_usable(o);
}

/* Finds the window and the region of a bind.  ibv_bind_mw() accepts windows of type 1 only, and
 * needs no region when its length is 0.
 */
static enum rdl_status find_bind_parts(const struct guest_qp *qp, struct verbs_send *send,
                                       struct objection *by)
{
    const struct rdl_send_wr *wr = send->wr;
    const void *mw = NULL, *mr = NULL;
    enum rdl_status st = find_part(qp, OBJ_MW, wr->bind_mw.mw.raw, by, &mw);

    if (st == RDL_OK && wr->bind_mw.type_1 && ((const struct guest_mw *)mw)->type != 1) {
        by->rule = RULE_POST_MW_TYPE;
        return refused_by(by->rule);
    }
    if (st == RDL_OK && (wr->bind_mw.length > 0 || !wr->bind_mw.type_1))
        st = find_part(qp, OBJ_MR, wr->bind_mw.mr.raw, by, &mr);
    if (st != RDL_OK)
        return st;
    send->mw_rkey = ((const struct guest_mw *)mw)->rkey;
    send->mr = mr;
    return RDL_OK;
}

/* Finds the objects that the handles of a request name. */
static enum rdl_status find_parts(const struct guest_qp *qp, struct verbs_send *send,
                                  struct objection *by)
{
    const void *part = NULL;
    enum rdl_status st = RDL_OK;

    switch (wr_form(qp->type, send->wr->opcode)) {
    case WR_FORM_REG:
        st = find_part(qp, OBJ_MR, send->wr->reg.mr.raw, by, &part);
        send->mr = part;
        return st;
    case WR_FORM_UD:
        if (send->ah)
            return RDL_OK;
        st = find_part(qp, OBJ_AH, send->wr->ud.ah.raw, by, &part);
        send->ah = part;
        return st;
    case WR_FORM_BIND:
        return find_bind_parts(qp, send, by);
    default:
        return RDL_OK;
    }
}

/* Checks whether the request may be posted, and finds its objects. */
static enum rdl_status check_send(const struct guest_qp *qp, struct verbs_send *send,
                                  struct objection *by)
{
    enum rdl_status st = postable(qp);

    if (st != RDL_OK)
        return st;
    if (!post_state_takes_sends(qp->attr.state))
        return RDL_ERR_STATE;
    *by = post_decide_send(qp, send->wr);
    st = refused_by(by->rule);
    if (st == RDL_OK)
        st = find_parts(qp, send, by);
    return st;
}

/* @key with its low byte replaced.  Work requests can change no other bits of a key. */
static uint32_t with_low_byte(uint32_t key, uint32_t low)
{
    return (key & ~0xffu) | (low & 0xffu);
}

/* Records the key that a request assigns.  The program can use it as soon as the request is posted,
 * even if it fails later.  libibverbs' drivers do so for windows, ib_update_fast_reg_key() for fast
 * regions.
 */
static void learn_key(const struct verbs *v, const struct rdl_send_wr *wr)
{
    struct guest_mw *mw;
    struct guest_mr *mr;

    if (wr->opcode == WR_BIND_MW) {
        mw = (struct guest_mw *)verbs_get(v, OBJ_MW, wr->bind_mw.mw.raw);
        mw->rkey = with_low_byte(mw->rkey, wr->bind_mw.type_1 ? mw->rkey + 1 : wr->bind_mw.rkey);
    } else if (wr->opcode == WR_REG_MR) {
        mr = (struct guest_mr *)verbs_get(v, OBJ_MR, wr->reg.mr.raw);
        mr->lkey = mr->rkey = with_low_byte(mr->lkey, wr->reg.key);
    }
}

static void count_unsignaled(struct guest_qp *qp, const struct rdl_send_wr *wr)
{
    if (qp->sq_sig_all || (wr->flags & SF_SIGNALED))
        qp->n_unsignaled = 0;
    else if (qp->n_unsignaled < UINT32_MAX)
        qp->n_unsignaled++;
}

/* Posts one request; *@ret_id is its event.  @ah is the destination of a datagram; NULL: @wr has
 * the handle.
 */
static enum rdl_status post_send(struct guest_qp *qp, const struct rdl_send_wr *wr,
                                 const struct guest_ah *ah, ev_id *ret_id, struct objection *by)
{
    const struct verbs *v = qp->o.verbs;
    struct verbs_send send = {.wr = wr, .ah = ah};
    enum rdl_status st = check_send(qp, &send, by);
    uint32_t entry;

    if (st == RDL_OK)
        st = v->ops->post_send(qp, &send, &entry);
    if (st != RDL_OK)
        return st;
    learn_key(v, wr);
    count_unsignaled(qp, wr);
    TRACE_ID(v->config.trace, *ret_id, post_send, .host = v->config.host, .qpn = qp->qpn,
             .queue = qp->sq.queue, .desc = entry, .wr_id = wr->wr_id, .op = wr->opcode,
             .bytes = wr->flags & SF_INLINE ? (uint32_t)wr->inline_bytes
                                            : work_bytes(wr->sge, wr->n_sge),
             .flags = wr->flags);
    return RDL_OK;
}

static enum rdl_status post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr, ev_id *ret_id,
                                 struct objection *by)
{
    const struct verbs *v = qp->o.verbs;
    enum rdl_status st = postable(qp);
    uint32_t entry;

    if (st == RDL_OK && !post_state_takes_recvs(qp->attr.state))
        st = RDL_ERR_STATE;
    if (st == RDL_OK) {
        *by = post_decide_recv(qp, wr);
        st = refused_by(by->rule);
    }
    if (st == RDL_OK)
        st = v->ops->post_recv(qp, wr, &entry);
    if (st != RDL_OK)
        return st;
    TRACE_ID(v->config.trace, *ret_id, post_recv, .host = v->config.host, .qpn = qp->qpn,
             .queue = qp->rq.queue, .desc = entry, .wr_id = wr->wr_id,
             .bytes = work_bytes(wr->sge, wr->n_sge));
    return RDL_OK;
}

enum rdl_status verbs_post_send_list(struct guest_qp *qp, const struct rdl_send_wr *wr, size_t n,
                                     bool nokick, struct rdl_post_error *reterr)
{
    struct objection by = {RULE_NONE, {0}};
    enum rdl_status st = RDL_OK;
    ev_id last = 0;
    size_t i = 0;

    while (i < n && (st = post_send(qp, &wr[i], NULL, &last, &by)) == RDL_OK)
        i++;
    if (st != RDL_OK)
        *reterr = post_error(i, &by);
    if (i > 0 && !nokick)
        kick_because(qp, true, last);
    return st;
}

enum rdl_status verbs_post_recv_list(struct guest_qp *qp, const struct rdl_recv_wr *wr, size_t n,
                                     bool nokick, struct rdl_post_error *reterr)
{
    struct objection by = {RULE_NONE, {0}};
    enum rdl_status st = RDL_OK;
    ev_id last = 0;
    size_t i = 0;

    while (i < n && (st = post_recv(qp, &wr[i], &last, &by)) == RDL_OK)
        i++;
    if (st != RDL_OK)
        *reterr = post_error(i, &by);
    if (i > 0 && !nokick)
        kick_because(qp, false, last);
    return st;
}

bool verbs_takes_sends(const struct guest_qp *qp)
{
    return postable(qp) == RDL_OK && post_state_takes_sends(qp->attr.state);
}

enum rdl_status verbs_post_datagram(struct guest_qp *qp, const struct rdl_send_wr *wr,
                                    const struct rdl_ah_attr *ah)
{
    const struct guest_ah to = {.pd = qp->pd, .attr = *ah};
    struct objection by = {RULE_NONE, {0}};
    ev_id id = 0;
    const enum rdl_status st = post_send(qp, wr, &to, &id, &by);

    if (st == RDL_OK)
        kick_because(qp, true, id);
    return st;
}

enum rdl_status verbs_post_send(struct guest_qp *qp, const struct rdl_send_wr *wr, bool nokick)
{
    struct rdl_post_error ignored;

    return verbs_post_send_list(qp, wr, 1, nokick, &ignored);
}

enum rdl_status verbs_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr, bool nokick)
{
    struct rdl_post_error ignored;

    return verbs_post_recv_list(qp, wr, 1, nokick, &ignored);
}

enum rdl_status verbs_kick(struct guest_qp *qp, bool send)
{
    const enum rdl_status st = postable(qp);

    if (st == RDL_OK)
        qp->o.verbs->ops->kick(qp, send);
    return st;
}

bool qp_has_sqe(const struct guest_qp *qp)
{
    return qp->type != QPT_RC && profile_has(qp->o.verbs->config.profile, TRAIT_SEND_ERROR_IS_SQE);
}

/* The state of the queue pair after a completion with an error.  In SQE only the send queue has
 * stopped, and the flushed sends follow the failed one.  [IBTA1 10.3.1]
 */
static enum qp_state state_after(const struct guest_qp *qp, const struct rdl_wc *wc)
{
    const bool is_send = (wc->opcode & WC_RECV) == 0;

    if (!qp_has_sqe(qp) || !is_send || qp->attr.state == QPS_ERR)
        return QPS_ERR;
    if (wc->status == WCS_WR_FLUSH_ERR && qp->attr.state != QPS_SQE)
        return QPS_ERR; /* no send failed before */
    return QPS_SQE;
}

/* Derives the state of the queue pair from a completion with an error.  Ignores completions of an
 * earlier use of the queue pair, and numbers that no queue pair has.
 */
static void learn_from_error(const struct guest_cq *cq, const struct rdl_wc *wc)
{
    const struct verbs *v = cq->o.verbs;
    struct guest_qp *qp = wc->qp_num <= v->limits.max_qp ? v->qp_of[wc->qp_num] : NULL;

    if (!qp || qp->attr.state < QPS_INIT)
        return;
    if ((qp->send_cq == cq && cq->polled >= qp->send_cq_from) ||
        (qp->recv_cq == cq && cq->polled >= qp->recv_cq_from))
        qp->attr.state = state_after(qp, wc);
}

void verbs_polled(struct guest_cq *cq, const struct rdl_wc *wc)
{
    const struct verbs *v = cq->o.verbs;

    if (wc->status != WCS_SUCCESS)
        learn_from_error(cq, wc);
    cq->polled++;
    TRACE(v->config.trace, poll, .host = v->config.host, .cqn = cq->cqn, .qpn = wc->qp_num,
          .wr_id = wc->wr_id, .status = wc->status, .op = wc->opcode, .bytes = wc->byte_len);
}

void verbs_dropped(struct guest_cq *cq, uint32_t qpn, uint32_t n)
{
    const struct verbs *v = cq->o.verbs;

    cq->polled += n; /* an interrupt for them may still come */
    TRACE(v->config.trace, cqes_dropped, .host = v->config.host, .cqn = cq->cqn, .qpn = qpn,
          .count = n);
}

size_t verbs_peek_cq(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret)
{
    return object_usable(&cq->o) == RDL_OK ? cq->o.verbs->ops->peek_cq(cq, skip, max, ret) : 0;
}

enum rdl_status verbs_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n)
{
    const enum rdl_status st = object_usable(&cq->o);

    return st == RDL_OK ? cq->o.verbs->ops->poll_cq(cq, max, ret, ret_n) : st;
}

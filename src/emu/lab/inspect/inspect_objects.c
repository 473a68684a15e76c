/* SPDX-License-Identifier: MIT */
/* Inspect tree: protection domains, memory regions and windows, completion queues, queue pairs,
 * address handles.
 *
 * The nodes show both the device's and the driver's knowledge of an object.  Where the two can
 * differ, the driver's value has a name of its own (known_state).
 */
#include "emu/base/cursor.h"
#include "emu/device/rdma.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/timer.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/key.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/lab/layer.h"
#include "emu/rnic/rnic.h"
#include "emu/xport/xport_qp.h"

void visit_pd(const struct inode *n, struct visit *v)
{
    const struct guest_pd *pd = n->object;

    inspect_leaf(v, LEAF_pd_pdn, pd->pdn);
    inspect_leaf(v, LEAF_pd_users, pd->o.n_users);
}

static void page_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct mkey *k = list->object;

    inspect_item_leaf(v, list, key, k->pages.gpa[i]);
}

static struct inode page_list(const struct inode *n, const struct mkey *k)
{
    struct inode s = *n;

    s.object = k;
    s.item = page_item;
    s.list_end = k->pages.n;
    return s;
}

void visit_mr(const struct inode *n, struct visit *v)
{
    const struct guest_mr *mr = n->object;
    const struct mkey *k = mr->mrn ? key_at(&n->host->rnic->hca, mr->mrn) : NULL;

    inspect_leaf(v, LEAF_mr_addr, mr->addr);
    inspect_leaf(v, LEAF_mr_bytes, mr->bytes);
    inspect_leaf(v, LEAF_mr_lkey, mr->lkey);
    inspect_leaf(v, LEAF_mr_rkey, mr->rkey);
    inspect_set(v, LEAF_mr_access, mr->access);
    inspect_text(v, LEAF_mr_pd, mr->pd->o.name);
    inspect_leaf(v, LEAF_mr_iova, mr->iova);
    inspect_word(v, LEAF_mr_kind, (uint32_t)mr->kind);
    if (!k)
        return;
    inspect_word(v, LEAF_mr_state, (uint32_t)k->state);
    inspect_leaf(v, LEAF_mr_windows, k->n_windows);
    if (k->pages.n > 0)
        inspect_leaf(v, LEAF_mr_page_size, (uint64_t)1 << k->pages.bits);
    inspect_child(v, CHILD_mr_page, page_list(n, k));
}

/* The name of the region to which the device has bound a window; "" if the guest has none. */
static const char *region_name(const struct inode *n, const struct mkey *region)
{
    const struct slots *mrs = &n->host->guest.verbs.objects[OBJ_MR];

    for (uint32_t i = 0, left = mrs->used; region && left > 0; i++) {
        const struct guest_mr *mr = slots_at(mrs, i);

        if (!mr)
            continue;
        if (mr->mrn == key_number(region->key))
            return mr->o.name;
        left--;
    }
    return "";
}

void visit_mw(const struct inode *n, struct visit *v)
{
    const struct guest_mw *mw = n->object;
    const struct mkey *k = mw->mwn ? key_at(&n->host->rnic->hca, mw->mwn) : NULL;

    inspect_leaf(v, LEAF_mw_mwn, mw->mwn);
    inspect_leaf(v, LEAF_mw_type, mw->type);
    inspect_leaf(v, LEAF_mw_rkey, mw->rkey);
    inspect_text(v, LEAF_mw_pd, mw->pd->o.name);
    if (!k)
        return;
    inspect_word(v, LEAF_mw_state, (uint32_t)k->state);
    inspect_leaf(v, LEAF_mw_device_rkey, k->key);
    inspect_text(v, LEAF_mw_mr, region_name(n, k->region));
    inspect_leaf(v, LEAF_mw_addr, k->addr);
    inspect_leaf(v, LEAF_mw_bytes, k->bytes);
    inspect_set(v, LEAF_mw_access, k->region ? k->access : 0);
    inspect_leaf(v, LEAF_mw_qpn, k->qpn);
}

static void wc_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.object = cq_log_at(list->object, i);
    if (s.object)
        inspect_item(v, list, key, s);
}

void visit_wc(const struct inode *n, struct visit *v)
{
    const struct completion *wc = n->object;
    struct rd_cur imm = rd_cur(wc->imm, sizeof(wc->imm));

    inspect_leaf(v, LEAF_wc_wr_id, wc->wr_id);
    inspect_word(v, LEAF_wc_status, (uint32_t)wc->status);
    inspect_word(v, LEAF_wc_opcode, (uint32_t)wc->opcode);
    inspect_leaf(v, LEAF_wc_byte_len, wc->bytes);
    inspect_leaf(v, LEAF_wc_qp_num, wc->qpn);
    inspect_set(v, LEAF_wc_wc_flags, wc->flags);
    inspect_leaf(v, LEAF_wc_imm, rd_be(&imm, sizeof(wc->imm)));
    inspect_leaf(v, LEAF_wc_invalidated_rkey, wc->invalidated_rkey);
    inspect_word(v, LEAF_wc_vendor_err, (uint32_t)wc->rule);
    inspect_leaf(v, LEAF_wc_src_qp, wc->src_qpn);
}

static const char *const arm_words[] = {
    [CQ_IDLE] = "no",
    [CQ_ARMED_SOLICITED] = "solicited",
    [CQ_ARMED_ANY] = "any",
};

/* The completions that fire the event of @cq. */
static enum cq_arm arm_of(const struct host *h, const struct cq *cq)
{
    const struct rdma *d = host_rdma(h);

    return d ? rdma_cq_arm(d, cq) : cq->arm;
}

/* Reports where the events of @cqn go, if the driver has accepted CEQ. */
static void visit_cq_events(const struct rdma *d, uint32_t cqn, struct visit *v)
{
    const struct rdma_cq_events *e;

    if (!d || !rdma_has_ceqs(d))
        return;
    e = &d->cq_events[cqn];
    inspect_leaf(v, LEAF_cq_ceq, e->ceq);
    inspect_leaf(v, LEAF_cq_event_waits, e->waits);
    if (e->arm_gpa)
        inspect_leaf(v, LEAF_cq_arm_addr, e->arm_gpa);
}

void visit_cq(const struct inode *n, struct visit *v)
{
    const struct guest_cq *g = n->object;
    const struct cq *cq = g->cqn ? hca_cq(&n->host->rnic->hca, g->cqn) : NULL;
    struct inode wc = *n;

    inspect_leaf(v, LEAF_cq_cqn, g->cqn);
    inspect_leaf(v, LEAF_cq_cqe, g->cqe);
    inspect_leaf(v, LEAF_cq_polled, g->polled);
    inspect_leaf(v, LEAF_cq_events, g->events);
    inspect_text(v, LEAF_cq_channel, g->channel ? g->channel->o.name : "");
    inspect_leaf(v, LEAF_cq_unacked, g->n_unacked_events);
    inspect_leaf(v, LEAF_cq_async_unacked, g->o.n_unacked);
    if (g->of_kernel)
        inspect_leaf(v, LEAF_cq_of_kernel, 1);
    if (!cq)
        return; /* the device has not answered the create request yet */
    inspect_leaf(v, LEAF_cq_count, cq->n_completed);
    inspect_text(v, LEAF_cq_armed, arm_words[arm_of(n->host, cq)]);
    inspect_leaf(v, LEAF_cq_error, cq->error);
    visit_cq_events(host_rdma(n->host), g->cqn, v);
    wc.object = cq;
    wc.list_end = cq->n_completed;
    wc.list_first = cq->n_completed > CQ_LOG_MAX ? cq->n_completed - CQ_LOG_MAX : 0;
    wc.item = wc_item;
    inspect_child(v, CHILD_cq_wc, wc);
    if (host_rdma(n->host))
        inspect_child(v, CHILD_cq_queue, queue_node(n, FN_RDMA, g->cqn));
    inspect_cq_ring(n, v, g->cqn);
}

void visit_counters(const struct inode *n, struct visit *v)
{
    const struct xport_counters *c = n->object;

#define COUNTER(name, text) inspect_leaf(v, LEAF_counters_##name, c->name);
#include "emu/facts/counters.def"
#undef COUNTER
}

/* Reports the READs and atomics under way in both directions. */
static void visit_rd_atomic(struct visit *v, const struct xport_qp *xqp)
{
    const struct resp_rds *rds = &xqp->resp.rds;

    inspect_set(v, LEAF_qp_access, xqp->qp.attr.access);
    inspect_leaf(v, LEAF_qp_max_rd_atomic, xqp->qp.attr.max_rd_atomic);
    inspect_leaf(v, LEAF_qp_max_dest_rd_atomic, xqp->qp.attr.max_dest_rd_atomic);
    inspect_leaf(v, LEAF_qp_outstanding_rd_atomic, xqp->req.out_rds);
    inspect_leaf(v, LEAF_qp_pending_rd_atomic, rds->next - rds->done);
    inspect_leaf(v, LEAF_qp_kept_rd_atomic, rds->done - rds->first);
}

/* Reports the state of requester and responder of a connection. */
static void visit_connection(const struct inode *n, struct visit *v, const struct xport_qp *xqp)
{
    const struct requester *q = &xqp->req;
    const struct qp_attr *a = &xqp->qp.attr;
    const bool known = xqp->peer < n->state->n_hosts;
    struct inode counters = *n;
    uint16_t pkey = 0;

    inspect_text(v, LEAF_qp_peer, known ? n->state->hosts[xqp->peer]->name : "");
    inspect_leaf(v, LEAF_qp_mtu, xqp->mtu);
    inspect_leaf(v, LEAF_qp_dest_qpn, a->dest_qpn);
    inspect_leaf(v, LEAF_qp_sq_psn, req_high(q).v);
    inspect_leaf(v, LEAF_qp_next_psn, req_nxt(q).v);
    inspect_leaf(v, LEAF_qp_acked_psn, q->una.v);
    inspect_leaf(v, LEAF_qp_outstanding_pkts, req_out_pkts(q));
    inspect_leaf(v, LEAF_qp_sq_draining, xport_is_draining(&xqp->qp));
    inspect_leaf(v, LEAF_qp_outstanding, q->fetched - q->oldest);
    inspect_leaf(v, LEAF_qp_retries, q->retries);
    inspect_leaf(v, LEAF_qp_retry_cnt, a->retry_cnt);
    inspect_leaf(v, LEAF_qp_rnr_retries, q->rnr_naks);
    inspect_leaf(v, LEAF_qp_rnr_retry, a->rnr_retry);
    inspect_leaf(v, LEAF_qp_rnr_wait, q->rnr_wait);
    inspect_leaf(v, LEAF_qp_timeout, a->timeout);
    inspect_leaf(v, LEAF_qp_timer_due, q->timer[TMR_ACK] ? q->due_ns[TMR_ACK] : 0);
    inspect_leaf(v, LEAF_qp_rnr_due, q->timer[TMR_RNR] ? q->due_ns[TMR_RNR] : 0);
    inspect_leaf(v, LEAF_qp_credits, a->credits);
    inspect_leaf(v, LEAF_qp_ssn, q->ssn);
    inspect_leaf(v, LEAF_qp_credit_ssn, q->credit_ssn);
    inspect_leaf(v, LEAF_qp_rq_psn, xqp->resp.expected.v);
    inspect_leaf(v, LEAF_qp_msn, xqp->resp.msn);
    inspect_leaf(v, LEAF_qp_min_rnr_timer, a->min_rnr_timer);
    inspect_leaf(v, LEAF_qp_nak_outstanding, xqp->resp.seq_nak_out || xqp->resp.rnr_nak_out);
    inspect_leaf(v, LEAF_qp_receiving, xqp->resp.has_wqe);
    (void)hca_pkey(xqp->qp.hca, a->pkey_index, &pkey);
    inspect_leaf(v, LEAF_qp_pkey_index, a->pkey_index);
    inspect_leaf(v, LEAF_qp_qkey, a->qkey);
    inspect_leaf(v, LEAF_qp_pkey, pkey);
    visit_rd_atomic(v, xqp);
    counters.object = &xqp->count;
    inspect_child(v, CHILD_qp_counters, counters);
}

static void membership_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct guest_membership *m = ((const struct guest_qp *)list->object)->groups;
    char addr[ADDR_TEXT_MAX];

    for (; i > 0; i--)
        m = m->next;
    inspect_item_text(v, list, key, addr_text(m->gid, addr));
}

static struct inode membership_list(const struct inode *n)
{
    struct inode s = *n;

    s.item = membership_item;
    for (const struct guest_membership *m = ((const struct guest_qp *)n->object)->groups; m;
         m = m->next)
        s.list_end++;
    return s;
}

void visit_qp(const struct inode *n, struct visit *v)
{
    const struct guest_qp *g = n->object;
    const struct qp *qp = g->qpn ? hca_qp(&n->host->rnic->hca, g->qpn) : NULL;

    inspect_leaf(v, LEAF_qp_qpn, g->qpn);
    inspect_word(v, LEAF_qp_type, (uint32_t)g->type);
    inspect_word(v, LEAF_qp_state, qp ? (uint32_t)qp->state : g->attr.state);
    inspect_word(v, LEAF_qp_known_state, g->attr.state);
    if (n->host->vrnic && g->qpn && vrnic_is_mapped(n->host->vrnic))
        inspect_leaf(v, LEAF_qp_vf, vrnic_function_of(n->host->vrnic, g->qpn)->vf);
    inspect_leaf(v, LEAF_qp_async_unacked, g->o.n_unacked);
    inspect_text(v, LEAF_qp_pd, g->pd->o.name);
    inspect_leaf(v, LEAF_qp_sq_sig_all, g->sq_sig_all);
    inspect_text(v, LEAF_qp_send_cq, g->send_cq->o.name);
    inspect_text(v, LEAF_qp_recv_cq, g->recv_cq->o.name);
    inspect_text(v, LEAF_qp_srq, g->srq ? g->srq->o.name : "");
    inspect_leaf(v, LEAF_qp_max_send_wr, g->sq.max_wr);
    inspect_leaf(v, LEAF_qp_unsignaled, g->n_unsignaled);
    inspect_leaf(v, LEAF_qp_max_recv_wr, g->rq.max_wr);
    inspect_leaf(v, LEAF_qp_max_send_sge, g->sq.max_sge);
    inspect_leaf(v, LEAF_qp_max_recv_sge, g->rq.max_sge);
    inspect_leaf(v, LEAF_qp_max_inline_data, g->max_inline_data);
    inspect_child(v, CHILD_qp_group, membership_list(n));
    if (!qp)
        return;
    visit_connection(n, v, xport_of_const(qp));
    inspect_qp_rings(n, v, g->qpn);
    if (!host_rdma(n->host))
        return;
    inspect_child(v, CHILD_qp_sq, queue_node(n, FN_RDMA, g->sq.queue));
    if (!g->srq)
        inspect_child(v, CHILD_qp_rq, queue_node(n, FN_RDMA, g->rq.queue));
}

void visit_ah(const struct inode *n, struct visit *v)
{
    const struct guest_ah *ah = n->object;
    const struct rdl_ah_attr *a = &ah->attr;
    char dgid[ADDR_TEXT_MAX], mac[MAC_TEXT_MAX];
    struct text m = text_on(mac, sizeof(mac));

    mac_add(&m, a->dmac);
    inspect_text(v, LEAF_ah_dgid, addr_text(a->dgid, dgid));
    inspect_text(v, LEAF_ah_mac, ah->o.life == GUEST_PENDING ? "" : mac);
    inspect_leaf(v, LEAF_ah_sgid_index, a->sgid_index);
    inspect_leaf(v, LEAF_ah_hop_limit, a->hop_limit);
    inspect_leaf(v, LEAF_ah_traffic_class, a->traffic_class);
    inspect_leaf(v, LEAF_ah_sl, a->sl);
    inspect_leaf(v, LEAF_ah_flow_label, a->flow_label);
    inspect_leaf(v, LEAF_ah_static_rate, a->static_rate);
    inspect_leaf(v, LEAF_ah_port, a->port);
    inspect_text(v, LEAF_ah_pd, ah->pd->o.name);
}

/* SPDX-License-Identifier: MIT */
/* Inspect tree: protection domains, memory regions, completion queues, queue pairs.
 *
 * What the device knows of an object and what the driver knows are both there; where they can
 * differ, the driver's has a name of its own (known_state).
 */
#include "emu/base/cursor.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/xport/rc.h"

void visit_pd(const struct inode *n, struct visit *v)
{
    const struct guest_pd *pd = n->object;

    leaf(v, "pdn", RDL_NUMBER, pd->pdn);
    leaf(v, "users", RDL_NUMBER, pd->o.n_users);
}

void visit_mr(const struct inode *n, struct visit *v)
{
    const struct guest_mr *mr = n->object;

    leaf(v, "addr", RDL_HEX, mr->addr);
    leaf(v, "bytes", RDL_SIZE, mr->bytes);
    leaf(v, "lkey", RDL_HEX, mr->lkey);
    leaf(v, "rkey", RDL_HEX, mr->rkey);
    leaf_set(v, "access", &enum_access, mr->access);
    leaf_text(v, "pd", mr->pd->o.name);
}

static void wc_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.kind = NODE_WC;
    s.object = cq_log_at(list->object, i);
    if (s.object)
        child(v, key, s);
}

void visit_wc(const struct inode *n, struct visit *v)
{
    const struct completion *wc = n->object;
    struct rd_cur imm = rd_cur(wc->imm, sizeof(wc->imm));

    leaf(v, "wr_id", RDL_NUMBER, wc->wr_id);
    leaf_word(v, "status", &enum_wc_status, (uint32_t)wc->status);
    leaf_word(v, "opcode", &enum_wc_opcode, (uint32_t)wc->opcode);
    leaf(v, "byte_len", RDL_SIZE, wc->bytes);
    leaf(v, "qp_num", RDL_NUMBER, wc->qpn);
    leaf_set(v, "wc_flags", &enum_wc_flag, wc->flags);
    leaf(v, "imm", RDL_HEX, rd_be(&imm, sizeof(wc->imm)));
    leaf_word(v, "vendor_err", &enum_rule, (uint32_t)wc->rule);
}

static const char *const arm_words[] = {
    [CQ_IDLE] = "no",
    [CQ_ARMED_SOLICITED] = "solicited",
    [CQ_ARMED_ANY] = "any",
};

void visit_cq(const struct inode *n, struct visit *v)
{
    const struct guest_cq *g = n->object;
    const struct cq *cq = g->cqn ? hca_cq(&n->host->dev.hca, g->cqn) : NULL;
    struct inode wc = *n;

    leaf(v, "cqn", RDL_NUMBER, g->cqn);
    leaf(v, "cqe", RDL_NUMBER, g->cqe);
    leaf(v, "polled", RDL_NUMBER, g->polled);
    leaf(v, "events", RDL_NUMBER, g->events);
    if (!cq)
        return; /* the device has not answered yet */
    leaf(v, "count", RDL_NUMBER, cq->n_completed);
    leaf_text(v, "armed", arm_words[cq->arm]);
    leaf(v, "error", RDL_FLAG, cq->error);
    wc.kind = NODE_LIST;
    wc.object = cq;
    wc.list_end = cq->n_completed;
    wc.list_first = cq->n_completed > CQ_LOG_MAX ? cq->n_completed - CQ_LOG_MAX : 0;
    wc.item = wc_item;
    child(v, "wc", wc);
    child(v, "queue", queue_node(n, FN_RDMA, g->cqn));
}

void visit_counters(const struct inode *n, struct visit *v)
{
    const struct xport_counters *c = n->object;

#define COUNTER(name, text) leaf(v, #name, RDL_NUMBER, c->name);
#include "emu/xport/counters.def"
#undef COUNTER
}

/* What the requester and the responder of a connection know. */
static void visit_connection(const struct inode *n, struct visit *v, const struct rc_qp *rc)
{
    const struct rc_req *q = &rc->req;
    const struct qp_attr *a = &rc->qp.attr;
    const bool known = rc->peer < n->world->n_hosts;
    struct inode counters = *n;

    leaf_text(v, "peer", known ? n->world->hosts[rc->peer]->name : "");
    leaf(v, "mtu", RDL_SIZE, rc->mtu);
    leaf(v, "dest_qpn", RDL_NUMBER, a->dest_qpn);
    leaf(v, "sq_psn", RDL_NUMBER, q->high.v);
    leaf(v, "next_psn", RDL_NUMBER, q->nxt.v);
    leaf(v, "acked_psn", RDL_NUMBER, q->una.v);
    leaf(v, "outstanding_pkts", RDL_NUMBER, rc_outstanding(q));
    leaf(v, "outstanding", RDL_NUMBER, q->fetched - q->oldest);
    leaf(v, "retries", RDL_NUMBER, q->retries);
    leaf(v, "retry_cnt", RDL_NUMBER, a->retry_cnt);
    leaf(v, "rnr_retries", RDL_NUMBER, q->rnr_naks);
    leaf(v, "rnr_retry", RDL_NUMBER, a->rnr_retry);
    leaf(v, "rnr_wait", RDL_FLAG, q->rnr_wait);
    leaf(v, "timeout", RDL_NUMBER, a->timeout);
    leaf(v, "timer_due", RDL_TIME, q->timer[TMR_ACK] ? q->due_ns[TMR_ACK] : 0);
    leaf(v, "rnr_due", RDL_TIME, q->timer[TMR_RNR] ? q->due_ns[TMR_RNR] : 0);
    leaf(v, "rq_psn", RDL_NUMBER, rc->resp.expected.v);
    leaf(v, "msn", RDL_NUMBER, rc->resp.msn);
    leaf(v, "min_rnr_timer", RDL_NUMBER, a->min_rnr_timer);
    leaf(v, "nak_outstanding", RDL_FLAG, rc->resp.seq_nak_out || rc->resp.rnr_nak_out);
    leaf(v, "receiving", RDL_FLAG, rc->resp.has_wqe);
    counters.kind = NODE_COUNTERS;
    counters.object = &rc->count;
    child(v, "counters", counters);
}

void visit_qp(const struct inode *n, struct visit *v)
{
    const struct guest_qp *g = n->object;
    const struct qp *qp = g->qpn ? hca_qp(&n->host->dev.hca, g->qpn) : NULL;

    leaf(v, "qpn", RDL_NUMBER, g->qpn);
    leaf_word(v, "type", &enum_qp_type, (uint32_t)g->type);
    leaf_word(v, "state", &enum_qp_state, qp ? (uint32_t)qp->state : g->attr.state);
    leaf_word(v, "known_state", &enum_qp_state, g->attr.state);
    leaf_text(v, "pd", g->pd->o.name);
    leaf_text(v, "send_cq", g->send_cq->o.name);
    leaf_text(v, "recv_cq", g->recv_cq->o.name);
    leaf(v, "max_send_wr", RDL_NUMBER, g->sq.max_wr);
    leaf(v, "max_recv_wr", RDL_NUMBER, g->rq.max_wr);
    leaf(v, "max_send_sge", RDL_NUMBER, g->sq.max_sge);
    leaf(v, "max_recv_sge", RDL_NUMBER, g->rq.max_sge);
    leaf(v, "max_inline_data", RDL_SIZE, g->max_inline_data);
    if (!qp)
        return;
    visit_connection(n, v, rc_of_const(qp));
    child(v, "sq", queue_node(n, FN_RDMA, g->sq.queue));
    child(v, "rq", queue_node(n, FN_RDMA, g->rq.queue));
}

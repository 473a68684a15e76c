/* SPDX-License-Identifier: MIT */
/* Commands of queue pairs.  The handle of a queue pair is its number. */
#include "emu/base/log2.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/facts/qp_attrs.h"
#include "emu/xport/ctrl.h"

/* Attributes that the format has: bits of the mask of MODIFY_QP. */
#define ATTR_MASK ((uint32_t)QPA_DEST_QPN * 2 - 1)

/* Sizes of the queues of a queue pair. */
struct qp_sizes {
    uint32_t send_slot, recv_slot;
    uint32_t send_pages, recv_pages; /* that the slots need */
};

/* Checks the sizes of @r, so that those of its rings can be computed. */
static enum refusal_reason check_sizes(struct pv_call *c, const struct pv_create_qp *r)
{
    const struct hca_limits *l = &c->d->nic.hca.limits;
    const struct {
        enum refusal_reason why;
        uint32_t most, found;
    } checks[] = {
        {REF_QP_SEND_WR, l->max_qp_wr, r->max_send_wr},
        {REF_QP_RECV_WR, l->max_qp_wr, r->is_srq ? 0 : r->max_recv_wr},
        {REF_QP_SEND_SGE, l->max_send_sge, r->max_send_sge},
        {REF_QP_RECV_SGE, l->max_recv_sge, r->is_srq ? 0 : r->max_recv_sge},
        {REF_QP_INLINE_DATA, 0, r->max_inline_data},
    };

    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (checks[i].found > checks[i].most)
            return pv_refuse(c, checks[i].why, compared_at_most(checks[i].most, checks[i].found));
    }
    if (!is_pow2(r->max_send_wr))
        return pv_refuse(c, REF_RING_SLOTS, compared_found(r->max_send_wr));
    if (!r->is_srq && !is_pow2(r->max_recv_wr))
        return pv_refuse(c, REF_RING_SLOTS, compared_found(r->max_recv_wr));
    return REF_NONE;
}

static struct qp_sizes sizes_of(const struct pv_create_qp *r)
{
    struct qp_sizes s = {.send_slot = pv_slot_bytes(PV_BYTES_sq_wqe, r->max_send_sge)};

    s.send_pages = (uint32_t)pv_pages_of(r->max_send_wr, s.send_slot);
    if (!r->is_srq) {
        s.recv_slot = pv_slot_bytes(PV_BYTES_rq_wqe, r->max_recv_sge);
        s.recv_pages = (uint32_t)pv_pages_of(r->max_recv_wr, s.recv_slot);
    }
    return s;
}

/* Reads the pages of the rings.  A program's send queue may begin within a page, and has one page
 * more then.
 */
static enum refusal_reason read_pages(struct pv_call *c, const struct pv_create_qp *r,
                                      const struct qp_sizes *s, struct pv_pages *ret)
{
    if (r->send_pages < s->send_pages || r->send_pages > s->send_pages + 1)
        return pv_refuse(c, REF_PAGE_LIST_LENGTH,
                         compared_range(s->send_pages, s->send_pages + 1, r->send_pages));
    return pv_pages_read(
        &c->d->nic.hca,
        &(struct pv_directory){r->pdir, r->total_pages, 1 + r->send_pages + s->recv_pages}, ret);
}

static void set_rings(struct pv_qp *q, const struct pv_create_qp *r, const struct qp_sizes *s)
{
    q->wq[WQ_SEND].ring = (struct pv_ring){.pages = &q->pages,
                                           .state_at = PV_RING_TX,
                                           .first_page = 1,
                                           .n = r->max_send_wr,
                                           .slot_bytes = s->send_slot};
    if (!r->is_srq)
        q->wq[WQ_RECV].ring = (struct pv_ring){.pages = &q->pages,
                                               .state_at = PV_RING_RX,
                                               .first_page = 1u + r->send_pages,
                                               .n = r->max_recv_wr,
                                               .slot_bytes = s->recv_slot};
}

static void answer_created(struct pv_call *c, const struct qp *qp)
{
    const struct qp_config *k = &qp->config;

    if (c->d->version >= PV_VERSION_QP_HANDLE)
        PV_ANSWER(c, qp_made_v2, .qpn = qp->qpn, .handle = qp->qpn, QP_SIZES(k));
    else
        PV_ANSWER(c, qp_made, .qpn = qp->qpn, QP_SIZES(k));
}

enum refusal_reason pv_cmd_create_qp(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    struct pv_pages pages;
    struct qp_config config;
    struct qp_sizes sizes;
    enum refusal_reason why;
    struct qp *qp;

    PV_TAKE(c, create_qp, r);
    if (r.type != QPT_RC && r.type != QPT_UD && r.type != QPT_GSI)
        return pv_refuse(c, REF_QP_TYPE, compared_found(r.type));
    why = check_sizes(c, &r);
    if (why != REF_NONE)
        return why;
    sizes = sizes_of(&r);
    why = read_pages(c, &r, &sizes, &pages);
    if (why != REF_NONE)
        return why;
    config = (struct qp_config){
        .pdn = r.pd,
        .type = r.type,
        .send_cqn = pv_number_of(OBJ_CQ, r.send_cq),
        .recv_cqn = pv_number_of(OBJ_CQ, r.recv_cq),
        QP_SIZES(&r),
        .sig_all = r.sq_sig_all != 0,
        .srqn = r.is_srq ? pv_number_of(OBJ_SRQ, r.srq) : 0,
    };
    if (r.is_srq && !hca_srq(&d->nic.hca, config.srqn)) /* 0 would be none */
        why = pv_refuse(c, REF_QP_SRQ, compared_found(r.srq));
    else
        why = xport_qp_create(&d->nic.xport, &config, &qp);
    if (why != REF_NONE) {
        pv_pages_free(&d->nic.hca, &pages);
        return why;
    }
    d->qps[qp->qpn].pages = pages;
    set_rings(&d->qps[qp->qpn], &r, &sizes);
    answer_created(c, qp);
    return REF_NONE;
}

static struct av av_of(const uint8_t bytes[])
{
    struct pv_raw_ah_attr raw;
    struct pv_ah_attr a;
    struct av av;

    memcpy(&raw, bytes, sizeof(raw));
    pv_ah_attr_get(&a, &raw);
    av = (struct av){.sgid_index = a.sgid_index,
                     .hop_limit = a.hop_limit,
                     .tclass = a.traffic_class,
                     .sl = a.sl,
                     .static_rate = a.static_rate,
                     .port = a.port,
                     .flags = a.flags,
                     .flow_label = a.flow_label};
    memcpy(av.dgid, a.dgid, sizeof(av.dgid));
    memcpy(av.dmac, a.dmac, sizeof(av.dmac));
    return av;
}

static struct qp_attr attr_of(const uint8_t bytes[])
{
    struct qp_attr ret = {.credits = false};
    struct pv_raw_qp_attr raw;
    struct pv_qp_attr a;

    memcpy(&raw, bytes, sizeof(raw));
    pv_qp_attr_get(&a, &raw);
    QP_ATTRS_COPY(&ret, &a);
    ret.av = av_of(a.ah);
    return ret;
}

/* After a move to RESET the driver sets the indices of the rings to 0. */
static void restart_rings(struct pv_qp *q)
{
    for (uint32_t i = 0; i < 2; i++) {
        pv_ring_restart(&q->wq[i].ring);
        q->wq[i].failed = q->wq[i].held = false;
    }
}

enum refusal_reason pv_cmd_modify_qp(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    struct qp_attr attr;
    enum refusal_reason why;
    struct qp *qp;

    PV_TAKE(c, modify_qp, r);
    qp = hca_qp(&d->nic.hca, r.handle);
    if (!qp)
        return pv_refuse(c, REF_QP_HANDLE, compared_found(r.handle));
    if (r.mask & ~ATTR_MASK)
        return pv_refuse(c, REF_QP_ATTR_OFFERED, compared_found(r.mask & ~ATTR_MASK));
    attr = attr_of(r.attr);
    why = xport_qp_modify(&d->nic.xport, qp, r.mask, &attr);
    if (why == REF_NONE && qp->state == QPS_RESET)
        restart_rings(&d->qps[qp->qpn]);
    return why;
}

static void put_av(uint8_t bytes[], const struct av *av)
{
    struct pv_ah_attr a = {.flow_label = av->flow_label,
                           .sgid_index = av->sgid_index,
                           .hop_limit = av->hop_limit,
                           .traffic_class = av->tclass,
                           .sl = av->sl,
                           .static_rate = av->static_rate,
                           .flags = av->flags,
                           .port = av->port};
    struct pv_raw_ah_attr raw;

    memcpy(a.dgid, av->dgid, sizeof(a.dgid));
    memcpy(a.dmac, av->dmac, sizeof(a.dmac));
    pv_ah_attr_put(&raw, &a);
    memcpy(bytes, &raw, sizeof(raw));
}

enum refusal_reason pv_cmd_query_qp(struct pv_call *c)
{
    const struct qp_attr *a;
    struct pv_raw_qp_attr raw;
    struct pv_qp_attr out;
    const struct qp *qp;

    PV_TAKE(c, query_qp, r);
    qp = hca_qp(&c->d->nic.hca, r.handle);
    if (!qp)
        return pv_refuse(c, REF_QP_HANDLE, compared_found(r.handle));
    a = &qp->attr;
    out = (struct pv_qp_attr){
        .sq_draining = xport_is_draining(qp),
        QP_SIZES(&qp->config),
    };
    QP_ATTRS_COPY(&out, a);
    out.state = out.cur_state = qp->state;
    put_av(out.ah, &a->av);
    pv_qp_attr_put(&raw, &out);
    memcpy(c->rsp, &raw, sizeof(raw));
    return REF_NONE;
}

enum refusal_reason pv_cmd_destroy_qp(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    enum refusal_reason why;
    struct pv_qp *q;

    PV_TAKE(c, handle, r);
    why = xport_qp_destroy(&d->nic.xport, r.handle);
    if (why != REF_NONE)
        return why;
    q = &d->qps[r.handle];
    PV_ANSWER(c, qp_gone, .events = q->events);
    pv_pages_free(&d->nic.hca, &q->pages);
    *q = (struct pv_qp){
        .wq = {{.due = q->wq[0].due}, {.due = q->wq[1].due}}}; /* a doorbell will arrive */
    rnic_events_forget(&d->nic, OBJ_QP, r.handle);
    return REF_NONE;
}

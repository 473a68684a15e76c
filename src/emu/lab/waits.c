/* SPDX-License-Identifier: MIT */
/* Describes who waits for what, for a lab that is idle or never ends. */
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/device/rdma.h"
#include "emu/facts/cm_waits.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/guest/verbs/driver.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/rnic/rnic.h"
#include "emu/xport/xport_qp.h"
#include "rdmalab/inspect.h"

#define SENTENCE_BYTES 240u

struct out {
    void (*each)(void *ctx, const struct rdl_wait *w);
    void *ctx;
};

static void add_path(struct text *t, const struct guest_object *o, const struct host *h)
{
    text_addf(t, "%s.%s", h->name, o->name);
}

/* Reports @w of @o, or of the host itself if @o is NULL, with the path that it has. */
static void report_wait(const struct out *out, const struct host *h, const struct guest_object *o,
                        struct rdl_wait w)
{
    char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    if (o)
        add_path(&t, o, h);
    else
        text_add(&t, h->name);
    w.path = path;
    out->each(out->ctx, &w);
}

/* Reports that @o, or the host itself if it is NULL, waits as @sentence says. */
static void report(const struct out *out, const struct host *h, const struct guest_object *o,
                   const char *sentence)
{
    report_wait(out, h, o, (struct rdl_wait){.sentence = sentence});
}

/* The peer queue pair as the lab knows it: "h2.qp". */
static void add_peer(struct text *t, const struct lab_state *w, const struct xport_qp *xqp)
{
    const struct host *h = xqp->peer < w->n_hosts ? w->hosts[xqp->peer] : NULL;
    const uint32_t qpn = xqp->qp.attr.dest_qpn;
    const struct guest_qp *peer = lab_guest_qp(w, xqp->peer, qpn);

    if (peer)
        add_path(t, &peer->o, h);
    else
        text_addf(t, "%s QPN %u", h ? h->name : "an unknown host,", qpn);
}

static void add_timer(struct text *t, const struct requester *q)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (!q->timer[i])
            continue;
        text_addf(t, "; %s timer due t=", enum_name(&enum_timer, i));
        quantity_add_time_short(t, q->due_ns[i]);
    }
}

/* Chains of @q that the device has not returned; 0 if @q is no virtqueue. */
static uint16_t outstanding(const struct host *h, const struct guest_wq *q)
{
    const struct vqd *driver = host_rdma_vq(h, q->queue);
    const struct virtio_dev *device = host_virtio(h, FN_RDMA);

    return driver ? (uint16_t)(driver->avail_idx - device->queues[q->queue].used_idx) : 0;
}

/* Adds what the oldest request that the device fetched waits for, and from whom. */
static void add_awaited(struct text *t, const struct xport_qp *xqp, const struct req_wqe *oldest)
{
    const struct requester *q = &xqp->req;

    if (q->rnr_wait)
        text_add(t, "a receive at ");
    else if (q->out_psns == 0)
        text_addf(t, "its turn, in state %s: it was not sent to ",
                  enum_name(&enum_qp_state, (uint32_t)xqp->qp.state));
    else if (req_is_rd(oldest))
        text_addf(t, "the response psn=%u from ", q->una.v);
    else
        text_addf(t, "an ACK of psn=%u from ", q->una.v);
}

/* Reports the next request to be sent if READs or atomics under way hold it back. */
static void report_held_back(const struct host *h, const struct guest_qp *g,
                             const struct xport_qp *xqp, const struct out *out)
{
    const struct requester *q = &xqp->req;
    const struct req_wqe *next;
    char buf[SENTENCE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (q->next == q->fetched || q->sent_psns > 0 || q->again_psns > 0 || q->out_rds == 0)
        return;
    next = req_wqe_at(q, q->next);
    if (!(next->w.flags & SF_FENCE) &&
        (!req_is_rd(next) || q->out_rds < xqp->qp.attr.max_rd_atomic))
        return;
    add_path(&t, &g->o, h);
    text_addf(&t, ": %s wr_id=%llu waits behind %u READ%s or atomic%s: ",
              enum_name(&enum_wr_opcode, next->w.opcode), (unsigned long long)next->w.wr_id,
              q->out_rds, plural_s(q->out_rds), plural_s(q->out_rds));
    if (next->w.flags & SF_FENCE)
        text_add(&t, "it has a fence");
    else
        text_addf(&t, "max_rd_atomic is %u", xqp->qp.attr.max_rd_atomic);
    report_wait(out, h, &g->o, (struct rdl_wait){.sentence = buf, .held_back = true});
}

static void report_sends(const struct lab_state *w, const struct host *h, const struct guest_qp *g,
                         const struct xport_qp *xqp, const struct out *out)
{
    const struct requester *q = &xqp->req;
    char buf[SENTENCE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    add_path(&t, &g->o, h);
    if (q->oldest != q->fetched) {
        const struct req_wqe *wqe = req_wqe_at(q, q->oldest);

        text_addf(&t, ": %s wr_id=%llu waits for ", enum_name(&enum_wr_opcode, wqe->w.opcode),
                  (unsigned long long)wqe->w.wr_id);
        add_awaited(&t, xqp, wqe);
        add_peer(&t, w, xqp);
        if (q->rnr_naks > 0 && !q->rnr_wait)
            text_addf(&t, ", which had no receive %u time%s", q->rnr_naks, plural_s(q->rnr_naks));
        add_timer(&t, q);
    } else {
        const uint32_t n = outstanding(h, &g->sq);

        text_addf(&t, ": %u posted send%s wait%s: state %s, avail.idx %s", n, plural_s(n),
                  singular_s(n), enum_name(&enum_qp_state, (uint32_t)xqp->qp.state),
                  q->kicked ? "told to the device"
                            : "not seen by the device: no kick has arrived yet");
    }
    report(out, h, &g->o, buf);
    report_held_back(h, g, xqp, out);
}

/* Reports the receives posted to @rq, which belongs to @o. */
static void report_receives(const struct host *h, const struct guest_object *o,
                            const struct guest_wq *rq, const struct out *out)
{
    const uint32_t n = outstanding(h, rq);
    char buf[SENTENCE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (n == 0)
        return;
    add_path(&t, o, h);
    text_addf(&t, ": %u posted receive%s wait%s for a message", n, plural_s(n), singular_s(n));
    report(out, h, o, buf);
}

static void report_control(const struct host *h, const struct out *out)
{
    const struct verbs *v = &h->guest.verbs;
    char buf[SENTENCE_BYTES], addr[ADDR_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    if (v->request.waiting) {
        text_addf(&t, "%s: its request waits for a virtual function of %s; until t=", h->name,
                  h->vrnic->machine->name);
        quantity_add_time_short(&t, h->vrnic->due_ns);
    } else if (verbs_waits_for(v))
        text_addf(&t, "%s: %s waits for the MAC of %s", h->name,
                  v->request.kind == VERBS_MODIFY_QP ? "MODIFY_QP" : "create_ah",
                  addr_text(verbs_waits_for(v), addr));
    else
        text_addf(&t, "%s: the driver waits for the answer to %s", h->name,
                  v->ops->request_name(v));
    report(out, h, NULL, buf);
}

static void report_pings(const struct host *h, const struct out *out)
{
    for (uint32_t i = 0; i < GUEST_PINGS_MAX; i++) {
        const struct guest_ping *p = &h->guest.net.pings[i];
        char buf[SENTENCE_BYTES], addr[ADDR_TEXT_MAX];
        struct text t = text_on(buf, sizeof(buf));

        if (p->state != PING_UNDER_WAY)
            continue;
        text_addf(&t, "%s: ping seq=%u waits for an answer from %s", h->name, p->seq,
                  addr_text(p->dst, addr));
        report(out, h, NULL, buf);
    }
}

/* Reports what an ID of rdma_cm waits for, if it is an answer from outside its host. */
static void report_id(const struct host *h, const struct cma_id *id, const struct out *out)
{
    const struct guest_cm_object *o = id->user;
    const struct cm_wait *wait = id->ib ? cm_wait(id->ib->state) : NULL;
    char buf[SENTENCE_BYTES], addr[ADDR_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    if (!o || (!wait && id->state != CMA_ADDR_QUERY))
        return;
    add_path(&t, &o->o, h);
    if (!wait) {
        text_addf(&t, ": waits for the MAC of %s", addr_text(id->peer.gid, addr));
    } else {
        text_addf(&t, ": %s to %s waits for %s", enum_name(&enum_cm_message, wait->sent),
                  addr_text(id->peer.gid, addr), wait->answer);
        if (id->ib->timer) {
            text_add(&t, "; due t=");
            quantity_add_time_short(&t, id->ib->due_ns);
        }
    }
    report(out, h, &o->o, buf);
}

/* Reports the IDs in the order of their creation. */
static void report_ids(const struct host *h, const struct out *out)
{
    const struct cma_id *id = h->guest.cm.is_up ? h->guest.cm.cma.ids : NULL;

    while (id && id->next)
        id = id->next;
    for (; id; id = id->before)
        report_id(h, id, out);
}

void rdl_waits(const struct rdl_lab *lab, void (*each)(void *ctx, const struct rdl_wait *w),
               void *ctx)
{
    const struct lab_state *w = lab->state;
    const struct out out = {each, ctx};

    for (uint32_t i = 0; i < w->n_hosts; i++) {
        const struct host *h = w->hosts[i];

        if (!host_is_there(h) || h->is_external)
            continue;
        if (h->guest.verbs.request.n > 0)
            report_control(h, &out);
        report_pings(h, &out);
        report_ids(h, &out);
        for (uint32_t qpn = QPN_GSI; h->rnic && qpn <= h->rnic->config->max_qp; qpn++) {
            const struct guest_qp *g = verbs_qp(&h->guest.verbs, qpn);
            const struct qp *qp = g ? hca_qp(&h->rnic->hca, qpn) : NULL;

            if (qp && outstanding(h, &g->sq) > 0)
                report_sends(w, h, g, xport_of_const(qp), &out);
            if (qp && !g->srq)
                report_receives(h, &g->o, &g->rq, &out);
        }
        for (uint32_t srqn = 1; srqn <= h->guest.verbs.limits.max_srq; srqn++) {
            const struct guest_srq *srq = verbs_srq(&h->guest.verbs, srqn);

            if (srq)
                report_receives(h, &srq->o, &srq->rq, &out);
        }
    }
}

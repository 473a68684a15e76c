/* SPDX-License-Identifier: MIT */
/* Invariants of the emulator, checked between two ticks.
 *
 * watch.c checks invariants that a single event can violate.  This file checks those that need the
 * whole state.  A broken invariant is a bug of the emulator, whatever guests and networks did.
 */
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/lab/watch.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"

/* Every frame that was sent or copied has ended exactly once or is in flight. */
static const char *check_frames(const struct lab_state *w)
{
    const struct net_counts *c = &w->net.counts;

    if (c->sent + c->copied != c->delivered + c->lost + c->dropped + c->in_flight)
        return "frames sent and copied are delivered, lost, dropped or in flight";
    return NULL;
}

/* Every frame that ended is counted once: a dropped frame under a reason, a delivered frame at the
 * port of a host or at an external port.
 */
static const char *check_sums(const struct lab_state *w)
{
    const struct net_counts *c = &w->net.counts;
    uint64_t dropped = 0, delivered = 0;

    for (uint32_t i = 0; i < w->net.n_switches; i++)
        dropped += net_drops_sum(w->net.switches[i]->drops);
    for (uint32_t i = 0; i < w->net.n_exts; i++) {
        dropped += net_drops_sum(w->net.exts[i].drops);
        delivered += w->net.exts[i].out_frames;
    }
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        const struct eth_port *p = &w->hosts[i]->port;

        dropped += net_drops_sum(p->tx_drops);
        for (uint32_t k = 1; w->hosts[i]->vrnic && k < w->hosts[i]->vrnic->n_functions; k++)
            dropped += net_drops_sum(w->hosts[i]->vrnic->functions[k].port->tx_drops);
        if (!p->sw && !w->hosts[i]->vrnic)
            delivered += p->rcvd_frames;
        else if (host_is_machine(w->hosts[i]))
            delivered += p->sw->arrived;
    }
    if (dropped != c->dropped)
        return "every frame that the network drops is counted under a reason";
    return delivered == c->delivered ? NULL : "every frame delivered is counted at a port";
}

/* Every frame that arrived at a host was used, or is counted under the reason for its drop. */
static const char *check_received(const struct host *h, const struct eth_port *p)
{
    const struct guest_net *g = &h->guest.net;

    if (p->rcvd_frames + p->group_copies + p->copied_dropped !=
        p->taken_frames + net_drops_sum(p->drops))
        return "frames received by a port are taken or dropped";
    if (g->rcvd_frames != g->taken_frames + net_drops_sum(g->drops))
        return "frames received by the IP stack are taken or dropped";
    return NULL;
}

/* The distance from index @b to index @a, both modulo 2^16. */
static uint16_t ahead(uint16_t a, uint16_t b)
{
    return (uint16_t)(a - b);
}

/* The positions of a packed ring come in this order: where the driver takes back, where the device
 * returns, where the device takes, where the driver adds.  The distances add up to the slots that
 * the driver has not got back.
 */
static const char *check_places(const struct vq *dev, const struct vqd *drv)
{
    const struct vring_pos used = vq_used_pos(dev), avail = vq_avail_pos(dev);
    const uint32_t size = dev->ring.size;
    const uint32_t n = vring_slots_between(drv->used, used, size) +
                       vring_slots_between(used, avail, size) +
                       vring_slots_between(avail, drv->avail, size);

    return n == size - drv->n_free ? NULL
                                   : "the places of both sides of a packed ring are in order";
}

static const char *check_ring(const struct vq *dev, const struct vqd *drv)
{
    if (!dev->enabled || dev->broken != VQE_NONE)
        return NULL;
    if (ahead(dev->last_avail, dev->used_idx) > dev->ring.size)
        return "a device gives back no more chains than it took";
    if (ahead(drv->avail_idx, dev->last_avail) > dev->ring.size)
        return "a device takes no more chains than were offered";
    if (ahead(dev->used_idx, drv->last_used) > dev->ring.size)
        return "a driver takes back no more chains than were given back";
    if (!vq_invariant(dev))
        return "a device has as many slots of a packed ring as lie between its places";
    return dev->packed && drv->descs ? check_places(dev, drv) : NULL;
}

/* Checks virtqueue @queue of the RDMA function, if its driver is the lab's. */
static const char *check_queue(const struct host *h, uint32_t queue)
{
    const struct vqd *driver = host_rdma_vq(h, queue);

    return driver ? check_ring(&host_virtio(h, FN_RDMA)->queues[queue], driver) : NULL;
}

static const char *check_cq(const struct host *h, const struct cq *cq)
{
    const struct guest_cq *g = verbs_cq(&h->guest.verbs, cq->cqn);

    if (g && g->polled > cq->n_completed)
        return "no more completions are polled than were written";
    return check_queue(h, cq->cqn);
}

static const char *check_qp(const struct host *h, const struct qp *qp)
{
    const char *broken = check_queue(h, queue_of_sends(h->rnic->config->max_cq, qp->qpn));

    if (!broken)
        broken = check_queue(h, queue_of_receives(h->rnic->config->max_cq, qp->qpn));
    return broken ? broken : xport_invariant(qp);
}

static const char *check_srq(const struct host *h, const struct srq *srq, uint32_t queue)
{
    if (srq->limit > srq->max_wr)
        return "the limit of a shared receive queue is within its length";
    return check_queue(h, queue);
}

static const char *check_port(const struct host *h, const struct eth_port *p)
{
    const char *broken = check_received(h, p);

    if (!broken)
        broken = eth_port_invariant(p);
    return broken || !p->sw ? broken : eswitch_invariant(p->sw, p->vport);
}

/* Checks everything of a host except its CQs, QPs and SRQs. */
static const char *check_rest(const struct host *h)
{
    const char *broken = check_port(h, &h->port);
    const struct rdma *rdma = host_rdma(h);

    for (uint32_t i = 1; h->vrnic && i < h->vrnic->n_functions && !broken; i++)
        broken = check_port(h, h->vrnic->functions[i].port);
    if (!broken)
        broken = check_queue(h, QUEUE_CTRL);
    if (!broken && rdma && rdma_offers(&rdma->config, VF_EVENTQ))
        broken = check_queue(h, queue_of_events(h->rnic->config->max_cq, h->rnic->config->max_qp));
    if (!broken && rdma)
        broken = rdma_ceqs_invariant(rdma);
    for (uint32_t q = 0; q < NET_QUEUES && !broken && !h->is_external; q++)
        broken = check_ring(&h->net->pci.queues[q], &h->guest.net.queues[q].vq);
    return broken;
}

/* Checks the object that @queue stands for, as in changed.h.  Skips queues without an owner: after
 * an object is destroyed, the device forgets its ring addresses before the driver sees the answer.
 */
static const char *check_part(const struct host *h, uint32_t queue)
{
    const struct rnic_config *c;
    const struct srq *srq;
    const struct cq *cq;
    const struct qp *qp;
    uint32_t qpn;

    if (queue == QUEUE_CTRL)
        return check_rest(h);
    c = h->rnic->config;
    qpn = queue_owner(c->max_cq, queue);
    cq = qpn ? NULL : hca_cq(&h->rnic->hca, queue);
    qp = hca_qp(&h->rnic->hca, qpn);
    if (queue_srqn(c->max_cq, c->max_qp, queue) > c->max_srq)
        return check_queue(h, queue); /* that of completion events */
    srq = hca_srq(&h->rnic->hca, queue_srqn(c->max_cq, c->max_qp, queue));
    if (srq)
        return check_srq(h, srq, queue);
    if (cq)
        return check_cq(h, cq);
    return qp ? check_qp(h, qp) : NULL;
}

static const char *check_host(const struct host *h)
{
    const struct rnic_config *c = h->rnic ? h->rnic->config : NULL;
    const struct rdma *rdma = host_rdma(h);
    const char *broken = check_rest(h);

    if (!c)
        return broken;
    for (uint32_t queue = 1; queue <= c->max_cq && !broken; queue++)
        broken = check_part(h, queue);
    for (uint32_t qpn = QPN_GSI; qpn <= c->max_qp && !broken; qpn++)
        broken = check_part(h, queue_of_sends(c->max_cq, qpn));
    for (uint32_t srqn = 1; srqn <= h->rnic->hca.limits.max_srq && !broken; srqn++)
        broken = check_part(h, queue_of_srq(c->max_cq, c->max_qp, srqn));
    for (uint32_t k = 0; rdma && k < rdma->n_ceqs && !broken; k++)
        broken = check_part(h, rdma_ceq(rdma, k));
    return broken;
}

static void report(struct rdl_lab *lab, const char *host, const char *what)
{
    struct text t = text_on(lab->broken, sizeof(lab->broken));

    text_addf(&t, "%s%s%s", host, host[0] ? ": " : "", what);
}

/* Checks @queue of host @i, or the whole host if @queue is NULL. */
static bool check(struct rdl_lab *lab, uint32_t i, const uint32_t *queue)
{
    const struct host *h = lab->state->hosts[i];
    const char *broken;

    if (!host_is_there(h))
        return true;
    broken = queue ? check_part(h, *queue) : check_host(h);
    if (broken && host_is_open(h))
        return true; /* others may have written to its rings */
    if (broken)
        report(lab, h->name, broken);
    return broken == NULL;
}

static bool check_changed(struct rdl_lab *lab)
{
    struct changed *c = lab->changed;
    bool good = true;

    for (uint32_t i = 0; c->all && good && i < lab->state->n_hosts; i++)
        good = check(lab, i, NULL);
    for (size_t i = 0; !c->all && good && i < c->n; i++)
        good = check(lab, c->v[i].host, &c->v[i].queue);
    if (good)
        changed_clear(c);
    return good;
}

/* Returns true if the sums over all parts are due: once in as many ticks as the lab has parts. */
static bool sums_are_due(struct rdl_lab *lab)
{
    const struct lab_state *w = lab->state;
    const uint64_t tick = w->trace.tick;
    const uint64_t n = (uint64_t)w->n_hosts + w->net.n_switches + w->net.n_exts;

    if (tick >= lab->summed_at && tick - lab->summed_at < n)
        return false; /* an earlier tick than the last one follows a restore */
    lab->summed_at = tick;
    return true;
}

bool lab_check(struct rdl_lab *lab, bool changed)
{
    const char *broken = watch_broken(lab->watch);

    if (!broken)
        broken = check_frames(lab->state);
    if (!broken && changed && sums_are_due(lab))
        broken = check_sums(lab->state);
    if (broken)
        report(lab, "", broken);
    return !broken && (!changed || check_changed(lab));
}

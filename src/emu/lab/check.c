/* SPDX-License-Identifier: MIT */
/* Invariants of the emulator itself, looked for between two ticks.
 *
 * What one event can break is watched as events happen (watch.c).  Here is what only a look at the
 * whole state shows.  A broken one is a bug of ours, whatever guests and networks did.
 */
#include "emu/lab/watch.h"
#include "emu/lab/world.h"

/* Every frame that was sent or copied has ended once, or is on its way. */
static const char *check_frames(const struct world *w)
{
    const struct net_counts *c = &w->net.counts;

    if (c->sent + c->copied != c->delivered + c->lost + c->dropped + c->in_flight)
        return "frames sent and copied are delivered, lost, dropped or in flight";
    return NULL;
}

/* How far index @a is ahead of @b, both modulo 2^16. */
static uint16_t ahead(uint16_t a, uint16_t b)
{
    return (uint16_t)(a - b);
}

static const char *check_queue(const struct vq *dev, const struct vqd *drv)
{
    if (!dev->enabled || dev->broken != VQE_NONE)
        return NULL;
    if (ahead(dev->last_avail, dev->used_idx) > dev->ring.size)
        return "a device gives back no more chains than it took";
    if (ahead(drv->avail_idx, dev->last_avail) > dev->ring.size)
        return "a device takes no more chains than were offered";
    if (ahead(dev->used_idx, drv->last_used) > dev->ring.size)
        return "a driver takes back no more chains than were given back";
    return NULL;
}

static const char *check_cq(const struct host *h, const struct cq *cq)
{
    const struct guest_cq *g = h->guest.cq_of[cq->cqn];

    if (g && g->polled > cq->n_completed)
        return "no more completions are polled than were written";
    return NULL;
}

static const char *check_host(const struct host *h)
{
    const struct rdma_config *c = &h->dev.config;
    const char *broken = NULL;

    for (uint32_t q = 0; q < rdma_queues(c) && !broken; q++)
        broken = check_queue(&h->dev.pci.queues[q], guest_vq(&h->guest, q));
    for (uint32_t q = 0; q < NET_QUEUES && !broken; q++)
        broken = check_queue(&h->net.pci.queues[q], &h->guest.net.queues[q].vq);
    for (uint32_t n = 1; n <= c->max_cq && !broken; n++) {
        const struct cq *cq = hca_cq(&h->dev.hca, n);

        broken = cq ? check_cq(h, cq) : NULL;
    }
    for (uint32_t n = HCA_QPN_USER; n <= c->max_qp && !broken; n++) {
        const struct qp *qp = hca_qp(&h->dev.hca, n);

        broken = qp ? xport_invariant(qp) : NULL;
    }
    return broken;
}

static void report(struct rdl_lab *lab, const char *host, const char *what)
{
    struct text t = text_on(lab->broken, sizeof(lab->broken));

    text_addf(&t, "%s%s%s", host, host[0] ? ": " : "", what);
}

bool world_check(struct rdl_lab *lab, bool full)
{
    const struct world *w = lab->world;
    const char *broken = lab->watch ? watch_broken(lab->watch) : NULL;

    if (!broken)
        broken = check_frames(w);
    if (broken)
        report(lab, "", broken);
    for (uint32_t i = 0; full && !broken && i < w->n_hosts; i++) {
        broken = check_host(w->hosts[i]);
        if (broken)
            report(lab, w->hosts[i]->name, broken);
    }
    return broken == NULL;
}

/* SPDX-License-Identifier: MIT */
/* The RDMA function as a user of the Ethernet port: frames out, in turns between queue pairs, and
 * frames in.
 */
#include "emu/base/assert.h"
#include "emu/device/internal.h"

void rdma_ready_add(void *ctx, struct qp *qp)
{
    struct rdma *d = ctx;
    struct rdma_ready *r = &d->ready;
    const uint32_t cap = d->config.max_qp + 1;

    if (r->is_queued[qp->qpn])
        return;
    RDL_ASSERT(r->len < cap);
    r->is_queued[qp->qpn] = true;
    r->ring[(r->first + r->len++) % cap] = qp->qpn;
}

static uint32_t ready_take(struct rdma *d)
{
    struct rdma_ready *r = &d->ready;
    const uint32_t qpn = r->ring[r->first];

    r->first = (r->first + 1) % (d->config.max_qp + 1);
    r->len--;
    r->is_queued[qpn] = false;
    return qpn;
}

static bool has_frame(const void *ctx)
{
    const struct rdma *d = ctx;

    return d->ready.len > 0 && virtio_running(&d->pci);
}

/* One frame of the next queue pair that has one. */
static struct frame *take_frame(void *ctx)
{
    struct rdma *d = ctx;
    struct frame *f = frame_new(d->arena, XPORT_FRAME_BYTES);

    if (!f)
        return NULL; /* the arena is full: what is unacknowledged is tried again */
    while (d->ready.len > 0) {
        const uint32_t qpn = ready_take(d);
        struct qp *qp = hca_qp(&d->hca, qpn);
        const ev_id cause = d->trace->cause;
        struct tx_info tx;

        if (!qp)
            continue; /* destroyed since it was ready */
        f->len = (uint32_t)xport_build(&d->xport, qp, f->bytes, f->cap, &tx);
        rdma_settle(d);
        if (xport_has_more(qp))
            rdma_ready_add(d, qp);
        trace_because(d->trace, cause);
        if (f->len == 0)
            continue;
        f->tx = tx.tx;
        f->note = (struct frame_note){
            .host = d->config.host,
            .qpn = qpn,
            .opcode = tx.opcode,
            .psn = tx.psn.v,
            .dest_qpn = tx.dest_qpn,
            .syndrome = (uint32_t)tx.syndrome,
        };
        return f;
    }
    frame_unref(d->arena, f);
    return NULL;
}

static bool owns(const void *ctx, const uint8_t dst[GID_BYTES])
{
    const struct rdma *d = ctx;

    return hca_gid_is_own(&d->hca, dst);
}

static bool is_member(const void *ctx, const uint8_t dst[GID_BYTES])
{
    const struct rdma *d = ctx;
    const uint32_t *qpns;

    return mcast_find(&d->hca, dst, &qpns) > 0;
}

static void deliver(void *ctx, const struct frame *f)
{
    struct rdma *d = ctx;
    const struct rx_info info = {f->tx, f->len};
    struct packet p;
    enum drop_reason reason;

    if (!virtio_running(&d->pci)) {
        eth_port_drop(d->port, f, DROP_QP_NOT_READY);
        return;
    }
    reason = packet_parse(&p, f->bytes, f->len);
    if (reason != DROP_NONE && reason != DROP_BAD_OPCODE) {
        eth_port_refuse(d->port, f, reason, &p.refused);
        return;
    }
    reason = xport_receive(&d->xport, &p, &info);
    if (reason == DROP_NONE)
        d->port->taken_frames++;
    else
        d->port->drops[reason]++;
    if (reason == DROP_BAD_PKEY)
        d->bad_pkeys++;
    if (reason == DROP_BAD_QKEY)
        d->bad_qkeys++;
    rdma_settle(d);
    eth_port_pump(d->port);
}

static const struct eth_user_ops user_ops = {has_frame, take_frame, owns, is_member, deliver};

void rdma_port_use(struct rdma *d)
{
    eth_port_use(d->port, FN_RDMA, &user_ops, d);
}

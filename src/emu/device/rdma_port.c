/* SPDX-License-Identifier: MIT */
/* The RDMA function as a user of the Ethernet port: transmits frames of its queue pairs in turn,
 * and receives frames.
 */
#include "emu/base/assert.h"
#include "emu/device/internal.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/wire/parse.h"

/* Stores @qpn at the end of the FIFO.  ready.len already counts it. */
static void put_last(struct rdma *d, uint32_t qpn)
{
    struct rdma_ready *r = &d->ready;
    const uint32_t at = r->first + r->len - 1, cap = d->config.max_qp + 1;

    r->ring[at < cap ? at : at - cap] = qpn;
}

void rdma_ready_add(void *ctx, struct qp *qp)
{
    struct rdma *d = ctx;
    struct rdma_ready *r = &d->ready;

    if (r->is_queued[qp->qpn])
        return;
    RDL_ASSERT(r->len <= d->config.max_qp);
    r->is_queued[qp->qpn] = true;
    r->len++;
    put_last(d, qp->qpn);
    eth_port_wait(d->port, FN_RDMA);
}

/* Ends the turn of @qpn, the first queue pair.  With @again it has more to send and goes to the
 * end.
 */
static void ready_next(struct rdma *d, uint32_t qpn, bool again)
{
    struct rdma_ready *r = &d->ready;

    if (again && r->len == 1)
        return;
    r->first = r->first == d->config.max_qp ? 0 : r->first + 1;
    if (again) {
        put_last(d, qpn);
    } else {
        r->len--;
        r->is_queued[qpn] = false;
    }
}

static bool has_frame(const void *ctx)
{
    const struct rdma *d = ctx;

    return d->ready.len > 0 && virtio_running(&d->pci);
}

/* Builds one frame of the next queue pair that has one. */
static struct frame *take_frame(void *ctx)
{
    struct rdma *d = ctx;
    struct frame *f;

    if (!has_frame(d))
        return NULL;
    f = frame_new(d->arena, XPORT_FRAME_BYTES);
    if (!f)
        return NULL; /* the arena is full */
    while (d->ready.len > 0) {
        const uint32_t qpn = d->ready.ring[d->ready.first];
        struct qp *qp = hca_qp(&d->hca, qpn);
        const ev_id cause = d->trace->cause;
        struct tx_info tx;

        if (!qp) {
            ready_next(d, qpn, false); /* destroyed in the meantime */
            continue;
        }
        f->len = (uint32_t)xport_build(&d->xport, qp, f->bytes, f->cap, &tx);
        rdma_settle(d);
        ready_next(d, qpn, xport_has_more(qp));
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
        eth_port_drop(d->port, f,
                      virtio_is_driven(&d->pci) ? DROP_NO_BUS_MASTER : DROP_QP_NOT_READY);
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
    if (reason == DROP_BAD_PKEY && d->bad_pkeys < UINT32_MAX)
        d->bad_pkeys++;
    if (reason == DROP_BAD_QKEY && d->bad_qkeys < UINT32_MAX)
        d->bad_qkeys++;
    rdma_settle(d);
    eth_port_pump(d->port);
}

static const struct eth_user_ops user_ops = {has_frame, take_frame, owns, is_member, deliver};

void rdma_port_use(struct rdma *d)
{
    eth_port_use(d->port, FN_RDMA, &user_ops, d);
}

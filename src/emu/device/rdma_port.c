/* SPDX-License-Identifier: MIT */
/* The Ethernet port: frames out, one at a time and in turns between queue pairs; frames in. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/device/internal.h"
#include "emu/facts/aeth.h"

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

static uint64_t free_at(const struct rdma *d)
{
    const uint64_t loop = d->port.loop_free_at_ns;
    const uint64_t line =
        d->port.link_end == NET_NO_LINK ? 0 : net_port_free_at(d->net, d->port.link_end);

    return line > loop ? line : loop;
}

/* What the frame's own bytes say of it, for faults and traces. */
static struct frame_note note_of(const struct rdma *d, uint32_t qpn, const struct frame *f)
{
    const size_t ip_bytes = ip_header_bytes(f->bytes[ETH_BYTES] >> 4);
    const size_t at = ETH_BYTES + ip_bytes + UDP_BYTES;
    struct rd_cur in = rd_cur(f->bytes + at, f->len - at);
    struct frame_note note = {.host = d->config.host, .qpn = qpn};
    struct aeth aeth;
    struct bth bth;

    if (bth_parse(&bth, &in) != DROP_NONE)
        assert_fail("the transport builds a BTH", __FILE__, __LINE__);
    note.opcode = bth.opcode;
    note.dest_qpn = bth.dest_qpn;
    note.psn = bth.psn.v;
    if (bth.opcode == OP_RC_ACKNOWLEDGE) {
        aeth_parse(&aeth, &in);
        note.syndrome = (uint32_t)aeth_unpack(aeth.syndrome).kind;
    }
    return note;
}

static void send(struct rdma *d, uint32_t qpn, struct frame *f)
{
    f->note = note_of(d, qpn, f);
    d->port.sent_frames++;
    d->port.sent_bytes += f->len;
    d->progress->packets++;
    if (memcmp(f->bytes, d->config.mac, sizeof(d->config.mac)) == 0) {
        d->port.loop_free_at_ns = sim_now(d->sim) + NET_LOOPBACK_NS;
        net_loop_back(d->net, d->config.host, f);
    } else {
        net_send(d->net, d->port.link_end, f);
    }
}

/* Sends one frame of the next queue pair that has one.  False: none has. */
static bool send_one(struct rdma *d)
{
    struct frame *f = frame_new(d->arena, XPORT_FRAME_BYTES);
    bool sent = false;

    if (!f)
        return false; /* the arena is full: what is unacknowledged is tried again */
    while (!sent && d->ready.len > 0) {
        const uint32_t qpn = ready_take(d);
        struct qp *qp = hca_qp(&d->hca, qpn);
        const ev_id cause = d->trace->cause;
        ev_id tx;

        if (!qp)
            continue; /* destroyed since it was ready */
        f->len = (uint32_t)xport_build(&d->xport, qp, f->bytes, f->cap, &tx);
        rdma_settle(d);
        if (xport_has_tx(qp))
            rdma_ready_add(d, qp);
        trace_because(d->trace, cause);
        if (f->len == 0)
            continue;
        f->tx = tx;
        send(d, qpn, f);
        sent = true;
    }
    if (!sent)
        frame_unref(d->arena, f);
    return sent;
}

void rdma_pump(struct rdma *d)
{
    if (d->egress_due || !virtio_running(&d->pci))
        return;
    if (d->ready.len > 0 && free_at(d) <= sim_now(d->sim))
        send_one(d);
    if (d->ready.len > 0) {
        const uint64_t at = free_at(d), now = sim_now(d->sim);

        d->egress_due = true;
        sim_schedule(d->sim, at > now ? at : now, SIM_EGRESS, d->config.host, 0);
    }
}

void rdma_egress(struct rdma *d)
{
    d->egress_due = false;
    rdma_pump(d);
}

static void drop(struct rdma *d, const struct frame *f, enum drop_reason reason)
{
    TRACE(d->trace, drop, .host = d->config.host, .qpn = f->note.dest_qpn, .opcode = f->note.opcode,
          .psn = f->note.psn, .reason = (uint32_t)reason, .wire_bytes = f->len, .tx = f->tx);
    d->port.drops[reason]++;
}

/* Is the frame for this station?  Multicast is not, as long as there is no UD. */
static bool is_for_us(const struct rdma *d, const struct frame *f)
{
    return f->len >= MAC_BYTES && memcmp(f->bytes, d->config.mac, MAC_BYTES) == 0;
}

void rdma_deliver(struct rdma *d, const struct frame *f)
{
    const struct rx_info info = {f->tx, f->len};
    struct packet p;
    enum drop_reason reason;

    d->port.rcvd_frames++;
    d->port.rcvd_bytes += f->len;
    if (!is_for_us(d, f)) {
        drop(d, f, f->len < MAC_BYTES ? DROP_SHORT : DROP_NOT_FOR_US);
        return;
    }
    if (!virtio_running(&d->pci)) {
        drop(d, f, DROP_QP_NOT_READY);
        return;
    }
    reason = packet_parse(&p, f->bytes, f->len);
    if (reason != DROP_NONE && reason != DROP_BAD_OPCODE) {
        drop(d, f, reason);
        return;
    }
    reason = xport_receive(&d->xport, &p, &info);
    d->port.drops[reason]++;
    if (reason == DROP_BAD_PKEY)
        d->bad_pkeys++;
    rdma_settle(d);
    rdma_pump(d);
}

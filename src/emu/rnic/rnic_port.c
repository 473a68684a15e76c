/* SPDX-License-Identifier: MIT */
/* The RNIC as a user of the Ethernet port: transmits frames of its queue pairs in turn,
 * and receives frames.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/profile.h"
#include "emu/facts/qp_fsm.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/internal.h"
#include "emu/wire/parse.h"
#include "emu/xport/whole.h"

/* Stores @qpn at the end of the FIFO.  ready.len already counts it. */
static void put_last(struct rnic_way *way, uint32_t qpn)
{
    struct rnic_ready *r = &way->ready;
    const uint32_t at = r->first + r->len - 1, cap = way->nic->config->max_qp + 1;

    r->ring[at < cap ? at : at - cap] = qpn;
}

/* The port that @qp uses. */
static struct rnic_way *way_of(struct rnic *n, const struct qp *qp)
{
    struct rnic_way *way = &n->way;

    while (way->gids != qp->gids)
        way = way->next;
    return way;
}

void rnic_ready_add(void *ctx, struct qp *qp)
{
    struct rnic *n = ctx;
    struct rnic_way *way = way_of(n, qp);
    struct rnic_ready *r = &way->ready;

    if (r->is_queued[qp->qpn])
        return;
    RDL_ASSERT(r->len <= n->config->max_qp);
    r->is_queued[qp->qpn] = true;
    r->len++;
    put_last(way, qp->qpn);
    eth_port_wait(way->port, way->port_user);
}

void rnic_ready_forget(struct rnic_way *way)
{
    memset(way->ready.is_queued, 0, (way->nic->config->max_qp + 1) * sizeof(*way->ready.is_queued));
    way->ready.len = 0;
}

/* Ends the turn of @qpn, the first queue pair.  With @again it has more to send and goes to the
 * end.
 */
static void ready_next(struct rnic_way *way, uint32_t qpn, bool again)
{
    struct rnic_ready *r = &way->ready;

    if (again && r->len == 1)
        return;
    r->first = r->first == way->nic->config->max_qp ? 0 : r->first + 1;
    if (again) {
        put_last(way, qpn);
    } else {
        r->len--;
        r->is_queued[qpn] = false;
    }
}

static bool has_frame(const void *ctx)
{
    const struct rnic_way *way = ctx;

    return way->ready.len > 0 && way->nic->ops->is_running(way->nic->ctx);
}

/* Returns true if the peer of @qp can be reached by the shortcut of the switch of @p. */
static bool has_shortcut(const struct eth_port *p, const struct qp *qp)
{
    const struct av *av = &qp->attr.av;

    return p->sw && p->sw->shortcut && eswitch_reaches(p, av->dmac, av->dgid);
}

/* Builds one frame of the next queue pair that has one. */
static struct frame *take_frame(void *ctx)
{
    struct rnic_way *way = ctx;
    struct rnic *n = way->nic;
    struct frame *f;

    if (!has_frame(way))
        return NULL;
    f = frame_new(n->arena, XPORT_FRAME_BYTES);
    if (!f)
        return NULL; /* the arena is full */
    n->xport.tag_bytes = eth_port_tag_bytes(way->port);
    n->xport.vlan = way->port->vid;
    while (way->ready.len > 0) {
        const uint32_t qpn = way->ready.ring[way->ready.first];
        struct qp *qp = hca_qp(&n->hca, qpn);
        const ev_id cause = n->trace->cause;
        struct tx_info tx;
        size_t bytes;

        if (!qp || qp->gids != way->gids) {
            ready_next(way, qpn, false); /* destroyed in the meantime */
            continue;
        }
        n->xport.shortcut = has_shortcut(way->port, qp);
        bytes = xport_build(&n->xport, qp, f->bytes, f->cap, &tx);
        rnic_settle(n);
        ready_next(way, qpn, xport_has_more(qp));
        trace_because(n->trace, cause);
        if (bytes == 0)
            continue;
        if (tx.whole) {
            tx.whole->p.tci = (uint16_t)way->port->vid; /* for the switch; no packet has the tag */
            f->cargo = &tx.whole->cargo;
        } else {
            f->len = (uint32_t)bytes;
        }
        f->tx = tx.tx;
        f->note = (struct frame_note){
            .host = n->config->host,
            .qpn = qpn,
            .opcode = tx.opcode,
            .psn = tx.psn.v,
            .dest_qpn = tx.dest_qpn,
            .syndrome = (uint32_t)tx.syndrome,
            .cm = tx.cm,
        };
        return f;
    }
    frame_unref(n->arena, f);
    return NULL;
}

static bool owns(const void *ctx, const uint8_t dst[GID_BYTES])
{
    const struct rnic_way *way = ctx;

    return hca_gid_is_in(way->gids ? way->gids : way->nic->hca.gids, dst);
}

static bool is_member(const void *ctx, const uint8_t dst[GID_BYTES])
{
    const struct rnic_way *way = ctx;
    const uint32_t *qpns;

    return !way->gids && mcast_find(&way->nic->hca, dst, &qpns) > 0;
}

/* Returns false if the ICRC of @p, which packet_parse() has accepted, is wrong for this device. */
static bool takes_icrc(const struct rnic *n, const struct packet *p)
{
    return p->op->kind != OPK_FLUSH ||
           p->icrc_of_rxe != profile_has(n->hca.profile, TRAIT_FLUSH_ICRC_COVERS_ONCE);
}

/* Passes the packet @p of @f to the transport. */
static void receive(struct rnic_way *way, const struct frame *f, const struct packet *p)
{
    struct rnic *n = way->nic;
    const struct rx_info info = {f->tx, f->len + f->tag_bytes, way->gids};
    const enum drop_reason reason = xport_receive(&n->xport, p, &info);

    if (reason == DROP_NONE) {
        *(f->cargo ? &way->port->copied : &way->port->taken_frames) += 1;
    } else {
        way->port->drops[reason]++;
        way->port->copied_dropped += f->cargo != NULL;
    }
    if (reason == DROP_BAD_PKEY && n->bad_pkeys < UINT32_MAX)
        n->bad_pkeys++;
    if (reason == DROP_BAD_QKEY && n->bad_qkeys < UINT32_MAX)
        n->bad_qkeys++;
    rnic_settle(n);
    rnic_pump(n);
}

static void deliver(void *ctx, const struct frame *f)
{
    struct rnic_way *way = ctx;
    struct rnic *n = way->nic;
    struct packet p;
    enum drop_reason reason;

    if (!n->ops->is_running(n->ctx)) {
        eth_port_drop(way->port, f,
                      n->ops->is_driven(n->ctx) ? DROP_NO_BUS_MASTER : DROP_QP_NOT_READY);
        return;
    }
    if (f->cargo) {
        receive(way, f, &whole_of(f)->p);
        return;
    }
    reason = packet_parse(&p, f->bytes, f->len);
    if (reason == DROP_NONE && !takes_icrc(n, &p))
        reason = DROP_BAD_ICRC;
    if (reason != DROP_NONE && reason != DROP_BAD_OPCODE)
        eth_port_refuse(way->port, f, reason, &p.refused);
    else
        receive(way, f, &p);
}

static const struct eth_user_ops user_ops = {has_frame, take_frame, owns, is_member, deliver};

void rnic_port_use(struct rnic_way *way)
{
    way->port_user = eth_port_use(way->port, &user_ops, way);
}

/* --- Further ports ---------------------------------------------------------------------------- */

bool rnic_way_add(struct rnic *n, struct rnic_way *way, struct eth_port *port, struct hca_gid *gids)
{
    *way = (struct rnic_way){.nic = n, .port = port, .gids = gids, .next = n->way.next};
    if (!rnic_ready_init(&way->ready, n->arena, n->config->max_qp))
        return false;
    n->way.next = way;
    rnic_port_use(way);
    return true;
}

void rnic_way_use(struct rnic_way *way, struct qp *qp)
{
    RDL_ASSERT(qp->state == QPS_RESET);
    qp->gids = way->gids;
    qp->mac = way->port->mac;
}

void rnic_way_leave(struct rnic_way *way)
{
    rnic_ready_forget(way);
    for (uint32_t i = 0; i < HCA_GIDS; i++) {
        RDL_ASSERT(way->gids[i].users == 0);
        way->gids[i].valid = false;
    }
}

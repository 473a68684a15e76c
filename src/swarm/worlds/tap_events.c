/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/tap_events.h"

#include "emu/facts/aeth.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/opcode.h"
#include "emu/facts/roce.h"
#include "emu/trace/events/frames.h"

/* The memory of the peer that the frame names; an address of 0 if it names none. */
static struct reth remote_memory(const struct packet *p)
{
    if (p->op->headers & H_RETH)
        return p->reth;
    if (p->op->headers & H_ATOMIC)
        return (struct reth){p->atomic.va, p->atomic.rkey, ATOMIC_WORD_BYTES};
    return (struct reth){.rkey = p->op->headers & H_IETH ? p->ieth_rkey : 0};
}

/* Returns the kind of the frame's AETH (enum syndrome), or SYN_NONE without an AETH. */
static uint32_t syndrome_of(const struct packet *p)
{
    return p->op->headers & H_AETH ? (uint32_t)aeth_unpack(p->aeth.syndrome).kind : SYN_NONE;
}

/* Returns the MSN of the AETH, or 0 without one. */
static uint32_t msn_of(const struct packet *p)
{
    return p->op->headers & H_AETH ? p->aeth.msn : 0;
}

static bool is_as_frame(const struct ev_tx *e, const struct packet *p, size_t bytes)
{
    const struct reth r = remote_memory(p);

    return e->opcode == p->bth.opcode && e->psn == p->bth.psn.v && e->ackreq == p->bth.ack_req &&
           e->dest_qpn == p->bth.dest_qpn && e->bytes == p->payload_bytes &&
           e->wire_bytes == bytes && e->syndrome == syndrome_of(p) && e->msn == msn_of(p) &&
           e->va == r.va && e->rkey == r.rkey && e->length == r.dma_bytes;
}

const char *rx_event_check(const struct ev_rx *e, const struct packet *p)
{
    const uint32_t qpn = p->bth.dest_qpn;
    const bool right = (e->qpn == qpn || qpn == QPN_MULTICAST) && e->opcode == p->bth.opcode &&
                       e->psn == p->bth.psn.v && e->bytes == p->payload_bytes &&
                       e->syndrome == syndrome_of(p) && e->msn == msn_of(p);

    return right ? NULL : "the event of a packet that arrived tells what its frame has";
}

/* Returns the PSN under which the packet of @e is counted.  A READ may be repeated from a later
 * PSN; it is counted at its first one.
 */
static uint32_t counted_at(const struct tap_sends *s, const struct ev_tx *e,
                           const struct op_info *op)
{
    for (uint32_t i = 0; op->kind == OPK_READ && i < TAP_PACKETS; i++) {
        if (s->v[i].times > 0 && s->v[i].wr_id == e->wr_id)
            return s->v[i].psn;
    }
    return e->psn;
}

/* Counts the packet of @e.  Returns how often it was sent; 0: unknown, because the packet is not
 * newer than the newest one and has no entry.
 */
static uint32_t count(struct tap_sends *s, const struct ev_tx *e, const struct op_info *op)
{
    const uint32_t psn = counted_at(s, e, op), i = psn % TAP_PACKETS;

    if (s->v[i].times > 0 && s->v[i].psn == psn && s->v[i].wr_id == e->wr_id)
        return ++s->v[i].times;
    if (s->newest != UINT32_MAX && psn_diff((struct psn){psn}, (struct psn){s->newest}) <= 0)
        return 0;
    s->newest = psn;
    s->v[i].wr_id = e->wr_id;
    s->v[i].psn = psn;
    s->v[i].times = 1;
    return 1;
}

void tap_sends_begin(struct tap_sends *s)
{
    *s = (struct tap_sends){.newest = UINT32_MAX};
}

const char *tx_event_check(struct tap_sends *s, const struct ev_tx *e, const struct packet *p,
                           size_t bytes)
{
    uint32_t times;

    if (!is_as_frame(e, p, bytes))
        return "the event of a sent packet tells what its frame has";
    if (!s || !op_is_request(p->op) || p->op->service == OPS_UD)
        return NULL;
    times = count(s, e, p->op);
    return times == 0 || e->attempt == (times > 1 ? times : 0)
               ? NULL
               : "the event of a packet that is sent again tells how often it was sent";
}

/* SPDX-License-Identifier: MIT */
/* The drill of peers: what must not end while a message is under way, and what may.
 *
 * The device looks at the key again for each packet.  So what it has sent before that stays right,
 * and the next packet is refused: a response to a READ by a NAK, a packet of h1's own SEND by its
 * completion.
 */
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/control.h"
#include "rdmalab/memory.h"
#include "swarm/drills/drill_peers.h"

#define READ_PACKETS 40u
#define READ_NS      1500u /* longer than it takes to send them */
#define SEND_PACKETS 40u
#define SEND_NS      600u

/* Registers all of h1's memory once more. */
static bool add_region(struct drill *d, rdl_mr *ret, uint32_t *ret_key)
{
    const struct peers *s = d->own;
    struct rdl_mr_info info;

    if (!drill_is_done(d, s->host[0],
                       rdl_reg_mr(d->lab, s->pd, s->base, PEER_ROOM, PEER_ACCESS, NULL, ret),
                       "memory can be registered twice") ||
        !drill_works(d, rdl_mr_info(d->lab, *ret, &info), "a region has a key"))
        return false;
    *ret_key = info.lkey;
    return true;
}

static bool ends_after(struct drill *d, rdl_mr mr, uint32_t ns)
{
    const struct peers *s = d->own;

    return drill_run_for(d, ns) &&
           drill_is_done(d, s->host[0], rdl_dereg_mr(d->lab, mr), "a region can be given back") &&
           drill_settle(d);
}

/* Checks that h1's last packet refuses response @k of the READ @t. */
static bool refuses(struct drill *d, const struct peer_taken *t, uint32_t k)
{
    struct peers *s = d->own;
    struct packet p;

    return drill_expect(d, s->n_seen == k + 1, "a READ ends with its region, and is refused once",
                        "%u packets, not %u", s->n_seen, k + 1) &&
           peer_seen(d, k, &p) &&
           drill_expect(d,
                        p.op->kind == OPK_ACK && p.bth.psn.v == peer_psn(t->p.bth.psn.v + k) &&
                            aeth_unpack(p.aeth.syndrome).kind == SYN_NAK_REMOTE_ACCESS &&
                            p.aeth.msn == peer_psn(s->msn),
                        "the response that cannot be given is refused", "%s, psn %u", p.op->name,
                        p.bth.psn.v) &&
           peer_event(d, true, ASE_QP_ACCESS_ERR) && peer_failed(d, 0, 0);
}

static void draw_read(struct drill *d, struct packet *p, uint32_t most, uint32_t key, uint32_t psn)
{
    const struct peers *s = d->own;

    *p = s->like;
    peer_set_code(p, OP_RC_RDMA_READ_REQUEST);
    p->reth.dma_bytes = 1 + drill_below(d, most);
    p->reth.rkey = key;
    p->reth.va = s->base + drill_below(d, PEER_ROOM - p->reth.dma_bytes);
    p->bth.psn.v = peer_psn(psn);
}

/* A READ of memory that ends, perhaps with another one behind it, which is not answered then. */
static void end_read(struct drill *d, rdl_mr mr, uint32_t key)
{
    struct peers *s = d->own;
    const bool has_next = s->end.max_dest_rd_atomic > 1 && drill_one_in(d, 2);
    struct packet p, next, seen;
    struct peer_taken t, behind;
    uint32_t i = 0, n = 0;

    draw_read(d, &p, READ_PACKETS * PEER_MTU, key, s->expected);
    draw_read(d, &next, PEER_MTU, s->key, s->expected + peer_packets(p.reth.dma_bytes));
    if (!peer_send_on(d, &p, NULL) || (has_next && !peer_send_on(d, &next, NULL)) ||
        !ends_after(d, mr, drill_below(d, READ_NS)))
        return;
    t = *peer_takes_fetch(d, &p);
    if (has_next)
        behind = *peer_takes_fetch(d, &next);
    s->n_taken = 0; /* none of them is repeated: this one could not be answered */
    while (n < t.n_psns && n < s->n_seen && peer_seen(d, n, &seen) &&
           seen.op->kind == OPK_READ_RESPONSE)
        n++;
    if (d->wrong)
        return;
    if (n == t.n_psns) {
        if (peer_was_answered(d, &t, &i) && (!has_next || peer_was_answered(d, &behind, &i)) &&
            drill_expect(d, s->n_seen == i, "each READ is answered once", "%u packets, not %u",
                         s->n_seen, i))
            (void)peer_is_calm(d);
        return;
    }
    t.n_psns = n;
    t.p.reth.dma_bytes = n * PEER_MTU; /* no response that was sent is the last one */
    if (peer_was_answered(d, &t, &i))
        (void)refuses(d, &t, n);
}

/* h1 has no other requests. */
static void end_send(struct drill *d, rdl_mr mr, uint32_t key)
{
    struct peers *s = d->own;
    const struct rdl_sge sge = {s->base, SEND_PACKETS * PEER_MTU, key};
    const struct rdl_send_wr wr = {
        .wr_id = ++s->wr_id, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &sge, .n_sge = 1};
    struct rdl_wc wc;

    s->n_seen = 0;
    d->n_unsaid++;
    if (!drill_works(d, rdl_post_send(d->lab, s->end.qp, &wr, false), "a request can be posted") ||
        !ends_after(d, mr, drill_below(d, SEND_NS)))
        return;
    for (uint32_t i = 0; i < s->n_seen; i++) {
        struct packet p;

        if (!peer_seen(d, i, &p) ||
            !drill_expect(d, p.op->kind == OPK_SEND && p.bth.psn.v == peer_psn(s->next + i),
                          "the packets of a SEND follow each other", "%s, psn %u", p.op->name,
                          p.bth.psn.v))
            return;
    }
    if (s->n_seen < SEND_PACKETS) {
        if (peer_completes(d, wr.wr_id, WCS_LOC_PROT_ERR, &wc))
            (void)peer_failed(d, 0, 0);
        return;
    }
    s->next = s->sent = peer_psn(s->next + SEND_PACKETS);
    s->ssn = peer_psn(s->ssn + 1);
    if (peer_ack(d, PEER_CREDITS_OFF, peer_psn(s->next - 1)) && peer_progress(d, s->next) &&
        peer_completes(d, wr.wr_id, WCS_SUCCESS, &wc))
        (void)peer_is_calm(d);
}

void peer_region_ends(struct drill *d)
{
    const struct peers *s = d->own;
    const bool is_send = s->n_asked == 0 && !s->end.credits && !s->is_paused && drill_one_in(d, 3);
    uint32_t key;
    rdl_mr mr;

    if (add_region(d, &mr, &key))
        (is_send ? end_send : end_read)(d, mr, key);
}

void peer_resizes(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t n = PEER_RECVS + drill_below(d, 2 * PEER_RECVS);
    const bool is_refused = s->n_recvs > 0 && n != s->room_for;
    enum rdl_status st = rdl_resize_qp(d->lab, s->end.qp, 0, n);

    if (st == RDL_ERR_UNSUPPORTED)
        return; /* the device has no such operation */
    if (is_refused)
        d->n_unsaid++;
    else
        drill_say(d, "resize_qp h1.q max_recv_wr=%u", n);
    if (st == RDL_OK)
        st = drill_answer(d, s->host[0]);
    if (!drill_expect(d, st == (is_refused ? RDL_ERR_DEVICE : RDL_OK),
                      "a queue is resized while it is empty, and holds no part of a message",
                      "with %u receives: %s", s->n_recvs, rdl_status_name(st)))
        return;
    if (!is_refused)
        s->room_for = n;
    (void)peer_is_calm(d);
}
